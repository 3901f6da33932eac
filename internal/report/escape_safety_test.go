package report

import (
	"bytes"
	"encoding/csv"
	"encoding/xml"
	"errors"
	"html"
	"io"
	"net/url"
	"regexp"
	"strings"
	"testing"
	"unicode"

	"pgregory.net/rapid"

	"github.com/refit-bench/refit/internal/compare"
	"github.com/refit-bench/refit/internal/result"
)

// foreign is text of others, with what has a meaning somewhere on a page.
func foreign() *rapid.Generator[string] {
	return rapid.OneOf(rapid.String(), rapid.StringOf(rapid.RuneFrom([]rune("ab1_*`|\\[]()<>&@#~!=+-/:.,;\"'%\n\r\t \x00\x1b\x9b\u2028\u202eé镜"))),
		rapid.SampledFrom([]string{"=1+1", "-->", "]]>", "</text>", "\x1b]0;x\a", "javascript:alert(1)", "https://a.example/x|y", "http://a.example/)](http://b.example", "@a", "\xff"}))
}

// Characters that nobody sees, and that can turn the direction of what is
// seen, reach no page.
func TestHiddenCharactersBecomeSpaces(t *testing.T) {
	const text = "a\u202eb\u2066c\u200fd\u200be\u00adf\u2028g"
	if got, want := escape(text), "a b c d e f g"; got != want {
		t.Errorf("escape(%q): got %q, want %q", text, got, want)
	}
	if got, want := code(text), "`a b c d e f g`"; got != want {
		t.Errorf("code(%q): got %q, want %q", text, got, want)
	}
}

// A link leads where it was told to, over http only, or is its text alone.
func TestLinksLeadWhereTheySay(t *testing.T) {
	href := regexp.MustCompile(`<a href="([^"]*)"`)
	rapid.Check(t, func(t *rapid.T) {
		text := foreign().Draw(t, "text")
		address := rapid.OneOf(foreign(), rapid.Map(rapid.StringMatching(`[a-z0-9/?=&()|\\\x60<> "'#%]{0,12}`), func(s string) string { return "https://forge.example/" + s })).Draw(t, "address")
		page := HTML("x " + link(text, address) + " y")
		found := href.FindAllStringSubmatch(page, -1)
		if len(found) > 1 {
			t.Fatalf("link(%q, %q): %d links in %s", text, address, len(found), page)
		}
		for _, m := range found {
			want, err := url.Parse(address)
			if err != nil {
				t.Fatalf("link(%q, %q): leads somewhere: %s", text, address, page)
			}
			got, err := url.Parse(html.UnescapeString(m[1]))
			if err != nil || got.Scheme != want.Scheme || got.Host != want.Host || got.Path != want.Path || got.Scheme != "http" && got.Scheme != "https" {
				t.Fatalf("link(%q, %q): leads to %q", text, address, m[1])
			}
		}
		if strings.Contains(page, "<script") || strings.Count(page, "<p>") != 1 {
			t.Fatalf("link(%q, %q): %s", text, address, page)
		}
	})
}

// A code span, or what stands in its place, shows its text and stays one.
func TestCodeShowsItsText(t *testing.T) {
	tag := regexp.MustCompile(`<[^>]*>`)
	rapid.Check(t, func(t *rapid.T) {
		text := foreign().Draw(t, "text")
		page := HTML("x " + code(text) + " y")
		shown := strings.Join(strings.Fields(html.UnescapeString(tag.ReplaceAllString(page, ""))), " ")
		if want := strings.Join(strings.Fields("x "+oneLine(text)+" y"), " "); shown != want {
			t.Fatalf("code(%q): shows %q, want %q", text, shown, want)
		}
	})
}

// A reader of CSV sees the texts that were written, and a spreadsheet no formula.
func TestCSVReadsBack(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		label, suite := foreign().Draw(t, "label"), foreign().Draw(t, "suite")
		r := compare.Result{
			Curves:   []compare.Curve{{Metric: compare.OutputTPS, N: 3, DF: 1, Points: []compare.PointVerdict{{Key: "k", Label: label, Conc: 1}}}},
			Accuracy: []compare.Accuracy{{Key: "k", Label: label, Suite: suite}},
		}
		var b bytes.Buffer
		if err := CSV(&b, nil, nil, r); err != nil {
			t.Fatal(err)
		}
		lines, err := csv.NewReader(&b).ReadAll()
		if err != nil || len(lines) != 3 {
			t.Fatalf("got %q, %v, want three lines", lines, err)
		}
		for _, c := range []struct{ got, want string }{{lines[1][1], label}, {lines[2][1], label}, {lines[2][3], suite}} {
			same := strings.ReplaceAll(c.want, "\r\n", "\n") // the format's own line end
			if c.got != same && c.got != "'"+same {
				t.Fatalf("got cell %q, want %q", c.got, c.want)
			}
			if c.got != "" && strings.ContainsRune("=+-@\t\r", rune(c.got[0])) {
				t.Fatalf("cell %q is a formula", c.got)
			}
		}
	})
}

