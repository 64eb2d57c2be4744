"""Sets of examples whose outputs come as NumPy's arrays: their names, true labels and keys, for several adapters."""

from __future__ import annotations

import sys
import weakref

from .. import names
from ..arrays import array_of
from ..capture import PREDICTIONS
from ..examples import KEY_WIDTH, example_keys
from ..parts import Guest

TYPE_CHECKING = False  # typing itself would add to the start-up time
if TYPE_CHECKING:
    from types import FrameType
    from typing import Any, Callable, Iterator, Sequence

    from ..hashing import Array

OUTPUTS = ("logits", "out", "predictions", "prediction", "preds", "scores", "output")
"""How outputs are called in what a model puts out, where it names its parts, the most telling first."""
LABELS = ("labels", "label", "targets", "target", "y", "labels_ids", "label_ids")
"""How true labels are called in a batch that names its parts, the most telling first."""
INPUTS_OF = {
    "x": "y",
    "X": "y",
    "images": "labels",
    "imgs": "labels",
    "inputs": "targets",
    "features": "labels",
    "data": "labels",
}
"""What true labels are called beside inputs of a name: `y_test` beside `X_test`. Words of any part of the name, so it
is shorter than the table of PyTorch, which knows inputs by whole words between underscores."""
NOWHERE = (1, 0)
DEEPEST, MOST_ITEMS = 2, 16
"""Of the containers in which data is looked for."""
MOST_WAITING = 1 << 27
"""Bytes that may wait for the end of a pass, so that no batch has to wait for its copy from an accelerator."""


class Way:
    """The calls that lead to a line: what comes by the same ones belongs together."""

    __slots__ = ("__weakref__",)


class Sets:
    """The sets of one framework, in the evaluation that goes on."""

    def __init__(self, guest: Guest, framework: str) -> None:
        self.capture = guest.capture
        self.recorder = guest.recorder
        self.project = guest.project
        self.framework = framework
        self.has_refused = False
        self.roots: dict[str, Callable[[], Any]] = {}
        self.ways: dict[tuple[tuple[str, int], ...], Way] = {}

    # ------------------------------------------------------------ names

    def way(self, frame: FrameType | None) -> Way:
        """The way through the script that leads to a frame."""
        calls = []
        while frame is not None:
            file = self.project.place(frame.f_code)
            if file is not None:
                calls.append((file, frame.f_lasti))
            frame = frame.f_back
        return self.ways.setdefault(tuple(calls), Way())

    def name(self, data: Any, frame: FrameType | None, default: str = "") -> tuple[str, Any]:
        """What the script calls data, by its outermost frame that has a name for it, and what it is known by.

        Args:
            default: where it has none; else what the function is called that evaluates.

        Returns:
            The second is the data, or what it is a nameless part of.
        """
        own = names.find(frame, self.project, lambda value: value is data)
        # With a default, the data is what a library has made of the script's: what it is a part of says nothing.
        for place in (NOWHERE,) if default else (NOWHERE, _span(data)):
            if own in ("", names.PLAIN):
                found = names.find(frame, self.project, lambda value: _holds(value, data, place))  # noqa: B023
                if found not in ("", own):
                    return found, data if place == NOWHERE else _root(data)
        return own or default or names.of_function(frame, self.project), data

    def beside(self, data: Any, frame: FrameType | None) -> Any:
        """The true labels that lie beside data in the script, as `y_test` beside `X_test`; None where none do."""
        found = list(names.beside(frame, self.project, lambda value: value is data))
        if not found or not hasattr(data, "shape"):
            return None
        around, own = dict(found[1:]), found[0][0]
        asked = [own.replace(mine, name, 1) for mine in INPUTS_OF if mine in own for name in (INPUTS_OF[mine], "y")]
        labels: Any = (around.get(name) for name in asked if name != own)
        return next((each for each in labels if len(getattr(each, "shape", ())) and len(each) == len(data)), None)

    # ------------------------------------------------------------ rows

    def put(
        self, name: str, root: Any, outputs: Any, truth: Any, inputs: Sequence[Any], step: int | None = None
    ) -> str:
        """A pass through data, or a part of one; gives what its set is called.

        What comes again in the same evaluation counts anew; what is another set of the same name gets a number.

        Args:
            root: what the script goes through, by which a set is known.
            outputs, truth, inputs: NumPy's arrays with a row for each example.
        """
        arrays = rows(outputs, truth, inputs)
        if arrays is None:
            self.refuse(name, "it put out nothing with a row for every example")
            return name
        return self.keep(name, root, arrays, step)

    def keep(self, name: str, root: Any, arrays: dict[str, Array], step: int | None = None) -> str:
        """The same for arrays in the form in which they are kept."""
        name = self._place(name, root, arrays)
        self.capture.rows(name, arrays, self.framework, step)
        return name

    def _place(self, name: str, root: Any, arrays: dict[str, Array]) -> str:
        chosen, number = name, 1
        while chosen in self.capture.open:
            known = self.roots.get(chosen, lambda: None)()
            if known is None or root is None or known is root:
                break
            number += 1
            chosen = "%s_%d" % (name, number)
        before = self.capture.open.get(chosen) or self.capture.last.get(chosen)
        if "keys" in arrays and before is not None and "keys" in before.parts:
            old = _all(before, "keys")
            new = bytes(arrays["keys"][2])
            if old == new and "truth" not in arrays and "truth" in before.parts:
                arrays["truth"] = before.parts["truth"].whole()
            # Parts of one set follow each other; its first example once more is another pass.
            if old.find(new[:KEY_WIDTH]) % KEY_WIDTH == 0:
                self.capture.again(chosen)
        elif before is not None:
            self.capture.again(chosen)
        try:
            self.roots[chosen] = weakref.ref(root)
        except TypeError:
            self.roots.pop(chosen, None)
        return chosen

    def refuse(self, name: str, reason: str) -> None:
        """Tell why a set is not kept, once."""
        self.has_refused = True
        self.capture.refuse(PREDICTIONS, name, reason)


