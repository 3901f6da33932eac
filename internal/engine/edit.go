package engine

import (
	"fmt"
	"reflect"
	"regexp"
	"slices"
	"strings"

	"github.com/refit-bench/refit/internal/recipe"
)

// RenameFlag gives a flag of a recipe's launch another name wherever it stands
// and changes no other byte. It refuses, with file, line and reason, what is
// not written in one piece; the edited recipe is read again and must launch the
// same but for the name.
func RenameFlag(script []byte, file, from, to string) ([]recipe.Edit, error) {
	if !plainText(to) || !strings.HasPrefix(to, "-") || numberLike.MatchString(to) {
		return nil, fmt.Errorf("%s: %q is no name of a flag", file, to)
	}
	return change{file: file, from: from, to: to, in: flagsOf, make: renames}.edits(script)
}

// DropFlag takes a flag out of a recipe's launch, with its values, as
// RenameFlag gives it another name.
func DropFlag(script []byte, file, flag string) ([]recipe.Edit, error) {
	return change{file: file, from: flag, in: flagsOf, make: drops}.edits(script)
}

// environmentName is what a program's environment may hold.
var environmentName = regexp.MustCompile(`^[A-Za-z_][A-Za-z0-9_]*$`)

// RenameVariable gives a variable that a recipe exports to the engine another
// name, as RenameFlag does for a flag. It refuses a variable that the script
// also reads or sets elsewhere, and a name that the script has already.
func RenameVariable(script []byte, file, from, to string) ([]recipe.Edit, error) {
	if !environmentName.MatchString(to) {
		return nil, fmt.Errorf("%s: %q is no name of a variable", file, to)
	}
	return change{file: file, from: from, to: to, in: exportsOf, make: renames}.edits(script)
}

// DropVariable takes a variable that a recipe exports to the engine out of it.
func DropVariable(script []byte, file, variable string) ([]recipe.Edit, error) {
	return change{file: file, from: variable, in: exportsOf, make: drops}.edits(script)
}

// change is an edit of all uses of one name; to is empty where it is dropped.
type change struct {
	file, from, to string
	in             func(*Launch) *[]Use
	make           func([]Use, string) ([]recipe.Edit, error)
}

func flagsOf(l *Launch) *[]Use   { return &l.Uses }
func exportsOf(l *Launch) *[]Use { return &l.Exports }

func (c change) edits(script []byte) ([]recipe.Edit, error) {
	before, err := ReadLaunch(script, c.file)
	if err != nil {
		return nil, err
	}
	var uses []Use
	for _, u := range *c.in(&before) {
		switch u.Name {
		case c.from:
			uses = append(uses, u)
		case c.to:
			return nil, fmt.Errorf("%s: %s is there already", u.Location, c.to)
		}
	}
	if at := before.names[c.to]; len(at) > 0 && c.to != c.from {
		return nil, fmt.Errorf("%s:%d: %s is there already", c.file, lineAt(script, at[0]), c.to)
	}
	if len(uses) == 0 {
		return nil, fmt.Errorf("%s: the launch of the engine does not set %s", c.file, c.from)
	}
	edits, err := c.make(uses, c.to)
	if err != nil {
		return nil, err
	}
	return edits, c.proof(script, before, edits)
}

// proof reads the edited recipe again.
func (c change) proof(script []byte, before Launch, edits []recipe.Edit) error {
	out, err := recipe.Splice(script, edits)
	if err != nil {
		return fmt.Errorf("%s: %s: %w", c.file, c.from, err)
	}
	after, err := ReadLaunch(out, c.file)
	if err != nil {
		return fmt.Errorf("%s: the edit of %s: %w", c.file, c.from, err)
	}
	wanted := *c.in(&before)
	if c.to == "" {
		wanted = slices.DeleteFunc(slices.Clone(wanted), func(u Use) bool { return u.Name == c.from })
	} else {
		wanted = slices.Clone(wanted)
		for i := range wanted {
			if wanted[i].Name == c.from {
				wanted[i].Name = c.to
			}
		}
	}
	*c.in(&before) = wanted
	if !reflect.DeepEqual(said(before), said(after)) {
		return fmt.Errorf("%s: an edit of %s would change more of the launch than that", c.file, c.from)
	}
	return nil
}

// said is what a launch says, without places.
func said(l Launch) [][]string {
	all := [][]string{l.Program}
	for _, list := range [][]Use{l.Uses, l.Exports} {
		for _, u := range list {
			all = append(all, append([]string{u.Name, fmt.Sprint(u.Joined, u.Symbolic), u.Condition}, u.Values...))
		}
		all = append(all, nil)
	}
	return all
}

// renames puts another name in the place of each use.
func renames(uses []Use, to string) ([]recipe.Edit, error) {
	var edits []recipe.Edit
	for _, u := range uses {
		if u.Fixed != "" {
			return nil, fmt.Errorf("%s: %s cannot be renamed in place: %s", u.Location, u.Name, u.Fixed)
		}
		if u.End <= u.Start {
			return nil, fmt.Errorf("%s: %s cannot be renamed in place: it is not written in one piece", u.Location, u.Name)
		}
		if e := (recipe.Edit{Start: u.Start, End: u.End, Old: u.Name, New: to}); !slices.Contains(edits, e) {
			edits = append(edits, e)
		}
	}
	return edits, nil
}

// drops takes each use out. Where all variables of one statement go, the
// statement goes: export alone would list the environment.
func drops(uses []Use, _ string) ([]recipe.Edit, error) {
	var edits []recipe.Edit
	going := map[*exports]int{}
	for _, u := range uses {
		if u.Drop != nil {
			going[u.group]++
		}
	}
	for _, u := range uses {
		if u.Drop == nil {
			why := u.Fixed
			if why == "" {
				why = u.kept
			}
			if why == "" {
				why = "it does not stand there by itself with its values behind it"
			}
			return nil, fmt.Errorf("%s: %s cannot be dropped in place: %s", u.Location, u.Name, why)
		}
		e := *u.Drop
		if u.group != nil && going[u.group] == u.group.variables {
			e = u.group.whole
		}
		if !slices.Contains(edits, e) {
			edits = append(edits, e)
		}
	}
	return edits, nil
}
