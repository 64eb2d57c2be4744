"""Rows of evaluations: collects batches of arrays until they are complete, with labels and keys of examples."""

from __future__ import annotations

import math
import sys

from ..annotations import TYPE_CHECKING, Any, Array, Callable, Iterator, Mapping, Sequence
from .arrays import array_of
from .capture import FULL, KEY_WIDTH, Capture, example_keys

if TYPE_CHECKING:
    from .augmentations import Augmentation  # few runs ask for copies

OUTPUTS = ("logits", "out", "predictions", "prediction", "preds", "scores", "output")
"""How outputs are called in what a model puts out, where it names its parts, the most telling first."""
LABELS = ("labels", "label", "targets", "target", "y", "labels_ids", "label_ids")
"""How true labels are called in a batch that names its parts, the most telling first."""
MOST_WAITING = 1 << 27
"""Bytes that may wait for the end of a pass, so that no batch has to wait for its copy from an accelerator."""
NO_ROWS = "it put out nothing with a row for every example"
UNFIT = "batches do not fit together: %s"

NOTHING: Mapping[str, Any] = {}


class Batches:
    """The batches of a pass over data, in order.

    A test set may be larger than memory. So of inputs that no longer wait only the keys are kept, and of outputs no
    more than the run may keep.

    Attributes:
        why_not: what keeps the pass from being of use, in words; empty where nothing does.
        further: further outputs for the same examples, by suffix.
    """

    def __init__(self, capture: Capture) -> None:
        self.capture = capture
        self.why_not = ""
        self.further: dict[str, Batches] = {}
        self.waiting: list[tuple[Any, Any, Any]] = []
        self.size = 0
        self.held = 0
        self.places: list[int] | None = None
        self.copied: list[tuple[Any, Any, Array | None]] = []

    def __bool__(self) -> bool:
        return bool(self.waiting or self.copied or self.why_not)

    def add(self, outputs: Any, truth: Any, inputs: Any, further: Mapping[str, Any] = NOTHING) -> None:
        """Add a batch of arrays or tensors of any library; several inputs may be in a list."""
        for suffix, more in further.items():
            self.further.setdefault(suffix, Batches(self.capture)).add(more, None, [])
        if self.size > MOST_WAITING:
            self._copy_waiting()
        if not self.why_not:
            self.waiting.append((outputs, truth, inputs))
            self.size += sum(size_of(each) for each in arrays_in([outputs, inputs]))

    def pop(self) -> None:
        """Take back the latest batch."""
        if self.waiting:
            outputs, _, inputs = self.waiting.pop()
            self.size -= sum(size_of(each) for each in arrays_in([outputs, inputs]))
            for further in self.further.values():
                further.pop()

    def label(self, outputs: Any, truth: Callable[[], Any]) -> None:
        """Add labels to the latest batch, if it has none and the outputs belong to it."""
        if self.waiting:
            last, labels, inputs = self.waiting[-1]
            if last is outputs and labels is None:
                self.waiting[-1] = last, truth(), inputs

    def whole(self) -> tuple[Any, Any, Array | None]:
        """NumPy arrays of outputs, of labels and of keys, the latter two if all batches have them.

        Empty if `why_not` has a reason.
        """
        self._copy_waiting()
        try:
            if self.copied:
                outputs, truth, keys = zip(*self.copied)
                return _join(outputs), _join(truth), _joined_keys(keys)
        except Exception as error:
            self.why_not = UNFIT % error
        return None, None, None

    def _copy_waiting(self) -> None:
        """Copy waiting batches to the host. Any error invalidates the pass, which would be incomplete."""
        waiting, self.waiting, self.size = self.waiting, [], 0
        try:
            self._keep([tuple(map(numbers, batch)) for batch in waiting])
        except Exception as error:  # such as sequences padded to the longest of their batch
            self.why_not = self.why_not or UNFIT % error
        if self.why_not:
            self.copied = []

    def _keep(self, batches: list[Any]) -> None:
        if not all(getattr(outputs, "ndim", 0) for outputs, _, _ in batches):
            self.why_not = NO_ROWS
            return
        filled = [batch for batch in batches if len(batch[0])]
        if not filled:
            return
        outputs, truth, inputs = zip(*filled)
        keys = [self._keys(batch_inputs, len(batch_outputs)) for batch_outputs, batch_inputs in zip(outputs, inputs)]
        self.copied.append((_join(outputs), _join(truth), _joined_keys(keys)))
        self.held += self.copied[-1][0].nbytes
        if self.held > self.capture.left:
            self.why_not = FULL

    def _keys(self, inputs: Any, n: int) -> Array | None:
        """Keys of a batch, from the inputs that had a row per example in the first batch."""
        arrays = inputs if isinstance(inputs, list) else [inputs]
        if self.places is None:
            self.places = [place for place, each in enumerate(arrays) if _has_rows(each, n)]
        return keys_of([arrays[place] for place in self.places if place < len(arrays)], n)


