package recipe

import (
	"fmt"
	"strings"
	"testing"
)

// judged is what the strict rules say of a change: what it adds and corrects,
// or why not. pull 0 is the main branch.
func judged(base, head string, pull int) string {
	c, err := Changes([]byte(base), []byte(head), "log.yaml")
	if err == nil {
		err = LinkRule{Repository: repo, Pull: pull}.Check(c)
	}
	if err != nil {
		return err.Error()
	}
	return fmt.Sprintf("%d added, %d corrected", len(c.Additions), len(c.Corrections))
}

// ruling is one change and what the rules say of it.
type ruling struct {
	name, base, head string
	pull             int
	want             string
}

func checkRulings(t *testing.T, rulings []ruling) {
	for _, c := range rulings {
		t.Run(c.name, func(t *testing.T) {
			if got := judged(c.base, c.head, c.pull); got != c.want {
				t.Errorf("got\n%s\nwant\n%s", got, c.want)
			}
		})
	}
	t.Logf("%d changes", len(rulings))
}

const (
	oneEmptyLine = "exactly one empty line must stand before an added entry"
	linkOnALine  = "pr-link must stand on a line of its own that begins with two spaces"
	endSpaces    = "spaces at the end of the line: remove them"
	takeFromBase = "bytes of the history were changed: take them from the base"
	immutable    = "history is immutable, add an entry at the end instead"
)

