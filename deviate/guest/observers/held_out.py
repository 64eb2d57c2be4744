"""Hashes test and validation data by the names that the script gives them, when the first training begins.

Data that is in no loader and is not passed to `evaluate` is found here: the arrays of scripts that compute by hand. The
hash includes the names, so that a report can state which arrays it is about.
"""

from __future__ import annotations

import re
from types import FrameType

from .. import names
from ..annotations import Any, Array
from ..project import GuestProject
from ..recorder import Recorder
from .arrays import array_of
from .hashing import NAMES, Evaluations

SETS = re.compile(r"test|testing|te|val|valid|validation|dev|eval|evaluation|hold_?out|held_?out|unseen")
"""What sets of examples are called that are not for training."""
BARE = frozenset(("test", "testing", "holdout", "hold_out", "held_out", "heldout"))
"""Those that need no further word to be examples: `val` may be a value, `eval` a function."""
LABELS = re.compile(r"(?<![a-z])(?:ys?|labels?|targets?|truths?)(?![a-z])")
"""Words for true labels, in the place of a word for inputs."""
FRAME_READERS = frozenset(("locals", "vars", "dir", "eval", "exec"))
"""What hands a function its own names: a dictionary that reading them would change."""
LARGEST = 1 << 27
"""Bytes of the arrays together; more are not hashed."""
MOST_ITEMS = 10000
"""Rows of a list; longer ones are not hashed."""
MOST_CELLS = 1000000
"""Cells of a table, whose columns may be objects; larger ones are not hashed."""
LIBRARIES = frozenset(("numpy", "torch", "tensorflow", "jax", "jaxlib", "keras", "pandas"))
"""Whose arrays are read: others may compute or load when they are asked for their contents."""


def record_held_out(recorder: Recorder, project: GuestProject, frame: FrameType | None) -> None:
    """Record the hash of held-out data in this frame and its callers."""
    arrays: dict[str, Array] = {}
    size = 0
    for outer in project.frames(frame):
        for name, value in _held_values(outer) if size <= LARGEST else ():
            array = None if name in arrays else _array(value)
            if array is not None:
                arrays[name] = array
                size += memoryview(array[2]).nbytes
    if size > LARGEST or all(LABELS.search(_plain(name)) for name in arrays):
        return
    sets: dict[tuple[str, int], list[str]] = {}  # arrays of a set with equally many rows belong to the same examples
    for name in sorted(arrays):
        sets.setdefault((_set_of(name), arrays[name][1][0]), []).append(name)
    data = Evaluations(recorder, ", ".join(sorted(arrays)))
    for key, members in sets.items():
        data.add([arrays[name] for name in members], of_pass=key)
    data.end(NAMES)


def _held_values(frame: FrameType) -> list[tuple[str, Any]]:
    """Yield names and values of held-out data: variables, items of dictionaries, attributes of `self`."""
    code = frame.f_code
    if code.co_flags & names.IS_OPTIMIZED and not FRAME_READERS.isdisjoint(code.co_names):
        return []
    variables = names.variables(frame)
    if len(variables) > names.MOST_NAMES:
        return []
    attributes = names.attributes(variables["self"]) if "self" in variables else {}
    around = [
        variables,
        attributes,
        *(value for value in variables.values() if type(value) is dict and len(value) <= names.MOST_PARTS),
    ]
    items = [item for those in around for item in list(those.items())]
    return [(name, value) for name, value in items if isinstance(name, str) and _set_of(name)]


def _set_of(name: str) -> str:
    """The name of a set that is not for training, in that of its inputs or labels; "" for every other name.

    >>> [_set_of(name) for name in ("x_test", "testX", "test_labels", "val_images", "data_val", "test")]
    ['test', 'test', 'test', 'val', 'val', 'test']
    >>> [_set_of(name) for name in ("val", "test_acc", "test_losses", "x_train", "evaluate", "latest_x", "y")]
    ['', '', '', '', '', '', '']
    """
    plain = _plain(name)
    set_name = names.set_name(LABELS.sub("x", plain))
    return set_name if SETS.fullmatch(set_name) and (set_name != plain or set_name in BARE) else ""


def _plain(name: str) -> str:
    return re.sub(r"(?<=[a-z0-9])(?=[A-Z])|(?<=[A-Z])(?=[a-z]{2})", "_", name).lower().strip("_")


def _array(value: Any) -> Array | None:
    """The array behind a value in host memory; None if it is not a set of several examples."""
    try:
        if isinstance(value, (list, tuple)):
            is_read = 1 < len(value) <= MOST_ITEMS
        else:
            is_read = _is_on_host(value) and bool(len(value.shape)) and value.shape[0] > 1
            is_read = is_read and getattr(value, "nbytes", 0) <= LARGEST
            is_read = is_read and (not hasattr(value, "iloc") or value.size <= MOST_CELLS)
        if not is_read:
            return None
        array = array_of(value)
    except Exception:  # rows of different lengths, values of others' classes
        return None
    return array if len(array[1]) and array[1][0] > 1 else None


def _is_on_host(value: Any) -> bool:
    """Whether a value is an array that can be read without waiting for an accelerator."""
    if type(value).__module__.partition(".")[0] not in LIBRARIES or not hasattr(value, "shape"):
        return False
    device = getattr(value, "device", "cpu")
    return "cpu" in str(getattr(device, "platform", getattr(device, "type", device))).lower()
