package main

import (
	"errors"

	"github.com/spf13/cobra"

	"github.com/refit-bench/refit/internal/candidate"
	"github.com/refit-bench/refit/internal/server"
)

func wavePlan(e env) *cobra.Command {
	var q waveQuestion
	cmd := &cobra.Command{
		Use:   "plan",
		Short: "Say which families may move now, and of every other why not",
		Long: `Looks over the families of the main branch: what is published for them, what
their lanes hold that is newer, who has them already (claims, branches, open pull
requests, candidates without an end), and where there is room. Prints the
families that may move in the order in which they are tried, then every other
with its reason. Nothing is written to the forge. Exit code 0 also when no
family may move.

What is published comes from the workspace's own results, or from the feeds that
--latest-images and --releases name: files or addresses. An invalid row is set
aside and counted; an invalid feed ends the plan.

--out leaves candidates.json, open-prs.json and capacity.json in a folder, all
of them or none. capacity.json is private: it says which clusters have room.

Clusters are asked for room with --status (the dashboard's status document, with
--key-file its bearer token) or --sinfo (records as "refit capacity check" wants
them). Without them nobody is asked: what cannot run at once waits in a queue.`,
		Example: `  refit wave plan
  refit wave plan --seed 7 --out plan --json
  refit wave plan --latest-images latest-images.json --releases releases.json --sinfo cpu-lab=nodes.txt`,
		Args: args(cobra.NoArgs),
		RunE: func(cmd *cobra.Command, _ []string) error { return q.answer(cmd, e) },
	}
	workspaceFlag(cmd)
	q.flags(cmd)
	return cmd
}

// planFlags are the flags of a command that plans.
type planFlags struct{ options server.WaveOptions }

func (f *planFlags) flags(cmd *cobra.Command) {
	cmd.Flags().Uint64Var(&f.options.Seed, "seed", 0, "`number` that the order follows from (default: the time)")
	cmd.Flags().StringVar(&f.options.Images, "latest-images", "", "what is published: a `FILE|URL` of the feed latest-images")
	cmd.Flags().StringVar(&f.options.Releases, "releases", "", "newest releases of the engines: a `FILE|URL` of the feed framework-releases")
	cmd.Flags().StringArrayVar(&f.options.Earlier, "earlier-prefix", nil, "another spelling of policy.prefix, whose refs count as taken (may be repeated)")
}

// seeded are the options, with the time for a seed that nobody named.
func (f planFlags) seeded(cmd *cobra.Command, e env) server.WaveOptions {
	if !cmd.Flags().Changed("seed") {
		f.options.Seed = uint64(e.now().UnixMilli())
	}
	return f.options
}

// waveQuestion is how the command was called.
type waveQuestion struct {
	planFlags
	room   capacityFlags
	out    string
	asJSON bool
}

func (q *waveQuestion) flags(cmd *cobra.Command) {
	q.planFlags.flags(cmd)
	cmd.Flags().StringVar(&q.out, "out", "", "leave the plan in this `folder`")
	cmd.Flags().BoolVar(&q.asJSON, "json", false, "print one JSON object")
	q.room.flags(cmd)
}

// answer plans, keeps the plan when that is wanted, and prints it.
func (q waveQuestion) answer(cmd *cobra.Command, e env) error {
	source, err := q.room.source()
	if err != nil {
		return err
	}
	if q.out != "" {
		if err := candidate.WaveFolder(q.out); err != nil {
			return exit{exitUsage, err}
		}
	}
	w, c, err := planned(cmd, e, q.seeded(cmd, e), source)
	if err == nil && q.out != "" {
		err = candidate.WriteWave(q.out, w, c)
	}
	if err != nil {
		return err
	}
	if q.asJSON {
		return printJSON(e.stdout, w)
	}
	w.Text(text{e.stdout})
	return nil
}

// planned plans once with the workspace's parts, and closes them. It returns the
// capacity that it asked for too.
func planned(cmd *cobra.Command, e env, o server.WaveOptions, room server.CapacitySource) (w candidate.Wave, c candidate.Capacity, err error) {
	pr := newProgress(e)
	p, err := attach(cmd, env{e.stdin, e.stdout, pr, e.now})
	if err != nil {
		return w, c, err
	}
	defer func() { err = errors.Join(err, p.Close()) }()
	p.Room = room
	s, err := p.Shepherd(pr.Event)
	if err != nil {
		return w, c, err
	}
	from, err := p.WaveSources(cmd.Context(), o)
	if err != nil {
		return w, c, err
	}
	w, err = s.PlanWave(cmd.Context(), from)
	pr.finish()
	return w, from.Capacity, err
}
