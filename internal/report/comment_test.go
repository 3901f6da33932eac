package report

import (
	"encoding/json"
	"html"
	"regexp"
	"strings"
	"testing"
	"unicode"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"
)

const candidateID = "9d94bebbcc742ac8-af00168b432f68fb"

// What Record writes, ParseRecord reads back whole, whatever the texts are.
func TestRecordRoundTrip(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		v := map[string]string{"a": rapid.String().Draw(t, "value"), "b": "-->" + rapid.String().Draw(t, "more")}
		markdown := strings.ToValidUTF8(rapid.String().Draw(t, "markdown"), "?") + rapid.SampledFrom([]string{"", "\n-->\n", "<!-- x"}).Draw(t, "tail")
		kind := rapid.SampledFrom([]string{"report", "outcome", "cleanup"}).Draw(t, "kind")
		name := ""
		if kind == "report" {
			name = rapid.StringMatching(`[a-z0-9][a-z0-9-]{0,30}`).Draw(t, "name")
		}
		parent := rapid.StringMatching(`[1-9][0-9]{0,12}|p[0-9a-f]{12}`).Draw(t, "parent")
		body, err := testPolicy().Record(kind, parent, candidateID, name, v, markdown)
		if err != nil {
			t.Fatal(err)
		}
		if comment, _, _ := strings.Cut(body, "\n-->\n"); strings.Contains(comment, ">") {
			t.Fatalf("the record closes its comment early: %q", comment)
		}
		r, ok, err := ParseRecord("refit", body)
		if err != nil || !ok {
			t.Fatalf("ParseRecord: %v %v", ok, err)
		}
		var back map[string]string
		if err := json.Unmarshal(r.JSON, &back); err != nil {
			t.Fatal(err)
		}
		want := Record{Kind: kind, Parent: parent, ID: candidateID, Name: name, JSON: r.JSON, Markdown: markdown}
		if diff := cmp.Diff(want, r); diff != "" {
			t.Fatalf("record (-want +got):\n%s", diff)
		}
		for k := range v {
			if back[k] != strings.ToValidUTF8(v[k], "\uFFFD") {
				t.Fatalf("%s: got %q, want %q", k, back[k], v[k])
			}
		}
	})
}

func TestParseRecordRefuses(t *testing.T) {
	good := "<!-- refit-report:7:" + candidateID + ":baseline\n{\"a\":1}\n-->\ntext"
	for _, c := range []struct {
		name, body string
		found      bool
		wrong      string
	}{
		{"good", good, true, ""},
		{"plain-comment", "hello", false, ""},
		{"other-prefix", strings.Replace(good, "refit", "other", 1), false, ""},
		{"text-in-front", "x\n" + good, false, ""},
		{"placeholder", "<!-- refit-baseline -->", false, ""},
		{"body-block", "<!-- refit-baseline-body -->\nx", false, ""},
		{"marker-only", strings.SplitN(good, "\n", 2)[0], false, "no end"},
		{"no-end", strings.Replace(good, "-->", "--", 1), false, "no end"},
		{"spaced-json", strings.Replace(good, `{"a":1}`, `{"a": 1}`, 1), false, "not a record as it was written"},
		{"two-lines-of-json", strings.Replace(good, `{"a":1}`, "{\"a\":\n1}", 1), false, "not a record as it was written"},
		{"raw-angle", strings.Replace(good, `{"a":1}`, `{"a":"<"}`, 1), false, "not a record as it was written"},
		{"array", strings.Replace(good, `{"a":1}`, `[1]`, 1), false, "not a record as it was written"},
		{"windows-line-ends", strings.ReplaceAll(good, "\n", "\r\n"), false, "name \"baseline\\r\""},
		{"short-id", strings.Replace(good, candidateID, "abc", 1), false, "not an id"},
		{"no-name", strings.Replace(good, ":baseline", "", 1), false, "does not fit"},
		{"outcome-with-name", strings.Replace(good, "report", "outcome", 1), false, "does not fit"},
		{"empty-name", strings.Replace(good, ":baseline", ":", 1), false, "malformed marker"},
		{"too-long", good + strings.Repeat("x", maxBody), false, "not a record as it was written"},
	} {
		_, found, err := ParseRecord("refit", c.body)
		if found != c.found {
			t.Errorf("%s: found %v, want %v", c.name, found, c.found)
		}
		wantErr(t, c.name, err, c.wrong)
	}
	if _, err := testPolicy().Record("report", "7", candidateID, "baseline", 1, strings.Repeat("长", maxBody)); err == nil {
		t.Error("a body of more than 60,000 characters was written")
	}
}

