package main

import (
	"github.com/spf13/cobra"

	"github.com/refit-bench/refit/internal/matrix"
)

func fullSweep(e env) *cobra.Command {
	var s sweeping
	cmd := &cobra.Command{
		Use:   "full-sweep",
		Short: "Every job of the catalogue, or of the part that the filters leave",
		Long: `Prints the matrix as one JSON array, a row to a line: fields, order of rows and
eval marks are the published generator's. Filters of different kinds are
combined, several values of one are alternatives. Limits of concurrency cut
ranges, and so may measure points that no recipe lists. --runner-type takes
labels of the runners file and of families; with --compat the former alone.` + sameInBoth,
		Example: `  refit matrix full-sweep
  refit matrix full-sweep --model-prefix laba --max-conc 8 --no-evals
  refit matrix full-sweep --min-conc 3 --listed-only --trim-conc
  refit matrix full-sweep --smoke --compat 2026-08`,
		Args: args(cobra.NoArgs),
		RunE: func(cmd *cobra.Command, _ []string) error { return s.run(cmd, e) },
	}
	s.flags(cmd)
	return cmd
}

// sweeping are the options of a full sweep.
type sweeping struct {
	generator
	sweep                                matrix.Sweep
	step, minConc, maxConc, maxTP, maxEP int
}

func (s *sweeping) flags(cmd *cobra.Command) {
	s.generator.flags(cmd)
	compatFlag(cmd, &s.compat, "as the published generator of "+published+": no warnings, --runner-type of the runners file alone")
	f := cmd.Flags()
	f.StringArrayVar(&s.sweep.Prefixes, "model-prefix", nil, "config keys that begin with this")
	f.StringArrayVar(&s.sweep.Precisions, "precision", nil, "exact precisions")
	f.StringArrayVar(&s.sweep.Frameworks, "framework", nil, "exact frameworks")
	f.StringArrayVar(&s.sweep.RunnerTypes, "runner-type", nil, "labels of runners")
	f.BoolVar(&s.sweep.SingleNode, "single-node", false, "single-node families")
	f.BoolVar(&s.sweep.MultiNode, "multi-node", false, "multi-node families")
	f.BoolVar(&s.filter.ListedOnly, "listed-only", false, "limits leave out points that no recipe lists")
	f.IntVar(&s.step, "step-size", 2, "factor of concurrency ranges")
	f.IntVar(&s.minConc, "min-conc", 0, "lowest concurrency")
	f.IntVar(&s.maxConc, "max-conc", 0, "highest concurrency")
	f.IntVar(&s.maxTP, "max-tp", 0, "skip single-node entries of fixed lengths with a larger tp")
	f.IntVar(&s.maxEP, "max-ep", 0, "lower a larger ep of single-node entries of fixed lengths to this")
}

func (s *sweeping) run(cmd *cobra.Command, e env) error {
	defer collectLate()()
	if err := s.check(); err != nil {
		return err
	}
	mode, err := s.mode()
	if err != nil {
		return err
	}
	if s.step < 2 {
		return usage("--step-size %d: must be greater than 1", s.step)
	}
	cat, rule, err := s.open(cmd)
	if err != nil {
		return err
	}
	o := s.sweep
	o.Filter, o.Mode, o.Lower, o.Compat = s.filter, mode, s.trim, s.compat != ""
	o.Step, o.MinConc, o.MaxConc = s.step, limit(cmd, "min-conc", s.minConc), limit(cmd, "max-conc", s.maxConc)
	o.MaxTP, o.MaxEP = limit(cmd, "max-tp", s.maxTP), limit(cmd, "max-ep", s.maxEP)
	return s.generator.run(e, func() ([]matrix.Row, []string, error) { return matrix.FullSweep(cat, rule, o) })
}

// limit is an option that was given, or nil.
func limit(cmd *cobra.Command, name string, value int) *int {
	if !cmd.Flags().Changed(name) {
		return nil
	}
	return &value
}

func testConfig(e env) *cobra.Command {
	var t narrowing
	cmd := &cobra.Command{
		Use:   "test-config",
		Short: "The jobs of some config keys",
		Long: `Prints the matrix of the keys that --config-keys names, in their order. A key
with * or ? is a pattern over whole keys. --exp-names keeps exactly the rows of
these names, before evals are marked; each must be the name of one row.` + sameInBoth,
		Example: `  refit matrix test-config --config-keys laba-fp8-cpu-sim
  refit matrix test-config --config-keys '*' --conc 4 8 --no-evals
  refit matrix test-config --config-keys laba-fp8-cpu-sim --smoke`,
		Args: args(cobra.NoArgs),
		RunE: func(cmd *cobra.Command, _ []string) error { return t.run(cmd, e) },
	}
	t.flags(cmd)
	return cmd
}

// narrowing are the options for the matrix of some config keys.
type narrowing struct {
	generator
	keys, names []string
}

func (t *narrowing) flags(cmd *cobra.Command) {
	t.generator.flags(cmd)
	compatFlag(cmd, &t.compat, "as the published generator of "+published+": no warnings")
	cmd.Flags().StringArrayVar(&t.keys, "config-keys", nil, "config keys, or patterns with * and ?")
	cmd.Flags().StringArrayVar(&t.names, "exp-names", nil, "only the rows with exactly these exp-names")
	cmd.Flags().IntSliceVar(&t.filter.Concs, "conc", nil, "only these concurrencies")
}

func (t *narrowing) run(cmd *cobra.Command, e env) error {
	defer collectLate()()
	if len(t.keys) == 0 {
		return usage("--config-keys is missing")
	}
	if err := t.check(); err != nil {
		return err
	}
	mode, err := t.mode()
	if err != nil {
		return err
	}
	cat, rule, err := t.open(cmd)
	if err != nil {
		return err
	}
	o := matrix.Test{Filter: t.filter, Mode: mode, Lower: t.trim, Keys: t.keys, Names: t.names}
	return t.generator.run(e, func() ([]matrix.Row, []string, error) { return matrix.TestConfig(cat, rule, o) })
}
