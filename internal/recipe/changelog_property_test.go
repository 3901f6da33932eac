package recipe

import (
	"bytes"
	"fmt"
	"math/rand/v2"
	"reflect"
	"strings"
	"testing"

	"pgregory.net/rapid"
)

// drawnLog draws a history: entries with the separators, links and line ends
// that histories have. Its keys begin with who.
func drawnLog(t *rapid.T, who string, least int) string {
	var b strings.Builder
	for i := range rapid.IntRange(least, 4).Draw(t, who) {
		if i > 0 {
			b.WriteString(rapid.SampledFrom([]string{"\n", "  \n", " \n\n", "\n\n", "\n \n"}).Draw(t, "separator"))
		}
		e := entryOf(fmt.Sprintf("k-%s-%d", who, i), rapid.StringMatching(`[a-z ]{1,12}`).Draw(t, "text"),
			rapid.SampledFrom([]string{"XXX", "TBD", link(1), link(7), repo + "/pull/XXX", "https://example.test/o/r/pull/7"}).Draw(t, "link"))
		if rapid.Bool().Draw(t, "spaces") {
			e = strings.Replace(e, "  description:\n", "  description: \n", 1)
		}
		b.WriteString(e)
	}
	return b.String()
}

// drawnAdditions draws what a change may add behind base.
func drawnAdditions(t *rapid.T, base, who string, least int) string {
	var b strings.Builder
	for i := range rapid.IntRange(least, 4).Draw(t, who) {
		if i > 0 || !strings.HasSuffix(base, "\n\n") {
			b.WriteString("\n")
		}
		b.WriteString(entryOf(fmt.Sprintf("k-%s-%d", who, i), rapid.StringMatching(`[a-z ]{1,12}`).Draw(t, "text"),
			rapid.SampledFrom([]string{"XXX", repo + "/pull/XXX", link(9)}).Draw(t, "link")))
	}
	return b.String()
}

// unlinked are entries without their links.
func unlinked(t *rapid.T, src string) []ChangelogEntry {
	entries, err := ParseChangelog([]byte(src), "log.yaml")
	if err != nil {
		t.Fatal(err)
	}
	for i := range entries {
		entries[i].PRLink = ""
	}
	return entries
}

// Whatever both sides added: main's bytes come first and are all there, no entry
// of the pull request is lost, the result is a valid change of main, and a second
// resolution finds nothing to do.
func TestResolveAdditionsProperty(t *testing.T) {
	rule := LinkRule{Repository: repo, Pull: 9}
	rapid.Check(t, func(t *rapid.T) {
		base := drawnLog(t, "base", 1) + rapid.SampledFrom([]string{"", " \n", "\n"}).Draw(t, "end")
		main := base + drawnAdditions(t, base, "main", 0) + rapid.SampledFrom([]string{"", "  \n"}).Draw(t, "end of main")
		mine := drawnAdditions(t, base, "mine", 1)
		pull := base + mine
		out, err := Resolve([]byte(base), []byte(pull), []byte(main), rule, "log.yaml")
		if err != nil {
			t.Fatal(err)
		}
		if !bytes.HasPrefix(out, []byte(main)) {
			t.Fatalf("main's bytes are changed:\n%s", out)
		}
		want := append(unlinked(t, main), unlinked(t, pull)[len(unlinked(t, base)):]...)
		if got := unlinked(t, string(out)); !reflect.DeepEqual(got, want) {
			t.Fatalf("got %+v\nwant %+v", got, want)
		}
		if got, want := judged(main, string(out), 9), fmt.Sprintf("%d added, 0 corrected", strings.Count(mine, entryStart)); got != want {
			t.Fatalf("the result: %s, want %s", got, want)
		}
		if again, err := Resolve([]byte(base), []byte(pull), out, rule, "log.yaml"); err == nil || again != nil || !strings.Contains(err.Error(), "take main's file") {
			t.Fatalf("once more: %v\n%s", err, again)
		}
		if again, err := Resolve([]byte(main), out, out, rule, "log.yaml"); err == nil || again != nil {
			t.Fatalf("its own result against itself: %s", again)
		}
	})
}

// Corrected links are corrected on main too, and not one other byte.
func TestResolveCorrectionsProperty(t *testing.T) {
	rule := LinkRule{Repository: repo, Pull: 9}
	rapid.Check(t, func(t *rapid.T) {
		base := drawnLog(t, "base", 1)
		main := base + drawnAdditions(t, base, "main", 0)
		blocks := entryOffsets([]byte(base))
		chosen := rapid.SliceOfNDistinct(rapid.IntRange(0, len(blocks)-1), 1, len(blocks), rapid.ID[int]).Draw(t, "corrected")
		correct := func(src string) string {
			for _, i := range chosen {
				at := blockAt(src, i)
				new, err := withLink([]byte(src[at[0]:at[1]]), link(100+i))
				if err != nil {
					t.Fatal(err)
				}
				src = src[:at[0]] + string(new) + src[at[1]:]
			}
			return src
		}
		pull := correct(base)
		out, err := Resolve([]byte(base), []byte(pull), []byte(main), rule, "log.yaml")
		if err != nil {
			t.Fatal(err)
		}
		if want := correct(main); string(out) != want {
			t.Fatalf("got\n%s\nwant\n%s", out, want)
		}
		if again, err := Resolve([]byte(base), []byte(pull), out, rule, "log.yaml"); err == nil || again != nil || !strings.Contains(err.Error(), "take main's file") {
			t.Fatalf("once more: %v\n%s", err, again)
		}
	})
}

