"""Version of simengine."""

__version__ = "2.0.0"
