package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/refit-bench/refit/internal/compare"
	"github.com/refit-bench/refit/internal/lab"
	"github.com/refit-bench/refit/internal/server"
	"github.com/refit-bench/refit/internal/workspace"
)

func labCommand(e env) *cobra.Command {
	var dir, engine string
	var asJSON, noServe bool
	cmd := &cobra.Command{
		Use:   "lab",
		Short: "Run complete upgrades on this machine, with engines of the lab's own",
		Long: `Makes a recipe repository with two versions of an engine image, publishes
measured runs of the old one, and upgrades its families: the whole of refit, on
a machine without an accelerator. Every number is measured. A lab that was run
before is kept, and says so. The lab's pages stay served on loopback until
` + "`refit lab down`" + `.`,
		Example: `  refit lab
  refit lab --dir .refit-lab --json`,
		Args: args(cobra.NoArgs),
		RunE: func(cmd *cobra.Command, _ []string) error { return runLab(cmd, e, dir, engine, asJSON, !noServe) },
	}
	cmd.PersistentFlags().StringVar(&dir, "dir", ".refit-lab", "the lab's folder")
	cmd.Flags().StringVar(&engine, "engine", lab.Simulated, strings.Join(lab.Engines, " or "))
	cmd.Flags().BoolVar(&asJSON, "json", false, "end with one JSON object")
	cmd.Flags().BoolVar(&noServe, "no-serve", false, "leave nothing running")
	cmd.AddCommand(labDown(e, &dir))
	return cmd
}

// labAnswer is what `refit lab --json` ends with.
type labAnswer struct {
	Families  []lab.Ending   `json:"families"`
	Addresses server.Address `json:"addresses"`
	Served    bool           `json:"served"` // somebody answers there
	Workspace string         `json:"workspace"`
	Seconds   float64        `json:"seconds"`
}

func runLab(cmd *cobra.Command, e env, dir, engine string, asJSON, serve bool) error {
	pr := newProgress(e)
	l, err := newLab(e, dir)
	if err != nil {
		return err
	}
	l.Engine = engine
	if err := l.Create(cmd.Context(), func(s string) { pr.Say("lab       " + s) }); err != nil {
		return err
	}
	pr.Say("lab       ✓ workspace and images in " + dir)
	w, err := workspace.Open(l.Workspace())
	if err != nil {
		return err
	}
	endings, at, err := tell(cmd.Context(), e, l, w, pr, serve)
	pr.finish()
	if err != nil {
		return err
	}
	a := labAnswer{endings, at, serve, w.Root, e.now().Sub(pr.start).Seconds()}
	if asJSON {
		err = printJSON(e.stdout, a)
	} else {
		printLab(e, a)
	}
	for _, f := range endings {
		if f.Outcome != f.Planned {
			return errors.Join(err, fmt.Errorf("lab: %s ended %s, planned was %s: %s", f.Family, f.Outcome, f.Planned, f.Reason))
		}
	}
	return err
}

// tell runs the story, in the process that serves the lab or in this one, and
// leaves the lab served when asked to.
func tell(ctx context.Context, e env, l lab.Lab, w *workspace.Workspace, pr *progress, serve bool) ([]lab.Ending, server.Address, error) {
	p, err := server.Attach(ctx, w, l.Refit, pr, e.now)
	if err != nil {
		return nil, server.Address{}, err
	}
	endings, err := l.Tell(ctx, p, func(s string) { pr.Say("lab       " + s) }, pr.Event)
	if err = errors.Join(err, p.Close()); err != nil || !serve || !p.Own {
		return endings, p.Address, err
	}
	at, err := server.Detach(ctx, w, l.Refit, 20*time.Millisecond)
	return endings, at, err
}

func newLab(e env, dir string) (lab.Lab, error) {
	abs, err := filepath.Abs(dir)
	if err != nil {
		return lab.Lab{}, err
	}
	self, err := os.Executable()
	if err != nil {
		return lab.Lab{}, err
	}
	return lab.Lab{Dir: abs, Refit: self, Now: e.now}, nil
}