def rows(outputs: Any, truth: Any, inputs: Sequence[Any]) -> dict[str, Array] | None:
    """The arrays of a set as the capture keeps them; None where the outputs have no rows."""
    if not getattr(outputs, "ndim", 0) or outputs.dtype.kind not in "fiubV":
        return None
    n = outputs.shape[0]
    arrays = {"outputs": array_of(outputs)}
    labels = true_labels(truth, outputs)
    if labels is not None:
        arrays["truth"] = array_of(labels)
    given = [each for each in inputs if getattr(each, "ndim", 0) and each.shape[0] == n]
    if given and n:
        arrays["keys"] = keys(given)
    return arrays


def true_labels(truth: Any, outputs: Any) -> Any:
    """A class or a value per example, of labels in one of the forms that losses take; None of any other."""
    if not getattr(truth, "ndim", 0) or truth.shape[0] != outputs.shape[0] or truth.dtype.kind not in "fiub":
        return None
    if truth.ndim == 2 and truth.shape[1] == 1:
        return truth[:, 0]
    is_one_hot = truth.ndim == 2 and truth.shape == outputs.shape and ((truth == 0) | (truth == 1)).all()
    if is_one_hot and (truth.sum(1) == 1).all():
        return truth.argmax(1)
    return truth if truth.ndim == 1 else None


def keys(inputs: Sequence[Any]) -> Array:
    """A hash per example of all its inputs."""
    numpy: Any = sys.modules["numpy"]
    n = inputs[0].shape[0]
    plain = [_plain(each) for each in inputs]
    if len(plain) == 1:
        return example_keys((plain[0].dtype.name, plain[0].shape, plain[0]))
    flat = numpy.concatenate([each.reshape(n, -1).view(numpy.uint8) for each in plain], axis=1)
    return example_keys(("uint8", flat.shape, numpy.ascontiguousarray(flat)))