def rows(outputs: Any, truth: Any, keys: Array | None) -> dict[str, Array] | None:
    """The arrays of a set as `Capture` stores them; None if the outputs have no rows."""
    if not getattr(outputs, "ndim", 0) or outputs.dtype.kind not in "fiubV":
        return None
    arrays = {"outputs": array_of(outputs)}
    labels = true_labels(truth, outputs)
    if labels is not None:
        arrays["truth"] = array_of(labels)
    if keys is not None:
        arrays["keys"] = keys
    return arrays


def true_labels(truth: Any, outputs: Any) -> Any:
    """Labels as they are compared: a class or a value per example where they are one-hot or a column."""
    if not getattr(truth, "ndim", 0) or truth.shape[0] != outputs.shape[0] or truth.dtype.kind not in "fiub":
        return None
    if truth.ndim == 2 and truth.shape[1] == 1:
        return truth[:, 0]
    is_one_hot = truth.ndim == 2 and truth.shape == outputs.shape and ((truth == 0) | (truth == 1)).all()
    if is_one_hot and (truth.sum(1) == 1).all():
        return truth.argmax(1)
    return truth


def keys_of(inputs: Sequence[Any], n: int) -> Array | None:
    """A hash per example over all inputs with `n` rows; None if there are none."""
    arrays = [_plain(each) for each in inputs if _has_rows(each, n)]
    if not arrays or not n:
        return None
    if len(arrays) == 1:
        return example_keys((arrays[0].dtype.name, arrays[0].shape, arrays[0]))
    numpy: Any = sys.modules["numpy"]
    flat = numpy.concatenate([each.reshape(n, -1).view(numpy.uint8) for each in arrays], axis=1)
    return example_keys(("uint8", flat.shape, numpy.ascontiguousarray(flat)))


def first(value: Any) -> Any:
    """The main output: the first of several arrays, or the one named so."""
    if hasattr(value, "logits"):
        return value.logits
    if isinstance(value, dict):
        outputs = next((value[key] for key in OUTPUTS if key in value), None)
        return first(next(iter(value.values()), None)) if outputs is None else outputs
    if isinstance(value, (list, tuple)):
        return first(value[0]) if value else None
    return value


def augmented(augmentation: Augmentation, inputs: Any, outputs: Any, call: Callable[[Any], Any]) -> Mapping[str, Any]:
    """Mean outputs by name of the augmentation, of inputs and outputs of any form, of which the main ones count.

    Args:
        inputs: of the model, in a list or alone; several are no images.
        call: is given images in an array of NumPy.
    """
    arrays = list(arrays_in([inputs]))
    images = numbers(arrays[0]) if len(arrays) == 1 else None
    with augmentation.capture.recorder.guarded("augmented outputs"):
        return augmentation.outputs(images, numbers(first(outputs)), lambda copy: numbers(first(call(copy))))
    return NOTHING


def arrays_in(value: Any) -> Iterator[Any]:
    """Arrays and tensors with rows in a nested structure."""
    if isinstance(value, dict):
        value = list(value.values())
    if isinstance(value, (list, tuple)):
        for item in value:
            yield from arrays_in(item)
    elif len(getattr(value, "shape", None) or ()) and hasattr(value, "dtype"):
        yield value


def numbers(value: Any) -> Any:
    """NumPy array of an array or tensor, or of each in a list; None if there is none."""
    if isinstance(value, (list, tuple, dict)):
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
    """Size in bytes, assuming eight bytes per number."""
    return 8 * math.prod(int(dimension or 1) for dimension in array.shape)


def _has_rows(array: Any, n: int) -> bool:
    return bool(getattr(array, "ndim", 0)) and array.shape[0] == n


def _join(arrays: Sequence[Any]) -> Any:
    """Concatenate the arrays of all batches; None if one of them has no rows."""
    numpy: Any = sys.modules["numpy"]
    return numpy.concatenate(arrays) if all(getattr(each, "ndim", 0) for each in arrays) else None


def _joined_keys(keys: Sequence[Array | None]) -> Array | None:
    chunks = [bytes(each[2]) for each in keys if each is not None]
    joined = b"".join(chunks)
    return ("uint64", (len(joined) // KEY_WIDTH,), joined) if len(chunks) == len(keys) else None


def _plain(array: Any) -> Any:
    """A contiguous array with meaningful bytes; strings of any length are replaced by one number per row."""
    numpy: Any = sys.modules["numpy"]
    if array.dtype.kind in "OSUT":
        rows = [row.ravel().tolist() for row in array] if array.ndim > 1 else [[item] for item in array.tolist()]
        texts = ["\x1f".join(map(repr, row)).encode("utf-8", "replace") for row in rows]
        keys = [example_keys(("texts", (1,), text))[2] for text in texts]
        return numpy.frombuffer(b"".join(keys), "uint64")
    return numpy.ascontiguousarray(array)
