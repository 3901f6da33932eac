package main

import (
	"fmt"
	"io"
	"slices"
	"strings"
	"text/tabwriter"

	"github.com/spf13/cobra"

	"github.com/refit-bench/refit/internal/compare"
	"github.com/refit-bench/refit/internal/server"
	"github.com/refit-bench/refit/internal/store"
)

func compareCommand(e env) *cobra.Command {
	var family string
	var asJSON bool
	cmd := &cobra.Command{
		Use:   "compare OLD NEW",
		Short: "Compare two stored runs or images point by point, with intervals and verdicts",
		Long: `Compares measurements of this workspace's store by the rule that candidates are
judged by. OLD and NEW are each

  ID           one run, published or not
  image:REF    all published runs of an image: a reference, a tag or a digest
  FAMILY@REF   the same, of one family

A run of NEW does not count as one of OLD. The spread comes from the runs of
OLD, so a verdict needs at least two of them; one run against one run shows the
differences and is inconclusive. Exit codes: 0 compared, whatever the verdict;
1 could not compare; 2 usage, also when several families are meant.`,
		Example: `  refit compare image:v1.0.0-cpu 17961031251
  refit compare laba-fp8-cpu-sim@v1.0.0-cpu laba-fp8-cpu-sim@v2.0.0-cpu
  refit compare 17961030729 17961030913 --json
  refit compare image:v1.0.0-cpu image:v2.0.0-cpu --family laba-fp8-cpu-sim`,
		Args: args(cobra.ExactArgs(2)),
		RunE: func(cmd *cobra.Command, a []string) error {
			older, err := store.ParseSelection(a[0])
			if err != nil {
				return exit{exitUsage, err}
			}
			newer, err := store.ParseSelection(a[1])
			if err != nil {
				return exit{exitUsage, err}
			}
			c, err := compareSides(cmd, family, older, newer)
			if err != nil {
				return err
			}
			if asJSON {
				return printJSON(e.stdout, c)
			}
			return printCompared(text{e.stdout}, c)
		},
	}
	workspaceFlag(cmd)
	cmd.Flags().StringVar(&family, "family", "", "the family to compare: a config key, or configs/FILE:KEY")
	cmd.Flags().BoolVar(&asJSON, "json", false, "print one JSON object")
	return cmd
}

func compareSides(cmd *cobra.Command, family string, older, newer store.Selection) (server.Compared, error) {
	w, err := open(cmd)
	if err != nil {
		return server.Compared{}, err
	}
	c, err := server.Compare(cmd.Context(), w, family, older, newer)
	return c, usageIf(err, store.ErrAmbiguous)
}

func printCompared(w io.Writer, c server.Compared) error {
	fmt.Fprintln(w, c.Family)
	fmt.Fprintf(w, "  old  %s\n  new  %s\n", sideLine(c.Old), sideLine(c.New))
	for _, curve := range c.Result.Curves {
		if len(curve.Points) == 0 {
			continue
		}
		fmt.Fprintf(w, "\n%s\n", curve.Summary())
		t := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
		for _, p := range curve.Points {
			fmt.Fprintf(t, "  %s\t%s\t%s\t%s\n", p.Name(), p.Verdict, change(p), p.Reason)
		}
		if err := t.Flush(); err != nil {
			return err
		}
	}
	if len(c.Result.Accuracy) > 0 {
		fmt.Fprintln(w)
	}
	for _, a := range c.Result.Accuracy {
		fmt.Fprintln(w, a)
	}
	for _, text := range c.Result.Warnings {
		fmt.Fprintf(w, "warning: %s\n", text)
	}
	return nil
}

// change is the difference with its interval, as far as they are known.
func change(p compare.PointVerdict) string {
	switch {
	case p.Low != 0 || p.High != 0:
		return fmt.Sprintf("%+.2f%% [%+.2f%%, %+.2f%%]", 100*p.Delta, 100*p.Low, 100*p.High)
	case p.Delta != 0:
		return fmt.Sprintf("%+.2f%%", 100*p.Delta)
	}
	return "-"
}

// sideLine names the image and its runs.
func sideLine(s store.Side) string {
	var digests, runs []string
	for _, m := range s.Measured {
		if d := fmt.Sprintf("%.19s", m.Digest); !slices.Contains(digests, d) {
			digests = append(digests, d)
		}
		id := fmt.Sprint(m.RunID)
		if !m.Published {
			id += " (not published)"
		}
		runs = append(runs, id)
	}
	return fmt.Sprintf("%s (%s), runs %s", s.Measured[0].Image, strings.Join(digests, ", "), strings.Join(runs, ", "))
}
