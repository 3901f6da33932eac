"""Environment variables that simengine reads."""

from __future__ import annotations

import os


class EnvInt:
    """An integer variable with a default."""

    def __init__(self, default: int):
        self.default = default

    def __set_name__(self, owner: type, name: str):
        self.name = name

    def get(self) -> int:
        return int(os.environ.get(self.name, self.default))


class Envs:
    SIMENGINE_LOG_LEVEL = EnvInt(1)
    SIMENGINE_WORKERS = EnvInt(1)


envs = Envs()
