"""Finds names and labels for the inputs of a model in the variables of a PyTorch script.

Rows of larger arrays are found by shared memory, or by the index tensor that selects them.
"""

from __future__ import annotations

import re
from sys import _getframe

from ... import names
from ...adapter_context import AdapterContext
from ...annotations import TYPE_CHECKING, Any, Callable, Iterator
from .batches import Kinds, fits, memory, shares

if TYPE_CHECKING:
    from .passes import Batch, Pass

    Around = list[tuple[str, Any]]

UNTOLD = "*"
INPUTS = {
    "x": "y", "X": "y", "xs": "ys", "xb": "yb", "bx": "by", "image": "label", "images": "labels", "img": "label",
    "imgs": "labels", "input": "target", "inputs": "targets", "feature": "label", "features": "labels",
    "feats": "labels", "data": "target", "input_ids": "labels", "ids": "labels", "text": "label", "texts": "labels",
    "sample": "label", "samples": "labels", "batch": "labels", "src": "tgt", "tokens": "labels",
}  # fmt: skip
"""What inputs are called, and labels beside them."""
ANSWERS = ("y", "Y", "labels", "label", "targets", "target", "t", "yb", "lbl", "tgt", "ys")
SPLIT = re.compile(r"(?:^|_)(?:train|val|valid|validation|test|dev|eval)(?:_|$)")
CHOICE = re.compile(r"(?:^|_)(?:mask|idx|index|indices|ids)(?:_|$)")
"""A tensor whose name matches both, as `train_idx` and `val_mask`, is the index or the mask of a split."""
MAX_PICK_TRIES = 8
"""How many pairs of an array and indices are tried for one input."""


class Surroundings:
    """Searches the frames of the script that lead to a call of a model."""

    def __init__(self, context: AdapterContext, kinds: Kinds) -> None:
        self.project = context.project
        self.kinds = kinds

    # ------------------------------------------------------------ names

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
            if not any(data_names):
                data_names += self._picked_name(inputs)
        of_function = names.of_function(frame, self.project)
        telling = [name for name in (*data_names, of_function) if name not in ("", UNTOLD, names.NOBODY)]
        return telling[0] if telling else names.PLAIN if any(data_names) else names.NOBODY

    def _picked_name(self, inputs: list[Any]) -> Iterator[str]:
        """The name of the split from index variables, else that of the array that they select from."""
        for array, indices, *_ in self._picks(inputs):
            match = names.WORDS.search(indices)
            yield match.group(1) if match else names.set_name(array)

    def _input_tests(self, inputs: list[Any]) -> list[Callable[[Any], bool]]:
        """Tests that identify the first input in the script: the tensor itself, its memory, or a NumPy array of it."""
        tensor = self.kinds.tensor
        if not inputs:
            return []
        first, address = inputs[0], memory(inputs[0])

        def is_target(value: Any) -> bool:
            return isinstance(value, tensor) and (
                value is first or (value.numel() == first.numel() and value.data_ptr() == first.data_ptr() != 0)
            )

        def is_source(value: Any) -> bool:
            """Whether a NumPy array has the numbers, in the same memory or, for a tensor of all of them, in its own."""
            array = self.kinds.of_numpy(value)
            if array is None:
                return False
            if _rows(first, array) is not None:
                return True
            return bool(array.shape == first.shape and (array.to(first.dtype) == first).all())

        tests = [is_target, lambda value: isinstance(value, tensor) and memory(value) == address]
        return [*tests, is_source] if first.device.type == "cpu" and first.layout == self.kinds.strided else tests

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
        if truth is None and around:
            truth = self._neighbour(around, inputs[0], output)
        if truth is None and batch.value is None and not around:
            for array, _, beside, rows, size in self._picks(inputs):
                truth = self._answer(array, beside, output, rows, size)
                if truth is not None:
                    break
        return truth

    def _neighbour(self, around: Around, first_input: Any, output: Any) -> Any:
        """The labels beside an input: `y_test` by `X_test`, `data.y` by `data.x`; with the same selection of rows."""
        by_name = {key: value for key, value in around if isinstance(key, str)}
        holders = [around[0]]
        holders += [
            (key, value) for key, value in around[1:] if self.kinds.has_rows(value) and shares(value, first_input)
        ]
        for name, value in holders:
            array = self.kinds.of_numpy(value)
            holder = value if array is None else array
            has_rows = self.kinds.has_rows(holder)
            rows = _rows(first_input, holder) if has_rows else None
            labels = self._answer(name, by_name, output, rows, holder.shape[0] if has_rows else 0)
            if labels is not None:
                return labels
        return None

    def _answer(self, name: str, beside: dict[str, Any], output: Any, rows: Any, size: int) -> Any:
        """Candidates for the labels of an input with this name, that have as many rows as it."""
        parts = name.split("_")
        for place, word in enumerate(parts):
            if word not in INPUTS:
                continue
            for answer in (INPUTS[word], *ANSWERS):
                labels: Any = beside.get("_".join((*parts[:place], answer, *parts[place + 1 :])))
                array = self.kinds.of_numpy(labels)
                labels = labels if array is None else array
                if self.kinds.has_rows(labels):
                    chosen = labels if rows is None or labels.shape[0] != size else labels[rows]
                    if fits(chosen, output):
                        return chosen
        return None

    def _picks(self, inputs: list[Any]) -> Iterator[tuple[str, str, dict[str, Any], Any, int]]:
        """Arrays of the script and indices that pick the first input from them.

        Yields:
            the names of both, what lies beside them, the indices, and the rows of the array.
        """
        if not inputs or inputs[0].device.type != "cpu" or inputs[0].layout != self.kinds.strided:
            return
        first_input, n_tries_left = inputs[0], MAX_PICK_TRIES
        candidates: list[tuple[str, Any, dict[str, Any]]] = []
        for frame in self.project.frames(_getframe(1)):
            variables = names.variables(frame)
            candidates += [(name, value, variables) for name, value in variables.items() if self._is_plain(value)]
        for array, holder, variables in candidates:
            if holder.dtype == first_input.dtype and holder.shape[1:] == first_input.shape[1:]:
                for indices, picks, _ in candidates:
                    if picks is not holder and n_tries_left and _may_pick(picks, holder, first_input):
                        n_tries_left -= 1
                        if _equal(holder[picks], first_input):
                            yield array, indices, variables, picks, holder.shape[0]

    def _is_plain(self, value: Any) -> bool:
        return self.kinds.has_rows(value) and value.device.type == "cpu" and value.layout == self.kinds.strided


