"""Arguments of the loom, an engine that exists only in this test."""

import argparse
import dataclasses
from typing import Annotated as A
from typing import List, Literal, Optional, get_args

from loom.arg_groups.actions import (
    DeprecatedAliasStoreAction,
    DeprecatedAliasStoreTrueAction,
    DeprecatedStoreConstAction,
    OldOption,
)
from loom.arg_groups.choices import WEAVES, Shuttle

KIB = 1 << 10
Pattern = Literal["dots", "stripes"]


@dataclasses.dataclass
class LoomArgs:
    model_path: A[str, "Where the model lies.", NS("model")]
    host: A[str, "Address to listen on."] = "127.0.0.1"
    port: A[int, "Port to listen on."] = 30000
    tensor_parallel_size: A[int, Arg(help="Looms side by side.", aliases=["--tp-size"])] = 1
    thread_fraction: A[float, "Part of the yarn for the weft."] = 0.9
    graph_max_batch_decode: A[Optional[int], "Largest batch kept as a graph while decoding."] = None
    graph_max_batch_prefill: A[Optional[int], "Largest batch kept as a graph while prefilling."] = None
    row_depth: A[Optional[int], Arg(help="Rows.", aliases=["--depth"], cli_name="--row-size")] = None
    weave: A[str, Arg(help="Weave.", choices=WEAVES)] = "plain"
    shuttle: A[Optional[str], Arg(help="Shuttle.", choices=Shuttle.ALL)] = None
    paint: A[Literal["red", "blue"], "Colour."] = "red"
    pattern: A[Optional[Pattern], "Pattern."] = None
    level: A[Literal[1, 2, 3], "Level."] = 2
    stops: A[Optional[List[int]], Arg(help="Stops.", choices=[1, 2, 3])] = None
    night: A[bool, "Night mode."] = False
    skip_map: A[bool, "Skip the map."] = False
    skip_map_cache: A[bool, "Skip the cache of the map."] = False
    hidden: A[bool, Arg(no_cli=True)] = False
    runtime_only: A[Optional[int], NS("road")] = None
    chunk: A[int, "Chunk."] = 8 * KIB
    overlap: A[bool, Arg(help="Overlap.", action=argparse.BooleanOptionalAction)] = True
    labels: A[List[str], "Labels."] = dataclasses.field(default_factory=list)
    seed: A[int | None, "Seed."] = None

    @staticmethod
    def add_cli_args(parser: argparse.ArgumentParser):
        for f in dataclasses.fields(LoomArgs):
            names, kw = options_of(f)
            parser.add_argument(*names, **kw)
        parser.add_argument("--config", type=str, help="Read a file.")
        parser.add_argument(
            "--graph-max-batch",
            type=int,
            action=DeprecatedAliasStoreAction,
            dest="graph_max_batch_decode",
            default=argparse.SUPPRESS,
            help="Old name.",
        )
        parser.add_argument(
            "--dark",
            action=DeprecatedAliasStoreTrueAction,
            dest="night",
            default=argparse.SUPPRESS,
        )
        parser.add_argument(
            "--enable-twill",
            action=DeprecatedStoreConstAction,
            const="twill",
            dest="weave",
            default=argparse.SUPPRESS,
        )
        parser.add_argument("--fast-hands", action=OldOption, help="Does nothing.")
        parser.add_argument(
            "--steam", action=OldOption, gone_text="--steam is gone; use --overlap"
        )