// A cell of any text stays one cell and shows that text, and nothing of it
// becomes markup or mentions anybody.
func TestCellsHoldAnyText(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		alphabet := rapid.RuneFrom([]rune("ab_*`|\\[]()<>&@#~!\n\r\t -镜像\u2028é;"))
		text := rapid.SliceOfN(rapid.OneOf(rapid.StringOf(alphabet), rapid.String()), 1, 4).Draw(t, "cells")
		head, left := make([]string, len(text)), make([]bool, len(text))
		tb := table{head: head, left: left, rows: [][]string{text}}
		ls := strings.Split(tb.markdown(), "\n")
		if len(ls) != 3 {
			t.Fatalf("%d lines, want 3: %q", len(ls), ls)
		}
		if strings.Contains(strings.ReplaceAll(ls[2], "@<!-- -->", ""), "@") {
			t.Fatalf("row %q may mention somebody", ls[2])
		}
		got := shownCells(HTML(tb.markdown()))
		if len(got) != len(text) {
			t.Fatalf("%d cells, want %d: %q", len(got), len(text), ls[2])
		}
		for i, shown := range got {
			if want := strings.Join(strings.Fields(oneLine(text[i])), " "); shown != want {
				t.Fatalf("cell of %q shows %q, want %q", ls[2], shown, want)
			}
		}
	})
}

func oneLine(s string) string {
	return strings.Map(func(r rune) rune {
		if unicode.In(r, unicode.Cc, unicode.Cf, unicode.Zl, unicode.Zp) {
			return ' '
		}
		return r
	}, strings.ToValidUTF8(s, "\uFFFD"))
}

// shownCells are the texts of the body cells of a rendered table, white space
// collapsed as a browser does.
func shownCells(page string) []string {
	var out []string
	for _, m := range regexp.MustCompile(`(?s)<td[^>]*>(.*?)</td>`).FindAllStringSubmatch(page, -1) {
		text := html.UnescapeString(regexp.MustCompile(`<[^>]*>`).ReplaceAllString(m[1], ""))
		out = append(out, strings.Join(strings.Fields(text), " "))
	}
	return out
}

// allowed are the tags that may come out: those of Markdown without attributes,
// aligned cells, and links and images whose address names no script.
var allowed = regexp.MustCompile(`^(?:</?(?:p|ul|ol|li|table|thead|tbody|tr|th|td|strong|em|code|pre|blockquote|details|summary|h[1-6])>|<(?:br|hr)(?: /)?>|</a>|<(?:td|th) style="text-align:(?:left|right|center)">|<ol start="\d+">|<code class="language-[^"<>]*">|<a href="[^"<>]*"(?: title="[^"<>]*")?>|<img src="[^"<>]*" alt="[^"<>]*"(?: title="[^"<>]*")?(?: /)?>)$`)

var scripted = regexp.MustCompile(`(?i)(?:href|src)="\s*(?:javascript|vbscript|data|file):`)

// HTML lets only its own few tags out.
func TestHTMLIsSafe(t *testing.T) {
	tags := regexp.MustCompile(`<[^>]*>?`)
	rapid.Check(t, func(t *rapid.T) {
		piece := rapid.SampledFrom([]string{"<script>", "</script>", "<details><summary>x</summary>", "</details>", "<details>", "<summary>a<b></summary>", "**", "`", "[a](javascript:alert(1))",
			"[a](https://x/\"onclick=1)", "[x](https://forge.example/?a=1&b=2)", "| a | b |", "| --- | ---: |", "- i", "# h", "\n", "\n\n", "  \n", "&lt;", "&amp;#60;", "&#60;", "\\", "\\<", "<!-- -->", "<!--", "-->", "text", "<img src=x onerror=y>"})
		md := strings.Join(rapid.SliceOfN(rapid.OneOf(piece, rapid.String()), 0, 12).Draw(t, "pieces"), "")
		out := HTML(md)
		for _, tag := range tags.FindAllString(out, -1) {
			if !allowed.MatchString(tag) {
				t.Fatalf("HTML(%q) lets %q out", md, tag)
			}
		}
		if scripted.MatchString(out) {
			t.Fatalf("HTML(%q) lets a script's address out: %s", md, out)
		}
		if strings.Count(out, "<details>") != strings.Count(out, "</details>") {
			t.Fatalf("HTML(%q): details do not close", md)
		}
	})
}

