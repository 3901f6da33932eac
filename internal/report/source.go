package report

import (
	"fmt"
	"strings"

	"github.com/refit-bench/refit/internal/engine"
)

// SourceComparison is the Markdown of what the two engine images' sources say
// about the recipe: a table of what differs, worst first, a count of what
// stays the same, and what was not read.
func SourceComparison(c engine.Comparison) string {
	s := []string{fmt.Sprintf("**Source comparison:** %s → %s", side(c.Old), side(c.New))}
	t := table{head: []string{"Flag or variable", "Old", "New", "Verdict", "Confidence", "Evidence"},
		left: []bool{true, true, true, true, true, true}}
	var same []string
	for _, f := range c.Findings {
		if f.Verdict == engine.Same {
			same = append(same, "- "+escape(f.Name))
			continue
		}
		t.rows = append(t.rows, []string{f.Name, orDash(f.Old), orDash(f.New), f.Verdict, f.Confidence, because(f)})
	}
	read := fmt.Sprintf("%s and %s of the recipe were read.", counted(c.FlagsRead, "flag"), counted(c.VariablesRead, "variable"))
	if len(t.rows) > 0 {
		s = append(s, t.markdown())
	} else {
		read = fmt.Sprintf("No difference found in %s and %s read.", counted(c.FlagsRead, "flag"), counted(c.VariablesRead, "variable"))
	}
	if len(c.NotRead) > 0 {
		read += " Not read: " + escape(strings.Join(c.NotRead, "; ")) + "."
	}
	s = append(s, read)
	if len(same) > 0 {
		s = append(s, details(fmt.Sprintf("%d the same / 相同", len(same)), strings.Join(same, "\n")))
	}
	return sections(s...)
}

// counted is "1 flag" or "7 flags".
func counted(n int, noun string) string {
	if n == 1 {
		return "1 " + noun
	}
	return count(n) + " " + noun + "s"
}

func side(s engine.Side) string {
	name := code(s.Image)
	if name == "" {
		name = escape(s.Version)
	}
	if s.Commit != "" {
		name += " (commit " + code(abbreviated(s.Commit)) + ")"
	}
	if s.Read == engine.FromHelp {
		name += ", read from " + code(s.From)
	}
	return name
}

func because(f engine.Finding) string {
	parts := f.Evidence
	if f.Message != "" {
		parts = append([]string{f.Message}, parts...)
	}
	if f.Condition != "" {
		parts = append(parts[:len(parts):len(parts)], "only when "+f.Condition)
	}
	return strings.Join(parts, "; ")
}

func orDash(s string) string {
	if s == "" {
		return "–"
	}
	return s
}
