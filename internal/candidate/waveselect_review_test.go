package candidate

import (
	"slices"
	"strings"
	"testing"
)

// Overlap is an edit of the family's own lines, or of a file that it depends on.
func TestTheBuiltInReviewer(t *testing.T) {
	const neighbour = "toy-fp8-box-loom-1"
	own := func(s string) string { return strings.Replace(s, "# the engine", "# the old engine", 1) }
	for name, c := range map[string]struct {
		edit       map[string]func(string) string // of the pull request's branch
		main       func(string) string            // of the master on main, afterwards
		pull       func(*OpenPull)
		want       Verb
		reason     string
		neighbours Verb // what becomes of the other family
	}{
		"nothing-open":          {want: DecisionProceed, reason: "no open pull request edits", neighbours: DecisionProceed},
		"another-file":          {edit: map[string]func(string) string{"NOTES.md": func(string) string { return "x\n" }}, want: DecisionProceed, neighbours: DecisionProceed},
		"the-familys-own-lines": {edit: map[string]func(string) string{waveMaster: own}, want: DecisionDuplicate, reason: "#1 edits the lines of toy-fp8-box-loom in " + waveMaster, neighbours: DecisionProceed},
		"the-same-image-on-another-family": {edit: map[string]func(string) string{waveMaster: func(s string) string {
			before, after, _ := strings.Cut(s, neighbour+":")
			return before + neighbour + ":" + strings.Replace(after, oldImage, newImage, 1)
		}}, want: DecisionProceed, neighbours: DecisionDuplicate},
		"a-new-family-in-the-same-file": {edit: map[string]func(string) string{waveMaster: func(s string) string {
			_, entry, _ := strings.Cut(s, neighbour+":")
			return s + "\n# A remark.\ntoy-fp8-box-loom-9:" + entry
		}}, want: DecisionProceed, neighbours: DecisionProceed},
		"the-family-removed": {edit: map[string]func(string) string{waveMaster: func(s string) string {
			return s[strings.Index(s, neighbour+":"):]
		}}, want: DecisionDuplicate, neighbours: DecisionProceed},
		"the-recipe":        {edit: map[string]func(string) string{script: func(s string) string { return s + "\n" }}, want: DecisionDuplicate, reason: "#1 edits " + script, neighbours: DecisionProceed},
		"the-shared-script": {edit: map[string]func(string) string{waveLibrary: func(s string) string { return s + "\n" }}, want: DecisionDuplicate, reason: "#1 edits " + waveLibrary, neighbours: DecisionDuplicate},
		"an-incomplete-list": {edit: map[string]func(string) string{"NOTES.md": func(string) string { return "x\n" }},
			pull: func(p *OpenPull) { p.Incomplete = true }, want: DecisionUncertain, reason: "not all that is edited is known of #1", neighbours: DecisionUncertain},
		"incomplete-with-an-overlap": {edit: map[string]func(string) string{script: func(s string) string { return s + "\n" }},
			pull: func(p *OpenPull) { p.Incomplete = true }, want: DecisionDuplicate, neighbours: DecisionUncertain},
		"an-unreadable-master": {edit: map[string]func(string) string{waveMaster: func(s string) string { return s + "\n\t:" }},
			want: DecisionUncertain, reason: "not all that is edited is known of #1", neighbours: DecisionUncertain},
		"a-branch-that-is-behind": {edit: map[string]func(string) string{waveMaster: func(s string) string { return "# A remark.\n" + s }}, main: own, want: DecisionProceed, neighbours: DecisionProceed},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := newWorld(t)
			wave := w.waveOf(2)
			if c.edit != nil {
				files := map[string][]byte{}
				open := OpenPull{}
				for path, edit := range c.edit {
					src, _ := w.bare.File(t.Context(), wave.Base, path) // a new file has none
					files[path] = []byte(edit(string(src)))
					open.Files = append(open.Files, path)
				}
				open.Number = w.propose("topic", files)
				if c.pull != nil {
					c.pull(&open)
				}
				wave.Pulls = []OpenPull{open}
			}
			if c.main != nil {
				wave.Base = w.commitOn("main", "Later", map[string][]byte{waveMaster: []byte(c.main(string(w.file("main", waveMaster))))})
			}
			ds, err := w.shepherd("bot-token").Review(t.Context(), wave)
			w.must(err)
			if ds[0].Decision != c.want || !strings.Contains(ds[0].Reason, c.reason) || ds[1].Decision != c.neighbours {
				t.Errorf("got %s (%s) and %s for the neighbour, want %s (%s) and %s", ds[0].Decision, ds[0].Reason, ds[1].Decision, c.want, c.reason, c.neighbours)
			}
			if err := CheckDecisions(ds, wave); err != nil {
				t.Errorf("the reviewer's own decisions: %v", err)
			}
			if c.want == DecisionDuplicate && !slices.Equal(ds[0].Pulls, []int{1}) {
				t.Errorf("pull requests %v, want #1", ds[0].Pulls)
			}
		})
	}
}
