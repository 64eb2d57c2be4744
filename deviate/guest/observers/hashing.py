"""Hashes that show that runs are equal: of weights, and of the examples that are evaluated, in any order.

Frameworks supply the bytes. For an evaluation they pass the arrays that a model received outside of training. An array
does not show whether it came from the data or from the model itself, such as the states of a solver, a sampler or an
agent. The hash is therefore recorded with the evidence for it. Equal hashes always mean equal inputs; different hashes
mean different examples only if the evidence shows that the arrays are examples.
"""

from __future__ import annotations

import hashlib

from ..annotations import Any, Array, Iterable, Sequence
from ..pool_workers import is_pool_worker
from ..recorder import Recorder

WIDTH = 16
"""Bytes of the hash of one example."""
LONGEST = 16384
"""Bytes of an array in one example; a longer one counts with parts of it, evenly spaced, for it is only to be known."""
PARTS = 16


def weights_digest(weights: Iterable[tuple[str, Array]]) -> str:
    """SHA-256 over names, types, shapes and bytes, in order of the names, which are unique.

    Args:
        weights: by name; instead of a buffer there may be a function that gives it when its turn has come.
    """
    total = hashlib.sha256()
    for name, (kind, shape, buffer) in sorted(weights, key=lambda weight: weight[0]):
        _begin(total, name, kind, shape)
        total.update(buffer() if callable(buffer) else buffer)
    return total.hexdigest()


class Examples:
    """A hash of examples that is independent of their order and batches within a pass.

    Each example is hashed alone and the hashes are added up, so that one that comes twice counts twice. Passes count
    apart: an evaluation of the training and then of the test data tells which is which, whatever their union is.
    Source: Clarke et al. (2003), "Incremental multiset hash functions", MSet-Add-Hash without a key.
    """

    def __init__(self) -> None:
        self.count = 0
        self.passes: dict[object, list[int]] = {}

    def add(self, batch: Sequence[Array], of_pass: object = None) -> None:
        """Add a batch of examples: arrays with the same first dimension, which counts the examples.

        Args:
            of_pass: tells the pass that the batch is a part of; without it the batch is one of its own.
        """
        n = batch[0][1][0] if batch else 0
        if not n:
            return
        parts = [(kind, tuple(shape[1:]), flat(buffer)) for kind, shape, buffer in batch]
        sums = self.passes.setdefault(("alone", len(self.passes)) if of_pass is None else of_pass, [0, 0])
        for example in range(n):
            digest = hashlib.blake2b(digest_size=WIDTH)
            for place, (kind, shape, view) in enumerate(parts):
                size = len(view) // n
                _begin(digest, str(place), kind, shape)
                for start, end in pieces(size):
                    digest.update(view[example * size + start : example * size + end])
            sums[1] += int.from_bytes(digest.digest(), "big")
        sums[1] %= 1 << 8 * WIDTH
        sums[0] += n
        self.count += n

    def digest(self) -> str:
        """Hexadecimal digest; it depends on the number of examples, but not on the order of the passes."""
        total = hashlib.sha256()
        for count, value in sorted(map(tuple, self.passes.values())):
            total.update(b"%d %d;" % (count, value))
        return total.hexdigest()


def pieces(size: int) -> list[tuple[int, int]]:
    """Slices of the bytes that are hashed, for an array of this size."""
    if size <= LONGEST:
        return [(0, size)]
    length = LONGEST // PARTS
    return [(start, start + length) for start in ((size - length) * part // (PARTS - 1) for part in range(PARTS))]


def flat(buffer: Any) -> memoryview:
    view = memoryview(buffer)
    return view.cast("B") if view.nbytes else memoryview(b"")  # a view with a zero in its shape cannot be cast


def _begin(to: Any, name: str, kind: str, shape: Sequence[int]) -> None:
    """The header that precedes the bytes of an array; it includes its own length, so it is unambiguous."""
    head = "\x1f".join((name, kind, ",".join(str(int(size)) for size in shape))).encode("utf-8", "backslashreplace")
    to.update(b"%d:" % len(head))
    to.update(head)


# ---------------------------------------------------------------- evaluations

LOADER = "loader"
"""A loader or a dataset yielded them."""
LABELS = "labels"
"""They were handed over for an evaluation, with or without true labels beside them: `evaluate`, `score`."""
REPEATED = "repeated"
"""The next evaluation, after further training, was given the same: what a model computes would have changed."""
NAMES = "names"
"""Arrays that the script calls test or validation data."""
INPUTS = "inputs"
"""The model was called with them, and nothing else is known."""


class Evaluations:
    """Evaluations of one framework, until one is recorded whose inputs are known to be examples.

    An evaluation of inputs without evidence is kept until the next one shows whether it received the same.

    Attributes:
        is_over: whether the examples have been recorded.
    """

    def __init__(self, recorder: Recorder, framework: str) -> None:
        self.recorder = recorder
        self.framework = framework
        self.examples = Examples()
        self.is_over = False
        self.has_trained = False
        self.first: tuple[str, int] | None = None

    def add(self, batch: Sequence[Array], of_pass: object = None) -> None:
        """Add a batch to the current evaluation; arguments as in `Examples.add`."""
        if not self.is_over and (self.first is None or self.has_trained):
            self.examples.add(batch, of_pass)

    def train(self) -> None:
        """Training continues, so later outputs of the model no longer belong to the current evaluation."""
        self.has_trained = True

    def drop(self) -> None:
        """Discard the current evaluation."""
        self.examples = Examples()

    def end(self, evidence: str = INPUTS) -> bool:
        """End the current evaluation, if any; returns whether its examples were recorded."""
        n_examples = self.examples.count
        if self.is_over or not n_examples:
            return False
        digest = self.examples.digest()
        self.drop()
        if evidence == INPUTS:
            if self.first is None:
                self.first, self.has_trained = (digest, n_examples), False
                return False
            if self.first == (digest, n_examples):
                evidence = REPEATED
            digest, n_examples = self.first
        self._record(digest, n_examples, evidence)
        return True

    def close(self) -> None:
        """Record what has not been recorded yet, at the end of the process."""
        self.end()
        if self.first is not None and not self.is_over:
            self._record(*self.first, INPUTS)

    def _record(self, digest: str, n_examples: int, evidence: str) -> None:
        self.is_over = True
        if not is_pool_worker():  # which evaluates what it happens to get
            self.recorder.event("evaluation", self.framework, digest, n_examples, evidence)
