package engine

import (
	"bytes"
	"regexp"
	"strings"

	"mvdan.cc/sh/v3/syntax"

	"github.com/refit-bench/refit/internal/recipe"
)

// listed is a statement of a list, and those that follow it there.
type listed struct {
	stmt *syntax.Stmt
	rest []*syntax.Stmt
}

// exports is a statement that exports variables: how many, and how all of it
// is taken out.
type exports struct {
	variables int
	whole     recipe.Edit
}

// fixed says why the place of an exported variable is not all there is to it.
func fixed(a *syntax.Assign) string {
	switch {
	case a.Naked:
		return "it is exported apart from where it is set"
	case a.Append:
		return "it is added to a value from elsewhere"
	case a.Index != nil:
		return "it is an element of an array"
	}
	return ""
}

// exporting is the statement as a whole.
func (w *walker) exporting(c *syntax.DeclClause) *exports {
	g := &exports{whole: w.without(c)}
	for _, a := range c.Args {
		if a.Name != nil || !option(a) {
			g.variables++
		}
	}
	return g
}

// option says that an argument without a name of its own is an option of the
// statement. Any other, such as $MORE, may export what nobody sees here.
func option(a *syntax.Assign) bool {
	return a.Value != nil && strings.HasPrefix(a.Value.Lit(), "-")
}

// dropDeclared takes one variable out of export A=1 B=2, with the blanks in
// front; the only one goes with its statement.
func (w *walker) dropDeclared(u *Use, c *syntax.DeclClause, i int, g *exports) {
	a := c.Args[i]
	u.group = g
	if effects(a) {
		u.kept = "its value has an effect of its own"
		return
	}
	if g.variables == 1 {
		u.Drop = &g.whole
		return
	}
	before := int(c.Variant.End().Offset())
	if i > 0 {
		before = int(c.Args[i-1].End().Offset())
	}
	w.dropRange(u, before, int(a.Pos().Offset()), before, int(a.End().Offset()))
}

// dropPrefix takes X=1 out of X=1 program, with the blanks behind.
func (w *walker) dropPrefix(u *Use, c *syntax.CallExpr, i int) {
	a := c.Assigns[i]
	if effects(a) {
		u.kept = "its value has an effect of its own"
		return
	}
	next := int(c.Args[0].Pos().Offset())
	if i+1 < len(c.Assigns) {
		next = int(c.Assigns[i+1].Pos().Offset())
	}
	w.dropRange(u, int(a.End().Offset()), next, int(a.Pos().Offset()), next)
}

// dropArgument takes X=1 out of env X=1 program, with the blanks in front.
func (w *walker) dropArgument(u *Use, t token) {
	if recipe.IsDeclared(w.name) {
		u.Drop = w.drop([]token{t})
		return
	}
	own := w.whole[t.start]
	if own != nil && effects(own) {
		u.kept = "its value has an effect of its own"
		return
	}
	if !w.wholeWord(&t) {
		u.Fixed = "it stands inside a text that becomes words only when it is run"
		return
	}
	start, end, ok := w.shellRange([]token{t})
	if !ok {
		u.kept = "more than blanks stand between it and its neighbours"
		return
	}
	u.Drop = &recipe.Edit{Start: start, End: end, Old: string(w.src[start:end])}
}

// dropRange drops start..end when only blanks stand in the gap.
func (w *walker) dropRange(u *Use, gapStart, gapEnd, start, end int) {
	if gapStart > gapEnd || end > len(w.src) || start > end || !shellGap.Match(w.src[gapStart:gapEnd]) {
		u.kept = "more than blanks stand between it and its neighbours"
		return
	}
	u.Drop = &recipe.Edit{Start: start, End: end, Old: string(w.src[start:end])}
}

// without takes a statement out: its lines where they hold nothing else, or
// else by a colon in its place, which does nothing and succeeds as it did. The
// colon also stands where the list would end otherwise, for its result counts.
func (w *walker) without(c *syntax.DeclClause) recipe.Edit {
	start, end := int(c.Pos().Offset()), int(c.End().Offset())
	if p, ok := w.listed[c]; ok && plain(p.stmt) && len(p.rest) > 0 && !w.asksResult(p.rest[0]) {
		if from, to, ok := w.lines(start, end); ok {
			return recipe.Edit{Start: from, End: to, Old: string(w.src[from:to])}
		}
	}
	return recipe.Edit{Start: start, End: end, Old: string(w.src[start:end]), New: ":"}
}

func plain(st *syntax.Stmt) bool {
	return len(st.Redirs) == 0 && !st.Negated && !st.Background && !st.Coprocess
}

// asksResult says whether a statement may look at the result of the one before.
func (w *walker) asksResult(st *syntax.Stmt) bool {
	text := string(w.src[st.Pos().Offset():min(len(w.src), int(st.End().Offset()))])
	return strings.Contains(text, "$?") || strings.Contains(text, "${?") || strings.Contains(text, "PIPESTATUS")
}

var lineRest = regexp.MustCompile(`^(?:[ \t]*;)?(?:[ \t]*|[ \t]+#[^\n]*)\r?\n`)

// lines are the whole lines of a range that stands on them alone, with a
// comment behind it.
func (w *walker) lines(start, end int) (from, to int, ok bool) {
	from = bytes.LastIndexByte(w.src[:start], '\n') + 1
	rest := lineRest.Find(w.src[end:])
	if rest == nil || len(bytes.Trim(w.src[from:start], " \t")) > 0 {
		return 0, 0, false
	}
	return from, end + len(rest), true
}

// effects reports a value whose expansion does something besides.
func effects(value syntax.Node) bool {
	found := false
	syntax.Walk(value, func(n syntax.Node) bool {
		switch n := n.(type) {
		case *syntax.CmdSubst, *syntax.ProcSubst, *syntax.ArithmExp:
			found = true
		case *syntax.ParamExp:
			found = found || n.Slice != nil || n.Index != nil && !isArray(n) || n.Exp != nil && assigning(n.Exp.Op)
		}
		return !found
	})
	return found
}

// assigning are the expansions that set a variable or end the script.
func assigning(op syntax.ParExpOperator) bool {
	return op == syntax.AssignUnset || op == syntax.AssignUnsetOrNull || op == syntax.ErrorUnset || op == syntax.ErrorUnsetOrNull
}
