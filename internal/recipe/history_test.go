package recipe

import (
	"bytes"
	"fmt"
	"strings"
	"testing"
)

const published = "https://github.com/SemiAnalysisAI/InferenceX"

// oddities are what the published history has and no addition may have.
type oddities struct {
	separators map[string]int // blank lines between two entries, E empty and S spaces
	endSpaces  int            // lines that end with spaces
	links      []string       // that name no pull request by its plain address
	folded     int            // links that do not stand on their line
	repeats    int            // entries that say what an earlier one says
}

func oddLines(src []byte, entries []ChangelogEntry) oddities {
	o := oddities{separators: map[string]int{}}
	rule, said := LinkRule{Repository: published}, map[string]bool{}
	blocks, starts := entryBlocks(src), entryOffsets(src)
	for i, b := range blocks {
		if i+1 < len(blocks) {
			kind := ""
			for line := range bytes.Lines(src[starts[i]+len(b) : starts[i+1]]) {
				kind += map[bool]string{true: "E", false: "S"}[len(line) == 1]
			}
			o.separators[kind]++
		}
		e := entries[i]
		if !rule.canonical(e.PRLink) {
			o.links = append(o.links, strings.TrimPrefix(e.PRLink, published))
		}
		if !linkOnOneLine(b, e.PRLink) {
			o.folded++
		}
		if said[signature(e)] {
			o.repeats++
		}
		said[signature(e)] = true
	}
	for line := range bytes.Lines(src) {
		if bytes.HasSuffix(bytes.TrimSuffix(line, []byte("\n")), []byte(" ")) {
			o.endSpaces++
		}
	}
	return o
}

// The published history has 772 entries and every oddity that its contract
// counts. All are found, and none keeps it from being a base.
func TestPublishedHistoryIsABase(t *testing.T) {
	src := sharedFile(t, "inferencex", "perf-changelog.yaml")
	entries, err := ParseChangelog(src, "perf-changelog.yaml")
	if err != nil {
		t.Fatal(err)
	}
	if lines := bytes.Count(src, []byte("\n")); len(entries) != 772 || lines != 6380 {
		t.Errorf("%d entries in %d lines, want 772 in 6380", len(entries), lines)
	}
	o := oddLines(src, entries)
	if s := o.separators; s["E"] != 726 || s["S"] != 26+1 || s["SE"] != 15 || s["EE"]+s["ES"] != 3 || len(s) != 5 {
		t.Errorf("separators: got %v, want 726 empty, 27 of spaces, 15 of both, 3 doubled", s)
	}
	if o.endSpaces != 47 || o.folded != 1 || o.repeats != 16 || fmt.Sprint(o.links) != "[/pull/2305/changes /pull/XXX]" {
		t.Errorf("got %+v", o)
	}
	own := entryOf("dsr1-*", "Update the image", "XXX")
	for _, base := range []string{string(src), string(src) + "\n", string(src) + "  \n"} {
		blank := "\n"
		if strings.HasSuffix(base, "\n\n") {
			blank = ""
		}
		if got := judgedFor(base, base+blank+own, published, 5000); got != "1 added, 0 corrected" {
			t.Errorf("behind %q: %s", base[len(base)-3:], got)
		}
	}
}

// judgedFor is judged for the links of another repository.
func judgedFor(base, head, repository string, pull int) string {
	c, err := Changes([]byte(base), []byte(head), "perf-changelog.yaml")
	if err == nil {
		err = LinkRule{Repository: repository, Pull: pull}.Check(c)
	}
	if err != nil {
		return err.Error()
	}
	return fmt.Sprintf("%d added, %d corrected", len(c.Additions), len(c.Corrections))
}

// What the history has, a change behind it may not bring.
func TestPublishedOdditiesAreRefusedInAdditions(t *testing.T) {
	base := string(sharedFile(t, "inferencex", "perf-changelog.yaml"))
	own := entryOf("dsr1-*", "Update the image", "XXX")
	at := func(line int, rule string) string { return fmt.Sprintf("perf-changelog.yaml:%d: %s", 6380+line, rule) }
	for _, c := range []struct{ name, added, want string }{
		{"spaces-for-the-empty-line", "  \n" + own, at(1, oneEmptyLine)},
		{"spaces-and-an-empty-line", "  \n\n" + own, at(1, oneEmptyLine)},
		{"two-empty-lines", "\n\n" + own, at(1, oneEmptyLine)},
		{"empty-line-and-spaces", "\n  \n" + own, at(1, oneEmptyLine)},
		{"spaces-between-two-added", "\n" + own + "  \n" + own, at(7, oneEmptyLine)},
		{"spaces-and-empty-between-two-added", "\n" + own + "  \n\n" + own, at(7, oneEmptyLine)},
		{"two-empty-between-two-added", "\n" + own + "\n\n" + own, at(7, oneEmptyLine)},
		{"spaces-at-the-end-of-a-line", "\n" + strings.Replace(own, "XXX", "XXX  ", 1), at(6, endSpaces)},
		{"link-of-a-tab", "\n" + strings.Replace(own, "XXX", published+"/pull/5000/changes", 1),
			at(2, fmt.Sprintf("entry for dsr1-*: pr-link %q must be XXX or %s", published+"/pull/5000/changes", published+"/pull/5000"))},
		{"link-on-two-lines", "\n" + strings.Replace(own, "pr-link: ", "pr-link:\n    ", 1), at(2, linkOnALine)},
	} {
		if got := judgedFor(base, base+c.added, published, 5000); got != c.want {
			t.Errorf("%s: got\n%s\nwant\n%s", c.name, got, c.want)
		}
	}
}

// An entry that repeats an old one runs it again: a change may bring it, but a
// conflicted merge cannot tell it from what main has, and is left to a person.
func TestRepeatedEntryOfThePublishedHistory(t *testing.T) {
	base := sharedFile(t, "inferencex", "perf-changelog.yaml")
	blocks := entryBlocks(base)
	again, err := withLink(blocks[len(blocks)-1], "XXX")
	if err != nil {
		t.Fatal(err)
	}
	head := string(base) + "\n" + string(again)
	if got := judgedFor(string(base), head, published, 5000); got != "1 added, 0 corrected" {
		t.Errorf("clean: got %s", got)
	}
	main := string(base) + "\n" + entryOf("dsv4-*", "Theirs", published+"/pull/4999")
	_, err = Resolve(base, []byte(head), []byte(main), LinkRule{Repository: published, Pull: 5000}, "perf-changelog.yaml")
	if want := "perf-changelog.yaml: main has every entry of the pull request already: take main's file"; err == nil || err.Error() != want {
		t.Errorf("conflict: got %v, want %s", err, want)
	}
}