// The rules of comparison (C), of links (C5) and of bytes (R) beyond the plain
// cases of TestDelta.
func TestChangelogRules(t *testing.T) {
	one := entryOf("k-a", "one", link(1))
	two := one + "\n" + entryOf("k-b", "two", "XXX")
	three := entryOf("k-c", "three", "XXX")
	folded := strings.Replace(three, "pr-link: XXX", "pr-link:\n    XXX", 1)
	replaced := func(s, old, new string) string { return strings.Replace(s, old, new, 1) }
	checkRulings(t, []ruling{
		{"C1-last-entry-gone", two, one, 9, "log.yaml: only 1 of the history's 2 entries left: it must not shrink, take the base's file and add to its end"},
		{"C1-all-gone", two, "[]\n", 9, "log.yaml: only 0 of the history's 2 entries left: it must not shrink, take the base's file and add to its end"},
		{"C2-other-keys", two, replaced(two, "k-b", "k-x"), 9, "log.yaml:7: entry 2 was changed: " + immutable},
		{"C2-swapped", two, entryOf("k-b", "two", "XXX") + "\n" + one, 9, "log.yaml:1: entry 1 was changed: " + immutable},
		{"C2-scenario-gained", one, one + "  scenario-type:\n    - agentic-coding\n", 9, "log.yaml:1: entry 1 was changed: " + immutable},
		{"C2-link-and-text", two, replaced(replaced(two, "XXX", link(3)), "two", "2"), 9, "log.yaml:7: entry 2 was changed: " + immutable},
		{"C2-default-written-out", one, one + "  evals-only: false\n", 9, "log.yaml:6: history was reformatted: take these bytes from the base, only additions at the end are allowed"},
		{"C2-default-written-out-and-addition", one, one + "  evals-only: false\n\n" + three, 9, "log.yaml:6: " + oneEmptyLine},
		{"C3-placeholder", two, replaced(two, "XXX", link(3)), 9, "0 added, 1 corrected"},
		{"C3-empty", replaced(two, "XXX", `""`), replaced(two, "XXX", link(3)), 9, "0 added, 1 corrected"},
		{"C3-foreign", replaced(two, "XXX", "https://example.test/o/r/pull/4"), replaced(two, "XXX", link(3)), 9, "0 added, 1 corrected"},
		{"C3-another-canonical", two, replaced(two, link(1), link(77)), 9, "0 added, 1 corrected"},
		{"C3-on-main", two, replaced(two, "XXX", link(3)), 0, "0 added, 1 corrected"},
		{"C3-two-at-once", two, replaced(replaced(two, link(1), link(4)), "XXX", link(3)), 9, "0 added, 2 corrected"},
		{"C3-to-a-placeholder", two, replaced(two, link(1), "XXX"), 9, `log.yaml:1: entry 1: pr-link "XXX" must be ` + repo + "/pull/<number>"},
		{"C3-to-a-foreign-one", two, replaced(two, link(1), "https://example.test/o/r/pull/4"), 9, `log.yaml:1: entry 1: pr-link "https://example.test/o/r/pull/4" must be ` + repo + "/pull/<number>"},
		{"C3-two-wrong-ones-are-both-told", two, replaced(replaced(two, link(1), link(0)), "XXX", "YYY"), 9,
			`log.yaml:1: entry 1: pr-link "` + link(0) + `" must be ` + repo + "/pull/<number>\n" + `log.yaml:7: entry 2: pr-link "YYY" must be ` + repo + "/pull/<number>"},
		{"C4-both", two, replaced(two, "XXX", link(3)) + "\n" + three, 9, "log.yaml:7: entry 2 has a corrected link: corrections and additions need separate changes"},
		{"C5-placeholder", one, one + "\n" + three, 9, "1 added, 0 corrected"},
		{"C5-long-placeholder", one, one + "\n" + replaced(three, "XXX", repo+"/pull/XXX"), 9, "1 added, 0 corrected"},
		{"C5-own", one, one + "\n" + replaced(three, "XXX", link(9)), 9, "1 added, 0 corrected"},
		{"C5-own-in-quotes", one, one + "\n" + replaced(three, "XXX", `"`+link(9)+`"`), 9, "1 added, 0 corrected"},
		{"C5-TBD", one, one + "\n" + replaced(three, "XXX", "TBD"), 9, `log.yaml:7: entry for k-c: pr-link "TBD" must be XXX or ` + link(9)},
		{"C5-other-pull", one, one + "\n" + replaced(three, "XXX", link(8)), 9, `log.yaml:7: entry for k-c: pr-link "` + link(8) + `" must be XXX or ` + link(9)},
		{"C5-leading-zero", one, one + "\n" + replaced(three, "XXX", repo+"/pull/09"), 9, `log.yaml:7: entry for k-c: pr-link "` + repo + `/pull/09" must be XXX or ` + link(9)},
		{"C5-other-repository", one, one + "\n" + replaced(three, "XXX", "https://github.com/lab/other/pull/9"), 9, `log.yaml:7: entry for k-c: pr-link "https://github.com/lab/other/pull/9" must be XXX or ` + link(9)},
		{"C5-files-tab", one, one + "\n" + replaced(three, "XXX", link(9)+"/changes"), 9, `log.yaml:7: entry for k-c: pr-link "` + link(9) + `/changes" must be XXX or ` + link(9)},
		{"C5-main-canonical", one, one + "\n" + replaced(three, "XXX", link(8)), 0, "1 added, 0 corrected"},
		{"C5-main-placeholder", one, one + "\n" + three, 0, `log.yaml:7: entry for k-c: pr-link "XXX" must be ` + repo + "/pull/<number>"},
		{"C5-main-long-placeholder", one, one + "\n" + replaced(three, "XXX", repo+"/pull/XXX"), 0, `log.yaml:7: entry for k-c: pr-link "` + repo + `/pull/XXX" must be ` + repo + "/pull/<number>"},
		{"C5-every-wrong-link-is-told", one, one + "\n" + replaced(three, "XXX", "TBD") + "\n" + replaced(three, "XXX", link(8)), 9,
			`log.yaml:7: entry for k-c: pr-link "TBD" must be XXX or ` + link(9) + "\n" + `log.yaml:13: entry for k-c: pr-link "` + link(8) + `" must be XXX or ` + link(9)},
		{"R1-byte-of-the-history", one, replaced(one, "- k-a", "-  k-a") + "\n" + three, 9, "log.yaml:2: " + takeFromBase},
		{"R2-spaces-and-empty-line", one, one + " \n\n" + three, 9, "log.yaml:6: " + oneEmptyLine},
		{"R2-base-without-final-newline", strings.TrimSuffix(one, "\n"), one + "\n" + three, 9, fmt.Sprintf("base: log.yaml:5:%d: the file must end with a line feed", len("  pr-link: "+link(1))+1)},
		{"R3-no-empty-line", one, one + "\n" + three + three, 9, "log.yaml:12: " + oneEmptyLine},
		{"R3-spaces-and-empty-line", one, one + "\n" + three + " \n\n" + three, 9, "log.yaml:12: " + oneEmptyLine},
		{"R3-empty-line-and-spaces", one, one + "\n" + three + "\n \n" + three, 9, "log.yaml:12: " + oneEmptyLine},
		{"R3-comment", one, one + "\n" + three + "\n# note\n" + three, 9, "log.yaml:14: " + oneEmptyLine},
		{"R4-spaces-at-end", one, one + "\n" + three + "  \n", 9, "log.yaml:12: the file must not end with an empty line"},
		{"R5-lines", two, replaced(two, "XXX", link(3)+"\n"), 9, "log.yaml: a link correction must keep the number of lines, 11 before and 12 now"},
		{"R5-two-other-lines", two, replaced(replaced(replaced(two, "XXX", link(3)), `"one"`, "one"), `"two"`, "two"), 9,
			"log.yaml:4: a link correction must change pr-link lines alone\nlog.yaml:10: a link correction must change pr-link lines alone"},
		{"R5-requoted-link-beside", two, replaced(replaced(two, "XXX", link(3)), link(1), `"`+link(1)+`"`), 9, "log.yaml: 2 lines differ for 1 corrected links"},
		{"R5-folded-before", replaced(one, "pr-link: ", "pr-link:\n    "), replaced(one, "pr-link: "+link(1), "pr-link:\n    "+link(2)), 9, "log.yaml:6: a link correction must change pr-link lines alone"},
		{"R5-unfolded", replaced(one, "pr-link: ", "pr-link:\n    "), replaced(one, link(1), link(2)), 9, "log.yaml: a link correction must keep the number of lines, 6 before and 5 now"},
		{"R6-key-order", two, replaced(two, "  description:\n    - \"one\"\n  pr-link: "+link(1)+"\n", "  pr-link: "+link(1)+"\n  description:\n    - \"one\"\n"), 9,
			"log.yaml:3: history was reformatted: take these bytes from the base, only additions at the end are allowed"},
		{"R6-empty-line-gained", two, replaced(two, "\n\n", "\n\n\n"), 9, "log.yaml:7: history was reformatted: take these bytes from the base, only additions at the end are allowed"},
		{"R6-nothing", two, two, 9, "0 added, 0 corrected"},
		{"form-folded-link", one, one + "\n" + folded, 9, "log.yaml:7: " + linkOnALine},
		{"form-quoted-link-key", one, one + "\n" + replaced(three, "pr-link", `"pr-link"`), 9, "log.yaml:7: " + linkOnALine},
		{"form-link-line-inside-the-text", one, one + "\n" + replaced(three, `    - "three"`, "    - \"three\n  pr-link: y\""), 9, "log.yaml:7: " + linkOnALine},
		{"form-link-with-comment", one, one + "\n" + replaced(three, "XXX", "XXX # soon"), 9, "1 added, 0 corrected"},
		{"form-everything-is-told", one, one + "\n" + replaced(three, `"three"`, `"three"  `) + "\n\n" + folded + "\n", 9,
			"log.yaml:10: " + endSpaces + "\nlog.yaml:12: " + oneEmptyLine + "\nlog.yaml:14: " + linkOnALine + "\nlog.yaml:20: the file must not end with an empty line"},
	})
}

