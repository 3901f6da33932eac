package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"

	"github.com/spf13/cobra"

	"github.com/refit-bench/refit/internal/candidate"
	"github.com/refit-bench/refit/internal/server"
)

// maxStopQuestion bounds what a hook is told, in bytes.
const maxStopQuestion = 1 << 20

func candidateCheckStop(e env) *cobra.Command {
	var limit int
	cmd := &cobra.Command{
		Use:   "check-stop FAMILY|ID",
		Short: "Answer an agent's Stop hook: may it stop working on this candidate?",
		Long: `A Stop hook of Claude Code. It reads the hook's JSON on standard input and prints
{} when the agent may stop, else {"decision":"block","reason":"..."} with what is
left to do. An outcome counts only if the forge is as its receipt says; a handoff
lets the agent go; so does a candidate that does not exist. It holds an agent at
most --blocks times in a row, that is since a person spoke or a tool was used, and
ten times as often in all since a person spoke. It writes nothing and starts no
run, and its exit code is always 0, because another one would mean something to
the agent. What went wrong is said on standard error.`,
		Example: `  refit candidate check-stop laba-fp8-cpu-sim`,
		RunE: func(cmd *cobra.Command, a []string) error {
			answer, err := stopAnswer(cmd, e, a, limit)
			return errors.Join(letGo(err), json.NewEncoder(e.stdout).Encode(answer))
		},
	}
	workspaceFlag(cmd)
	cmd.Flags().IntVar(&limit, "blocks", 3, "hold the agent at most `N` times in a row")
	cmd.SetFlagErrorFunc(func(_ *cobra.Command, err error) error {
		return errors.Join(letGo(err), json.NewEncoder(e.stdout).Encode(candidate.StopAnswer{}))
	})
	return cmd
}

// letGo is an error that is printed and changes nothing.
func letGo(err error) error {
	if err == nil {
		return nil
	}
	return exit{0, err}
}

// stopAnswer is the answer, and what went wrong on the way to it. An agent is
// held when its candidate cannot be looked at, and let go when the hook itself
// was called wrongly.
func stopAnswer(cmd *cobra.Command, e env, a []string, limit int) (candidate.StopAnswer, error) {
	if len(a) != 1 {
		return candidate.StopAnswer{}, errors.New("check-stop wants one candidate: FAMILY or ID")
	}
	in, err := io.ReadAll(io.LimitReader(e.stdin, maxStopQuestion))
	if err != nil {
		return candidate.StopAnswer{}, err
	}
	q, err := candidate.ParseStopQuestion(in)
	if err != nil {
		return candidate.StopAnswer{}, err
	}
	id, left := a[0], ""
	err = looking(cmd, e, a[0], func(ctx context.Context, _ *server.Parts, s *candidate.Shepherd, c candidate.Candidate) (err error) {
		id = c.ID
		left, err = s.CheckStop(ctx, c)
		return err
	})
	switch {
	case errors.Is(err, candidate.ErrNoCandidate):
		return candidate.StopAnswer{}, err
	case err != nil:
		left = fmt.Sprintf("whether you may stop cannot be seen: %v.", err)
	case left == "":
		return candidate.StopAnswer{}, nil
	}
	return q.Blocked(id, left, limit, func(name string) (io.ReadCloser, error) { return os.Open(name) }), err
}
