"""Hashes of evaluation data, which show that runs were tested on the same examples; shared by all frameworks.

Adapters pass the arrays that a model received outside of training. An array does not show whether it came from the data
or from the model itself, such as the states of a solver, a sampler or an agent. The hash is therefore recorded with the
evidence for it. Equal hashes always mean equal inputs; different hashes mean different examples only if the evidence
shows that the arrays are examples.
"""

from __future__ import annotations

from ..annotations import Array, Sequence
from ..recorder import Recorder
from .hashing import Examples

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
        self.recorder.event("evaluation", self.framework, digest, n_examples, evidence)
