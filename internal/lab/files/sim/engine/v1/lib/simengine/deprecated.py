"""Actions of flags that are on their way out."""

from __future__ import annotations

import argparse
import sys


class DeprecatedAliasStoreAction(argparse.Action):
    """Warns and stores the value under the new flag's name."""

    def __init__(self, option_strings, dest, new_flag=None, **keywords):
        self.new_flag = new_flag
        super().__init__(option_strings, dest, **keywords)

    def __call__(self, parser, namespace, values, option_string=None):
        print(f"{option_string} is deprecated, use {self.new_flag}", file=sys.stderr)
        setattr(namespace, self.dest, values)
