"""Variables the loom reads."""

import os


class Envs:
    LOOM_QUIET = EnvBool(False)
    LOOM_SPOOLS = EnvInt(8)
    LOOM_LAZY = EnvBoolWithAlias(True, "LOOM_SLOW")


def knots():
    if "LOOM_KNOTS" in os.environ:
        return os.environ["LOOM_KNOTS"]
    return os.getenv("LOOM_FALLBACK_KNOTS")
