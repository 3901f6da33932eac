package main

import (
	"errors"
	"os"
	"runtime/debug"
	"slices"

	"github.com/spf13/cobra"

	"github.com/refit-bench/refit/internal/matrix"
	"github.com/refit-bench/refit/internal/recipe"
)

// generator are the options that both forms of the generator have.
type generator struct {
	files                        matrixFiles
	noEvals, evalsOnly, allEvals bool
	smoke, trim                  bool
	filter                       matrix.Filter
	compat                       revision
}

// sameInBoth is the part of the manual that both forms share.
const sameInBoth = `

--smoke prints two lists in one: of every deployment the row with the lowest
concurrency, without evals, then one eval of it, at the concurrency that the
policy chooses. --trim-conc leaves one row of every deployment, at its lowest
concurrency, after evals are marked. --node-count adds the number of nodes to
every multi-node row, as its last field before the eval fields: that of the
engine's recipe file where CONFIG_FILE names one that is checked in, else the
PREFILL_NODES and DECODE_NODES settings, else the GPUs asked for by
gpus-per-node. It takes part in recipe fingerprints, so a plan has others.

The rows are the published generator's, its oddities included, as long as no
option says otherwise. Standard error tells what is odd about them, and what
leaves it out; --compat (or --compat 2026-08) keeps silent as that revision did:

  a point that a recipe lists twice    measured twice; --unique measures it once
  points that limits make up           measured; --listed-only leaves them out
  families without a matching runner   left out, and named
  no row at all                        [], exit code 0`

func (g *generator) flags(cmd *cobra.Command) {
	g.files.flags(cmd)
	f := cmd.Flags()
	f.BoolVar(&g.noEvals, "no-evals", false, "mark no evals")
	f.BoolVar(&g.evalsOnly, "evals-only", false, "only the rows that are marked, as evals")
	f.BoolVar(&g.allEvals, "all-evals", false, "every row that can be evaluated, as evals")
	f.BoolVar(&g.smoke, "smoke", false, "lowest concurrency and one eval of every deployment")
	f.BoolVar(&g.trim, "trim-conc", false, "one row of every deployment, at its lowest concurrency")
	f.BoolVar(&g.filter.NodeCount, "node-count", false, "add node-count to multi-node rows")
	f.BoolVar(&g.filter.Unique, "unique", false, "measure a point once that a recipe lists twice")
	f.StringVar(&g.filter.Node, "runner-node-filter", "", "rows for the runners whose names contain this")
	f.StringArrayVar(&g.filter.Scenarios, "scenario-type", nil, matrix.Fixed+", "+matrix.Agentic+" (default both)")
	f.StringArrayVar(&g.filter.Lengths, "seq-lens", nil, "1k1k, 8k1k; trace replays are not affected")
}

func (g *generator) mode() (matrix.Mode, error) {
	switch {
	case g.smoke && (g.trim || g.noEvals || g.evalsOnly || g.allEvals):
		return "", usage("--smoke excludes --trim-conc, --no-evals, --evals-only and --all-evals")
	case g.noEvals && (g.evalsOnly || g.allEvals):
		return "", usage("--no-evals excludes --evals-only and --all-evals")
	case g.smoke:
		return matrix.SmokeTest, nil
	case g.noEvals:
		return matrix.NoEvals, nil
	case g.allEvals:
		return matrix.AllEvals, nil
	case g.evalsOnly:
		return matrix.EvalsOnly, nil
	}
	return matrix.MarkEvals, nil
}

func (g *generator) check() error {
	for _, s := range g.filter.Scenarios {
		if s != matrix.Fixed && s != matrix.Agentic {
			return usage("--scenario-type %q: want %s or %s", s, matrix.Fixed, matrix.Agentic)
		}
	}
	for _, l := range g.filter.Lengths {
		if l != "1k1k" && l != "8k1k" {
			return usage("--seq-lens %q: want 1k1k or 8k1k", l)
		}
	}
	if slices.Contains(g.filter.Scenarios, matrix.Fixed) && slices.Contains(g.filter.Scenarios, matrix.Agentic) {
		g.filter.Scenarios = nil // both, in the catalogue's order
	}
	return nil
}

// open reads what the rows are made of.
func (g *generator) open(cmd *cobra.Command) (*recipe.Catalogue, matrix.EvalRule, error) {
	if g.filter.NodeCount {
		root, scripts := ".", "benchmarks"
		if w, err := open(cmd); err == nil {
			root, scripts = w.Root, w.Paths.Scripts
		}
		checkout, err := os.OpenRoot(root) // a setting's path stays inside
		if err != nil {
			return nil, matrix.EvalRule{}, err
		}
		g.filter.NodeTotal = recipe.NodeTotals(checkout.FS(), scripts)
	}
	return g.files.catalogue(cmd)
}

// run expands and prints. Nothing is printed when it could not be done.
func (g *generator) run(e env, expand func() ([]matrix.Row, []string, error)) error {
	rows, warnings, err := expand()
	if errors.Is(err, matrix.ErrOption) {
		return exit{exitUsage, err}
	}
	if err != nil {
		return err
	}
	if g.compat == "" {
		advise(e, warnings)
	}
	text, err := matrix.WriteRows(rows)
	if err != nil {
		return err
	}
	_, err = e.stdout.Write(text)
	return err
}

// collectLate lets a short command end before its garbage is worth collecting.
// It returns the way back.
func collectLate() (undo func()) {
	before := debug.SetGCPercent(800)
	return func() { debug.SetGCPercent(before) }
}
