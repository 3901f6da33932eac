package recipe

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

const throughputAlone = `- config-keys:
    - key-a
  description:
    - "Speed"
  pr-link: XXX
  no-evals: true
`

// no-evals is read, written and read back, in the changelog and in a fragment.
func TestNoEvals(t *testing.T) {
	want := ChangelogEntry{ConfigKeys: []string{"key-a"}, Description: []string{"Speed"}, PRLink: "XXX", NoEvals: true}
	got, err := ParseChangelog([]byte(throughputAlone), "log.yaml")
	if diff := cmp.Diff([]ChangelogEntry{want}, got); err != nil || diff != "" {
		t.Errorf("ParseChangelog: %v %s", err, diff)
	}
	log, err := AppendEntry(nil, want)
	if err != nil || string(log) != throughputAlone {
		t.Errorf("AppendEntry: got %s, %v, want %s", log, err, throughputAlone)
	}
	f, err := ParseFragment(FragmentText(want), "speed.yaml")
	if diff := cmp.Diff(want, f.Entry); err != nil || diff != "" {
		t.Errorf("ParseFragment: %v %s", err, diff)
	}
	beside, err := ParseChangelog([]byte(throughputAlone+"  append-only: true\n"), "log.yaml")
	if err != nil || !beside[0].NoEvals || !beside[0].AppendOnly {
		t.Errorf("beside append-only: got %+v, %v", beside, err)
	}
}

// What asks for evals contradicts it.
func TestNoEvalsRefused(t *testing.T) {
	const excluded = "log.yaml:6:13: entry 1.no-evals: not allowed beside evals-only, all-evals or eval-min-prefill-ep"
	for _, c := range []struct{ old, new, want string }{
		{"", "  evals-only: true\n", excluded}, {"", "  all-evals: true\n", excluded}, {"", "  eval-min-prefill-ep: 4\n", excluded},
		{"no-evals: true", "no-evals: 1", `log.yaml:6:13: entry 1.no-evals: want true or false, got "1"`},
		{"no-evals: true", "no_evals: true", `log.yaml:6:3: entry 1: unknown field "no_evals" (did you mean "no-evals"?)`},
	} {
		src := throughputAlone + c.new
		if c.old != "" {
			src = strings.Replace(throughputAlone, c.old, c.new, 1)
		}
		if _, err := ParseChangelog([]byte(src), "log.yaml"); err == nil || err.Error() != c.want {
			t.Errorf("%s:\n got %v\nwant %s", c.new, err, c.want)
		}
	}
	if _, err := ParseChangelog([]byte(strings.Replace(throughputAlone, "no-evals: true", "no-evals: false\n  all-evals: true", 1)), "log.yaml"); err != nil {
		t.Errorf("no-evals: false excludes nothing: %v", err)
	}
}