def first(value: Any) -> Any:
    """The outputs in what a model put out: the first array of several, or the one whose name says so."""
    if hasattr(value, "logits"):
        return value.logits
    if isinstance(value, dict):
        named = next((value[key] for key in OUTPUTS if key in value), None)
        return first(next(iter(value.values()), None)) if named is None else named
    if isinstance(value, (list, tuple)):
        return first(value[0]) if value else None
    return value


def arrays_in(value: Any) -> Iterator[Any]:
    """Arrays and tensors with rows in a structure."""
    if isinstance(value, dict):
        value = list(value.values())
    if isinstance(value, (list, tuple)):
        for item in value:
            yield from arrays_in(item)
    elif len(getattr(value, "shape", None) or ()) and hasattr(value, "dtype"):
        yield value


def join(batches: list[tuple[Any, Any, Any]]) -> tuple[Any, Any, list[Any]]:
    """The batches of a pass as one."""
    numpy: Any = sys.modules["numpy"]
    outputs, truth, inputs = zip(*[tuple(map(numbers, batch)) for batch in batches])
    columns = list(zip(*[each if isinstance(each, list) else [each] for each in inputs]))
    is_labelled = all(getattr(each, "ndim", 0) for each in truth)
    return (
        numpy.concatenate(outputs),
        numpy.concatenate(truth) if is_labelled else None,
        [numpy.concatenate(column) for column in columns if all(getattr(each, "ndim", 0) for each in column)],
    )


def numbers(value: Any) -> Any:
    """NumPy's array of an array or tensor, of each in a list; None where there is none."""
    if isinstance(value, (list, tuple)):
        return [numbers(each) for each in arrays_in(value)]
    if isinstance(value, dict):
        return [numbers(each) for each in arrays_in(value)]
    if value is None:
        return None
    numpy: Any = sys.modules["numpy"]
    try:
        if hasattr(value, "detach"):  # of PyTorch
            value = value.detach().cpu()
            value = value.float() if "bfloat16" in str(value.dtype) else value
        return numpy.asarray(value)
    except Exception:  # ragged or sparse
        return None


def size_of(array: Any) -> int:
    size = 8
    for dimension in array.shape:
        size *= int(dimension or 1)
    return size


def _plain(array: Any) -> Any:
    """An array without gaps whose bytes tell its numbers or texts."""
    numpy: Any = sys.modules["numpy"]
    if array.dtype.hasobject:
        array = numpy.array([repr(item) for item in array.ravel().tolist()]).reshape(array.shape)
    return numpy.ascontiguousarray(array)


def _root(data: Any) -> Any:
    """The array that data is a part of; tables and data sets are their own."""
    base = getattr(data, "base", None)
    return data if base is None or not hasattr(base, "shape") or len(base) <= len(data) else base


def _span(data: Any) -> tuple[int, int]:
    """Where the numbers of one of NumPy's arrays lie in memory, first and last address; NOWHERE of other things."""
    if type(data).__module__.partition(".")[0] != "numpy" or not getattr(data, "nbytes", 0):
        return NOWHERE
    start: int = data.__array_interface__["data"][0]
    return start, start + int(sum((n - 1) * abs(step) for n, step in zip(data.shape, data.strides)))


def _holds(value: Any, data: Any, part: tuple[int, int], depth: int = 0) -> bool:
    """Whether a value is the data, an array that it is a part of, or a small container of one of these."""
    if value is data:
        return True
    if type(value) in (dict, tuple, list):
        items = list(value.values()) if type(value) is dict else value
        return depth < DEEPEST and len(items) <= MOST_ITEMS and any(_holds(it, data, part, depth + 1) for it in items)
    start, end = _span(value) if part != NOWHERE else NOWHERE
    return start <= part[0] <= part[1] <= end


def _all(known: Any, name: str) -> bytes:
    return b"".join(known.parts[name].chunks)
