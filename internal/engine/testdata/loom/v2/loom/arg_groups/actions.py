"""Actions for options that are on their way out."""

import argparse
import warnings


class OldOption(argparse.Action):
    """Accepted, said to be old, otherwise ignored."""

    def __init__(self, option_strings, dest, gone_text=None, **kwargs):
        kwargs.setdefault("nargs", 0)
        super().__init__(option_strings, dest, nargs=0)
        self.gone_text = gone_text

    def __call__(self, parser, namespace, values, option_string=None):
        if self.gone_text:
            parser.error(self.gone_text)
        warnings.warn(f"{option_string} does nothing any more")


class DeprecatedAliasStoreAction(argparse.Action):
    def __call__(self, parser, namespace, values, option_string=None):
        warnings.warn(f"{option_string} is an old name")
        setattr(namespace, self.dest, values)


class DeprecatedAliasStoreTrueAction(argparse.Action):
    def __init__(self, option_strings, dest, nargs=0, **kwargs):
        super().__init__(option_strings, dest, nargs=nargs, **kwargs)

    def __call__(self, parser, namespace, values, option_string=None):
        warnings.warn(f"{option_string} is an old name")
        setattr(namespace, self.dest, True)


class DeprecatedStoreConstAction(argparse.Action):
    def __init__(self, option_strings, dest, const, **kwargs):
        super().__init__(option_strings, dest, nargs=0, const=const, **kwargs)

    def __call__(self, parser, namespace, values, option_string=None):
        warnings.warn(f"{option_string} is an old name")
        setattr(namespace, self.dest, self.const)
