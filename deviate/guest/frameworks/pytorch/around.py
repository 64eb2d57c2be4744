"""Finds names and labels for the inputs of a model in the variables of a PyTorch script.

Inputs may be a variable of the script, or a slice of one.
"""

from __future__ import annotations

from sys import _getframe

from ... import names
from ...adapter_context import AdapterContext
from ...annotations import TYPE_CHECKING, Any, Callable
from .batches import Kinds, fits, shares

if TYPE_CHECKING:
    from .passes import Batch, Pass

    Around = list[tuple[str, Any]]

UNTOLD = "*"


class Surroundings:
    """Searches the frames of the script that lead to a call of a model."""

    def __init__(self, context: AdapterContext, kinds: Kinds) -> None:
        self.project = context.project
        self.kinds = kinds

    def name(self, of_pass: Pass, inputs: list[Any]) -> str:
        """The name of the data of a pass: that of its loader or dataset, else that of the first input."""
        frame, loader, data = _getframe(1), of_pass.loader and of_pass.loader(), of_pass.data
        if of_pass.loader is None:
            tests = self._input_tests(inputs)
        else:
            tests = [lambda value: value is loader] if loader is not None else []
            tests.append(lambda value: value is data)
        data_names = [names.find(frame, self.project, is_target, UNTOLD) for is_target in tests]
        if of_pass.loader is None:
            data_names.append(of_pass.data[0])
        of_function = names.of_function(frame, self.project)
        telling = [name for name in (*data_names, of_function) if name not in ("", UNTOLD, names.NOBODY)]
        return telling[0] if telling else names.PLAIN if any(data_names) else names.NOBODY

    def _input_tests(self, inputs: list[Any]) -> list[Callable[[Any], bool]]:
        """Tests that identify the first input in the script: the tensor itself, then what it is a part of."""
        if not inputs:
            return []
        first = inputs[0]
        return [
            lambda value: value is first,
            lambda value: self.kinds.has_rows(value) and shares(value, first),
        ]

    # ------------------------------------------------------------ labels

    def beside(self, inputs: list[Any]) -> Around:
        """The name of the first input in the script, and the values beside it."""
        for is_target in self._input_tests(inputs):
            around = list(names.beside(_getframe(1), self.project, is_target))
            if around:
                return around
        return []

    def truth(self, batch: Batch, arguments: dict[str, Any], output: Any, inputs: list[Any], around: Around) -> Any:
        """The labels of a call: among its arguments, in the loader's batch, else in the script."""
        truth = self.kinds.labels(arguments, output, []) if arguments else None
        if truth is None and batch.value is not None:
            truth = self.kinds.labels(batch.value, output, inputs)
        return self._neighbour(around, inputs[0], output) if truth is None and around else truth

    def _neighbour(self, around: Around, first_input: Any, output: Any) -> Any:
        """The labels beside an input: `y_test` by `X_test`, `data.y` by `data.x`; the same rows of them."""
        by_name = dict(around)
        holders = [(name, value) for name, value in around if isinstance(name, str) and self.kinds.has_rows(value)]
        for name, holder in holders:
            rows = _rows(first_input, holder) if shares(holder, first_input) else None
            for label_name in names.label_names(name) if rows is not None else ():
                labels = self.kinds.tensor_of(by_name.get(label_name))
                if labels is not None and labels.shape[0] == holder.shape[0] and fits(labels[rows], output):
                    return labels[rows]
        return None


def _rows(part: Any, holder: Any) -> slice | None:
    """The rows of a tensor that a view of it was made from; None if each row of the view is not from one of its own."""
    if part is holder:  # it may be sparse, and then has no strides
        return slice(None)
    row = holder.stride(0)
    if row <= 0 or not len(part):
        return None
    first = (part.storage_offset() - holder.storage_offset()) // row
    step, odd = divmod(part.stride(0), row) if len(part) > 1 else (1, 0)
    last = first + (len(part) - 1) * step
    return None if odd or step < 1 or first < 0 or last >= len(holder) else slice(first, last + 1, step)
