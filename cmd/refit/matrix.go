package main

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/refit-bench/refit/internal/matrix"
	"github.com/refit-bench/refit/internal/recipe"
)

func matrixCommand(e env) *cobra.Command {
	cmd := &cobra.Command{
		Use:   "matrix",
		Short: "Expand the catalogue into jobs, with the published generator's options",
		Args:  args(cobra.NoArgs),
		RunE:  func(cmd *cobra.Command, _ []string) error { return cmd.Help() },
	}
	cmd.AddCommand(fullSweep(e), testConfig(e), matrixPlan(e), matrixCheck(e))
	return cmd
}

// matrixFiles are the files that a matrix is made of.
type matrixFiles struct {
	masters []string
	runners string
}

func (m *matrixFiles) flags(cmd *cobra.Command) {
	cmd.Flags().StringArrayVar(&m.masters, "config-files", nil, "master files, in order (default: those of the workspace)")
	cmd.Flags().StringVar(&m.runners, "runner-config", "", "runners file (default: that of the workspace)")
	workspaceFlag(cmd)
}

// catalogue reads the files named, else those of the workspace. Evals are
// marked by the workspace's rule, which without a refit.yaml is the published one.
func (m matrixFiles) catalogue(cmd *cobra.Command) (*recipe.Catalogue, matrix.EvalRule, error) {
	w, err := open(cmd)
	if len(m.masters) > 0 && err != nil { // files may lie outside of any workspace
		cat, err := loadFiles(m.masters, m.runners)
		return cat, matrix.DefaultEvals, err
	}
	if err != nil {
		return nil, matrix.EvalRule{}, err
	}
	rule, err := matrix.ParseEvalRule(w.Config.Evals.Lengths, w.Config.Evals.Floor)
	if err != nil {
		return nil, rule, err
	}
	if len(m.masters) > 0 {
		runners := m.runners
		if runners == "" {
			runners = filepath.Join(w.Root, filepath.FromSlash(w.Paths.Runners))
		}
		cat, err := loadFiles(m.masters, runners)
		return cat, rule, err
	}
	runners := w.Paths.Runners
	if m.runners != "" {
		runners = filepath.ToSlash(m.runners)
	}
	cat, err := recipe.Load(os.DirFS(w.Root), w.Paths.Masters, runners)
	return cat, rule, err
}

// loadFiles reads files of the system by their names.
func loadFiles(masters []string, runners string) (*recipe.Catalogue, error) {
	if runners == "" {
		runners = "configs/runners.yaml"
	}
	names := append(slices.Clone(masters), runners)
	if !slices.ContainsFunc(names, func(n string) bool { return !filepath.IsLocal(n) }) {
		for i := range names {
			names[i] = filepath.ToSlash(filepath.Clean(names[i]))
		}
		return recipe.Load(os.DirFS("."), names[:len(masters)], names[len(masters)])
	}
	for i, n := range names {
		abs, err := filepath.Abs(n)
		if err != nil {
			return nil, err
		}
		names[i] = strings.TrimPrefix(filepath.ToSlash(abs), "/")
	}
	return recipe.Load(os.DirFS("/"), names[:len(masters)], names[len(masters)])
}

// generator are the options that both forms of the generator have.
type generator struct {
	files                        matrixFiles
	noEvals, evalsOnly, allEvals bool
	filter                       matrix.Filter
}

func (g *generator) flags(cmd *cobra.Command) {
	g.files.flags(cmd)
	cmd.Flags().BoolVar(&g.noEvals, "no-evals", false, "mark no evals")
	cmd.Flags().BoolVar(&g.evalsOnly, "evals-only", false, "only the rows that are marked, as evals")
	cmd.Flags().BoolVar(&g.allEvals, "all-evals", false, "every row that can be evaluated, as evals")
	cmd.Flags().StringVar(&g.filter.Node, "runner-node-filter", "", "rows for the runners whose names contain this")
	cmd.Flags().StringArrayVar(&g.filter.Scenarios, "scenario-type", nil, matrix.Fixed+", "+matrix.Agentic+" (default both)")
	cmd.Flags().StringArrayVar(&g.filter.Lengths, "seq-lens", nil, "1k1k, 8k1k; trace replays are not affected")
}

