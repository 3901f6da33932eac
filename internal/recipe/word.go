package recipe

import (
	"regexp"
	"strconv"
	"strings"

	"go.yaml.in/yaml/v3"
)

// Word is a text of a declarative recipe. It may hold ${NAME}.
//
// Start and End are its bytes in the file, without quotes, when it stands
// there exactly as it reads; otherwise they are zero and Reason says why no
// edit in place can be made.
type Word struct {
	Text       string
	Line       int
	Start, End int
	Reason     string
}

// Symbolic says whether the word depends on the point.
func (w Word) Symbolic() bool {
	return strings.Contains(strings.ReplaceAll(w.Text, "$$", ""), "${")
}

// reference is what a dollar sign may begin.
var reference = regexp.MustCompile(`\$(\$|\{[A-Za-z_][A-Za-z0-9_]*\})`)

// word reads a scalar as it is written: 64 and 0.8 need no quotes.
func (r *declaredReader) word(n *yaml.Node, at string) Word {
	switch {
	case n.Kind != yaml.ScalarNode || n.Tag == "!!null":
		r.fail(n, at, "want a text, got %s", describe(n))
		return Word{Line: n.Line}
	case strings.ContainsRune(n.Value, 0):
		r.fail(n, at, "holds a zero byte")
	case strings.Contains(reference.ReplaceAllString(n.Value, ""), "$"):
		r.fail(n, at, "want ${NAME} for a variable and $$ for a dollar sign, got %s", describe(n))
	}
	return r.located(n)
}

// located finds the bytes of a scalar.
func (r *declaredReader) located(n *yaml.Node) Word {
	w := Word{Text: n.Value, Line: n.Line}
	edit, err := r.scalarEdit(n, n.Value)
	if err == nil && edit.Old != n.Value {
		err = errManyLines
	}
	if err != nil {
		w.Reason = err.Error()
		return w
	}
	w.Start, w.End = edit.Start, edit.End
	return w
}

// Count is a number, or a number for each concurrent request.
type Count struct {
	N       int
	PerConc bool
}

// For is the count of a point.
func (c Count) For(conc int) int {
	if c.PerConc {
		return c.N * conc
	}
	return c.N
}

var countForm = regexp.MustCompile(`^(?:(\d{1,6})(?: *\* *(CONC))?|(CONC)(?: *\* *(\d{1,6}))?)$`)

// count reads 100, "10 * CONC" or "CONC".
func (r *declaredReader) count(n *yaml.Node, at string) Count {
	m := countForm.FindStringSubmatch(n.Value)
	if n.Kind != yaml.ScalarNode || m == nil {
		r.fail(n, at, `want a number or "10 * CONC", got %s`, describe(n))
		return Count{N: 1}
	}
	digits := m[1] + m[4]
	if digits == "" {
		digits = "1"
	}
	v, err := strconv.Atoi(digits)
	if err != nil {
		r.fail(n, at, "%v", err)
	}
	return Count{v, m[2] != "" || m[3] != ""}
}