func TestHTMLOfAReport(t *testing.T) {
	out := HTML(archived(t, "seed.txtar", "attempt.md"))
	for _, want := range []string{
		`<p><strong>Initial attempt · Passed</strong> · <a href="https://forge.example/o/r/actions/runs/35511687735/attempts/1">Run 35511687735 / attempt 1</a> · 2026-09-20 13:21 UTC<br>`,
		`<th style="text-align:right">TTFT ms ↓</th>`, `<td style="text-align:right">1,332.28 (+29.9%)</td>`, `<td>gsm8k/em_strict · c32</td>`,
		"<details><summary>中文</summary>", "<li>Requests: 40 done, 0 failed</li>", "<code>lmsysorg/sglang:v0.5.20-rocm720-mi30x</code>",
	} {
		if !strings.Contains(out, want) {
			t.Errorf("missing %s", want)
		}
	}
}

func TestAssemble(t *testing.T) {
	p := testPolicy()
	a := goodAttempt()
	a.Points, a.BenchmarksExpected, a.BenchmarksPassed = nil, 45, 45
	for i := range 45 {
		pt := goodPoint(i + 1)
		pt.Conc, pt.Label = i+1, "x"
		a.Points = append(a.Points, pt)
	}
	comments, err := p.AttemptRecords("7", candidateID, a, goodBaseline(), nil)
	if err != nil || len(comments) != 3 {
		t.Fatalf("%d comments (%v), want 3", len(comments), err)
	}
	var records []Record
	for _, c := range comments {
		r, ok, err := ParseRecord("refit", c.Body)
		if err != nil || !ok || r.Name != c.Name {
			t.Fatalf("%s: %v %v", c.Name, ok, err)
		}
		records = append(records, r)
	}
	index, parts := records[2], records[:2]
	data, err := Assemble(index, parts)
	if err != nil {
		t.Fatal(err)
	}
	back, err := ParseAttempt(data)
	if err != nil {
		t.Fatal(err)
	}
	a.PreparedBy.Models, a.PreparedBy.Delegates = []string{}, []string{}
	if diff := cmp.Diff(a, back); diff != "" {
		t.Errorf("assembled (-want +got):\n%s", diff)
	}
	if _, err := Assemble(index, parts[:1]); err == nil || !strings.Contains(err.Error(), "is missing") {
		t.Errorf("a missing part: %v", err)
	}
	parts[0].JSON = []byte(strings.Replace(string(parts[0].JSON), `"conc":21`, `"conc":22`, 1))
	if _, err := Assemble(index, parts); err == nil || !strings.Contains(err.Error(), "was changed") {
		t.Errorf("a changed part: %v", err)
	}
}

func TestReplaceBody(t *testing.T) {
	p := testPolicy()
	start, end := p.BodyMarkers()
	block := start + "\nnew\n" + end
	for name, c := range map[string][2]string{
		"empty":       {"", block},
		"placeholder": {"a\n<!-- refit-baseline -->\nb", "a\n" + block + "\nb"},
		"old-block":   {"a " + start + "old" + end + " other bot's text", "a " + block + " other bot's text"},
		"foreign":     {"theirs", block + "\n\ntheirs"},
	} {
		if got := p.ReplaceBody(c[0], block); got != c[1] {
			t.Errorf("%s: got %q, want %q", name, got, c[1])
		}
	}
	if got, want := p.PullTitle(Title("laba", "v2")), "[refit] Update laba image to v2 / 将 laba 的镜像更新至 v2"; got != want {
		t.Errorf("title: got %q, want %q", got, want)
	}
}
