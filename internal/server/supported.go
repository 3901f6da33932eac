package server

import (
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/refit-bench/refit/internal/forge"
	"github.com/refit-bench/refit/internal/workspace"
)

// ErrNotYet says that refit.yaml chooses something this version does not have.
var ErrNotYet = errors.New("not in this version")

// choice is a setting of which this version knows some values only: one, or
// several with " or " between them.
type choice struct{ key, got, only string }

// supported refuses, before anything is written, a configuration whose choices
// would have no effect. It names all of them, each with its place.
func supported(w *workspace.Workspace) error {
	c := w.Config
	executors := "local"
	if c.Forge.Kind == "github" {
		executors += " or actions" // its own workflows measure
	}
	return errors.Join(
		only(w, choice{"executor.kind", c.Executor.Kind, executors}),
		supportedImages(w), supportedForge(w),
		only(w,
			choice{"results.kind", c.Results.Kind, "local"},
			choice{"policy.allow-old-image-runs", strconv.FormatBool(c.Policy.AllowOldImageRuns), "false"},
		))
}

// supportedRuns is what a workflow run on this machine depends on.
func supportedRuns(w *workspace.Workspace) error {
	return errors.Join(only(w, choice{"executor.kind", w.Config.Executor.Kind, "local"}), supportedImages(w))
}

func supportedImages(w *workspace.Workspace) error {
	return only(w, choice{"images.kind", w.Config.Images.Kind, "layout"})
}

// supportedForge holds the address of a forge elsewhere against what the client
// would send a credential to, and asks for the file of that credential.
func supportedForge(w *workspace.Workspace) error {
	c := w.Config.Forge
	if c.Kind != "github" {
		return nil
	}
	var errs []error
	if _, err := forge.New(c.URL, "", c.Repository); err != nil {
		errs = append(errs, fmt.Errorf("%s: forge.url: %w", w.Origin("forge.url"), err))
	}
	if c.TokenFile == "" {
		errs = append(errs, fmt.Errorf("%s: forge.token-file: github needs the name of a file that holds a token (of a machine user or an app; the environment's GITHUB_TOKEN is not used)", w.Origin("forge.kind")))
	}
	return errors.Join(errs...)
}

func only(w *workspace.Workspace, choices ...choice) error {
	var errs []error
	for _, c := range choices {
		if !slices.Contains(strings.Split(c.only, " or "), c.got) {
			errs = append(errs, fmt.Errorf("%s: %s: %s is %w (only %s is)", w.Origin(c.key), c.key, c.got, ErrNotYet, c.only))
		}
	}
	return errors.Join(errs...)
}
