package server

import (
	"errors"
	"fmt"
	"strconv"

	"github.com/refit-bench/refit/internal/workspace"
)

// ErrNotYet says that refit.yaml chooses something this version does not have.
var ErrNotYet = errors.New("not in this version")

// choice is a setting of which this version knows one value only.
type choice struct{ key, got, only string }

// supported refuses, before anything is written, a configuration whose choices
// would have no effect. It names all of them, each with its place.
func supported(w *workspace.Workspace) error {
	c := w.Config
	return errors.Join(supportedRuns(w), only(w,
		choice{"forge.kind", c.Forge.Kind, "local"},
		choice{"results.kind", c.Results.Kind, "local"},
		choice{"ledger", c.Ledger, "store"},
		choice{"policy.sweeps-on-draft", c.Policy.SweepsOnDraft, "auto"},
		choice{"policy.allow-old-image-runs", strconv.FormatBool(c.Policy.AllowOldImageRuns), "false"},
	))
}

// supportedRuns is the part of supported that a workflow run depends on.
func supportedRuns(w *workspace.Workspace) error {
	return only(w,
		choice{"executor.kind", w.Config.Executor.Kind, "local"},
		choice{"images.kind", w.Config.Images.Kind, "layout"},
	)
}

func only(w *workspace.Workspace, choices ...choice) error {
	var errs []error
	for _, c := range choices {
		if c.got != c.only {
			errs = append(errs, fmt.Errorf("%s: %s: %s is %w (only %s is)", w.Origin(c.key), c.key, c.got, ErrNotYet, c.only))
		}
	}
	return errors.Join(errs...)
}
