"""Sink `print`: the built-in function, and the `print` methods that launchers and consoles offer in its place."""

from .registry import Message, sink


@sink("print", ["builtins.print", "rich.print", "pprint.pprint", "pprint.pp"], ["*.print"])
def report(*values, sep=" ", end="\n", file=None, flush=False, **options):
    """Every positional argument is part of the line."""
    for value in values:
        yield Message(value)
