package engine

import (
	"fmt"

	"github.com/refit-bench/refit/internal/recipe"
)

// readDeclared reads the command of a declarative recipe. Its words stand one
// by one in the file, so that each flag's place is known; a word that is not
// written in one piece cannot be edited, which NotRead says.
func readDeclared(src []byte, name string) (Launch, error) {
	d, err := recipe.ParseDeclared(src, name)
	if err != nil {
		return Launch{}, err
	}
	w := &walker{src: src, name: name}
	var words []token
	for _, word := range d.Command {
		t := token{text: word.Text, symbolic: word.Symbolic(), quoted: true, start: word.Start, end: word.End, location: Location{name, word.Line}}
		words = append(words, t)
		if word.Reason != "" && t.flag() {
			w.notRead = append(w.notRead, fmt.Sprintf("%s: %s cannot be edited in place: %s", t.location, flagName(t.text), word.Reason))
		}
	}
	var env []Use
	for _, s := range d.Env {
		env = append(env, w.checked(Use{Name: s.Name.Text, Value: s.Value.Text, Values: []string{s.Value.Text}, Symbolic: s.Value.Symbolic(),
			Location: Location{name, s.Name.Line}, Start: s.Name.Start, End: s.Name.End}))
	}
	w.dropSettings(env)
	l := w.grouped(words, env)
	l.NotRead = append(l.NotRead, w.notRead...)
	return l, nil
}

// maxDropWork bounds the bytes that are read to say how each variable of a
// declarative recipe is taken out.
const maxDropWork = 16 << 20

// dropSettings takes each variable of server.env out by its key, and all of
// them with the mapping.
func (w *walker) dropSettings(env []Use) {
	why := ""
	whole := recipe.Edit{}
	if len(env)*len(w.src) > maxDropWork {
		why = "the recipe has too many variables"
	} else if edit, err := recipe.DropEntry(w.src, w.name, "server", "env"); err != nil && len(env) > 0 {
		why = err.Error()
	} else {
		whole = edit
	}
	group := &exports{len(env), whole}
	for i := range env {
		u := &env[i]
		if u.kept = why; why != "" {
			continue
		}
		u.group, u.Drop = group, &group.whole
		if len(env) == 1 {
			continue
		}
		edit, err := recipe.DropEntry(w.src, w.name, "server", "env", u.Name)
		if err != nil {
			u.Drop, u.kept = nil, err.Error()
			continue
		}
		u.Drop = &edit
	}
}
