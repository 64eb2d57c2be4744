"""An experiment on disk, and runs in it."""

from attempted import add_run, experiment

__all__ = ["add_run", "experiment"]