// The examples of the changelog's contract, by their numbers. Where a change
// without the strict rules would be accepted, the rules here still refuse it.
func TestChangelogFacts(t *testing.T) {
	own := entryOf("k-n", "new", "XXX")
	base := entryOf("k-a", "one", link(1)) + "\n" + entryOf("k-b", "two", "XXX")
	replaced := func(s, old, new string) string { return strings.Replace(s, old, new, 1) }
	checkRulings(t, []ruling{
		{"fact-01-block-with-placeholder", base, base + "\n" + own, 42, "1 added, 0 corrected"},
		{"fact-02-no-final-line-feed", base, base + "\n" + strings.TrimSuffix(own, "\n"), 42, "log.yaml:17:15: the file must end with a line feed"},
		{"fact-03-nested-by-indentation", base, base + "\n  " + strings.ReplaceAll(strings.TrimSuffix(own, "\n"), "\n", "\n  ") + "\n", 42, "log.yaml:7: did not find expected key"},
		{"fact-04-description-twice", base, base + "\n" + replaced(own, "  pr-link", "  description:\n    - again\n  pr-link"), 42, `log.yaml:17:3: entry 3: key "description" is written twice, first in line 15`},
		{"fact-05-link-of-another-pull", base, base + "\n" + replaced(own, "XXX", link(41)), 42, `log.yaml:13: entry for k-n: pr-link "` + link(41) + `" must be XXX or ` + link(42)},
		{"fact-06-placeholder-without-a-pull", base, base + "\n" + own, 0, `log.yaml:13: entry for k-n: pr-link "XXX" must be ` + repo + "/pull/<number>"},
		{"fact-07-placeholder-becomes-canonical", base, replaced(base, "XXX", link(42)), 42, "0 added, 1 corrected"},
		{"fact-08-and-an-appended-entry", base, replaced(base, "XXX", link(42)) + "\n" + own, 42, "log.yaml:7: entry 2 has a corrected link: corrections and additions need separate changes"},
		{"fact-09-canonical-to-canonical", base, replaced(base, link(1), link(2)), 42, "0 added, 1 corrected"},
		{"fact-10-changed-description", base, replaced(base, "one", "1") + "\n" + own, 42, "log.yaml:1: entry 1 was changed: " + immutable},
		{"fact-11-entry-gone", base, entryOf("k-b", "two", "XXX"), 42, "log.yaml: only 1 of the history's 2 entries left: it must not shrink, take the base's file and add to its end"},
		{"fact-12-trailing-space-in-the-history", base, replaced(base, "k-a\n", "k-a \n") + "\n" + own, 42, "log.yaml:2: " + takeFromBase},
		{"fact-13-two-blank-lines-before", base, base + "\n\n" + own, 42, "log.yaml:12: " + oneEmptyLine},
		{"fact-13-two-blank-lines-between", base, base + "\n" + own + "\n\n" + own, 42, "log.yaml:18: " + oneEmptyLine},
		{"fact-14-two-line-feeds-at-the-end", base, base + "\n" + own + "\n", 42, "log.yaml:18: the file must not end with an empty line"},
		{"fact-15-correction-and-whitespace", base, replaced(replaced(base, "XXX", link(42)), "k-a\n", "k-a \n"), 42, "log.yaml:2: a link correction must change pr-link lines alone"},
		{"fact-16-quotes-alone", base, replaced(base, `"one"`, "'one'"), 42, "log.yaml:4: history was reformatted: take these bytes from the base, only additions at the end are allowed"},
		{"fact-17-base-ends-with-an-empty-line", base + "\n", base + "\n" + own, 42, "1 added, 0 corrected"},
		{"fact-17-and-one-more", base + "\n", base + "\n\n" + own, 42, "log.yaml:13: " + oneEmptyLine},
		{"fact-18-base-ends-with-spaces", base + "  \n", base + "  \n\n" + own, 42, "1 added, 0 corrected"},
		{"fact-18-without-the-empty-line", base + "  \n", base + "  \n" + own, 42, "log.yaml:13: " + oneEmptyLine},
		{"fact-19-tab-in-a-description", base, base + "\n" + replaced(own, "new", "ne\tw"), 42, "log.yaml:16:10: a tab is not allowed"},
		{"fact-20-begins-with-description", base, base + "\n- description: [new]\n  config-keys: [k-n]\n  pr-link: XXX\n", 42, `log.yaml:13: entry 3 must begin with "- config-keys:" at the start of its line`},
		{"fact-21-comment-before", base, base + "\n# why\n" + own, 42, "log.yaml:12: " + oneEmptyLine},
		{"fact-22-inserted-between", base, replaced(base, "\n\n", "\n\n"+own+"\n"), 42, "log.yaml:7: entry 2 was changed: " + immutable},
		{"fact-23-whitespace-line-removed", base + "  \n", base + "\n" + own, 42, "log.yaml:12: " + takeFromBase},
		{"fact-23-alone", base + "  \n", base, 42, "log.yaml:12: history was reformatted: take these bytes from the base, only additions at the end are allowed"},
		{"fact-24-merge-replaced-an-old-link", base, replaced(base, link(1), link(7)) + "\n" + own, 42, "log.yaml:1: entry 1 has a corrected link: corrections and additions need separate changes"},
		{"fact-25-spaces-of-an-old-link-stripped", replaced(base, link(1), link(1)+"  "), base + "\n" + own, 42, "log.yaml:5: " + takeFromBase},
	})
}

