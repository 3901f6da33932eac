"""Variables the loom reads."""

import os


class Envs:
    LOOM_QUIET = EnvBool(False)
    LOOM_SPOOLS = EnvInt(4)
    LOOM_LAZY = EnvBoolWithAlias(True, "LOOM_SLOW")


def tension():
    return float(os.environ.get("LOOM_TENSION", "0.5"))


def knots():
    if "LOOM_KNOTS" in os.environ:
        return os.environ["LOOM_KNOTS"]
    return os.getenv("LOOM_FALLBACK_KNOTS")