func printLab(e env, a labAnswer) {
	at := relative(a.Workspace)
	for _, f := range a.Families {
		was := ""
		if f.Kept {
			was = " (everything was done before)"
		}
		fmt.Fprintf(e.stdout, "%s: %s%s\n", f.Family, f.Outcome, was)
		fmt.Fprintf(e.stdout, "  %s -> %s, pull request #%d\n", f.OldImage, f.NewImage, f.Pull)
		for _, c := range f.Curves {
			printCurve(e.stdout, c)
		}
		for _, acc := range f.Accuracy {
			fmt.Fprintf(e.stdout, "  %-16s %-12s %.1f%% -> %.1f%%, 95%% interval %+.2f to %+.2f pp; lost %d, gained %d of %d\n",
				acc.Suite+fmt.Sprintf(" c%d", acc.Conc), acc.Verdict, 100*acc.Old, 100*acc.New, 100*acc.Low, 100*acc.High, acc.Lost, acc.Gained, acc.Samples)
		}
		printReadings(text{e.stdout}, f.Readings)
		_, key, _ := strings.Cut(f.Family, ":")
		fmt.Fprintf(e.stdout, "  more: refit candidate show %s -C %s --table\n", key, at)
	}
	fmt.Fprintf(e.stdout, "took %.1f s; reports in %s\n", a.Seconds, filepath.Join(at, ".refit", "reports"))
	if !a.Served {
		fmt.Fprintf(e.stdout, "look around: refit serve -C %s\n", at)
		return
	}
	fmt.Fprintf(e.stdout, "dashboard  %s/\nforge      %s/api/v3/\nregistry   %s\n", a.Addresses.Dashboard, a.Addresses.Forge, a.Addresses.Registry)
	fmt.Fprintln(e.stdout, "served until: refit lab down")
}

// printReadings shows every measured point beside what the server's own clock
// says of it. A server without a clock has nothing to compare.
func printReadings(w io.Writer, readings []lab.Reading) {
	if !slices.ContainsFunc(readings, func(r lab.Reading) bool { return r.Agreement != nil }) {
		return
	}
	image := ""
	for _, r := range readings {
		if r.Image != image {
			image = r.Image
			fmt.Fprintf(w, "  measured at %s\n", image)
		}
		says := "the server keeps no clock"
		if r.Agreement != nil {
			says = r.Agreement.String()
		}
		fmt.Fprintf(w, "    run %d c%-3d %s tok/s/GPU out, TTFT %s ms, TPOT %s ms, %s; %s\n", r.RunID, r.Conc,
			known("%.1f", r.Values.OutputTPSGPU), known("%.1f", r.Values.TTFTms), known("%.2f", r.Values.TPOTms), r.Health, says)
	}
}

func known(format string, v *float64) string {
	if v == nil {
		return "unknown"
	}
	return fmt.Sprintf(format, *v)
}

// printCurve prints a metric's verdict with the interval that lies furthest out.
func printCurve(w io.Writer, c compare.Curve) {
	verdict := string(c.Verdict)
	if !c.Judged {
		verdict = "(reported)"
	}
	p, ok := c.Extreme()
	if !ok {
		fmt.Fprintf(w, "  %-16s %-12s %s\n", c.Metric, verdict, c.Reason)
		return
	}
	fmt.Fprintf(w, "  %-16s %-12s furthest c%d %+.2f%%, 95%% interval %+.2f%% to %+.2f%%; n=%d, df=%d, threshold ±%.0f%%\n",
		c.Metric, verdict, p.Conc, 100*p.Delta, 100*p.Low, 100*p.High, c.N, c.DF, 100*c.Threshold)
}

func relative(path string) string {
	dir, err := os.Getwd()
	if err != nil {
		return path
	}
	if rel, err := filepath.Rel(dir, path); err == nil {
		return rel
	}
	return path
}

func labDown(e env, dir *string) *cobra.Command {
	return &cobra.Command{
		Use:     "down",
		Short:   "Stop the process that serves the lab's workspace",
		Example: "  refit lab down",
		Args:    args(cobra.NoArgs),
		RunE: func(cmd *cobra.Command, _ []string) error {
			l, err := newLab(e, *dir)
			if err != nil {
				return err
			}
			stopped, err := server.Stop(cmd.Context(), l.Workspace(), 100*time.Millisecond)
			if err != nil {
				return err
			}
			if stopped == "" {
				_, err = fmt.Fprintln(e.stdout, "lab: nothing is running")
			} else {
				_, err = fmt.Fprintf(e.stdout, "lab: stopped %s\n", stopped)
			}
			return err
		},
	}
}
