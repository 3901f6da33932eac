"""Derives command-line flags from annotated fields."""

from __future__ import annotations

import argparse
import dataclasses
import typing
from typing import Annotated as A


@dataclasses.dataclass(frozen=True)
class Arg:
    """What a field says about its flag."""

    help: str = ""
    cli_name: str | None = None
    aliases: tuple[str, ...] = ()
    choices: tuple[str, ...] | None = None
    no_cli: bool = False


@dataclasses.dataclass(frozen=True)
class NS:
    """The namespace a field belongs to."""

    path: str


def flags_of(cls: type):
    """Yields (field name, type, Arg, default) of every field that has a flag."""
    hints = typing.get_type_hints(cls, include_extras=True)
    for name, hint in hints.items():
        meta = [m for m in getattr(hint, "__metadata__", ()) if isinstance(m, (str, Arg))]
        if not meta:
            continue
        arg = meta[0] if isinstance(meta[0], Arg) else Arg(help=meta[0])
        if not arg.no_cli:
            yield name, typing.get_args(hint)[0], arg, getattr(cls, name, dataclasses.MISSING)


def add_cli_args_from_class(parser: argparse.ArgumentParser, cls: type) -> None:
    """Registers the derived flags of cls."""
    for name, kind, arg, default in flags_of(cls):
        options = [arg.cli_name or "--" + name.replace("_", "-"), *arg.aliases]
        keywords = {"dest": name, "help": arg.help}
        if default is dataclasses.MISSING:
            keywords["required"] = True
        else:
            keywords["default"] = default
        if typing.get_origin(kind) is typing.Union:
            kind = next(t for t in typing.get_args(kind) if t is not type(None))
        if kind is bool:
            keywords["action"] = "store_true"
        elif typing.get_origin(kind) is typing.Literal:
            keywords["choices"] = list(typing.get_args(kind))
        else:
            if typing.get_origin(kind) is list:
                kind = typing.get_args(kind)[0]
                keywords["nargs"] = "+"
            keywords["type"] = kind
            if arg.choices:
                keywords["choices"] = list(arg.choices)
        parser.add_argument(*options, **keywords)
