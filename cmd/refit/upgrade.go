package main

import (
	"errors"
	"fmt"
	"io"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/refit-bench/refit/internal/candidate"
	"github.com/refit-bench/refit/internal/server"
)

func upgradeCommand(e env) *cobra.Command {
	var to string
	var dry, asJSON bool
	var w waiting
	var room capacityFlags
	cmd := &cobra.Command{
		Use:   "upgrade FAMILY",
		Short: "Move a family to a newer engine image: compare, edit, measure, judge, report",
		Long: `Moves one recipe family to a newer engine image and proves it. FAMILY is a
config key, or configs/FILE:KEY. Without --to the newest image of the family's
lane is taken. Call it as often as you like: what is done is not done again.`,
		Example: `  refit upgrade laba-fp8-cpu-sim --dry-run
  refit upgrade laba-fp8-cpu-sim --to v2.0.0-cpu`,
		Args: args(cobra.ExactArgs(1)),
		RunE: func(cmd *cobra.Command, a []string) (err error) {
			source, err := room.source()
			if err != nil {
				return err
			}
			pr := newProgress(e)
			p, err := attach(cmd, env{e.stdin, e.stdout, pr, e.now})
			if err != nil {
				return err
			}
			defer func() { err = errors.Join(err, p.Close()) }()
			p.Room = source
			s, err := p.Shepherd(pr.Event)
			if err != nil {
				return err
			}
			c, err := s.Select(cmd.Context(), a[0], to)
			if err != nil {
				return refusedIf(err, candidate.ErrNothingNewer)
			}
			st, err := upgrade(cmd, s, c, dry, w.waits(e, p), p.Poll())
			if err != nil {
				return err
			}
			pr.finish()
			return answer(e.stdout, st, asJSON)
		},
	}
	workspaceFlag(cmd)
	cmd.Flags().StringVar(&to, "to", "", "the image to move to: a reference, or a tag of the same repository")
	cmd.Flags().BoolVar(&dry, "dry-run", false, "only look: resolve, compare, rehearse; write nothing")
	cmd.Flags().BoolVar(&asJSON, "json", false, "print one JSON object")
	w.flags(cmd)
	room.flags(cmd)
	return cmd
}

func upgrade(cmd *cobra.Command, s *candidate.Shepherd, c candidate.Candidate, dry, wait bool, every time.Duration) (candidate.Status, error) {
	if dry {
		return s.Rehearse(cmd.Context(), c)
	}
	if wait {
		st, _, err := server.Drive(cmd.Context(), s, c, every)
		return st, err
	}
	return s.Advance(cmd.Context(), c)
}

func refusedIf(err, target error) error {
	if errors.Is(err, target) {
		return exit{exitRefused, err}
	}
	return err
}

// answer prints where a candidate stands and picks the exit code.
func answer(w io.Writer, st candidate.Status, asJSON bool) error {
	if asJSON {
		if err := printJSON(w, st); err != nil {
			return err
		}
	} else {
		printStatus(text{w}, st)
	}
	switch {
	case st.State == candidate.Waits:
		return exit{exitWaiting, nil}
	case st.Outcome == "" || st.Outcome == candidate.Validated:
		return nil
	}
	return exit{exitRefused, nil}
}

func printStatus(w io.Writer, st candidate.Status) {
	word := string(st.State)
	if st.Outcome != "" {
		word = string(st.Outcome)
	}
	fmt.Fprintf(w, "%s: %s\n", st.Family, word)
	row := func(name, value string) {
		if value != "" {
			fmt.Fprintf(w, "  %-10s %s\n", name, value)
		}
	}
	row("candidate", st.ID)
	row("image", st.OldImage+" -> "+st.NewImage)
	row("step", st.Step)
	row("reason", st.Reason)
	for _, d := range candidate.Dimensions() {
		row(d, st.Verdicts[d])
	}
	row("marks", strings.Join(st.Marks, ", "))
	if st.Pull > 0 {
		row("pull", fmt.Sprintf("#%d at %.12s", st.Pull, st.Head))
	}
	row("next", st.Next)
}
