package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"

	"github.com/spf13/cobra"

	"github.com/refit-bench/refit/internal/candidate"
	"github.com/refit-bench/refit/internal/gate"
	"github.com/refit-bench/refit/internal/server"
	"github.com/refit-bench/refit/internal/workspace"
)

// selecting are the flags of a command that selects.
type selecting struct {
	decisions, out string
	room           capacityFlags
	most           int
}

func (q *selecting) flags(cmd *cobra.Command) {
	cmd.Flags().StringVar(&q.decisions, "decisions", "", "`file` with a reviewer's decisions (default: the built-in reviewer's)")
	q.room.flags(cmd)
	cmd.Flags().StringVar(&q.out, "out", "", "`folder` for selection.json and a folder for each candidate (default: the plan's)")
	cmd.Flags().IntVar(&q.most, "cap", candidate.DefaultCap, "claim at most `N` families")
}

// check says where clusters are asked for room, or what is wrong with the call.
func (q selecting) check() (server.CapacitySource, error) {
	if q.most < 1 {
		return server.CapacitySource{}, usage("--cap %d: want at least 1", q.most)
	}
	return q.room.source()
}

// options ask the clusters again for each family.
func (q selecting) options(p *server.Parts) candidate.SelectOptions {
	o := candidate.SelectOptions{Cap: q.most}
	if p.Room.None() {
		return o
	}
	o.Clusters = func(ctx context.Context, ids []string) ([]gate.Verdict, error) {
		c, err := p.Clusters(ctx)
		return c.Check(ids), err
	}
	return o
}

// maxDecisions bounds a reviewer's file, in bytes.
const maxDecisions = 16 << 20

// review returns the reviewer's decisions, or those of the built-in one.
func (q selecting) review(s *candidate.Shepherd) func(context.Context, candidate.Wave) ([]candidate.Decision, error) {
	if q.decisions == "" {
		return s.Review
	}
	return func(_ context.Context, w candidate.Wave) ([]candidate.Decision, error) {
		src, err := workspace.ReadFile(q.decisions, maxDecisions)
		if err != nil {
			return nil, err
		}
		return candidate.ParseDecisions(src, w)
	}
}

func waveSelect(e env) *cobra.Command {
	var q selecting
	var plan string
	var asJSON bool
	cmd := &cobra.Command{
		Use:   "select --plan DIR",
		Short: "Claim the families of a plan that a review lets proceed",
		Long: `Reads a plan and the decisions about it, asks for capacity again, and claims the
families in the plan's order, at most --cap of them. A family that lost its room
or was claimed by somebody else leaves its place to a later one.

A reviewer's file holds one decision for each candidate of the plan:

  {"decisions": [{"id": "...", "family": "...", "decision": "proceed",
                  "clusters": ["..."], "reason": "..."}]}

proceed names the clusters that it may run on; duplicate names pull-requests; the
third is uncertain. Each gives a reason. When one is missing, unknown, there twice
or not as it should be, nothing is claimed at all: exit code 3. Without a file
the built-in reviewer decides: an open pull request that edits the family's lines,
or another file that it depends on, makes it a duplicate; one whose files are not
all known makes it uncertain.`,
		Example: `  refit wave select --plan wave
  refit wave select --plan wave --cap 2 --out wave/selected --json`,
		Args: args(cobra.NoArgs),
		RunE: func(cmd *cobra.Command, _ []string) error {
			if plan == "" {
				return usage("--plan is missing: the folder that refit wave plan --out has written")
			}
			room, err := q.check()
			if err != nil {
				return err
			}
			sel, err := selectFrom(cmd, e, plan, q, room)
			if err != nil {
				return byRule(err)
			}
			return printSelection(e.stdout, sel, asJSON)
		},
	}
	workspaceFlag(cmd)
	cmd.Flags().StringVar(&plan, "plan", "", "`folder` of the plan")
	q.flags(cmd)
	cmd.Flags().BoolVar(&asJSON, "json", false, "print one JSON object")
	return cmd
}

// selectFrom selects from a plan's folder. What was claimed before an error is
// written down as well.
func selectFrom(cmd *cobra.Command, e env, plan string, q selecting, room server.CapacitySource) (sel candidate.Selection, err error) {
	w, err := candidate.ReadWave(plan)
	if err != nil {
		return sel, err
	}
	err = shepherding(cmd, e, func(ctx context.Context, p *server.Parts, s *candidate.Shepherd) error {
		p.Room = room
		ds, err := q.review(s)(ctx, w)
		if err != nil {
			return err
		}
		sel, err = s.SelectWave(ctx, w, ds, q.options(p))
		if err == nil || len(sel.Selected) > 0 {
			err = errors.Join(err, sel.Write(cmp.Or(q.out, plan)))
		}
		return err
	})
	return sel, err
}

func printSelection(w io.Writer, sel candidate.Selection, asJSON bool) error {
	if asJSON {
		return printJSON(w, sel)
	}
	for _, c := range sel.Selected {
		fmt.Fprintf(text{w}, "selected  %s  %s -> %s\n", c.Key(), c.OldImage, c.NewImage)
	}
	printLeft(w, sel.Left)
	fmt.Fprintf(w, "%d selected, %d left\n", len(sel.Selected), len(sel.Left))
	return nil
}

func printLeft(w io.Writer, left []candidate.LeftOut) {
	for _, l := range left {
		line := l.Reason
		if l.Detail != "" {
			line += ": " + l.Detail
		}
		fmt.Fprintf(text{w}, "left      %s  %s\n", l.Family, line)
	}
}
