package candidate

import (
	"fmt"
	"slices"
	"strings"

	"github.com/refit-bench/refit/internal/engine"
	"github.com/refit-bench/refit/internal/recipe"
)

// offers are the edits of the recipe's script that the argument model can
// represent: those proposed, and for every flag and variable that differs its
// omission, and the names that it may have in the new engine.
func offers(r reviewing) []Choice {
	o := offering{reviewing: r}
	for _, e := range r.in.Edits {
		what := fmt.Sprintf("%s: %s becomes %s", e.File, line(e.Edit.Old), line(e.Edit.New))
		if line(e.Edit.New) == "" {
			what = fmt.Sprintf("%s: leave out %s", e.File, line(e.Edit.Old))
		}
		o.add(what, true, []engine.FileEdit{e})
	}
	for _, f := range r.in.Comparison.Differences() {
		switch f.Kind {
		case "flag":
			o.drop(f.Name, engine.DropFlag)
			for _, to := range newNames(r, f) {
				o.rename(f.Name, to, engine.RenameFlag)
			}
		case "variable":
			o.drop(f.Name, engine.DropVariable)
			for _, to := range f.Candidates {
				o.rename(f.Name, to, engine.RenameVariable)
			}
		}
	}
	return o.choices
}

// offering collects choices, each edit once.
type offering struct {
	reviewing
	choices []Choice
}

func (o *offering) drop(name string, edit func([]byte, string, string) ([]recipe.Edit, error)) {
	edits, err := edit(o.script, o.in.Script, name)
	if err != nil {
		return // what cannot be edited in place is not offered
	}
	o.inScript("leave out "+name, edits)
}

func (o *offering) rename(from, to string, edit func([]byte, string, string, string) ([]recipe.Edit, error)) {
	edits, err := edit(o.script, o.in.Script, from, to)
	if err != nil {
		return
	}
	o.inScript(fmt.Sprintf("%s becomes %s", from, to), edits)
}

// inScript offers one change of the script.
func (o *offering) inScript(what string, edits []recipe.Edit) {
	var all []engine.FileEdit
	for _, e := range edits {
		all = append(all, engine.FileEdit{File: o.in.Script, Edit: e, Reason: "chosen when the inspection was reviewed"})
	}
	o.add(o.in.Script+": "+what, false, all)
}

func (o *offering) add(what string, proposed bool, edits []engine.FileEdit) {
	if len(edits) == 0 || o.have(edits) {
		return
	}
	o.choices = append(o.choices, Choice{ID: fmt.Sprintf("e%d", len(o.choices)+1), What: what, Proposed: proposed, edits: edits})
}

// have says whether one choice makes exactly these edits already.
func (o *offering) have(edits []engine.FileEdit) bool {
	for _, c := range o.choices {
		same := len(c.edits) == len(edits)
		for i := 0; same && i < len(edits); i++ {
			same = c.edits[i].File == edits[i].File && c.edits[i].Edit == edits[i].Edit
		}
		if same {
			return true
		}
	}
	return false
}

// maxNewNames bounds the names that one flag is offered.
const maxNewNames = 12

// newNames are what a flag may be called in the new engine: the names that the
// comparison found, those that it abbreviates, else options that are new there
// and take as many values.
func newNames(r reviewing, f engine.Finding) []string {
	names := slices.Clone(f.Candidates)
	for _, o := range r.after.Options {
		if name := o.Name(); strings.HasPrefix(name, f.Name) && name != f.Name && o.Deprecated == "" && !slices.Contains(names, name) {
			names = append(names, name)
		}
	}
	old, ok := r.before.Option(f.Name)
	if len(names) > 0 || !ok {
		return names[:min(len(names), maxNewNames)]
	}
	for _, o := range r.after.Options {
		_, known := r.before.Option(o.Name())
		if known || o.Positional() || o.Deprecated != "" || o.Nargs != old.Nargs || o.Action != old.Action || len(names) == maxNewNames {
			continue
		}
		names = append(names, o.Name())
	}
	return names
}
