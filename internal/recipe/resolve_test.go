package recipe

import (
	"bytes"
	"fmt"
	"reflect"
	"strings"
	"testing"

	"pgregory.net/rapid"
)

const repo = "https://github.com/lab/recipes"

// entryOf is an entry in the published form.
func entryOf(key, text, link string) string {
	return "- config-keys:\n    - " + key + "\n  description:\n    - \"" + text + "\"\n  pr-link: " + link + "\n"
}

func link(n int) string { return fmt.Sprintf("%s/pull/%d", repo, n) }

func TestResolve(t *testing.T) {
	base := entryOf("k-a", "one", link(1)) + " \n" + entryOf("k-b", "two", "XXX")
	main := base + "\n" + entryOf("k-c", "theirs", link(8))
	mine := "\n" + entryOf("k-d", "mine", "XXX") + "\n" + entryOf("k-e", "mine too", link(9))
	rule := LinkRule{Repository: repo, Pull: 9}
	for _, c := range []struct{ name, base, pull, main, want, fails string }{
		{"additions", base, base + mine, main, main + "\n" + entryOf("k-d", "mine", link(9)) + "\n" + entryOf("k-e", "mine too", link(9)), ""},
		{"one is on main already", base, base + mine, main + "\n" + entryOf("k-d", "mine", link(7)), main + "\n" + entryOf("k-d", "mine", link(7)) + "\n" + entryOf("k-e", "mine too", link(9)), ""},
		{"all are on main already", base, base + mine, main + mine, "", "take main's file"},
		{"nothing", base, base, main, "", "the pull request changes nothing"},
		{"history is changed", base, strings.Replace(base, "one", "0ne", 1), main, "", "entry 1 was changed: history is immutable, add an entry at the end instead"},
		{"foreign link", base, base + "\n" + entryOf("k-d", "mine", link(3)), main, "", "must be XXX or " + link(9)},
		{"main is broken", base, base + mine, main + "\tx\n", "", "main's side: log.yaml:18:1: a tab is not allowed"},
		{"correction", base, strings.Replace(base, "XXX", link(4), 1), main, strings.Replace(main, "XXX", link(4), 1), ""},
		{"correction made already", base, strings.Replace(base, "XXX", link(4), 1), strings.Replace(main, "XXX", link(4), 1), "", "take main's file"},
		{"correction made otherwise", base, strings.Replace(base, "XXX", link(4), 1), strings.Replace(main, "XXX", link(5), 1), "", "somebody else corrected it"},
		{"corrected entry is another one", base, strings.Replace(base, "XXX", link(4), 1), strings.Replace(main, "two", "2", 1), "", "entry 2 is another one on main"},
	} {
		got, err := Resolve([]byte(c.base), []byte(c.pull), []byte(c.main), rule, "log.yaml")
		if (err == nil) != (c.fails == "") || err != nil && !strings.Contains(err.Error(), c.fails) || string(got) != c.want {
			t.Errorf("%s: got %v\n%s\nwant %s\n%s", c.name, err, got, c.fails, c.want)
		}
	}
}

// Resolving never loses an entry of either side, and no byte of main.
func TestResolveKeepsEverything(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		entries := func(who string, min int) string {
			var b strings.Builder
			for i := range rapid.IntRange(min, 4).Draw(t, who) {
				if b.Len() > 0 || who != "base" {
					b.WriteString("\n")
				}
				b.WriteString(entryOf(fmt.Sprintf("k-%s-%d", who, i), rapid.StringMatching(`[a-z ]{1,12}`).Draw(t, "text"), link(1)))
			}
			return b.String()
		}
		base := entries("base", 1)
		main := base + entries("main", 0)
		mine := strings.ReplaceAll(entries("mine", 1), link(1), "XXX")
		got, err := Resolve([]byte(base), []byte(base+mine), []byte(main), LinkRule{Repository: repo, Pull: 7}, "log.yaml")
		if err != nil {
			t.Fatal(err)
		}
		if !bytes.HasPrefix(got, []byte(main)) {
			t.Fatalf("main's bytes are changed:\n%s", got)
		}
		all, err := ParseChangelog(got, "log.yaml")
		if err != nil {
			t.Fatal(err)
		}
		theirs, err := ParseChangelog([]byte(main), "log.yaml")
		if err != nil {
			t.Fatal(err)
		}
		if want := len(theirs) + strings.Count(mine, entryStart); len(all) != want {
			t.Fatalf("%d entries, want %d:\n%s", len(all), want, got)
		}
		for _, e := range all[len(theirs):] {
			if e.PRLink != link(7) {
				t.Fatalf("link %s", e.PRLink)
			}
		}
	})
}

