package recipe

import (
	"bytes"
	"errors"
	"fmt"
	"reflect"
	"regexp"
	"strings"

	"github.com/refit-bench/refit/internal/workspace"
)

// AppendEntry adds an entry at the end of a changelog, in the form that Delta
// accepts. The bytes of src are kept.
func AppendEntry(src []byte, e ChangelogEntry) ([]byte, error) {
	if len(e.ScenarioType) == 0 {
		e.ScenarioType = nil
	}
	out := bytes.Clone(src)
	if len(src) > 0 && !bytes.HasSuffix(src, []byte("\n\n")) {
		out = append(out, '\n')
	}
	out = append(out, entryText(e)...)
	added, err := Delta(src, out, "changelog")
	if err != nil {
		return nil, fmt.Errorf("append changelog entry: %w", err)
	}
	if len(added) != 1 || !reflect.DeepEqual(added[0], e) {
		return nil, errors.New("append changelog entry: it does not read back as it was given")
	}
	return out, nil
}

// entryText writes an entry in the published form.
func entryText(e ChangelogEntry) string {
	var b strings.Builder
	b.WriteString(entryStart + "\n")
	for _, k := range e.ConfigKeys {
		b.WriteString("    - " + scalarText(k) + "\n")
	}
	b.WriteString("  description:\n")
	for _, d := range e.Description {
		b.WriteString("    - " + workspace.YAMLText(d) + "\n")
	}
	b.WriteString("  pr-link: " + scalarText(e.PRLink) + "\n")
	if len(e.ScenarioType) > 0 {
		b.WriteString("  scenario-type:\n")
		for _, s := range e.ScenarioType {
			b.WriteString("    - " + scalarText(s) + "\n")
		}
	}
	for _, f := range []struct {
		name string
		set  bool
	}{{"evals-only", e.EvalsOnly}, {"all-evals", e.AllEvals}, {"append-only", e.AppendOnly}, {"no-evals", e.NoEvals}} {
		if f.set {
			b.WriteString("  " + f.name + ": true\n")
		}
	}
	if e.EvalMinPrefillEP > 0 {
		fmt.Fprintf(&b, "  eval-min-prefill-ep: %d\n", e.EvalMinPrefillEP)
	}
	return b.String()
}

// bare matches strings that YAML surely reads as themselves without quotes.
var bare = regexp.MustCompile(`^(XXX|https?://[A-Za-z0-9][A-Za-z0-9./:_-]*[A-Za-z0-9]|[a-z][a-z0-9.]*(-[a-z0-9.*_]+)+)$`)

func scalarText(s string) string {
	if bare.MatchString(s) {
		return s
	}
	return workspace.YAMLText(s)
}
