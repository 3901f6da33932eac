package run

import (
	"fmt"
	"strings"

	"github.com/refit-bench/refit/internal/result"
)

// sentence says in one line what a job measured.
func sentence(lines []result.Line) string {
	var parts []string
	for _, l := range lines {
		if r := l.Row; r != nil {
			v := r.Values()
			parts = append(parts, figure("%.1f tok/s/GPU", v.TotalTPSGPU), figure("TTFT %.1f ms", v.TTFTms), figure("TPOT %.2f ms", v.TPOTms))
			health := r.Health.Verdict
			if len(r.Health.Reasons) > 0 {
				health += " (" + strings.Join(r.Health.Reasons, "; ") + ")"
			}
			parts = append(parts, health)
		}
		if e := l.Eval; e != nil {
			parts = append(parts, fmt.Sprintf("%s %s of %d", e.Suite, figure("%.4f", e.Score), e.Samples))
		}
	}
	return strings.Join(parts, ", ")
}

// figure formats a value that may not be known.
func figure(format string, v *float64) string {
	if v == nil {
		verb := strings.IndexByte(format, '%')
		end := verb + strings.IndexByte(format[verb:], 'f') + 1
		return format[:verb] + "unknown" + format[end:]
	}
	return fmt.Sprintf(format, *v)
}