func TestCanonicalize(t *testing.T) {
	base := entryOf("k-a", "one", "XXX")
	rule := LinkRule{Repository: repo, Pull: 9}
	own := entryOf("k-c", "own", link(9))
	for _, c := range []struct{ name, head, want, fails string }{
		{"placeholder", base + "\n" + entryOf("k-b", "two", "XXX"), base + "\n" + entryOf("k-b", "two", link(9)), ""},
		{"long placeholder and own link", base + "\n" + entryOf("k-b", "two", repo+"/pull/XXX") + "\n" + own, base + "\n" + entryOf("k-b", "two", link(9)) + "\n" + own, ""},
		{"nothing added", base, base, ""},
		{"foreign link", base + "\n" + entryOf("k-b", "two", link(8)), "", "must be XXX or " + link(9)},
		{"folded link", base + "\n" + strings.Replace(entryOf("k-b", "two", "XXX"), "pr-link: XXX", "pr-link:\n    XXX", 1), "", "pr-link must stand on a line of its own"},
	} {
		got, err := Canonicalize([]byte(base), []byte(c.head), rule, "log.yaml")
		if (err == nil) != (c.fails == "") || err != nil && !strings.Contains(err.Error(), c.fails) || string(got) != c.want {
			t.Errorf("%s: got %v\n%s\nwant %s\n%s", c.name, err, got, c.fails, c.want)
		}
	}
}

func TestFragments(t *testing.T) {
	read := func(src, file string) Fragment {
		f, err := ParseFragment([]byte(src), file)
		if err != nil {
			t.Fatal(err)
		}
		return f
	}
	b := read("config-keys: [k-b]\ndescription: [\"later\"]\n", "changelog.d/b.yaml")
	a := read("config-keys: [k-a]\ndescription: [\"same merge, first name\"]\nevals-only: true\n", "changelog.d/a.yaml")
	c := read("config-keys: [k-c]\ndescription: [\"first\"]\npr-link: "+link(3)+"\n", "changelog.d/z.yaml")
	b.Merge, b.Pull, a.Merge, a.Pull, c.Merge = 1, 5, 1, 5, 0
	log := entryOf("k-0", "history", "XXX")
	got, err := Compile([]byte(log), []Fragment{b, a, c}, repo)
	if err != nil {
		t.Fatal(err)
	}
	want := log + "\n" + entryOf("k-c", "first", link(3)) + "\n" + strings.TrimSuffix(entryOf("k-a", "same merge, first name", link(5)), "\n") + "\n  evals-only: true\n" + "\n" + entryOf("k-b", "later", link(5))
	if string(got) != want {
		t.Errorf("got\n%s\nwant\n%s", got, want)
	}
	b.Pull = 0
	if _, err := Compile([]byte(log), []Fragment{b}, repo); err == nil || err.Error() != "fragment b: its pull request is not known: write its pr-link" {
		t.Errorf("got %v", err)
	}
	for src, want := range map[string]string{
		"":                                    "changelog.d/x.yaml:1:1: the file must end with a line feed",
		"\n":                                  "changelog.d/x.yaml:1: the file is empty",
		"config-keys: [a]\n":                  "changelog.d/x.yaml:1:1: description is missing",
		"config-keys: []\ndescription: [b]\n": "config-keys: must not be empty",
		"config-keys: [a]\ndescription: [b]\nx: 1\n": "x",
		"- config-keys: [a]\n":                       "want a mapping",
	} {
		if _, err := ParseFragment([]byte(src), "changelog.d/x.yaml"); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%q: got %v, want %s", src, err, want)
		}
	}
}

func TestFragmentText(t *testing.T) {
	e := ChangelogEntry{ConfigKeys: []string{"k-a", "k-*"}, Description: []string{"Say: \"this\" # not a comment", "and that"}, PRLink: "XXX", ScenarioType: []string{"fixed-seq-len"}, AllEvals: true}
	src := FragmentText(e)
	f, err := ParseFragment(src, "changelog.d/a.yaml")
	if err != nil || !reflect.DeepEqual(f.Entry, e) || f.Name != "a" {
		t.Errorf("%s\nreads back as %+v, %v", src, f, err)
	}
	e.PRLink = link(4)
	if f, err := ParseFragment(FragmentText(e), "changelog.d/a.yaml"); err != nil || f.Entry.PRLink != link(4) {
		t.Errorf("got %+v, %v", f, err)
	}
}
