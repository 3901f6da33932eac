package gate

import (
	"fmt"
	"slices"
	"strings"

	"github.com/refit-bench/refit/internal/result"
)

// Health judges whether the load client was sound at every passed point. An
// unhealthy point fails. A point of unknown health leaves the answer unknown,
// unless "unknown" is among the allowed verdicts, which is what the policy's
// foreign-client says. The means of a suspect client stand: its points pass,
// and are named.
func Health(rows []result.Row, allow ...string) Verdict {
	const gate = "health"
	var sick, unclear, doubtful []string
	looked := 0
	for _, r := range rows {
		if r.Result != result.Passed {
			continue
		}
		looked++
		switch v := r.Health.Verdict; {
		case v == "healthy":
		case v == "suspect":
			doubtful = append(doubtful, reasoned(r.Label, r.Health.Reasons))
		case v == "unhealthy":
			sick = append(sick, reasoned(r.Label, r.Health.Reasons))
		case slices.Contains(allow, "unknown"):
		default:
			unclear = append(unclear, reasoned(r.Label, r.Health.Reasons))
		}
	}
	switch {
	case len(sick) > 0:
		return Verdict{gate, Fail, "unhealthy client: " + named(sick)}
	case len(unclear) > 0:
		return Verdict{gate, Unknown, "client health unknown: " + named(unclear)}
	case looked == 0:
		return Verdict{gate, Unknown, "no passed point"}
	}
	reason := fmt.Sprintf("client sound at %d points", looked)
	if len(doubtful) > 0 {
		reason += fmt.Sprintf(", suspect at %d of them: %s", len(doubtful), named(doubtful))
	}
	return Verdict{gate, Pass, reason}
}

func reasoned(label string, reasons []string) string {
	if len(reasons) == 0 {
		return label
	}
	return label + " (" + strings.Join(reasons, ", ") + ")"
}

func join(reasons []string) string { return strings.Join(reasons, "; ") }
