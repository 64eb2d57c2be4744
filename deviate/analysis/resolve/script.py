"""A script and the calls of its project, read for one analysis and released after it."""

import gc
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from deviate.analysis.resolve.calls import CallGraph
from deviate.analysis.resolve.project import Project
from deviate.analysis.resolve.source import read_source
from deviate.errors import InputError

DEEPEST = 4000
"""Recursion limit of the analysis: a few calls per level of nesting in the script."""


@contextmanager
def call_graph(script: Path, root: Path) -> Iterator[CallGraph]:
    """The calls of a script and its project, released afterwards.

    Raises:
        InputError: the script is missing, outside the project, or no Python.
    """
    file = relative_name(script, root)
    with _without_collector():
        source = read_source(script, file)
        limit = sys.getrecursionlimit()
        sys.setrecursionlimit(max(limit, DEEPEST))
        try:
            graph = CallGraph(Project(source, root))
            yield graph
            graph.release()
        except RecursionError:
            raise InputError(
                f"{file}: expressions are nested too deeply to be read", "Split the deepest one."
            ) from None
        finally:
            sys.setrecursionlimit(limit)


@contextmanager
def _without_collector() -> Iterator[None]:
    """Pause the garbage collector, which would search the growing trees repeatedly while all of them are in use."""
    was_enabled = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if was_enabled:
            gc.enable()


def relative_name(script: Path, root: Path) -> str:
    """The name of a script relative to the root of its project.

    Raises:
        InputError: it is outside.
    """
    try:
        return script.absolute().relative_to(root.absolute()).as_posix()
    except ValueError:
        pass
    try:
        return script.resolve().relative_to(root.resolve()).as_posix()
    except (ValueError, OSError, RuntimeError):
        raise InputError(f"{script} is outside the project {root}", "Run deviate in the project's folder.") from None
