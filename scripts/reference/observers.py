"""The page of observers: what is observed of a run over each framework, and where that is not so, why."""

from collections.abc import Iterable, Iterator

from deviate.guest.frameworks import limits
from deviate.guest.frameworks.limits import EVIDENCE, LIMITS, TRACE

HEAD = """\
# Observers by framework

This page lists what deviate observes of a run in each framework. An adapter translates what its framework does, and
observers, which are independent of frameworks, use that. A test runs every observer over every framework, on one small
training each. The training of a row is the usual one: `fit` for Keras, `train` and `fit` for trainers, a compiled
training step for TensorFlow and JAX, `partial_fit` for scikit-learn. For other ways of training see [Traces by
framework](traces-by-framework.md) and [Capture predictions and
weights](../how-to/capture-predictions.md#what-is-captured-in-each-framework).

LightGBM, XGBoost and CatBoost grow trees, which are no arrays, so they have no rows. Their trees are hashed like
weights, predictions are captured, their evaluations in training are recorded for each iteration, and so are its trees
in a trace. For Keras 2 (`tf_keras`) the functions of TensorFlow below it are observed: weights, one bit, losses and
updates.

Written from `deviate/guest/frameworks/limits.py` by `python -m scripts.reference`.
"""
ABOUT = {
    limits.WEIGHT_HASH: "of all trained weights, at the end of the main loop and of the process; equal in equal runs",
    limits.EVALUATION_HASH: "of the examples that a trained model is evaluated on first, in any order. Arrays that the "
    "script calls test or validation data are hashed as well, over all frameworks",
    limits.ONE_BIT: "of one weight is flipped before the first training step, in the [variant](variants.md) `one-bit`",
    limits.PREDICTIONS: "of an evaluation are captured with true labels and a key for each example",
    limits.WEIGHTS: "are captured at steps of the main loop and at the end",
    limits.AUGMENTATION: "(`--tta`): predictions are averaged over an image and changed copies of it",
    limits.LOSS: "of each training step",
    limits.STATES: "of Python, NumPy and the framework, at the beginning of each step",
    limits.INITIAL_WEIGHTS: "before the first step",
    limits.BATCHES: "that a step trains on: inputs and labels, with a checksum for each row",
    limits.GRADIENTS: "of each weight",
    limits.UPDATES: "is a checksum of each weight after its update",
    limits.MODULE_OUTPUTS: "of the model, with their outputs in a training step",
}


def page() -> str:
    """The whole page as Markdown, ending in a newline."""
    reasons = list(dict.fromkeys(reason for limits in LIMITS.values() for reason in limits.values()))
    levels = {observer: f"{observer} ({level})" for observer, level in TRACE.items()}
    return "\n".join([
        HEAD,
        "## Evidence, predictions and weights\n",
        *_list(EVIDENCE),
        *_table({observer: observer for observer in EVIDENCE}, reasons),
        "## Traces\n",
        "Records of a [trace](traces.md), with the level from which on they are written. Operations (level 4) are",
        "recorded over PyTorch, and over Lightning, Transformers and Keras on it.\n",
        *_list(TRACE),
        *_table(levels, reasons),
        "## Reasons\n",
        *(f"{number}. {reason[0].upper()}{reason[1:]}." for number, reason in enumerate(reasons, 1)),
    ]) + "\n"  # fmt: skip


def _list(observers: Iterable[str]) -> Iterator[str]:
    for observer in observers:
        yield f"- *{observer[0].upper()}{observer[1:]}* {ABOUT[observer]}."
    yield ""


def _table(columns: dict[str, str], reasons: list[str]) -> Iterator[str]:
    """A row per framework; a cell says yes or gives the number of a reason.

    Args:
        columns: observers, and how the head of the table names them.
    """
    yield f"| framework | {' | '.join(columns.values())} |"
    yield "|---" * (len(columns) + 1) + "|"
    for framework, declared in LIMITS.items():
        cells = (
            f"no ([{reasons.index(declared[observer]) + 1}](#reasons))" if observer in declared else "yes"
            for observer in columns
        )
        yield f"| {framework} | {' | '.join(cells)} |"
    yield ""
