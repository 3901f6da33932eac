package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"

	"github.com/spf13/cobra"

	"github.com/refit-bench/refit/internal/run"
	"github.com/refit-bench/refit/internal/server"
)

func ciCommand(e env) *cobra.Command {
	var event, out string
	var id int64
	var attempt int
	var decide bool
	cmd := &cobra.Command{
		Use:   "ci run-sweep|e2e-tests",
		Short: "What a workflow run does: plan what the event asks for, measure it, leave artifacts",
		Example: `  refit ci run-sweep --event event.json --out out
  refit ci run-sweep --event event.json --decide
  refit ci e2e-tests --event event.json --out out`,
		Args: args(cobra.ExactArgs(1)),
		RunE: func(cmd *cobra.Command, a []string) error {
			if event == "" {
				return usage("--event is missing: the file with the event's payload")
			}
			w, err := open(cmd)
			if err != nil {
				return err
			}
			c, err := server.CI(w, a[0], event, out)
			if err != nil {
				return err
			}
			c.RunID, c.Attempt, c.Log, c.Now = id, attempt, e.stderr, e.now
			if c.Refit, err = os.Executable(); err != nil {
				return err
			}
			if decide {
				err = printDecision(cmd.Context(), e.stdout, c)
			} else {
				err = c.Run(cmd.Context())
			}
			if errors.Is(err, run.ErrSkipped) {
				fmt.Fprintf(e.stderr, "refit: %v\n", err)
				return appendLine(os.Getenv("GITHUB_OUTPUT"), "conclusion=skipped")
			}
			return err
		},
	}
	workspaceFlag(cmd)
	cmd.Flags().StringVar(&event, "event", os.Getenv("GITHUB_EVENT_PATH"), "file with the event's payload")
	cmd.Flags().StringVar(&out, "out", "out", "folder for the artifacts, one folder each")
	cmd.Flags().BoolVar(&decide, "decide", false, "only say what would be measured; conclusion=skipped in $GITHUB_OUTPUT when nothing would")
	cmd.Flags().Int64Var(&id, "run-id", 0, "id of the workflow run")
	cmd.Flags().IntVar(&attempt, "run-attempt", 1, "attempt of the workflow run")
	return cmd
}

// printDecision says what a workflow run would measure.
func printDecision(ctx context.Context, out io.Writer, c run.CI) error {
	d, err := c.Decide(ctx)
	if err != nil {
		return err
	}
	_, err = fmt.Fprintln(text{out}, d)
	return err
}

// appendLine adds a line to a file, or does nothing without one.
func appendLine(path, line string) error {
	if path == "" {
		return nil
	}
	f, err := os.OpenFile(filepath.Clean(path), os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o600)
	if err != nil {
		return err
	}
	_, err = fmt.Fprintln(f, line)
	return errors.Join(err, f.Close())
}
