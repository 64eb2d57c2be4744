"""Maps the class numbers of each run to those of the first run.

A script that numbers classes in the iteration order of a `set` of strings numbers them differently in every run,
because string hashes are randomised.
"""

from collections.abc import Sequence

import numpy as np
import numpy.typing as npt

from deviate.stability.captures.outputs import Array

Numbers = npt.NDArray[np.intp]
"""By number of a class in a run: its number in the first run."""


def numbers_in_first(truths: Sequence[Array], n_classes: int) -> tuple[Numbers, ...] | None:
    """The number in the first run for each class of each run; None where labels differ by more than a renumbering.

    Classes without an example keep their order among the numbers that are left.

    Args:
        truths: of each run, integers of one shape, the same examples in the same places.

    >>> [list(map(int, it)) for it in numbers_in_first([np.array([0, 1, 1]), np.array([2, 0, 0])], 3)]
    [[0, 1, 2], [1, 2, 0]]
    """
    first = np.asarray(truths[0]).reshape(-1)
    numbers_of_runs = []
    for truth in truths:
        classes = np.asarray(truth).reshape(-1)
        if (
            classes.shape != first.shape
            or classes.dtype.kind not in "iu"
            or first.dtype.kind not in "iu"
            or not len(classes)
        ):
            return None
        if min(classes.min(), first.min()) < 0 or max(classes.max(), first.max()) >= n_classes:
            return None
        pairs = np.unique(np.stack([classes, first], axis=1), axis=0)
        if len(np.unique(pairs[:, 0])) < len(pairs) or len(np.unique(pairs[:, 1])) < len(pairs):
            return None
        numbers = np.full(n_classes, -1, dtype=np.intp)
        numbers[pairs[:, 0]] = pairs[:, 1]
        numbers[numbers < 0] = np.setdiff1d(np.arange(n_classes), pairs[:, 1])
        numbers_of_runs.append(numbers)
    return tuple(numbers_of_runs)
