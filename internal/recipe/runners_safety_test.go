package recipe

import "testing"

func FuzzParseRunners(f *testing.F) {
	for _, s := range []string{"labels:\n  box:\n  - box_00\n", "labels: {}\n", "labels: [a]\n", "a: b\n", "", "labels:\n  box: [1, null]\n", "labels: &a\n  x: *a\n"} {
		f.Add([]byte(s))
	}
	f.Fuzz(func(t *testing.T, src []byte) {
		_, err := ParseRunners(src, "runners.yaml")
		if err == nil {
			return
		}
		if err.Error() == "" {
			t.Errorf("ParseRunners(%q): an error without words", src)
		}
	})
}
