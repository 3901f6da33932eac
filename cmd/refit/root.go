package main

import (
	"context"
	"encoding/json"
	"errors"
	"io"
	"io/fs"
	"os"
	"os/exec"
	"syscall"
	"time"

	"github.com/spf13/cobra"

	"github.com/refit-bench/refit/internal/candidate"
	"github.com/refit-bench/refit/internal/image"
	"github.com/refit-bench/refit/internal/server"
	"github.com/refit-bench/refit/internal/server/starter"
	"github.com/refit-bench/refit/internal/workspace"
)

func commands(e env) *cobra.Command {
	root := &cobra.Command{
		Use:               "refit",
		Short:             "Move a recipe's serving engine to a newer image, and prove what that did",
		SilenceErrors:     true,
		SilenceUsage:      true,
		CompletionOptions: cobra.CompletionOptions{HiddenDefaultCmd: true},
		Args:              rootArgs,
		RunE:              func(cmd *cobra.Command, _ []string) error { return cmd.Help() },

		SuggestionsMinimumDistance: 2,
	}
	root.SetIn(e.stdin)
	root.SetOut(e.stdout)
	root.SetErr(e.stderr)
	root.SetFlagErrorFunc(func(_ *cobra.Command, err error) error { return exit{exitUsage, err} })
	root.AddCommand(
		statusCommand(e), upgradeCommand(e), candidateCommand(e), compareCommand(e), doctorCommand(e), whyCommand(e),
		capacityCommand(e), waveCommand(e),
		matrixCommand(e), changelogCommand(e), labCommand(e), serveCommand(e), initCommand(e), configCommand(e), versionCommand(e), mcpCommand(e),
		ciCommand(e), jobCommand(e), benchCommand(e), evalCommand(e), simCommand(e),
	)
	root.SetHelpCommand(helpCommand())
	return root
}

// args turns cobra's complaints about arguments, and about flags that exclude
// each other, into usage errors.
func args(check cobra.PositionalArgs) cobra.PositionalArgs {
	return func(cmd *cobra.Command, a []string) error {
		err := check(cmd, a)
		if err == nil {
			err = cmd.ValidateFlagGroups()
		}
		if err != nil {
			return exit{exitUsage, err}
		}
		return nil
	}
}

// open opens the workspace that a command works in: --workspace, else the
// current folder's.
func open(cmd *cobra.Command) (*workspace.Workspace, error) {
	dir := "."
	if f := cmd.Flags().Lookup("workspace"); f != nil && f.Value.String() != "" {
		dir = f.Value.String()
	}
	return workspace.Open(dir)
}

func workspaceFlag(cmd *cobra.Command) {
	cmd.Flags().StringP("workspace", "C", "", "the recipe repository to work in (default: here)")
}

// attach opens the workspace and its embedded parts.
func attach(cmd *cobra.Command, e env) (*server.Parts, error) {
	return opened(cmd, e, server.Attach)
}

// opened opens the workspace and, with how, what a command needs of it.
func opened[T any](cmd *cobra.Command, e env, how func(context.Context, *workspace.Workspace, string, io.Writer, func() time.Time) (T, error)) (T, error) {
	var none T
	w, err := open(cmd)
	if err != nil {
		return none, err
	}
	self, err := os.Executable()
	if err != nil {
		return none, err
	}
	return how(cmd.Context(), w, self, e.stderr, e.now)
}

// printJSON writes one indented object.
func printJSON(w io.Writer, v any) error {
	enc := json.NewEncoder(w)
	enc.SetEscapeHTML(false)
	enc.SetIndent("", "  ")
	return enc.Encode(v)
}

// hint is advice for errors that have a usual remedy.
func hint(err error) string {
	switch {
	case errors.Is(err, workspace.ErrNone):
		return "a workspace is a git checkout of recipes: go to one, or name it with -C; `refit lab` shows one at work"
	case errors.Is(err, candidate.ErrNothingNewer):
		return "name an image or a tag with --to to move somewhere else"
	case errors.Is(err, starter.ErrNoRepository):
		return "name it: refit init --github --repository owner/name"
	case errors.Is(err, image.ErrNotFound):
		return "images.path in refit.yaml names the OCI layout that is read"
	case errors.Is(err, server.ErrRunning):
		return "`refit serve` or another command works here: wait for it, or stop it"
	case errors.Is(err, image.ErrDamaged):
		return "the layout of images.path holds a damaged copy: put the image there again"
	case errors.Is(err, exec.ErrNotFound):
		return "refit reads repositories with git: install it, or put it on PATH"
	case errors.Is(err, syscall.ENOSPC):
		return "make room there and call again: what was half written is not used"
	case errors.Is(err, fs.ErrPermission):
		return "refit keeps its state in .refit of the workspace, where this user must be able to write"
	}
	return ""
}
