package report

import "strings"

// table is rows of plain text under headings; rendering escapes them. The first
// column is right aligned when numeric, the others always are unless text.
type table struct {
	head []string
	left []bool // per column
	rows [][]string
}

// markdown spells the table as GitHub does, without a line end behind it.
func (t table) markdown() string {
	var b strings.Builder
	line := func(cells []string) {
		b.WriteByte('|')
		for _, c := range cells {
			b.WriteString(" " + c + " |")
		}
		b.WriteByte('\n')
	}
	escaped := func(cells []string) []string {
		out := make([]string, len(cells))
		for i, c := range cells {
			out[i] = escape(c)
		}
		return out
	}
	rule := make([]string, len(t.head))
	for i := range rule {
		rule[i] = "---:"
		if t.left[i] {
			rule[i] = "---"
		}
	}
	line(escaped(t.head))
	line(rule)
	for _, r := range t.rows {
		line(escaped(r))
	}
	return strings.TrimSuffix(b.String(), "\n")
}
