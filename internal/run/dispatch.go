package run

import (
	"errors"
	"fmt"
	"io"
	"path"
	"strings"

	"github.com/spf13/pflag"

	"github.com/refit-bench/refit/internal/matrix"
	"github.com/refit-bench/refit/internal/recipe"
)

// command is what a dispatch's generate-cli-command asks for.
type command struct {
	Keys      []string // exact or with * and ?
	Smoke     bool
	NoEvals   bool
	EvalsOnly bool
	Conc      []int
}

// parseCommand reads "test-config --config-keys KEY... [--smoke]
// [--no-evals | --evals-only] [--conc N...]".
func parseCommand(line string) (command, error) {
	words := strings.Fields(line)
	if len(words) == 0 {
		return command{}, errors.New("generate-cli-command is empty")
	}
	if words[0] != "test-config" {
		return command{}, fmt.Errorf("generate-cli-command: %q is not supported, only test-config is", words[0])
	}
	var c command
	f := pflag.NewFlagSet("test-config", pflag.ContinueOnError)
	f.SetOutput(io.Discard)
	f.StringSliceVar(&c.Keys, "config-keys", nil, "")
	f.BoolVar(&c.Smoke, "smoke", false, "")
	f.BoolVar(&c.NoEvals, "no-evals", false, "")
	f.BoolVar(&c.EvalsOnly, "evals-only", false, "")
	f.IntSliceVar(&c.Conc, "conc", nil, "")
	if err := f.Parse(spread(words[1:])); err != nil {
		return c, fmt.Errorf("generate-cli-command: %w", err)
	}
	switch {
	case f.NArg() > 0:
		return c, fmt.Errorf("generate-cli-command: unexpected %q", f.Arg(0))
	case len(c.Keys) == 0:
		return c, errors.New("generate-cli-command: --config-keys is required")
	case c.NoEvals && c.EvalsOnly:
		return c, errors.New("generate-cli-command: --no-evals and --evals-only exclude each other")
	}
	return c, nil
}

// spread repeats a flag before each of its values, so that lists may be
// written "--config-keys a b".
func spread(words []string) []string {
	var out []string
	flag, used := "", false
	for _, w := range words {
		w = strings.Trim(w, `"'`)
		switch {
		case strings.HasPrefix(w, "--"):
			flag, used = "", false
			out = append(out, w)
			if w == "--config-keys" || w == "--conc" {
				flag = w
			}
		case flag != "" && used:
			out = append(out, flag, w)
		default:
			used = true
			out = append(out, w)
		}
	}
	return out
}

// families finds the keys in the catalogue, in its order.
func (c command) families(cat *recipe.Catalogue) ([]recipe.Family, error) {
	var out []recipe.Family
	found := map[string]bool{}
	for _, f := range cat.Families {
		for _, key := range c.Keys {
			if ok, err := path.Match(key, f.Key); err != nil {
				return nil, fmt.Errorf("config key %q: %w", key, err)
			} else if ok || key == f.ID {
				if len(out) == 0 || out[len(out)-1].ID != f.ID {
					out = append(out, f)
				}
				found[key] = true
			}
		}
	}
	for _, key := range c.Keys {
		if !found[key] {
			if _, err := cat.Family(key); err != nil {
				return nil, err
			}
			return nil, fmt.Errorf("no config key matches %q", key)
		}
	}
	return out, nil
}

// choose is the selection that the command makes of a family's points.
func (c command) choose(points []matrix.Point) matrix.Selection {
	if len(c.Conc) > 0 {
		points = withConc(points, c.Conc)
	}
	s := matrix.Full(points)
	if c.Smoke {
		s = matrix.Smoke(points)
	}
	if c.NoEvals {
		s.Evals = nil
	}
	if c.EvalsOnly {
		s.Throughput = nil
	}
	return s
}

func withConc(points []matrix.Point, conc []int) []matrix.Point {
	var out []matrix.Point
	for _, p := range points {
		for _, c := range conc {
			if p.Conc() == c {
				out = append(out, p)
			}
		}
	}
	return out
}