// Every line of the benchmark format is one of its kinds of line, whatever a
// label, a family or an image is called.
func TestBenchstatLines(t *testing.T) {
	line := regexp.MustCompile(`^(Unit \S+ better=(higher|lower)|(family|image): \P{C}*|BenchmarkServe(/\P{C}*)? 7 5 output-tok/s/GPU)$`)
	rapid.Check(t, func(t *rapid.T) {
		v := 5.0
		row := result.Row{Label: foreign().Draw(t, "label"), Family: foreign().Draw(t, "family"), Image: foreign().Draw(t, "image"), Key: "0123456789", Conc: 1, Requests: 7}
		var b bytes.Buffer
		row.Metrics = map[string]float64{"output_tput_per_gpu": v}
		benchmark(&b, row)
		b.WriteString("family: " + flat(row.Family) + "\nimage: " + flat(row.Image) + "\n")
		for text := range strings.SplitSeq(strings.TrimSuffix(b.String(), "\n"), "\n") {
			if !line.MatchString(text) {
				t.Fatalf("line %q of %+v", text, row)
			}
			if strings.HasPrefix(text, "Benchmark") && len(strings.Fields(text)) != 4 {
				t.Fatalf("line %q has %d fields, want 4", text, len(strings.Fields(text)))
			}
		}
	})
}

// A legend of any text leaves the chart well-formed and shows printable text.
func TestLegendsAreText(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		name := foreign().Draw(t, "name")
		chart := CurveSVG([]CurvePoint{{Conc: 1, Interactivity: 1, OutputTPSGPU: 1}}, nil, name, "new")
		d := xml.NewDecoder(bytes.NewReader(chart))
		var shown strings.Builder
		for {
			tok, err := d.Token()
			if errors.Is(err, io.EOF) {
				break
			}
			if err != nil {
				t.Fatalf("legend %q: %v", name, err)
			}
			switch tok := tok.(type) {
			case xml.CharData:
				shown.Write(tok)
			case xml.StartElement:
				for _, a := range tok.Attr {
					if strings.HasPrefix(a.Name.Local, "on") || a.Name.Local == "href" {
						t.Fatalf("legend %q: attribute %s", name, a.Name.Local)
					}
				}
			case xml.Comment, xml.Directive, xml.ProcInst:
				t.Fatalf("legend %q: %T", name, tok)
			}
		}
		if strings.ContainsFunc(shown.String(), func(r rune) bool { return !unicode.IsPrint(r) }) {
			t.Fatalf("legend %q: shows %q", name, shown.String())
		}
	})
}

// No text of others moves the cursor of a terminal.
func TestTerminalTablesArePrintable(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		cells := rapid.SliceOfN(foreign(), 2, 2).Draw(t, "cells")
		var b bytes.Buffer
		paint{}.table(&b, table{head: []string{"a", "b"}, left: []bool{true, false}, rows: [][]string{cells}})
		paint{}.text(&b, strings.Join(cells, " "))
		if i := strings.IndexFunc(b.String(), func(r rune) bool { return r != '\n' && !unicode.IsPrint(r) }); i >= 0 {
			t.Fatalf("%q: %q", cells, b.String())
		}
		if n := strings.Count(b.String(), "\n"); n < 4 {
			t.Fatalf("%q: %d lines: %q", cells, n, b.String())
		}
	})
}

// A record's error says each thing once.
func TestRecordErrorsSayThingsOnce(t *testing.T) {
	for _, src := range []string{`{}`, `null`, `[]`, ``, `{"version":1}`, `{"a":1}`, `{"version":1,"version":1}`} {
		for name, parse := range map[string]func([]byte) error{
			"baseline": func(b []byte) error { _, err := ParseBaseline(b); return err },
			"attempt":  func(b []byte) error { _, err := ParseAttempt(b); return err },
			"receipt":  func(b []byte) error { _, err := ParseReceipt(b); return err },
			"cleanup":  func(b []byte) error { _, err := ParseCleanup(b); return err },
		} {
			err := parse([]byte(src))
			if err == nil {
				t.Errorf("%s %q: no error", name, src)
				continue
			}
			for line := range strings.SplitSeq(err.Error(), "\n") {
				seen := map[string]bool{}
				for clause := range strings.SplitSeq(line, ": ") {
					if seen[clause] {
						t.Errorf("%s %q: %q is said twice: %v", name, src, clause, err)
					}
					seen[clause] = true
				}
			}
		}
	}
}
