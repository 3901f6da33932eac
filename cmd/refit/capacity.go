package main

import (
	"context"
	"fmt"

	"github.com/spf13/cobra"

	"github.com/refit-bench/refit/internal/candidate"
	"github.com/refit-bench/refit/internal/gate"
	"github.com/refit-bench/refit/internal/result/api"
	"github.com/refit-bench/refit/internal/server"
)

func capacityCommand(e env) *cobra.Command {
	cmd := &cobra.Command{
		Use:   "capacity",
		Short: "Say whether clusters have room for one more sweep",
		Args:  args(cobra.NoArgs),
		RunE:  func(cmd *cobra.Command, _ []string) error { return cmd.Help() },
	}
	cmd.AddCommand(capacityCheck(e))
	return cmd
}

func capacityCheck(e env) *cobra.Command {
	var q capacityQuestion
	var asJSON bool
	cmd := &cobra.Command{
		Use:   "check --cluster ID... (--status FILE|URL | --sinfo FILE)",
		Short: "Ask whether all the named clusters may take one more sweep",
		Long: `Prints each named cluster with whether it is eligible and, if not, why. Figures
of clusters are private: none is printed. A cluster is eligible when what is
known about it is not stale, its status is operational or degraded, its times
are in order, its node counts add up, a node is idle and less than 80 % are in
use. What is missing or odd is not eligible. An answer older than 120 s, or one
that names a cluster twice, makes nothing eligible.

--status is the dashboard's status document: a file or an address, which is
asked once, for at most 15 s and 16 MiB, without redirects. --key-file holds the
address's bearer token; others must not be able to read it.

--sinfo is a record of one cluster made on Slurm, its time on the first line:

  (date -u +%Y-%m-%dT%H:%M:%SZ; sinfo -h -N -o '%N|%T') > nodes.txt

Exit codes: 0 all are eligible; 1 the document could not be read; 2 usage; 3 at
least one is not eligible.`,
		Example: `  refit capacity check --cluster cluster-a --status clusters.json
  refit capacity check --cluster cluster-a cluster-b --status clusters.json --json
  refit capacity check --cluster cluster-a --sinfo nodes.txt`,
		RunE: func(cmd *cobra.Command, a []string) error {
			q.clusters = append(q.clusters, a...) // --cluster A B
			if err := q.check(); err != nil {
				return err
			}
			c, err := q.ask(cmd.Context(), e)
			if err != nil {
				return err
			}
			return capacityAnswer(e, c.Check(q.clusters), asJSON)
		},
	}
	cmd.Flags().StringArrayVar(&q.clusters, "cluster", nil, "`ID` of a cluster; more may follow it")
	cmd.Flags().StringVar(&q.status, "status", "", "status document: a file or an address (`FILE|URL`)")
	cmd.Flags().StringVar(&q.keyFile, "key-file", "", "`file` with the bearer token for the address")
	cmd.Flags().StringVar(&q.sinfo, "sinfo", "", "`file` with a record of sinfo")
	cmd.Flags().BoolVar(&asJSON, "json", false, "print one JSON object")
	return cmd
}

// capacityQuestion is how the command was called.
type capacityQuestion struct {
	clusters               []string
	status, sinfo, keyFile string
}

func (q capacityQuestion) check() error {
	switch {
	case len(q.clusters) == 0:
		return usage("--cluster is missing: name every cluster that is needed")
	case (q.status == "") == (q.sinfo == ""):
		return usage("want --status or --sinfo, one of them")
	case q.sinfo != "" && len(q.clusters) > 1:
		return usage("--sinfo is a record of one cluster: %d are named", len(q.clusters))
	case q.keyFile != "" && !(api.Source{Name: q.status}).Remote():
		return usage("--key-file is for an address in --status")
	}
	return nil
}

// ask reads the answer.
func (q capacityQuestion) ask(ctx context.Context, e env) (candidate.Capacity, error) {
	source := server.CapacitySource{Status: q.status, KeyFile: q.keyFile}
	if q.sinfo != "" {
		source.Sinfo = map[string]string{q.clusters[0]: q.sinfo}
	}
	return source.Ask(ctx, e.now)
}

// clusterAnswer is a line of `refit capacity check --json`.
type clusterAnswer struct {
	Cluster  string `json:"cluster"`
	Eligible bool   `json:"eligible"`
	Reason   string `json:"reason,omitempty"`
}

// capacityAnswer prints the verdicts; not all of them passing is exit code 3.
func capacityAnswer(e env, vs []gate.Verdict, asJSON bool) error {
	all := true
	lines := make([]clusterAnswer, len(vs))
	for i, v := range vs {
		lines[i] = clusterAnswer{Cluster: v.Gate, Eligible: v.Answer == gate.Pass}
		if !lines[i].Eligible {
			all, lines[i].Reason = false, v.Reason
		}
		if !asJSON {
			fmt.Fprintf(text{e.stdout}, "%-4s  %s: %s\n", v.Answer, v.Gate, v.Reason)
		}
	}
	if asJSON {
		err := printJSON(e.stdout, struct {
			Eligible bool            `json:"eligible"`
			Clusters []clusterAnswer `json:"clusters"`
		}{all, lines})
		if err != nil {
			return err
		}
	}
	if !all {
		return exit{code: exitRefused}
	}
	return nil
}
