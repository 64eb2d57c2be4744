"""What a report lacks on stability, why, and which command adds it."""

from collections.abc import Sequence

from deviate.model import Findings
from deviate.report import clean

NOTHING = (
    "Neither predictions nor weights of these runs are on record, so this report does not say on how many predictions "
    "runs disagree (churn), nor how far apart and how alike they are: "
    "deviate run … --capture predictions,weights keeps them without a change to the script."
)
IMPORTED = (
    "Neither predictions nor weights of these runs are on record, for their scores were imported; runs that deviate "
    "carries out keep them with --capture predictions,weights."
)
NO_PREDICTIONS = "No predictions are on record: --capture predictions keeps them, and tells on how many runs disagree."
NO_WEIGHTS = "No weights are on record: --capture weights keeps them, and tells how far apart they are, layer by layer."
NO_STEPS = "Nothing was kept on the way: --capture-every K shows how runs part with the steps."
NO_REDUCTIONS = (
    "No ensemble of a run's own outputs was formed: --capture-every K keeps snapshots, --tta flip,crop25 augments."
)
NO_CONVERGENCE = "Time to convergence is not told: it takes a metric that runs report at several steps."
NO_WEAK = "No run was left out as weak: --weak-below METRIC=VALUE shows spreads with and without such runs."
NO_CLASSES = (
    "No evaluation set with true labels is on record, so nothing is told of its classes: --capture predictions keeps "
    "outputs, and labels where the script has them."
)
NO_GROUPS = "No sub-groups were named: --groups FILE.csv, or --groups COLUMN of what the script logs, compares them."
HASHES = " The final weights have a hash of each run (Provenance): it tells equal from different, not how far."


def nothing(findings: Findings) -> str:
    """Reasons why there are no results on stability; empty if there are."""
    stability = findings.stability
    return (
        "" if stability.sets or stability.weights or stability.convergence or stability.weak else _no_captures(findings)
    )


def _no_captures(findings: Findings) -> str:
    experiments = [item.experiment for item in findings.experiments]
    text = IMPORTED if experiments and all(one.imported for one in experiments) else NOTHING
    if any(run.weights for one in experiments for run in one.runs):
        text += HASHES
    return text


def reasons(findings: Findings, labels: Sequence[str]) -> tuple[str, ...]:
    """Reasons why requested results of an experiment are missing, with its name if there are several experiments."""
    sentences = [
        f"{label}: {clean(reason)}" if len(labels) > 1 else clean(reason)
        for label, reasons_of_experiment in zip(labels, findings.stability.reasons, strict=False)
        for reason in reasons_of_experiment
    ]
    return tuple(dict.fromkeys(sentences))


def parts(findings: Findings) -> tuple[str, ...]:
    """Missing parts of the section, with the commands that add them."""
    stability = findings.stability
    has_steps = any(one.steps for one in stability.sets) or any(one.steps for one in stability.weights)
    captures = [
        "" if stability.sets else NO_PREDICTIONS,
        "" if stability.weights else NO_WEIGHTS,
        "" if has_steps else NO_STEPS,
        "" if any(one.reductions for one in stability.sets) else NO_REDUCTIONS,
    ]
    if not stability.sets and not stability.weights:
        captures = [_no_captures(findings)]
    sentences = [*captures, "" if stability.convergence else NO_CONVERGENCE, "" if stability.weak else NO_WEAK]
    return tuple(filter(None, sentences))
