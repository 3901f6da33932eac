package main

import (
	"errors"
	"fmt"

	"github.com/spf13/cobra"

	"github.com/refit-bench/refit/internal/candidate"
)

func candidateRelease(e env) *cobra.Command {
	var head, reason, tokenFile string
	var asJSON bool
	cmd := &cobra.Command{
		Use:   "release FAMILY|ID --head SHA",
		Short: "Let a kept candidate be tried again: its branch goes, its family is free",
		Long: `The decision of a maintainer about a candidate that ended regressed or
incompatible, whose branch is kept and whose family stays claimed. It needs the
head that was looked at, write permission, and another login than the one that
owns the candidate; the pull request must be closed and not merged, with its
receipt, and its runs must have ended. The approval is recorded, the branch is
deleted, and the family is free: a later upgrade begins anew.

The embedded forge has a login for this: --token-file .refit/maintainer-token.
Exit code 3 says that a rule does not allow it, and which; 4 that somebody moves
the candidate right now.`,
		Example: `  refit candidate release laba-fp8-cpu-sim --head 4f8e1d0c9b7a6f5e4d3c2b1a0f9e8d7c6b5a4f3e --reason retry`,
		Args:    args(cobra.ExactArgs(1)),
		RunE: func(cmd *cobra.Command, a []string) error {
			if head == "" {
				return usage("release needs --head: the commit that was looked at, all 40 digits")
			}
			r, err := release(cmd, e, a[0], head, reason, tokenFile)
			switch {
			case err != nil:
				return byRule(err)
			case asJSON:
				return printJSON(e.stdout, r)
			}
			_, err = fmt.Fprintln(text{e.stdout}, r)
			return err
		},
	}
	workspaceFlag(cmd)
	cmd.Flags().StringVar(&head, "head", "", "the `SHA` of the branch's head, all 40 digits")
	cmd.Flags().StringVar(&reason, "reason", "", "why, in one sentence; it goes into the audit line")
	cmd.Flags().StringVar(&tokenFile, "token-file", "", "`file` with the maintainer's token, which others must not be able to read (default: the workspace's)")
	cmd.Flags().BoolVar(&asJSON, "json", false, "print one JSON object")
	return cmd
}

func release(cmd *cobra.Command, e env, name, head, reason, tokenFile string) (r candidate.Released, err error) {
	p, err := attach(cmd, e)
	if err != nil {
		return r, err
	}
	defer func() { err = errors.Join(err, p.Close()) }()
	if tokenFile != "" {
		if err := p.ActAs(tokenFile); err != nil {
			return r, err
		}
	}
	s, err := p.Shepherd(nil)
	if err != nil {
		return r, err
	}
	var c candidate.Candidate
	if c, err = s.Find(cmd.Context(), name); err != nil { // it may be another machine's: only the forge knows it then
		return r, err
	}
	return s.Release(cmd.Context(), c, head, reason)
}
