package engine

import (
	"strings"

	"mvdan.cc/sh/v3/syntax"
)

// maxWords bounds the expansion of one command.
const maxWords = 4096

// words expands the words of a command as far as the script fixes them.
func (w *walker) words(args []*syntax.Word, c command) []token {
	e := &expansion{walker: w, before: c.at}
	for i, word := range args {
		if i >= textFrom(args) {
			e.split(word, c.condition, 0)
			continue
		}
		e.word(word, c.condition, 0)
	}
	if e.steps > maxFollowed || len(e.out) >= maxWords {
		e.out = append(e.out, token{text: "an expansion beyond the limits", unread: true, location: Location{w.name, c.line}})
	}
	return e.out
}

// textFrom is the index of the first word that is itself a command line, as
// behind eval and bash -c.
func textFrom(args []*syntax.Word) int {
	switch first := args[0].Lit(); {
	case first == "eval":
		return 1
	case (first == "bash" || first == "sh") && len(args) > 2 && strings.HasPrefix(args[1].Lit(), "-") && strings.HasSuffix(args[1].Lit(), "c"):
		return 2
	}
	return len(args)
}

// expansion collects tokens; before is the offset at which values are taken.
type expansion struct {
	*walker
	before int
	self   string // variable whose own earlier value is already listed
	steps  int
	out    []token
}

// maxFollowed bounds the assignments followed, which may name one another.
const maxFollowed = 10_000

// current lists the assignments that make up a variable's value at this
// point: from the last plain one that is under no condition.
func (e *expansion) current(name string) []assignment {
	var list []assignment
	for _, a := range e.assigned[name] {
		if a.at >= e.before {
			continue
		}
		if a.condition == "" && !a.appended {
			list = nil
		}
		list = append(list, a)
	}
	return list
}

// inside expands what one assignment holds. A mention of the variable itself
// means its value before; for all but the first assignment of the list that
// is listed already.
func (e *expansion) inside(name string, i int, a assignment, condition string, depth int) {
	e.steps++
	if e.steps > maxFollowed || len(e.out) >= maxWords {
		return
	}
	before, self := e.before, e.self
	e.before = a.at
	if e.self = ""; i > 0 {
		e.self = name
	}
	condition = both(condition, a.condition)
	for _, word := range a.array {
		e.word(word, condition, depth+1)
	}
	if a.word != nil {
		e.split(a.word, condition, depth+1)
	}
	e.before, e.self = before, self
}

func (e *expansion) add(t token) {
	if len(e.out) < maxWords && (t.text != "" || t.quoted) {
		e.out = append(e.out, t)
	}
}

// word expands one word: an array or a lone unquoted variable may become many.
func (e *expansion) word(word *syntax.Word, condition string, depth int) {
	if p := lone(word); p != nil {
		if list := e.assigned[p.Param.Value]; isArray(p) && hasArray(list) {
			e.array(p, condition, depth)
			return
		}
		if len(word.Parts) == 1 && plainParam(p) && !quoted(word) && e.spread(p.Param.Value, condition, depth) {
			return
		}
	}
	t := e.walker.value(word, e.before, depth)
	t.condition = condition
	if p := lone(word); p != nil && t.symbolic {
		t.unread = isArray(p) || !quoted(word) && manyWords(p)
	}
	e.add(t)
}

// manyWords guesses from its name whether an unquoted variable that the script
// does not assign holds flags rather than a value of the job.
func manyWords(p *syntax.ParamExp) bool {
	name := strings.ToUpper(p.Param.Value)
	return strings.Contains(name, "ARGS") || strings.Contains(name, "FLAGS") || strings.Contains(name, "OPTS") || strings.Contains(name, "OPTIONS")
}

// lone is the parameter that is all a word consists of.
func lone(word *syntax.Word) *syntax.ParamExp {
	parts := word.Parts
	if len(parts) == 1 {
		if q, ok := parts[0].(*syntax.DblQuoted); ok {
			parts = q.Parts
		}
	}
	if len(parts) != 1 {
		return nil
	}
	p, _ := parts[0].(*syntax.ParamExp)
	if p == nil || p.Param == nil {
		return nil
	}
	return p
}

func quoted(word *syntax.Word) bool {
	for _, p := range word.Parts {
		switch p.(type) {
		case *syntax.DblQuoted, *syntax.SglQuoted:
			return true
		}
	}
	return false
}

// isArray reports ${X[@]} or ${X[*]}.
func isArray(p *syntax.ParamExp) bool {
	word, ok := p.Index.(*syntax.Word)
	return ok && (word.Lit() == "@" || word.Lit() == "*")
}

func hasArray(list []assignment) bool {
	for _, a := range list {
		if a.array != nil {
			return true
		}
	}
	return false
}

func plainParam(p *syntax.ParamExp) bool {
	return p.Index == nil && p.Exp == nil && p.Repl == nil && p.Slice == nil && !p.Length && !p.Excl && !p.Width
}

// array expands "${X[@]}" with everything assigned to X before the command.
func (e *expansion) array(p *syntax.ParamExp, condition string, depth int) {
	name := p.Param.Value
	if depth > maxDepth || name == e.self {
		return
	}
	for i, a := range e.current(name) {
		e.inside(name, i, a, condition, depth)
	}
}

// both joins two conditions; the one the command itself is under is said once.
func both(outer, inner string) string {
	switch {
	case inner == outer || strings.HasPrefix(outer, inner+" and "):
		return outer
	case strings.HasPrefix(inner, outer+" and "):
		return inner
	}
	return allOf(outer, inner)
}

