package main

import (
	"errors"
	"os"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/refit-bench/refit/internal/bench"
	"github.com/refit-bench/refit/internal/run"
	"github.com/refit-bench/refit/internal/sim"
)

// The commands of this file take the flags of what they stand in for, so the
// rooms parse them themselves.

// ownFlags gives what such a room says about its flags the exit code that
// other commands have: none for help, which is printed already, 2 for usage.
func ownFlags(err error) error {
	switch {
	case errors.Is(err, pflag.ErrHelp):
		return nil
	case errors.Is(err, bench.ErrUsage):
		return exit{exitUsage, err}
	}
	return err
}

func benchCommand(e env) *cobra.Command {
	return &cobra.Command{
		Use:   "bench",
		Short: "Load an OpenAI-compatible endpoint and measure throughput and latency",
		Example: `  refit bench --url http://127.0.0.1:8888 --profile 128x32 --conc 1,2,4
  refit bench --url http://127.0.0.1:8888 --profile 128x32 --request-rate 20 --requests 40 --slo ttft:500,tpot:50
  refit bench --url http://127.0.0.1:8888 --trace sessions.jsonl --conc 2
  refit bench --base-url http://127.0.0.1:8888 --model lab/tiny-a --dataset-name random --random-input-len 256 --random-output-len 64 --num-prompts 40 --max-concurrency 4`,
		DisableFlagParsing: true,
		RunE: func(cmd *cobra.Command, a []string) error {
			return ownFlags(bench.Command(cmd.Context(), a, e.stdout, e.stderr))
		},
	}
}

func evalCommand(e env) *cobra.Command {
	return &cobra.Command{
		Use:                "eval",
		Short:              "Ask an OpenAI-compatible endpoint questions with known answers",
		Example:            "  refit eval --base-url http://127.0.0.1:8888 --model lab/tiny-a --data data/arith200.jsonl --concurrency 8",
		DisableFlagParsing: true,
		RunE: func(cmd *cobra.Command, a []string) error {
			return ownFlags(run.EvalCommand(cmd.Context(), a, e.stdout, e.stderr))
		},
	}
}

func simCommand(e env) *cobra.Command {
	return &cobra.Command{
		Use:                "sim --profile FILE --source DIR -- FLAGS",
		Short:              "Run the simulated serving engine",
		Example:            "  refit sim --profile engine.json --source lib/simengine -- --model-path lab/tiny-a --port 8888",
		DisableFlagParsing: true,
		RunE: func(cmd *cobra.Command, a []string) error {
			code := sim.Main(cmd.Context(), a, sim.Env{Stdout: e.stdout, Stderr: e.stderr, Now: e.now})
			if code == 0 || code == exitUsage && asksHelp(a) {
				return nil
			}
			return exit{code, nil}
		},
	}
}

// asksHelp says whether the first of sim's own flags asks for help. Behind --
// are those of the engine, whose parser ends with 2 as argparse does.
func asksHelp(a []string) bool {
	return len(a) > 0 && (a[0] == "-h" || a[0] == "-help" || a[0] == "--help")
}

func jobCommand(e env) *cobra.Command {
	cmd := &cobra.Command{
		Use:   "job",
		Short: "What runs on a node: one point, one engine start",
		Args:  args(cobra.NoArgs),
		RunE:  func(cmd *cobra.Command, _ []string) error { return cmd.Help() },
	}
	cmd.AddCommand(&cobra.Command{
		Use:     "run FILE",
		Short:   "Measure the point that a job file describes",
		Example: "  refit job run job.json",
		Args:    args(cobra.ExactArgs(1)),
		RunE: func(cmd *cobra.Command, a []string) error {
			job, err := run.LoadJob(a[0])
			if err != nil {
				return err
			}
			self, err := os.Executable()
			if err != nil {
				return err
			}
			return run.Execute(cmd.Context(), job, run.Deps{Refit: self, Stdout: e.stdout, Stderr: e.stderr, Now: e.now})
		},
	}, &cobra.Command{
		Use:                "wait-ready",
		Short:              "Wait until an engine answers, or say at once why it never will",
		Example:            "  refit job wait-ready --port 8888 --pid 4711 --log server.log",
		DisableFlagParsing: true,
		RunE: func(cmd *cobra.Command, a []string) error {
			return ownFlags(run.WaitReadyCommand(cmd.Context(), a, e.stdout, e.stderr))
		},
	})
	return cmd
}
