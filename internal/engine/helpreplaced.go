package engine

import (
	"fmt"
	"slices"
	"strings"
	"unicode"

	"github.com/refit-bench/refit/internal/recipe"
)

// replaced says what the new help text tells about an option that is gone. It
// proposes an edit when that is exact: an option that is described in the same
// words and takes the same ones, or nothing where the flag only asks for the
// default. What merely resembles it is named for a person to choose from.
func (p *pair) replaced(a Resolution, u Use, f *Finding, detail string) string {
	if r := p.newTable.resolve(u.Name); r.Option != nil { // shown only to say that it is gone
		for _, n := range optionsIn(r.Option.Message) {
			if p.newTable.resolve(n).By == ByName {
				f.addCandidate(n)
			}
		}
	}
	if o := p.renamed(a); o != nil && u.End > u.Start && !slices.ContainsFunc(f.Candidates, func(n string) bool { return !slices.Contains(o.Names, n) }) {
		if text, ok := p.spelling(a, o, u); ok {
			f.Edit, f.EditFile = &recipe.Edit{Start: u.Start, End: u.End, Old: u.Name, New: text}, u.Location.File
			f.addEvidence("new " + o.At.String())
			return joined(detail, fmt.Sprintf("%s is described in the same words (%s)", o.Name(), o.At))
		}
	}
	for i := range p.new.Options {
		o := &p.new.Options[i]
		if why := p.resembles(a, o); why != "" {
			f.addCandidate(o.Name())
			f.addEvidence("new " + o.At.String())
			detail = joined(detail, why)
		}
	}
	switch why := p.idle(a.Option, u); {
	case len(f.Candidates) > 0:
		return joined(detail, "no edit is exact, a person has to choose")
	case why != "" && u.Drop != nil:
		f.Edit, f.EditFile = u.Drop, u.Location.File
		return joined(detail, why)
	}
	return detail
}

// idle says why leaving a flag out changes nothing for the old version: it
// asks for the default, or for nothing any more. Words behind a switch are not
// its own, so that it cannot be left out with them.
func (p *pair) idle(o *Option, u Use) string {
	words := 1
	if valueless(o) {
		words = 0
	}
	if len(u.Values) != words || u.Symbolic {
		return ""
	}
	if o.Deprecated == NoEffectOption {
		return "it has no effect in the old version"
	}
	def := o.Default
	for i := range p.old.Options { // of a pair, one side states it
		if other := &p.old.Options[i]; def == "" && other.Dest == o.Dest {
			def = other.Default
		}
	}
	given := literal(strings.TrimSpace(u.Value))
	if words == 0 {
		given, _ = stored(o, u)
		given = map[string]string{"true": "True", "false": "False"}[given]
	} else if i, ok := parseInt(u.Value); ok {
		given = literal(i)
	} else if f, ok := parseFloat(u.Value); ok {
		given = literal(f)
	}
	if def == "" || def != given {
		return ""
	}
	return "it only asks for the old version's default " + def
}

func (f *Finding) addEvidence(place string) {
	if !slices.Contains(f.Evidence, place) {
		f.Evidence = append(f.Evidence, place)
	}
}

func (f *Finding) addCandidate(name string) {
	if !slices.Contains(f.Candidates, name) {
		f.Candidates = append(f.Candidates, name)
	}
}

func joined(a, b string) string {
	if a == "" {
		return b
	}
	return a + "; " + b
}

// added reports whether the new version alone has the option, and it works.
func (p *pair) added(o *Option) bool {
	return o.Deprecated == "" && o.AliasOf == "" && !o.Positional() && !slices.ContainsFunc(o.Names, func(n string) bool { return p.oldTable.options[n] != nil })
}

// gone reports whether the new version lost every name of the option.
func (p *pair) gone(o *Option) bool {
	return !slices.ContainsFunc(o.Names, func(n string) bool { b := p.newTable.options[n]; return b != nil && b.Deprecated != ErrorOption })
}

// renamed is the one added option that is described word for word like the one
// that is gone, which must be the only one so described.
func (p *pair) renamed(a Resolution) *Option {
	if a.Option.Help == "" {
		return nil
	}
	like := func(o *Option) bool { return o.Help == a.Option.Help && o.Action == a.Option.Action }
	var found []*Option
	for i := range p.new.Options {
		if o := &p.new.Options[i]; like(o) && p.added(o) {
			found = append(found, o)
		}
	}
	before := 0
	for i := range p.old.Options {
		if o := &p.old.Options[i]; like(o) && p.gone(o) {
			before++
		}
	}
	if len(found) != 1 || before != 1 || a.Option.Nargs != found[0].Nargs {
		return nil
	}
	return found[0]
}

// leastRun is how many words in a row two descriptions must share at least to
// be taken for related.
const leastRun = 4

// resembles says why an option of the new version may have taken the place of
// one that is gone: it names it, or repeats most of its description.
func (p *pair) resembles(a Resolution, o *Option) string {
	if !p.added(o) {
		return ""
	}
	named := optionsIn(o.Help)
	for _, n := range a.Option.Names {
		if slices.Contains(named, n) {
			return fmt.Sprintf("the help of %s (%s) names %s", o.Name(), o.At, n)
		}
	}
	was := plainWords(a.Option.Help)
	run, end := longestRun(was, plainWords(o.Help))
	if run < leastRun || 2*run < len(was) {
		return ""
	}
	text := fmt.Sprintf("the help of %s (%s) repeats its description", o.Name(), o.At)
	if value := valueAbout(o, plainWords(o.Help)[:end], run); value != "" {
		text += fmt.Sprintf(" at the value %s", value)
	}
	if len(o.Choices) > 0 {
		text += ", values " + strings.Join(o.Choices, ", ")
	}
	if a.Option.Action == "store_false" {
		text += fmt.Sprintf(", while %s switches it off", a.Name)
	}
	return text
}

// valueAbout is the choice whose explanation the words up to the end of a
// common run belong to: the last one named where the run begins.
func valueAbout(o *Option, words []string, run int) string {
	best, at := "", -1
	for _, c := range o.Choices {
		parts := plainWords(c)
		for i := len(words) - run; i >= 0 && len(parts) > 0; i-- {
			if i+len(parts) <= len(words) && slices.Equal(words[i:i+len(parts)], parts) && (i > at || i == at && len(c) > len(best)) {
				best, at = c, i
				break
			}
		}
	}
	return best
}

// plainWords are the words of a text without marks, in small letters.
func plainWords(s string) []string {
	return strings.FieldsFunc(strings.ToLower(s), func(r rune) bool { return !unicode.IsLetter(r) && !unicode.IsDigit(r) })
}

// longestRun is the length of the longest row of words that both have, and
// where it ends in b.
func longestRun(a, b []string) (length, end int) {
	row := make([]int, len(b)+1)
	for _, w := range a {
		before := 0
		for j := range b {
			above := row[j+1]
			row[j+1] = 0
			if b[j] == w {
				row[j+1] = before + 1
				if row[j+1] > length {
					length, end = row[j+1], j+1
				}
			}
			before = above
		}
	}
	return length, end
}
