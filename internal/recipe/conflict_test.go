package recipe

import (
	"strings"
	"testing"
)

// The examples of conflict resolution in the changelog's contract, by their
// numbers, and every reason not to resolve.
func TestConflictFacts(t *testing.T) {
	own, other := entryOf("k-n", "new", "XXX"), entryOf("k-o", "other", "XXX")
	theirs := entryOf("k-t", "theirs", link(8))
	base := entryOf("k-a", "one", link(1)) + "\n" + entryOf("k-b", "two", "XXX")
	canonical := func(s string) string { return strings.ReplaceAll(s, "XXX", link(9)) }
	replaced := func(s, old, new string) string { return strings.Replace(s, old, new, 1) }
	fixed, main := replaced(base, "XXX", link(4)), base+"\n"+theirs
	three := replaced(replaced(base, link(1), "TBD"), "XXX", link(4))
	for _, c := range []struct{ name, base, pull, main, want, fails string }{
		{"fact-27-order-of-the-three", base, base + "\n" + own, main + "  \n", main + "  \n\n" + canonical(own), ""},
		{"fact-27-main-ends-with-an-empty-line", base, base + "\n" + own, main + "\n", main + "\n" + canonical(own), ""},
		{"fact-28-two-entries", base, base + "\n" + own + "\n" + other, main, main + "\n" + canonical(own) + "\n" + canonical(other), ""},
		{"fact-29-on-main-with-another-link", base, base + "\n" + own, base + "\n" + replaced(own, "XXX", link(8)), "", "log.yaml: main has every entry of the pull request already: take main's file"},
		{"fact-30-correction", base, fixed, main, fixed + "\n" + theirs, ""},
		{"fact-31-corrected-on-main", base, fixed, fixed + "\n" + theirs, "", "log.yaml: main has every correction of the pull request already: take main's file"},
		{"fact-31-third-link-on-main", base, fixed, replaced(main, "XXX", link(5)), "", `log.yaml: entry 2 has link "` + link(5) + `" on main, not "XXX": somebody else corrected it`},
		{"fact-32-repeats-an-old-entry", base, base + "\n" + entryOf("k-a", "one", "XXX"), main, "", "log.yaml: main has every entry of the pull request already: take main's file"},
		{"one-of-two-corrections-made", replaced(base, link(1), "TBD"), replaced(three, "TBD", link(3)), three + "\n" + theirs, replaced(three, "TBD", link(3)) + "\n" + theirs, ""},
		{"main-is-not-compared-with-the-base", base, base + "\n" + own, theirs, theirs + "\n" + canonical(own), ""},
		{"pull-request-is-broken", base, base + "\n" + own + "\t\n", main, "", "the pull request's side: log.yaml:18:1: a tab is not allowed"},
		{"base-is-broken", base + "\t\n", base + "\n" + own, main, "", "the pull request's side: base: log.yaml:12:1: a tab is not allowed"},
		{"main-is-broken", base, base + "\n" + own, main + "x: 1\n", "", "main's side: log.yaml:18: did not find expected '-' indicator"},
		{"main-is-empty", base, base + "\n" + own, "", "", "main's side: log.yaml:1:1: the file must end with a line feed"},
		{"both-in-one-change", base, fixed + "\n" + own, main, "", "the pull request's side: log.yaml:7: entry 2 has a corrected link: corrections and additions need separate changes"},
		{"two-empty-lines", base, base + "\n\n" + own, main, "", "the pull request's side: log.yaml:12: " + oneEmptyLine},
		{"foreign-link", base, base + "\n" + replaced(own, "XXX", link(3)), main, "", `the pull request's side: log.yaml:13: entry for k-n: pr-link "` + link(3) + `" must be XXX or ` + link(9)},
		{"correction-to-a-placeholder", base, replaced(base, link(1), "XXX"), main, "", `the pull request's side: log.yaml:1: entry 1: pr-link "XXX" must be ` + repo + "/pull/<number>"},
		{"folded-link", base, base + "\n" + replaced(own, "pr-link: ", "pr-link:\n    "), main, "", "the pull request's side: log.yaml:13: " + linkOnALine},
		{"correction-of-an-entry-that-main-has-not", base, fixed, entryOf("k-a", "one", link(1)), "", "log.yaml: entry 2 is not on main: its link cannot be corrected there"},
		{"correction-of-another-entry", base, fixed, replaced(main, "two", "2"), "", "log.yaml: entry 2 is another one on main: its link cannot be corrected there"},
		{"correction-of-a-folded-link", base, fixed, replaced(main, "pr-link: XXX", "pr-link:\n    XXX"), "", `the resolved file: log.yaml:7: entry 2: pr-link "` + link(4) + ` XXX" must be ` + repo + "/pull/<number>"},
		{"nothing", base, base, main, "", "log.yaml: the pull request changes nothing"},
	} {
		t.Run(c.name, func(t *testing.T) {
			got, err := Resolve([]byte(c.base), []byte(c.pull), []byte(c.main), LinkRule{Repository: repo, Pull: 9}, "log.yaml")
			failed := ""
			if err != nil {
				failed = err.Error()
			}
			if failed != c.fails || string(got) != c.want {
				t.Errorf("got %s\n%s\nwant %s\n%s", failed, got, c.fails, c.want)
			}
		})
	}
}

// Fact 26: only the added placeholder becomes a link; the history keeps its own.
func TestCanonicalizeKeepsTheHistory(t *testing.T) {
	base := entryOf("k-a", "one", "XXX") + "  \n" + entryOf("k-b", "two", repo+"/pull/XXX")
	head := base + "\n" + entryOf("k-n", "new", "XXX")
	got, err := Canonicalize([]byte(base), []byte(head), LinkRule{Repository: repo, Pull: 42}, "log.yaml")
	if want := base + "\n" + entryOf("k-n", "new", link(42)); err != nil || string(got) != want {
		t.Errorf("fact-26: got %v\n%s\nwant\n%s", err, got, want)
	}
	if again, err := Canonicalize([]byte(base), got, LinkRule{Repository: repo, Pull: 42}, "log.yaml"); err != nil || string(again) != string(got) {
		t.Errorf("once more: got %v\n%s", err, again)
	}
}
