"""Version of simengine."""

__version__ = "1.0.0"
