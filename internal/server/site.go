package server

import (
	"fmt"

	"github.com/refit-bench/refit/internal/gate"
	"github.com/refit-bench/refit/internal/recipe"
	"github.com/refit-bench/refit/internal/run"
	"github.com/refit-bench/refit/internal/workspace"
)

// weights says, before anything is measured, whether a family's weights are
// where this machine's cluster facts say.
func weights(w *workspace.Workspace) func(recipe.Runners, recipe.Entry) gate.Verdict {
	return func(r recipe.Runners, e recipe.Entry) gate.Verdict {
		v := gate.Verdict{Gate: "weights", Answer: gate.Pass}
		site, err := run.ReadSite(w.Root, w.Config.Clusters)
		if err == nil {
			v.Reason, err = site.Weights(r, e)
		}
		switch {
		case err != nil:
			v.Answer, v.Reason = gate.Fail, err.Error()
		case v.Reason == "":
			v.Reason = fmt.Sprintf("no cluster stages %s: the engine fetches it", e.Model)
		default:
			v.Reason = fmt.Sprintf("%s is staged at %s", e.Model, v.Reason)
		}
		return v
	}
}
