"""Finds names, labels and splits of the inputs of a model in the variables of a PyTorch script."""

from __future__ import annotations

import re
from sys import _getframe
from types import FrameType

from ... import names
from ...adapter_context import AdapterContext
from ...annotations import TYPE_CHECKING, Any
from ...observers.examples import Examples, Origin
from .batches import Kinds, fits

if TYPE_CHECKING:
    from .passes import Batch, Pass

SPLIT = re.compile(r"(?:^|_)(?:train|val|valid|validation|test|dev|eval)(?:_|$)")
CHOICE = re.compile(r"(?:^|_)(?:mask|idx|index|indices|ids)(?:_|$)")
"""A tensor whose name matches both, as `train_idx` and `val_mask`, is the index or the mask of a split."""


UNTOLD = "*"


class Surroundings:
    """Searches the frames of the script that lead to a call of a model."""

    def __init__(self, context: AdapterContext, kinds: Kinds) -> None:
        self.project = context.project
        self.kinds = kinds
        self.examples = Examples(context.project)

    def origin(self, inputs: list[Any]) -> Origin | None:
        """The array of the script that the first input is, or is rows of."""
        return self.examples.find(inputs[0], _getframe(1)) if inputs else None

    def name(self, of_pass: Pass, origin: Origin | None) -> str:
        """The name of the data of a pass: that of its loader or dataset, else that of the array of its rows."""
        frame, loader = _getframe(1), of_pass.loader and of_pass.loader()
        if of_pass.loader is not None:
            found = [self._name(each, frame) for each in (loader, of_pass.data) if each is not None]
        else:
            found = [of_pass.data[0], origin.name or UNTOLD if origin is not None else ""]
        of_function = names.of_function(frame, self.project)
        telling = [name for name in (*found, of_function) if name not in ("", UNTOLD, names.NOBODY)]
        return telling[0] if telling else names.PLAIN if any(found) else names.NOBODY

    def _name(self, target: Any, frame: FrameType) -> str:
        return names.find(frame, self.project, lambda value: value is target, UNTOLD)

    def truth(self, batch: Batch, arguments: dict[str, Any], output: Any, inputs: list[Any]) -> Any:
        """The labels of a call: among its arguments, else in the loader's batch."""
        truth = self.kinds.labels(arguments, output, []) if arguments else None
        if truth is None and batch.value is not None:
            truth = self.kinds.labels(batch.value, output, inputs)
        return truth

    def beside(self, origin: Origin, output: Any) -> Any:
        """The labels beside the array of the inputs, unless a loss is given others."""
        array = self.kinds.of_numpy(origin.labels)
        labels = origin.labels if array is None else array
        return labels if self.kinds.has_rows(labels) and fits(labels, output) else None


def choices(beside: dict[str, Any], rows: int, kinds: Kinds) -> dict[str, Any]:
    """Masks of the examples in each split, from variables such as `test_mask` or `idx_test` beside the input."""
    masks = {}
    for name, value in beside.items():
        if not (SPLIT.search(name) and CHOICE.search(name) and kinds.has_rows(value)):
            continue
        kind = str(value.dtype)
        if kind == "torch.bool" and tuple(value.shape) == (rows,):
            masks[name] = value
        elif kind == "torch.int64" and len(value.shape) == 1 and len(value) <= rows and value.device.type == "cpu":
            numbers = value.tolist()
            if numbers and min(numbers) >= 0 and max(numbers) < rows:
                mask = value.new_zeros(rows).bool()
                mask[value] = True
                masks[name] = mask
    return masks
