"""The version of mercer: the one place that states it (the build reads this file)."""

__version__ = "0.1.0"
