"""Weights: their hash at the end of the main loop and of the process, and the arrays themselves where they are kept."""

from __future__ import annotations

from ..annotations import TYPE_CHECKING, Any, Array, Iterable
from ..recorder import Recorder
from .arrays import Arrays
from .hashing import weights_digest

if TYPE_CHECKING:
    Weight = tuple[str, Any, bool]
    """Name, array of the framework, and whether its numbers count as parameters; buffers do not."""


def record_weights(recorder: Recorder, arrays: Arrays, framework: str, moment: str, weights: Iterable[Weight]) -> None:
    """Record the hash of these weights, if there are any.

    Args:
        framework: what the record calls the framework.
        moment: "loop" where the main loop has ended, "exit" where the process ends.
    """
    exact: list[tuple[str, Array]] = []
    n_parameters = 0
    for name, array, is_parameter in weights:
        exact.append((name, arrays.exact(array)))
        n_parameters += arrays.size(array) if is_parameter else 0
    if exact:
        recorder.event("weights", moment, framework, weights_digest(exact), n_parameters)
