"""simengine: an invented serving engine."""

from simengine.version import __version__
