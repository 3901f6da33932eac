package recipe

import (
	"bytes"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"
)

const goodLog = `- config-keys:
    - key-a
  description:
    - "First"
  pr-link: https://example.test/o/r/pull/1

- config-keys:
    - key-b-*
  description:
    - Second
  pr-link: XXX
  scenario-type:
    - agentic-coding
  append-only: true
`

func TestParseChangelog(t *testing.T) {
	got, err := ParseChangelog([]byte(goodLog), "log.yaml")
	if err != nil {
		t.Fatal(err)
	}
	want := []ChangelogEntry{
		{ConfigKeys: []string{"key-a"}, Description: []string{"First"}, PRLink: "https://example.test/o/r/pull/1"},
		{ConfigKeys: []string{"key-b-*"}, Description: []string{"Second"}, PRLink: "XXX", ScenarioType: []string{"agentic-coding"}, AppendOnly: true},
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
}

func TestParseChangelogRefuses(t *testing.T) {
	for _, c := range []struct{ name, old, new, want string }{
		{"P1-no-final-newline", "append-only: true\n", "append-only: true", "log.yaml:14:20: the file must end with a line feed"},
		{"P2-carriage-return", "\"First\"", "\"First\"\r", "log.yaml:4:14: a carriage return is not allowed"},
		{"P3-tab", "First", "Fi\trst", "log.yaml:4:10: a tab is not allowed"},
		{"P4-nul", "First", "Fi\x00rst", "log.yaml:4:10: a NUL byte is not allowed"},
		{"P5-encoding", "First", "Fi\xffrst", "log.yaml:4:10: not valid UTF-8"},
		{"P1-to-P5-all-told", "- key-a\n  description:\n    - \"First\"\n", "- key-a\r\n  description:\n    - é\"Fi\trst\x00\"\xff\xff\n", "log.yaml:2:12: a carriage return is not allowed\nlog.yaml:4:11: a tab is not allowed\nlog.yaml:4:15: a NUL byte is not allowed\nlog.yaml:4:17: not valid UTF-8"},
		{"P6-yaml", "\"First\"", "\"First", "log.yaml:4: found unexpected end of stream"},
		{"P7-repeated", "append-only: true", "append-only: true\n  append-only: true", `log.yaml:15:3: entry 2: key "append-only" is written twice, first in line 14`},
		{"P7-key-is-a-list", "append-only: true", "? [a]\n  : true", `log.yaml:14:5: entry 2: a key must be a string, got a list`},
		{"P7-repeated-below", "- Second", "- {a: 1, a: 2}", `log.yaml:10:7: entry 2.description: want a string, got a mapping`},
		{"P8-not-a-list", goodLog, "a: 1\n", "log.yaml:1: want a list of entries"},
		{"P8-empty", goodLog, "\n", "log.yaml:1: want a list of entries"},
		{"P9-other-first-key", "- config-keys:\n    - key-b-*\n  description:\n    - Second\n", "- description:\n    - Second\n  config-keys:\n    - key-b-*\n", `log.yaml:7: entry 2 must begin with "- config-keys:" at the start of its line`},
		{"P9-indented", "- config-keys:\n    - key-b-*", "-  config-keys:\n    - key-b-*", "log.yaml:9: did not find expected '-' indicator"},
		{"P9-nested", "- Second", "- \"Second\n- config-keys:\"", `log.yaml:11: a line begins with "- config-keys:" inside an entry`},
		{"P9-nested-in-the-first", "- \"First\"", "- \"First\n- config-keys:\"", `log.yaml:5: a line begins with "- config-keys:" inside an entry`},
		{"P9-nested-and-indented", goodLog, "-  config-keys: [\"\n- config-keys:\"]\n", `log.yaml:1: entry 1 must begin with "- config-keys:" at the start of its line`},
		{"P9-not-a-mapping", goodLog, "- config-keys:\n    - k\n  description: [d]\n  pr-link: x\n- x\n", `log.yaml:5: entry 2 must begin with "- config-keys:" at the start of its line`},
		{"P10-not-a-mapping", "append-only: true\n", "append-only: true\n- config-keys:x\n", `log.yaml:15:3: entry 3: want a mapping, got "config-keys:x"`},
		{"P11-unknown-key", "append-only", "append-onyl", `log.yaml:14:3: entry 2: unknown field "append-onyl" (did you mean "append-only"?)`},
		{"P11-no-description", "  description:\n    - Second\n", "", "log.yaml:7:3: entry 2: description is missing"},
		{"P11-null-link", "pr-link: XXX", "pr-link:", "log.yaml:11:11: entry 2.pr-link: want a string, got null"},
		{"P11-empty-list", "\n    - key-b-*", " []", "log.yaml:7:16: entry 2.config-keys: must not be empty"},
		{"P11-scenario", "- agentic-coding", "- agentic", `log.yaml:13:7: entry 2.scenario-type: want fixed-seq-len or agentic-coding, got "agentic"`},
		{"P11-append-and-evals", "append-only: true", "append-only: true\n  all-evals: true", "log.yaml:14:16: entry 2.append-only: not allowed beside evals-only, all-evals or eval-min-prefill-ep"},
		{"P11-min-ep", "append-only: true", "eval-min-prefill-ep: 0", "log.yaml:14:24: entry 2.eval-min-prefill-ep: must be greater than 0, got 0"},
	} {
		src := strings.Replace(goodLog, c.old, c.new, 1)
		_, err := ParseChangelog([]byte(src), "log.yaml")
		if err == nil || err.Error() != c.want {
			t.Errorf("%s:\n got %v\nwant %s", c.name, err, c.want)
		}
	}
}

func TestDelta(t *testing.T) {
	first, second, _ := strings.Cut(goodLog, "\n\n")
	first += "\n"
	for _, c := range []struct{ name, base, head, want string }{
		{"one-added", first, goodLog, ""},
		{"empty-base", "", goodLog, ""},
		{"base-ends-with-empty-line", first + "\n", first + "\n" + second, ""},
		{"base-ends-with-spaces", first + "  \n", first + "  \n\n" + second, ""},
		{"nothing-added", goodLog, goodLog, "log.yaml: nothing is added"},
		{"C1-removed", goodLog, first, "log.yaml: only 1 of the history's 2 entries left: it must not shrink, take the base's file and add to its end"},
		{"C2-changed", first, strings.Replace(goodLog, "First", "1st", 1), "log.yaml:1: entry 1 was changed: history is immutable, add an entry at the end instead"},
		{"C2-inserted", goodLog, second + "\n" + goodLog, "log.yaml:1: entry 1 was changed: history is immutable, add an entry at the end instead"},
		{"C3-link-alone", first, strings.Replace(first, "pull/1", "pull/2", 1), "log.yaml: nothing is added, only links are corrected"},
		{"C4-link-and-addition", first, strings.Replace(goodLog, "pull/1", "pull/2", 1), "log.yaml:1: entry 1 has a corrected link: corrections and additions need separate changes"},
		{"R1-requoted", first, strings.Replace(goodLog, `"First"`, "First", 1), "log.yaml:4: bytes of the history were changed: take them from the base"},
		{"R2-no-empty-line", first, first + second, "log.yaml:6: exactly one empty line must stand before an added entry"},
		{"R2-two-empty-lines", first, first + "\n\n" + second, "log.yaml:6: exactly one empty line must stand before an added entry"},
		{"R2-comment", first, first + "\n# x\n" + second, "log.yaml:6: exactly one empty line must stand before an added entry"},
		{"R2-spaces", first, first + " \n" + second, "log.yaml:6: exactly one empty line must stand before an added entry"},
		{"R3-two-empty-lines", "", first + "\n\n" + second, "log.yaml:6: exactly one empty line must stand before an added entry"},
		{"R3-spaces", "", first + "  \n" + second, "log.yaml:6: exactly one empty line must stand before an added entry"},
		{"R4-empty-line-at-end", first, goodLog + "\n", "log.yaml:15: the file must not end with an empty line"},
		{"R5-other-line", first, strings.Replace(strings.Replace(first, "pull/1", "pull/2", 1), `"First"`, "First", 1), "log.yaml:4: a link correction must change pr-link lines alone"},
		{"R6-requoted-alone", goodLog, strings.Replace(goodLog, `"First"`, "First", 1), "log.yaml:4: history was reformatted: take these bytes from the base, only additions at the end are allowed"},
		{"bad-base", "x\n", goodLog, "base: log.yaml:1: want a list of entries"},
	} {
		got, err := Delta([]byte(c.base), []byte(c.head), "log.yaml")
		switch {
		case c.want == "" && (err != nil || got[len(got)-1].PRLink != "XXX"):
			t.Errorf("%s: got %v, %v", c.name, got, err)
		case c.want != "" && (err == nil || err.Error() != c.want):
			t.Errorf("%s:\n got %v\nwant %s", c.name, err, c.want)
		}
	}
}

func TestLinkRule(t *testing.T) {
	rule := LinkRule{Repository: "https://example.test/o/r", Pull: 7}
	for _, c := range []struct {
		link     string
		pull     int
		accepted bool
	}{
		{"XXX", 7, true}, {"https://example.test/o/r/pull/XXX", 7, true}, {"https://example.test/o/r/pull/7", 7, true},
		{"https://example.test/o/r/pull/8", 7, false}, {"TBD", 7, false}, {"https://example.test/o/other/pull/7", 7, false},
		{"https://example.test/o/r/pull/8", 0, true}, {"XXX", 0, false}, {"https://example.test/o/r/pull/8/changes", 0, false},
	} {
		rule.Pull = c.pull
		err := rule.Check(Change{File: "log.yaml", Additions: []ChangelogEntry{{ConfigKeys: []string{"k"}, PRLink: c.link}}})
		if (err == nil) != c.accepted {
			t.Errorf("link %s for pull %d: got %v, want accepted %v", c.link, c.pull, err, c.accepted)
		}
	}
	if err := rule.Check(Change{Corrections: []Correction{{Entry: 1, Line: 1, Old: "XXX", New: "https://example.test/o/r/pull/x"}}}); err == nil {
		t.Error("a correction to no number was accepted")
	}
}

func TestAppendEntry(t *testing.T) {
	e := ChangelogEntry{ConfigKeys: []string{"key-a", "*-mtp"}, Description: []string{"Say \"hi\"\n\tto 镜像: #1"}, PRLink: "XXX",
		ScenarioType: []string{"fixed-seq-len"}, EvalsOnly: true, EvalMinPrefillEP: 2}
	want := `- config-keys:
    - key-a
    - "*-mtp"
  description:
    - "Say \"hi\"\n\u0009to 镜像: #1"
  pr-link: XXX
  scenario-type:
    - fixed-seq-len
  evals-only: true
  eval-min-prefill-ep: 2
`
	for _, base := range []string{"", goodLog, goodLog + "\n", goodLog + "  \n"} {
		got, err := AppendEntry([]byte(base), e)
		if err != nil {
			t.Errorf("after %q: %v", base, err)
			continue
		}
		if !strings.HasPrefix(string(got), base) || !strings.HasSuffix(string(got), want) {
			t.Errorf("after %q: got %s", base, got)
		}
	}
	if _, err := AppendEntry([]byte(goodLog), ChangelogEntry{Description: []string{"d"}, PRLink: "XXX"}); err == nil {
		t.Error("an entry without config keys was appended")
	}
	if _, err := AppendEntry([]byte("- config-keys:"), e); err == nil {
		t.Error("a changelog without final newline was extended")
	}
}

// Whatever an entry says, it reads back as it was, or is refused.
func TestAppendEntryReadsBack(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		e := ChangelogEntry{
			ConfigKeys:  rapid.SliceOfN(rapid.StringMatching(`[a-z0-9*][a-z0-9.*-]{0,12}`), 1, 3).Draw(t, "keys"),
			Description: rapid.SliceOfN(rapid.String(), 1, 3).Draw(t, "description"),
			PRLink:      rapid.SampledFrom([]string{"XXX", "https://example.test/o/r/pull/9", "true", "a: b", ""}).Draw(t, "link"),
			AllEvals:    rapid.Bool().Draw(t, "all"),
		}
		head, err := AppendEntry([]byte(goodLog), e)
		if err != nil {
			t.Fatalf("AppendEntry(%+v): %v", e, err)
		}
		added, err := Delta([]byte(goodLog), head, "log.yaml")
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff([]ChangelogEntry{e}, added); diff != "" {
			t.Fatal(diff)
		}
	})
}

