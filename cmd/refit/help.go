package main

import (
	"strings"

	"github.com/spf13/cobra"
)

// rootArgs makes a command that there is not a usage error, and names those
// that look alike.
func rootArgs(cmd *cobra.Command, a []string) error {
	if len(a) == 0 {
		return nil
	}
	if like := cmd.SuggestionsFor(a[0]); len(like) > 0 {
		return usage("unknown command %q for %q (did you mean %s?)", a[0], cmd.CommandPath(), strings.Join(like, " or "))
	}
	return usage("unknown command %q for %q: %s --help lists them", a[0], cmd.CommandPath(), cmd.CommandPath())
}

// helpCommand is `refit help COMMAND`, another way to say `refit COMMAND --help`.
func helpCommand() *cobra.Command {
	return &cobra.Command{
		Use:    "help [command]",
		Short:  "Say how a command is called",
		Hidden: true,
		RunE: func(cmd *cobra.Command, a []string) error {
			root := cmd.Root()
			if found, left, err := root.Find(a); err == nil && found == root && len(left) > 0 {
				return rootArgs(root, left)
			}
			root.SetArgs(append(a, "--help"))
			return root.ExecuteContext(cmd.Context())
		},
	}
}