def _rows(part: Any, holder: Any) -> slice | None:
    """Rows of an array that a part of its memory covers; None if it is not whole rows."""
    try:
        row, size = holder.stride(0), holder.element_size()
        is_alike = part.dtype == holder.dtype and (
            (part.shape[1:], part.stride()[1:]) == (holder.shape[1:], holder.stride()[1:])
            or (
                part.is_contiguous()
                and holder.is_contiguous()
                and part.numel() * holder.shape[0] == holder.numel() * part.shape[0]
            )
        )
        if not is_alike or row <= 0 or not part.numel():
            return None
        first, rest = divmod(part.data_ptr() - holder.data_ptr(), row * size)
        step, odd = divmod(part.stride(0), row) if part.shape[0] > 1 else (1, 0)
    except (NotImplementedError, RuntimeError):  # unknown for sparse tensors
        return None
    last = first + (part.shape[0] - 1) * step
    if rest or odd or step < 1 or first < 0 or last >= holder.shape[0]:
        return None
    return slice(first, last + 1, step)


def _may_pick(picks: Any, array: Any, picked: Any) -> bool:
    """Whether a tensor may select the input from an array: an index for each row, or a mask over all rows."""
    kind, rows = str(picks.dtype), picked.shape[0]
    if len(picks.shape) != 1 or kind not in ("torch.int64", "torch.bool") or not rows:
        return False
    if kind == "torch.bool":
        return bool(picks.shape[0] == array.shape[0] and int(picks.sum()) == rows)
    size = array.shape[0]
    return bool(picks.shape[0] == rows and int(picks.min()) >= -size and int(picks.max()) < size)


def _equal(one: Any, other: Any) -> bool:
    return one.shape == other.shape and bool((one == other).all())


def choices(around: Around, rows: int, kinds: Kinds) -> dict[str, Any]:
    """Masks of the examples in each split, from variables such as `test_mask` or `idx_test` beside the input."""
    masks = {}
    for name, value in around:
        if not (isinstance(name, str) and SPLIT.search(name) and CHOICE.search(name) and kinds.has_rows(value)):
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
