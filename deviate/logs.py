"""What a script may log itself, where nothing of it can be found in what it reports: values, outputs, weights, groups.

Standard library only and Python 3.8, for this file travels into the user's process with the guest: a script that
imports deviate runs where deviate is not installed. Without a run these functions do nothing.
"""

TYPE_CHECKING = False  # a training script waits for no import of ours
if TYPE_CHECKING:
    from typing import Any, Mapping


def log(name: str, value: "Any") -> None:
    """Report a metric: `value`, a number or an array with one, is recorded under `name` at this step of the main loop.

    Call it as `deviate.log(…)`, or by a name that it was imported as: the call is found in the source, as that of any
    tracker is.
    """


def log_predictions(
    outputs: "Any", truth: "Any" = None, *, name: str = "test", inputs: "Any" = None, **columns: "Any"
) -> None:
    """Keep a batch of what a model put out in an evaluation; it is kept whether or not the run captures anything.

    Calls in one step of the main loop are one evaluation, batch after batch.

    Args:
        outputs: (n, classes) scores, (n,) labels or numbers; an array or tensor of any library, or lists.
        truth: (n,) true classes or values.
        name: of the evaluation set, where there are several.
        inputs: (n, …) what the model was given: examples are known by it when their order differs between runs. Any
            ids with a row per example do as well.
        columns: (n,) numbers or texts that belong to the examples, such as a group.
    """


def log_weights(weights: "Mapping[str, Any]") -> None:
    """Keep weights by name, as they are now: the last that are logged and, with `--capture-every K`, every K steps.

    Like predictions they are kept whether or not the run captures anything.
    """


def log_groups(*, name: str = "test", **columns: "Any") -> None:
    """Say which sub-group each example of an evaluation set is in.

    Args:
        name: of the set.
        columns: (n,) numbers or texts, a row per example of the whole set in its order.
    """
