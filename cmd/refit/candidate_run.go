package main

import (
	"errors"
	"regexp"
	"time"

	"github.com/spf13/cobra"

	"github.com/refit-bench/refit/internal/candidate"
	"github.com/refit-bench/refit/internal/server"
)

// idForm is what a candidate's id looks like; a config key never does.
var idForm = regexp.MustCompile(`^[0-9a-f]{16}-[0-9a-f]{16}$`)

func candidateRun(e env) *cobra.Command {
	var to, agent string
	var turns int
	var limit time.Duration
	var asJSON bool
	cmd := &cobra.Command{
		Use:   "run FAMILY|ID [--agent CMD]",
		Short: "Drive a candidate to its outcome, and have an agent judge where evidence does not decide",
		Long: `Does what upgrade does and waits for the outcome. With --agent it starts CMD where
a judgement is needed: before anything is written, when a sweep does not begin,
and after a smoke run that failed. CMD is split into words without a shell. It
runs in a folder of its own below .refit/agent, where the names of files in its
arguments begin, gets the prompt on its standard input, and answers with the file
answer.json (see candidate schema answer and docs/agents.md). It gets no credential, and nothing that it says is believed: an
answer that cannot be used is asked for once more, then the outcome is uncertain.
Without --agent nobody is asked. Exit code 3 says that it ended without being
validated.`,
		Example: `  refit candidate run laba-fp8-cpu-sim --agent ./agent.sh --turns 4 --time 20m`,
		Args:    args(cobra.ExactArgs(1)),
		RunE: func(cmd *cobra.Command, a []string) (err error) {
			switch {
			case turns < 1:
				return usage("--turns %d: must be greater than 0", turns)
			case limit <= 0:
				return usage("--time %v: must be greater than 0", limit)
			}
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
			if agent != "" {
				judge, err := server.NewAgent(p, agent, turns, limit)
				if err != nil {
					return usageIf(err, server.ErrNoAgent)
				}
				s.Judge = judge.Judge
			}
			st, err := server.DriveJudged(cmd.Context(), s, naming(cmd, s, a[0], to), p.Poll())
			if err != nil {
				return refusedIf(err, candidate.ErrNothingNewer)
			}
			pr.finish()
			return answer(e.stdout, st, asJSON)
		},
	}
	workspaceFlag(cmd)
	cmd.Flags().StringVar(&to, "to", "", "the image to move to: a reference, or a tag of the same repository")
	cmd.Flags().StringVar(&agent, "agent", "", "the `command` that is asked for judgements")
	cmd.Flags().IntVar(&turns, "turns", 6, "how often it may be asked, all together")
	cmd.Flags().DurationVar(&limit, "time", 30*time.Minute, "how long it may take, all turns together")
	cmd.Flags().BoolVar(&asJSON, "json", false, "print one JSON object")
	return cmd
}

// naming is the candidate that a person names: by its id the one that exists, by
// family the one to move now. A further attempt is found by the family.
func naming(cmd *cobra.Command, s *candidate.Shepherd, name, to string) func() (candidate.Candidate, error) {
	return func() (candidate.Candidate, error) {
		if !idForm.MatchString(name) {
			return s.Select(cmd.Context(), name, to)
		}
		c, err := s.Find(cmd.Context(), name)
		name = c.Family
		return c, err
	}
}

// usageIf makes an error one of how the command was called.
func usageIf(err, target error) error {
	if errors.Is(err, target) {
		return exit{exitUsage, err}
	}
	return err
}
