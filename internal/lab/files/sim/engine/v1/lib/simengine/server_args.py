"""Arguments of the server."""

from __future__ import annotations

import argparse
from typing import List, Literal, Optional

from argfields import A, NS, Arg, add_cli_args_from_class
from simengine.deprecated import DeprecatedAliasStoreAction

QUANTIZATION_CHOICES = ["none", "fp8", "int8"]


class ServerArgs:
    """One field for every argument; the flags are derived from the fields."""

    # Model
    model_path: A[str, Arg(help="Name or folder of the model.", aliases=["--model"]), NS("model")]
    served_model_name: A[Optional[str], "Name that requests use; the model path when absent.", NS("model")] = None
    context_length: A[Optional[int], "Longest context in tokens, prompt and answer together.", NS("model")] = None
    quantization: A[Optional[str], Arg(help="Weight format.", choices=QUANTIZATION_CHOICES), NS("model")] = None
    dtype: A[Literal["auto", "bfloat16", "float32"], "Type of activations.", NS("model")] = "auto"

    # Server
    host: A[str, "Address to listen on.", NS("serving")] = "127.0.0.1"
    port: A[int, "Port to listen on.", NS("serving")] = 30000
    log_requests: A[bool, "Log every request.", NS("serving")] = False

    # Parallelism
    tensor_parallel_size: A[int, Arg(help="Devices of one replica.", aliases=["--tp-size"]), NS("parallel")] = 1

    # Scheduling
    max_running_requests: A[Optional[int], "Largest batch.", NS("schedule")] = None
    schedule_policy: A[Literal["fcfs", "lpm"], "Order of waiting requests.", NS("schedule")] = "fcfs"
    disable_prefix_cache: A[bool, "Compute every prompt from its first token.", NS("schedule")] = False
    stop_lengths: A[Optional[List[int]], "Answer lengths to prepare for.", NS("schedule")] = None

    # Graphs
    graph_max_batch_decode: A[Optional[int], "Largest decode batch that is captured.", NS("exec_")] = None
    graph_max_batch_prefill: A[Optional[int], "Largest prefill batch that is captured.", NS("exec_")] = None

    # Other
    seed: A[int, "Seed of sampling.", NS("exec_")] = 0
    warm_batches: A[Optional[int], NS("exec_")] = None

    @staticmethod
    def add_cli_args(parser: argparse.ArgumentParser) -> None:
        """Registers every flag: the derived ones, then those written by hand."""
        add_cli_args_from_class(parser, ServerArgs)
        parser.add_argument(
            "--graph-max-batch",
            action=DeprecatedAliasStoreAction,
            new_flag="--graph-max-batch-decode",
            dest="graph_max_batch_decode",
            type=int,
            default=argparse.SUPPRESS,
            help="Deprecated: use --graph-max-batch-decode.",
        )
        parser.add_argument(
            "--trust-remote-code",
            action="store_true",
            help="Accepted for compatibility with launch scripts; the models bring no code.",
        )


def prepare_server_args(argv: List[str]) -> argparse.Namespace:
    """Parses the command line of simserve."""
    parser = argparse.ArgumentParser(prog="simserve")
    ServerArgs.add_cli_args(parser)
    return parser.parse_args(argv)
