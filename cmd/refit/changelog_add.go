package main

import (
	"fmt"
	"os"
	"path"
	"path/filepath"
	"regexp"

	"github.com/spf13/cobra"

	"github.com/refit-bench/refit/internal/recipe"
	"github.com/refit-bench/refit/internal/workspace"
)

func changelogAdd(e env) *cobra.Command {
	var f journalFlags
	var entry recipe.ChangelogEntry
	var fragment, base string
	cmd := &cobra.Command{
		Use:   "add",
		Short: "Append an entry, or write it as a fragment of its own",
		Long: `Appends an entry to the changelog, or writes it as a fragment, when the recipes
of the working tree can be planned with it. With --append-only the points that
they gained since --base are measured and nothing else; a change that does more
is refused, and told what else it does.`,
		Example: `  refit changelog add --config-key laba-fp8-cpu-sim --description Remeasure --fragment measure-again`,
		Args:    args(cobra.NoArgs),
		RunE: func(cmd *cobra.Command, _ []string) error {
			if len(entry.ConfigKeys) == 0 || len(entry.Description) == 0 {
				return usage("--config-key and --description are required")
			}
			j, err := f.open(cmd)
			if err != nil {
				return err
			}
			if entry.PRLink = "XXX"; f.pull > 0 {
				entry.PRLink = j.rule.Own()
			}
			since := ""
			if entry.AppendOnly {
				if since, err = j.since(cmd, base, "HEAD"); err != nil {
					return err
				}
			}
			if err := j.plannable(cmd, []recipe.ChangelogEntry{entry}, since); err != nil {
				return err
			}
			name, err := j.add(entry, fragment)
			if err == nil {
				fmt.Fprintln(text{e.stdout}, "added to "+name)
			}
			return err
		},
	}
	f.flags(cmd)
	cmd.Flags().StringArrayVar(&entry.ConfigKeys, "config-key", nil, "config key, or a pattern with *")
	cmd.Flags().StringArrayVar(&entry.Description, "description", nil, "what changed")
	cmd.Flags().StringArrayVar(&entry.ScenarioType, "scenario-type", nil, "only this scenario")
	cmd.Flags().BoolVar(&entry.EvalsOnly, "evals-only", false, "no throughput")
	cmd.Flags().BoolVar(&entry.AllEvals, "all-evals", false, "every eval, no throughput")
	cmd.Flags().BoolVar(&entry.NoEvals, "no-evals", false, "throughput alone")
	cmd.Flags().BoolVar(&entry.AppendOnly, "append-only", false, "only the points that are new since --base, without evals")
	cmd.Flags().StringVar(&base, "base", "origin/main", "branch that the change is for, with --append-only")
	cmd.Flags().IntVar(&entry.EvalMinPrefillEP, "eval-min-prefill-ep", 0, "only evals of prefill workers with at least this ep")
	cmd.Flags().StringVar(&fragment, "fragment", "", "write changelog.d/NAME.yaml instead")
	return cmd
}

var fragmentName = regexp.MustCompile(`^[A-Za-z0-9][A-Za-z0-9._-]{0,99}$`)

func (j journal) add(entry recipe.ChangelogEntry, fragment string) (string, error) {
	if fragment == "" {
		src, err := j.history()
		if err != nil {
			return "", err
		}
		grown, err := recipe.AppendEntry(src, entry)
		if err != nil {
			return "", err
		}
		return j.w.Paths.Changelog, j.write(grown)
	}
	if !fragmentName.MatchString(fragment) {
		return "", usage("--fragment %q: want letters, digits, dots, hyphens and underscores", fragment)
	}
	name := path.Join(fragmentDir, fragment+".yaml")
	file := filepath.Join(j.w.Root, filepath.FromSlash(name))
	if _, err := os.Lstat(file); err == nil {
		return "", fmt.Errorf("%s is there already: choose another name", name)
	}
	if err := os.MkdirAll(filepath.Dir(file), 0o755); err != nil {
		return "", err
	}
	return name, workspace.WriteFile(file, recipe.FragmentText(entry), 0o644)
}
