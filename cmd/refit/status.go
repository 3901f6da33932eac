package main

import (
	"io"
	"os"
	"time"

	"github.com/spf13/cobra"
	"golang.org/x/sys/unix"

	"github.com/refit-bench/refit/internal/candidate"
	"github.com/refit-bench/refit/internal/server"
)

func statusCommand(e env) *cobra.Command {
	var o server.FleetOptions
	var stale int
	var asJSON bool
	cmd := &cobra.Command{
		Use:   "status",
		Short: "The images that the recipes run, oldest first, and what is open",
		Long: `Lists every image of the catalogue with its age and its families, the oldest
first. FROM says what the age is counted from: the image's own build time, the
date in its tag, or the first commit that set it in a recipe (> where the history
that is here begins with that commit). "-> TAG" is the newest tag of the image's
lane. Registries are asked for tags when the workspace has no image layout; what
they do not answer in time is unknown. Nothing is written.`,
		Example: `  refit status
  refit status --stale 90 --offline
  refit status --json`,
		Args: args(cobra.NoArgs),
		RunE: func(cmd *cobra.Command, _ []string) error {
			if stale < 0 {
				return usage("--stale %d: want a number of days", stale)
			}
			if o.Wait <= 0 {
				return usage("--timeout %v: must be greater than 0", o.Wait)
			}
			w, err := open(cmd)
			if err != nil {
				return err
			}
			f, err := server.Fleet(cmd.Context(), w, o, e.now())
			if err != nil {
				return err
			}
			if stale > 0 {
				f = candidate.Stale(f, stale)
			}
			if asJSON {
				return printJSON(e.stdout, f)
			}
			f.Text(e.stdout, terminalWidth(e.stdout), isTerminal(e.stdout))
			return nil
		},
	}
	workspaceFlag(cmd)
	cmd.Flags().IntVar(&stale, "stale", 0, "only images that are at least so many `days` old")
	cmd.Flags().BoolVar(&o.Offline, "offline", false, "ask no registry")
	cmd.Flags().DurationVar(&o.Wait, "timeout", 5*time.Second, "how long registries may take, all together")
	cmd.Flags().BoolVar(&asJSON, "json", false, "print one JSON object")
	return cmd
}

// terminalWidth is that of a terminal in columns, 0 for what is none.
func terminalWidth(w io.Writer) int {
	f, ok := w.(*os.File)
	if !ok {
		return 0
	}
	size, err := unix.IoctlGetWinsize(int(f.Fd()), unix.TIOCGWINSZ)
	if err != nil {
		return 0
	}
	return int(size.Col)
}