// blockAt is where entry i begins and ends.
func blockAt(src string, i int) [2]int {
	starts := append(entryOffsets([]byte(src)), len(src))
	return [2]int{starts[i], starts[i+1]}
}

// Canonicalizing changes the link lines of added entries and nothing else.
func TestCanonicalizeProperty(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		base := drawnLog(t, "base", 0)
		head := base + drawnAdditions(t, base, "mine", 1)
		if base == "" {
			head = strings.TrimPrefix(head, "\n")
		}
		out, err := Canonicalize([]byte(base), []byte(head), LinkRule{Repository: repo, Pull: 9}, "log.yaml")
		if err != nil {
			t.Fatal(err)
		}
		was, is := strings.Split(head, "\n"), strings.Split(string(out), "\n")
		if len(was) != len(is) {
			t.Fatalf("%d lines, %d before", len(is), len(was))
		}
		history := strings.Count(base, "\n")
		for i := range was {
			added := i >= history && strings.HasPrefix(was[i], string(linkStart))
			switch {
			case !added && was[i] != is[i]:
				t.Fatalf("line %d: got %q, want %q", i+1, is[i], was[i])
			case added && is[i] != "  pr-link: "+link(9):
				t.Fatalf("line %d: got %q", i+1, is[i])
			}
		}
	})
}

// Fragments give one file in whatever order they are read, and each is in it.
func TestCompileProperty(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		log := []byte(drawnLog(t, "base", 0))
		var fragments []Fragment
		for i := range rapid.IntRange(1, 6).Draw(t, "fragments") {
			fragments = append(fragments, Fragment{
				Name:  fmt.Sprintf("f%d", i),
				Entry: drawnEntry(t),
				Merge: rapid.IntRange(0, 3).Draw(t, "merge"),
				Pull:  rapid.IntRange(1, 99).Draw(t, "pull"),
			})
		}
		out, err := Compile(log, fragments, repo)
		if err != nil {
			t.Fatal(err)
		}
		rand.New(rand.NewPCG(rapid.Uint64().Draw(t, "seed"), 1)).Shuffle(len(fragments), func(i, j int) {
			fragments[i], fragments[j] = fragments[j], fragments[i]
		})
		if again, err := Compile(log, fragments, repo); err != nil || !bytes.Equal(out, again) {
			t.Fatalf("in another order: %v\n%s\nbefore\n%s", err, again, out)
		}
		added, err := Delta(log, out, "log.yaml")
		if err != nil || len(added) != len(fragments) {
			t.Fatalf("%d entries, %v, want %d", len(added), err, len(fragments))
		}
		for _, f := range fragments {
			f.Entry.PRLink = link(f.Pull)
			found := 0
			for _, e := range added {
				if reflect.DeepEqual(e, f.Entry) {
					found++
				}
			}
			if found == 0 {
				t.Fatalf("fragment %s is lost: %+v", f.Name, f.Entry)
			}
		}
	})
}

// drawnEntry draws any entry that the schema allows.
func drawnEntry(t *rapid.T) ChangelogEntry {
	e := ChangelogEntry{
		ConfigKeys:  rapid.SliceOfN(rapid.String(), 1, 3).Draw(t, "keys"),
		Description: rapid.SliceOfN(rapid.String(), 1, 3).Draw(t, "description"),
		PRLink:      rapid.SampledFrom([]string{"XXX", link(9), "yes", "a: b", "", "x #y", "- z"}).Draw(t, "link"),
	}
	if rapid.Bool().Draw(t, "one scenario") {
		e.ScenarioType = []string{rapid.SampledFrom([]string{"fixed-seq-len", "agentic-coding"}).Draw(t, "scenario")}
	}
	if e.AppendOnly = rapid.Bool().Draw(t, "append"); !e.AppendOnly {
		e.EvalsOnly, e.AllEvals = rapid.Bool().Draw(t, "evals"), rapid.Bool().Draw(t, "all")
		e.EvalMinPrefillEP = rapid.IntRange(0, 3).Draw(t, "ep")
	}
	return e
}

// What AppendEntry writes reads as the entry, alone and behind any history; a
// fragment reads as it too.
func TestEntriesReadBackProperty(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		e, base := drawnEntry(t), drawnLog(t, "base", 0)
		head, err := AppendEntry([]byte(base), e)
		if err != nil {
			t.Fatal(err)
		}
		added, err := Delta([]byte(base), head, "log.yaml")
		if err != nil || !bytes.HasPrefix(head, []byte(base)) || !reflect.DeepEqual(added, []ChangelogEntry{e}) {
			t.Fatalf("got %+v, %v\nwant %+v\n%s", added, err, e, head)
		}
		f, err := ParseFragment(FragmentText(e), "changelog.d/f.yaml")
		if e.PRLink == "" {
			e.PRLink = "XXX"
		}
		if err != nil || !reflect.DeepEqual(f.Entry, e) {
			t.Fatalf("as a fragment: got %+v, %v\nwant %+v", f.Entry, err, e)
		}
	})
}
