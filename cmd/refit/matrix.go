package main

import (
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
	cmd.AddCommand(fullSweep(e), testConfig(e), matrixPlan(e), matrixCheck(e), matrixExplain(e))
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
			fmt.Fprintf(out, "families: %d, rows: %d, points: %d, of them evaluated: %d\n", c.Families, c.Rows, c.Points, c.Evals)
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
// generator takes it: --conc 4 8 is --conc 4 --conc 8. It joins --compat with
// the revision that may follow it.
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
		if ok && f != nil && f.Value.Type() == revisionType && i+1 < len(args) && !strings.HasPrefix(args[i+1], "-") {
			i++
			out = append(out, args[i-1]+"="+args[i])
			continue
		}
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
