package recipe

import (
	"bytes"
	"strings"
	"testing"
)

// What is added is in the new snapshot alone, behind the bytes of the old one,
// and a snapshot gains nothing over itself.
func FuzzChanges(f *testing.F) {
	const base = "- config-keys:\n    - a-b\n  description:\n    - \"x\"\n  pr-link: XXX\n"
	for _, more := range []string{"\n" + base, "", "\n\n" + base, strings.Replace(base, "XXX", "https://forge.example/o/r/pull/7", 1), "- config-keys: [a-c]\n"} {
		f.Add([]byte(base), []byte(more))
	}
	f.Fuzz(func(t *testing.T, base, more []byte) {
		for _, head := range [][]byte{append(bytes.Clone(base), more...), more} {
			c, err := Changes(base, head, "log.yaml")
			if err != nil {
				if !strings.Contains(err.Error(), "log.yaml") {
					t.Errorf("Changes(%q, %q): an error without a place: %v", base, head, err)
				}
				continue
			}
			if len(c.Additions) > 0 && (!bytes.HasPrefix(head, base) || len(c.Corrections) > 0) {
				t.Errorf("Changes(%q, %q): got %+v", base, head, c)
			}
			again, err := Changes(head, head, "log.yaml")
			if len(head) > 0 && (err != nil || len(again.Additions)+len(again.Corrections) > 0) {
				t.Errorf("Changes(%q, itself): got %+v, %v", head, again, err)
			}
		}
	})
}
