package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"

	"github.com/spf13/cobra"

	"github.com/refit-bench/refit/internal/candidate"
	"github.com/refit-bench/refit/internal/server"
)

// waveRun moves what a plan names: that of a folder, else a new one.
func waveRun(e env) *cobra.Command {
	var q selecting
	var plan planFlags
	var dir string
	var asJSON bool
	var w waiting
	cmd := &cobra.Command{
		Use:   "run [--plan DIR]",
		Short: "One wave: recover, plan, select, and upgrade every selected family",
		Long: `Looks after what earlier waves left, selects families as refit wave select does,
and moves each of them as refit upgrade does, in turns. One family's own trouble
does not touch the others. What no family can be blamed for (the credential, the
forge, the registry, the feeds, this machine, or no room anywhere) stops the wave
when a second family meets it, and opens one issue that says so.

Exit codes: 0 every candidate of the wave has ended, whatever its outcome; 1 one
of them met an error, or the wave stopped; 3 the review does not fit the plan,
and nothing was claimed; 4 something waits: the next wave goes on.`,
		Example: `  refit wave run --cap 2
  refit wave run --plan wave --cap 1 --json`,
		Args: args(cobra.NoArgs),
		RunE: func(cmd *cobra.Command, _ []string) error {
			room, err := q.check()
			if err != nil {
				return err
			}
			var r candidate.WaveReport
			err = shepherding(cmd, e, func(ctx context.Context, p *server.Parts, s *candidate.Shepherd) (err error) {
				p.Room = room
				o := q.run(p, s, dir, w.waits(e, p))
				if dir == "" {
					o.Plan = planNow(p, s, plan.seeded(cmd, e))
				}
				r, err = s.RunWave(ctx, o)
				return err
			})
			return waveAnswer(e.stdout, r, err, asJSON)
		},
	}
	workspaceFlag(cmd)
	cmd.Flags().StringVar(&dir, "plan", "", "`folder` of a plan that was made before (default: plan now)")
	plan.flags(cmd)
	for _, name := range []string{"seed", "latest-images", "releases"} {
		cmd.MarkFlagsMutuallyExclusive("plan", name)
	}
	q.flags(cmd)
	cmd.Flags().BoolVar(&asJSON, "json", false, "print one JSON object")
	w.flags(cmd)
	return cmd
}

// run are the options of a wave whose plan is in a folder.
func (q selecting) run(p *server.Parts, s *candidate.Shepherd, dir string, wait bool) candidate.RunOptions {
	o := candidate.RunOptions{Review: q.review(s), Select: q.options(p)}
	o.Plan = func(context.Context) (candidate.Wave, error) { return candidate.ReadWave(dir) }
	if out := cmp.Or(q.out, dir); out != "" {
		o.Selected = func(sel candidate.Selection) error { return sel.Write(out) }
	}
	if wait {
		o.Pause = func(ctx context.Context) error { return server.Pause(ctx, p.Poll()) }
	}
	return o
}

// planNow looks which families may move.
func planNow(p *server.Parts, s *candidate.Shepherd, o server.WaveOptions) func(context.Context) (candidate.Wave, error) {
	return func(ctx context.Context) (candidate.Wave, error) {
		from, err := p.WaveSources(ctx, o)
		if err != nil {
			return candidate.Wave{}, err
		}
		return s.PlanWave(ctx, from)
	}
}

// waveAnswer prints what a wave did, also beside an error, and picks the exit code.
func waveAnswer(w io.Writer, r candidate.WaveReport, err error, asJSON bool) error {
	if asJSON {
		err = errors.Join(err, printJSON(w, r))
	} else {
		printWave(w, r)
	}
	if err != nil {
		return byRule(err)
	}
	if r.Stopped != nil {
		return fmt.Errorf("the wave stopped: %s: %s", r.Stopped.Code, r.Stopped.Reason)
	}
	for _, m := range r.Moved {
		if m.Error != "" {
			return exit{exitError, nil}
		}
	}
	if r.Waits() {
		return exit{exitWaiting, nil}
	}
	return nil
}

func printWave(w io.Writer, r candidate.WaveReport) {
	for _, x := range r.Recovered {
		fmt.Fprintf(text{w}, "recover   %s\n", x)
	}
	printLeft(w, r.Left)
	for _, m := range r.Moved {
		fmt.Fprintf(text{w}, "moved     %s\n", m)
	}
	if s := r.Stopped; s != nil && s.Issue > 0 {
		fmt.Fprintf(text{w}, "stopped   %s: issue #%d\n", s.Code, s.Issue)
	} else if s != nil {
		fmt.Fprintf(text{w}, "stopped   %s: %s\n", s.Code, s.Warning)
	}
	fmt.Fprintf(w, "%d recovered, %d left, %d moved\n", len(r.Recovered), len(r.Left), len(r.Moved))
}
