package engine

import (
	"fmt"
	"slices"
	"strings"
)

// aligned is the new model with the places of the old one: a help text does
// not say where a value is stored, so that a common name makes two options one.
func aligned(old, new Model) Model {
	new.Options = slices.Clone(new.Options)
	for i := range new.Options {
		o := &new.Options[i]
		for _, n := range o.Names {
			if was, ok := old.Option(n); ok {
				o.Dest = was.Dest
				break
			}
		}
	}
	return new
}

// hearsay lowers what would be certain about a source to what a help text can
// tell, and says where it comes from.
func hearsay(findings []Finding) {
	for i := range findings {
		f := &findings[i]
		f.Message = strings.Replace(f.Message, "not decidable from source", "not decidable from the help texts", 1)
		switch {
		case f.Confidence == Certain:
			f.weaken("read from --help")
		default:
			f.Message += "; read from --help"
		}
	}
}

// renamedVariable says what became of a variable that the new help text does
// not name, as far as the option that it set tells.
func (p *pair) renamedVariable(was Variable) string {
	detail := "the new help text does not name it"
	if was.Option == "" {
		return detail
	}
	for _, v := range p.new.Variables {
		if r := p.newTable.resolve(was.Option); r.By == ByName && v.Option != "" && slices.Contains(r.Option.Names, v.Option) {
			return fmt.Sprintf("%s, and names %s for %s", detail, v.Name, was.Option)
		}
	}
	return detail
}