// A line of the history that begins with two hyphens looks like the header of a
// line diff once it is removed. The bytes are compared, not a diff.
func TestRemovedLineThatLooksLikeAHeader(t *testing.T) {
	base := strings.Replace(entryOf("k-a", "one", link(1)), `"one"`, "\"one\n-- two\"", 1)
	head := strings.Replace(base, "\n-- two", "", 1) + "\n" + entryOf("k-n", "new", "XXX")
	if got, want := judged(base, head, 9), "log.yaml:1: entry 1 was changed: "+immutable; got != want {
		t.Errorf("got %s, want %s", got, want)
	}
}

// What says nothing is not a change: without text, or with blank lines alone.
func TestNothingAdded(t *testing.T) {
	base := entryOf("k-a", "one", link(1))
	for _, c := range []struct{ head, want string }{
		{base, "log.yaml: nothing is added"},
		{base + "\n", "log.yaml:6: history was reformatted: take these bytes from the base, only additions at the end are allowed"},
		{base + "# note\n", "log.yaml:6: history was reformatted: take these bytes from the base, only additions at the end are allowed"},
		{strings.Replace(base, link(1), link(2), 1), "log.yaml: nothing is added, only links are corrected"},
	} {
		if _, err := Delta([]byte(base), []byte(c.head), "log.yaml"); err == nil || err.Error() != c.want {
			t.Errorf("%q: got %v, want %s", c.head, err, c.want)
		}
	}
}