// The whole published history, with its odd blank lines and links, is a base.
func TestPublishedChangelog(t *testing.T) {
	src := sharedFile(t, "inferencex", "perf-changelog.yaml")
	entries, err := ParseChangelog(src, "perf-changelog.yaml")
	if err != nil {
		t.Fatal(err)
	}
	if len(entries) != 772 {
		t.Errorf("entries: got %d, want 772", len(entries))
	}
	add := ChangelogEntry{ConfigKeys: []string{"dsr1-*"}, Description: []string{"Update the image"}, PRLink: "XXX"}
	head, err := AppendEntry(src, add)
	if err != nil {
		t.Fatal(err)
	}
	delta, err := Delta(src, head, "perf-changelog.yaml")
	if diff := cmp.Diff([]ChangelogEntry{add}, delta); err != nil || diff != "" {
		t.Errorf("Delta: %v %s", err, diff)
	}
}

func FuzzParseChangelog(f *testing.F) {
	f.Add([]byte(goodLog))
	f.Add([]byte("- config-keys:\n    - &a x\n  description: [*a]\n  pr-link: x\n"))
	f.Fuzz(func(t *testing.T, src []byte) {
		if _, err := ParseChangelog(src, "log.yaml"); err != nil {
			return
		}
		e := ChangelogEntry{ConfigKeys: []string{"k-a"}, Description: []string{"d"}, PRLink: "XXX"}
		head, err := AppendEntry(src, e)
		if err == nil && !bytes.HasPrefix(head, src) {
			t.Errorf("AppendEntry(%q) changed the history", src)
		}
	})
}
