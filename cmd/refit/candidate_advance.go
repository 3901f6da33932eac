package main

import (
	"context"
	"errors"

	"github.com/spf13/cobra"

	"github.com/refit-bench/refit/internal/candidate"
	"github.com/refit-bench/refit/internal/server"
)

// moving calls do with a candidate that exists and with what moves it, and
// closes the parts afterwards.
func moving(cmd *cobra.Command, e env, name string, do func(context.Context, *server.Parts, *candidate.Shepherd, candidate.Candidate) error) (err error) {
	pr := newProgress(e)
	p, err := attach(cmd, env{e.stdin, e.stdout, pr, e.now})
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, p.Close()) }()
	s, err := p.Shepherd(pr.Event)
	if err != nil {
		return err
	}
	c, err := s.Find(cmd.Context(), name) // it may be another machine's: only the forge knows it then
	if err != nil {
		return err
	}
	if err := do(cmd.Context(), p, s, c); err != nil {
		return err
	}
	pr.finish()
	return nil
}

// waiting are the flags of a command that may have to wait.
type waiting struct{ wait, not bool }

func (w *waiting) flags(cmd *cobra.Command) {
	cmd.Flags().BoolVar(&w.wait, "wait", false, "wait until there is an outcome (default on a terminal)")
	cmd.Flags().BoolVar(&w.not, "no-wait", false, "return with exit code 4 instead of waiting")
	cmd.MarkFlagsMutuallyExclusive("wait", "no-wait")
}

// waits says whether to wait: always where this process measures what it waits for.
func (w waiting) waits(e env, p *server.Parts) bool {
	return p.Measures || w.wait || !w.not && isTerminal(e.stderr)
}

func candidateAdvance(e env) *cobra.Command {
	var asJSON bool
	var w waiting
	var room capacityFlags
	cmd := &cobra.Command{
		Use:   "advance FAMILY|ID",
		Short: "Go on with a candidate that exists, as far as it goes",
		Long: `Walks the life of a candidate from the top: what has its receipt is not done
again. It begins none (see refit upgrade). Exit code 3 says that it ended without
being validated, 4 that it waits: call again.`,
		Example: `  refit candidate advance laba-fp8-cpu-sim
  refit candidate advance laba-fp8-cpu-sim --json`,
		Args: args(cobra.ExactArgs(1)),
		RunE: func(cmd *cobra.Command, a []string) error {
			source, err := room.source()
			if err != nil {
				return err
			}
			var st candidate.Status
			err = moving(cmd, e, a[0], func(ctx context.Context, p *server.Parts, s *candidate.Shepherd, c candidate.Candidate) (err error) {
				p.Room = source
				st, err = upgrade(cmd, s, c, false, w.waits(e, p), p.Poll())
				return err
			})
			if err != nil {
				return err
			}
			return answer(e.stdout, st, asJSON)
		},
	}
	workspaceFlag(cmd)
	cmd.Flags().BoolVar(&asJSON, "json", false, "print one JSON object")
	w.flags(cmd)
	room.flags(cmd)
	return cmd
}