func (g *generator) mode() (matrix.Mode, error) {
	switch {
	case g.noEvals && (g.evalsOnly || g.allEvals):
		return "", usage("--no-evals excludes --evals-only and --all-evals")
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

// limit is an option that was given, or nil.
func limit(cmd *cobra.Command, name string, value int) *int {
	if !cmd.Flags().Changed(name) {
		return nil
	}
	return &value
}

func fullSweep(e env) *cobra.Command {
	var g generator
	var s matrix.Sweep
	var step, minConc, maxConc, maxTP, maxEP int
	cmd := &cobra.Command{
		Use:   "full-sweep",
		Short: "Every job of the catalogue, or of the part that the filters leave",
		Long: `Prints the matrix as one JSON array, a row to a line: fields, order of rows and
eval marks are the published generator's. Filters of different kinds are
combined, several values of one are alternatives. Limits of concurrency cut
ranges, and so may measure points that no recipe lists.`,
		Example: `  refit matrix full-sweep
  refit matrix full-sweep --model-prefix laba --max-conc 8 --no-evals`,
		Args: args(cobra.NoArgs),
		RunE: func(cmd *cobra.Command, _ []string) error {
			if err := g.check(); err != nil {
				return err
			}
			mode, err := g.mode()
			if err != nil {
				return err
			}
			s.Filter, s.Mode = g.filter, mode
			s.Step, s.MinConc, s.MaxConc = step, limit(cmd, "min-conc", minConc), limit(cmd, "max-conc", maxConc)
			s.MaxTP, s.MaxEP = limit(cmd, "max-tp", maxTP), limit(cmd, "max-ep", maxEP)
			if step < 2 {
				return usage("--step-size %d: must be greater than 1", step)
			}
			cat, rule, err := g.files.catalogue(cmd)
			if err != nil {
				return err
			}
			rows, err := matrix.FullSweep(cat, rule, s)
			return printRows(e, rows, err)
		},
	}
	g.flags(cmd)
	f := cmd.Flags()
	f.StringArrayVar(&s.Prefixes, "model-prefix", nil, "config keys that begin with this")
	f.StringArrayVar(&s.Precisions, "precision", nil, "exact precisions")
	f.StringArrayVar(&s.Frameworks, "framework", nil, "exact frameworks")
	f.StringArrayVar(&s.RunnerTypes, "runner-type", nil, "labels of the runners file")
	f.BoolVar(&s.SingleNode, "single-node", false, "single-node families")
	f.BoolVar(&s.MultiNode, "multi-node", false, "multi-node families")
	f.IntVar(&step, "step-size", 2, "factor of concurrency ranges")
	f.IntVar(&minConc, "min-conc", 0, "lowest concurrency")
	f.IntVar(&maxConc, "max-conc", 0, "highest concurrency")
	f.IntVar(&maxTP, "max-tp", 0, "skip single-node entries of fixed lengths with a larger tp")
	f.IntVar(&maxEP, "max-ep", 0, "lower a larger ep of single-node entries of fixed lengths to this")
	return cmd
}

func testConfig(e env) *cobra.Command {
	var g generator
	var keys []string
	cmd := &cobra.Command{
		Use:   "test-config",
		Short: "The jobs of some config keys",
		Long: `Prints the matrix of the keys that --config-keys names, in their order. A key
with * or ? is a pattern over whole keys.`,
		Example: `  refit matrix test-config --config-keys laba-fp8-cpu-sim
  refit matrix test-config --config-keys '*' --conc 4 8 --no-evals`,
		Args: args(cobra.NoArgs),
		RunE: func(cmd *cobra.Command, _ []string) error {
			if len(keys) == 0 {
				return usage("--config-keys is missing")
			}
			if err := g.check(); err != nil {
				return err
			}
			mode, err := g.mode()
			if err != nil {
				return err
			}
			cat, rule, err := g.files.catalogue(cmd)
			if err != nil {
				return err
			}
			rows, err := matrix.TestConfig(cat, rule, keys, g.filter, mode)
			return printRows(e, rows, err)
		},
	}
	g.flags(cmd)
	cmd.Flags().StringArrayVar(&keys, "config-keys", nil, "config keys, or patterns with * and ?")
	cmd.Flags().IntSliceVar(&g.filter.Concs, "conc", nil, "only these concurrencies")
	return cmd
}

// printRows prints a matrix. Nothing is printed when it could not be made.
func printRows(e env, rows []matrix.Row, err error) error {
	if errors.Is(err, matrix.ErrOption) {
		return exit{exitUsage, err}
	}
	if err != nil {
		return err
	}
	text, err := matrix.WriteRows(rows)
	if err != nil {
		return err
	}
	_, err = e.stdout.Write(text)
	return err
}

func matrixCheck(e env) *cobra.Command {
	var files matrixFiles
	var asJSON bool
	cmd := &cobra.Command{
		Use:   "check",
		Short: "Read every recipe strictly and say what the catalogue holds",
		Long: `Reads the master files and the runners. Every mistake of every file is told at
once: file, line, column, config key, rule, and what was probably meant.`,
		Example: "  refit matrix check",
		Args:    args(cobra.NoArgs),
		RunE: func(cmd *cobra.Command, _ []string) error {
			cat, rule, err := files.catalogue(cmd)
			if err != nil {
				return err
			}
			c, err := matrix.Count(cat, rule)
			if err != nil {
				return err
			}
			if asJSON {
				return printJSON(e.stdout, c)
			}
			out := text{e.stdout}
			fmt.Fprintf(out, "%d families, %d rows, %d points, %d of them evaluated\n", c.Families, c.Rows, c.Points, c.Evals)
			for _, warning := range c.Warnings {
				fmt.Fprintf(out, "warning: %s\n", warning)
			}
			return nil
		},
	}
	files.flags(cmd)
	cmd.Flags().BoolVar(&asJSON, "json", false, "print one JSON object")
	return cmd
}

// spread lets an option of several values be written once, as the published
// generator takes it: --conc 4 8 is --conc 4 --conc 8.
func spread(cmd *cobra.Command, args []string) []string {
	if len(args) < 2 || args[0] != "matrix" {
		return args
	}
	sub, _, err := cmd.Find(args)
	if err != nil {
		return args
	}
	out := slices.Clone(args[:2])
	for i := 2; i < len(args); i++ {
		name, ok := strings.CutPrefix(args[i], "--")
		f := sub.Flags().Lookup(name)
		if !ok || f == nil || f.Value.Type() != "stringArray" && f.Value.Type() != "intSlice" {
			out = append(out, args[i])
			continue
		}
		first := i + 1
		for i+1 < len(args) && !strings.HasPrefix(args[i+1], "--") {
			i++
			out = append(out, args[first-1]+"="+args[i])
		}
		if i+1 == first { // no value: cobra says so
			out = append(out, args[first-1])
		}
	}
	return out
}
