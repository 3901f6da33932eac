package main

import (
	"fmt"

	"github.com/spf13/cobra"
)

// published is the revision of the published generator that --compat follows.
const published = "2026-08"

// revision is the value of --compat: "" = refit's own way.
type revision string

const revisionType = "revision"

func (r *revision) String() string { return string(*r) }
func (r *revision) Type() string   { return revisionType }

func (r *revision) Set(text string) error {
	if text != published {
		return fmt.Errorf("want %s, the only revision there is", published)
	}
	*r = revision(text)
	return nil
}

// compatFlag adds --compat, which may stand alone or name the revision.
func compatFlag(cmd *cobra.Command, into *revision, what string) {
	cmd.Flags().Var(into, "compat", what)
	cmd.Flags().Lookup("compat").NoOptDefVal = published
}

// advise prints warnings about an answer beside it.
func advise(e env, warnings []string) {
	for _, w := range warnings {
		fmt.Fprintf(text{e.stderr}, "refit: warning: %s\n", w)
	}
}
