package main

import (
	"fmt"
	"runtime"
	"runtime/debug"

	"github.com/spf13/cobra"
)

// version is set by release builds; others tell their commit.
var version = "devel"

// build is what `refit version --json` prints.
type build struct {
	Version string `json:"version"`
	Commit  string `json:"commit,omitempty"`
	Dirty   bool   `json:"dirty,omitempty"`
	Go      string `json:"go"`
	OS      string `json:"os"`
	Arch    string `json:"arch"`
}

func thisBuild() build {
	b := build{Version: version, Go: runtime.Version(), OS: runtime.GOOS, Arch: runtime.GOARCH}
	info, ok := debug.ReadBuildInfo()
	if !ok {
		return b
	}
	for _, s := range info.Settings {
		switch s.Key {
		case "vcs.revision":
			b.Commit = s.Value
		case "vcs.modified":
			b.Dirty = s.Value == "true"
		}
	}
	return b
}

func versionCommand(e env) *cobra.Command {
	var asJSON bool
	cmd := &cobra.Command{
		Use:     "version",
		Short:   "Print the version of this binary",
		Example: "  refit version",
		Args:    args(cobra.NoArgs),
		RunE: func(*cobra.Command, []string) error {
			b := thisBuild()
			if asJSON {
				return printJSON(e.stdout, b)
			}
			fmt.Fprintf(e.stdout, "refit %s", b.Version)
			if b.Commit != "" {
				fmt.Fprintf(e.stdout, " (%.12s)", b.Commit)
			}
			_, err := fmt.Fprintf(e.stdout, " %s %s/%s\n", b.Go, b.OS, b.Arch)
			return err
		},
	}
	cmd.Flags().BoolVar(&asJSON, "json", false, "print one JSON object")
	return cmd
}