// spread splits an unquoted variable into words. It is false when the script
// does not assign the variable, or only single values by condition: which of
// them holds is then not known.
func (e *expansion) spread(name, condition string, depth int) bool {
	if name == e.self || depth > maxDepth {
		return true
	}
	list := e.current(name)
	if len(list) == 0 || (len(list) != 1 || list[0].condition != "") && !holdsFlags(e.walker, list) {
		return false
	}
	for i, a := range list {
		e.inside(name, i, a, condition, depth)
	}
	return true
}

func holdsFlags(w *walker, list []assignment) bool {
	for _, a := range list {
		if a.array != nil || a.word != nil && strings.HasPrefix(strings.TrimLeft(strings.Trim(w.source(a.word), `"' `), "$"), "-") {
			return true
		}
		if a.word != nil && strings.Contains(w.source(a.word), " -") {
			return true
		}
	}
	return false
}

// split cuts the text of an assigned word at white space and keeps, for each
// piece of literal text, where it stands in the script.
func (e *expansion) split(word *syntax.Word, condition string, depth int) {
	if depth > maxDepth {
		return
	}
	var open *token
	flush := func() {
		if open != nil {
			e.add(*open)
			open = nil
		}
	}
	for _, p := range flat(word) {
		text, start, literal := e.piece(p.WordPart, depth)
		if param, ok := p.WordPart.(*syntax.ParamExp); ok && open == nil && param.Param != nil && plainParam(param) && e.spread(param.Param.Value, condition, depth+1) {
			continue
		}
		if !literal {
			if open == nil {
				open = &token{start: start, end: start, location: e.location(p.Pos()), condition: condition}
			}
			open.text, open.symbolic = open.text+text.text, open.symbolic || text.symbolic
			continue
		}
		value, from := p.value(text.text)
		for i, c := range value {
			if c == ' ' || c == '\n' || c == '\t' {
				flush()
				continue
			}
			if open == nil {
				open = &token{start: start + from[i], location: Location{e.name, int(p.Pos().Line()) + strings.Count(text.text[:from[i]], "\n")}, condition: condition}
			}
			open.text += string(value[i : i+1])
			open.end = start + from[i] + 1
		}
	}
	flush()
}

// part is one part of a word and whether double quotes are around it.
type part struct {
	syntax.WordPart
	quoted bool
}

// flat lists the parts of a word with double quotes opened.
func flat(word *syntax.Word) []part {
	var all []part
	for _, p := range word.Parts {
		q, ok := p.(*syntax.DblQuoted)
		if !ok {
			all = append(all, part{p, false})
			continue
		}
		for _, inner := range q.Parts {
			all = append(all, part{inner, true})
		}
	}
	return all
}

// value is what the text of a part stands for, and where in it each byte of
// the value stands. Between double quotes most backslashes stand for
// themselves, between single quotes all do.
// https://www.gnu.org/software/bash/manual/html_node/Quoting.html
func (p part) value(text string) (value []byte, from []int) {
	_, escapes := p.WordPart.(*syntax.Lit)
	for i := 0; i < len(text); i++ {
		if escapes && text[i] == '\\' {
			if i+1 == len(text) || text[i+1] == '\n' { // the line goes on; the parser may cut the part in between
				i++
				continue
			}
			if !p.quoted || strings.IndexByte("$`\"\\", text[i+1]) >= 0 {
				i++
			}
		}
		value, from = append(value, text[i]), append(from, i)
	}
	return value, from
}

// piece is the text of one part and where it starts; literal means that the
// text stands in the script byte for byte.
func (w *walker) piece(p syntax.WordPart, depth int) (t token, start int, literal bool) {
	start = int(p.Pos().Offset())
	switch p := p.(type) {
	case *syntax.Lit:
		if end := int(p.End().Offset()); start < end && end <= len(w.src) {
			return token{text: string(w.src[start:end])}, start, true
		}
		return token{text: p.Value}, start, false
	case *syntax.SglQuoted:
		if p.Dollar {
			return token{text: p.Value, symbolic: true}, start, false
		}
		return token{text: p.Value}, start + 1, true
	case *syntax.ParamExp:
		if p.Param != nil && plainParam(p) {
			return w.variable(p.Param.Value, w.source(p), start, depth+1), start, false
		}
	}
	return token{text: w.source(p), symbolic: true}, start, false
}

// maxValue bounds one expanded value.
const maxValue = 64 << 10

// value is the text of a whole word. What the script does not fix stays as
// written and makes the word symbolic.
func (w *walker) value(word *syntax.Word, before, depth int) token {
	t := token{start: int(word.Pos().Offset()), end: int(word.End().Offset()), location: w.location(word.Pos()), quoted: quoted(word)}
	if len(word.Parts) == 1 && t.quoted && t.end-t.start >= 2 { // the range inside the quotes
		t.start, t.end = t.start+1, t.end-1
	}
	for _, p := range flat(word) {
		if len(t.text) > maxValue {
			t.symbolic = true
			break
		}
		piece, _, literal := w.piece(p.WordPart, depth)
		if literal {
			value, _ := p.value(piece.text)
			piece.text = string(value)
		}
		t.text += piece.text
		t.symbolic = t.symbolic || piece.symbolic
	}
	return t
}

// variable is the value of a variable with one plain, unconditional
// assignment before the given offset; any other stays symbolic.
func (w *walker) variable(name, written string, before, depth int) token {
	list := w.assigned[name]
	w.followed++
	if w.followed > maxSteps || len(list) != 1 || list[0].word == nil || list[0].condition != "" || list[0].appended || list[0].at >= before || depth > 8 {
		return token{text: written, symbolic: true}
	}
	t := w.value(list[0].word, list[0].at, depth+1)
	if t.symbolic {
		return token{text: written, symbolic: true}
	}
	return t
}
