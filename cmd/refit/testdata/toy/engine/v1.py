import argparse


class LoomArgs:
    model_path: A[str, "Where the weights are."]
    port: A[int, "Port to listen on."] = 8000
    graph_max_batch_decode: A[Optional[int], "Largest batch with a graph, decode."] = None
    graph_max_batch_prefill: A[Optional[int], "Largest batch with a graph, prefill."] = None


class DeprecatedAliasStoreAction(argparse.Action):
    def __call__(self, parser, namespace, values, option_string=None):
        print(f"{option_string} is deprecated")
        setattr(namespace, self.dest, values)


def add_deprecated(parser):
    parser.add_argument(
        "--graph-max-batch",
        type=int,
        dest="graph_max_batch_decode",
        action=DeprecatedAliasStoreAction,
        default=argparse.SUPPRESS,
        help="Deprecated: use --graph-max-batch-decode.",
    )
