package engine

import (
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
