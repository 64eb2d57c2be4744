"""A noise study: variants of one experiment side by side, and what holds for all of its metrics."""

from collections.abc import Sequence
from typing import Literal

from deviate.model.findings import ExperimentFindings, NoiseKind, Repeatability, Study
from deviate.model.records import Experiment
from deviate.series.repeatability import absorption, repeatability, select_completed

STREAMS = ("init", "shuffle", "augment", "dropout", "split", "other")
IMPLEMENTATION = frozenset({"kernels", "autotune", "precision"})
CONFIGURATION = frozenset({"threads", "onednn"})
SCRIPT, CONTROL, BOTH, ONE_BIT = "as-is", "control", "algo+impl", "one-bit"


def study_of(described: Sequence[ExperimentFindings]) -> Study:
    experiments = [findings.experiment for findings in described]
    kinds = tuple(map(kind_of, experiments))
    control = next((experiment for experiment in experiments if experiment.variant == CONTROL), None)
    proofs = tuple(map(repeatability, experiments))
    return Study(
        described=tuple(described),
        kinds=kinds,
        proofs=proofs,
        absorbed=tuple(
            absorption(experiment, control) if kind == "one-bit" else None
            for experiment, kind in zip(experiments, kinds, strict=True)
        ),
        control=_control(proofs),
        reference=_reference(experiments, kinds),
    )


def kind_of(experiment: Experiment) -> NoiseKind:
    """What a variant varies; without a record, whatever the script leaves free."""
    varied = set(experiment.varied)
    if experiment.variant == ONE_BIT or any("one-bit" in run.controls for run in experiment.runs):
        return "one-bit"
    if not varied:
        return "nothing" if experiment.held and experiment.variant != SCRIPT else "script"
    if varied <= CONFIGURATION:
        return "configuration"
    if varied <= IMPLEMENTATION:
        return "implementation"
    return "mixed" if varied & (IMPLEMENTATION | CONFIGURATION) else "streams"


def isolates(experiment: Experiment, kind: NoiseKind) -> bool:
    """Whether a claim about this variant requires other factors to be held; the split is held nearly everywhere."""
    return kind not in {"script", "nothing"} and bool(set(experiment.held) - {"split"})


def find_drawn_streams(experiments: Sequence[Experiment]) -> set[str] | None:
    """Streams from which numbers were drawn; None if no completed run recorded them."""
    counted = [run.draws for experiment in experiments for run in select_completed(experiment) if run.draws]
    return {stream for draws in counted for streams in draws.values() for stream in streams} if counted else None


def find_unrouted_draws(experiments: Sequence[Experiment]) -> list[str]:
    """Draws in completed runs that deviate does not route to a stream, each with its place."""
    runs = (run for experiment in experiments for run in select_completed(experiment))
    return list(dict.fromkeys(phrase for run in runs for phrase in run.unrouted))


def leaves_other_out(study: Study, index: int) -> bool:
    """Whether attributing this variant's spread to streams would ignore draws that belong to no stream."""
    kind, experiment = study.kinds[index], study.experiments[index]
    if (
        kind != "streams"
        or "other" in experiment.varied
        or "other" not in (find_drawn_streams(study.experiments) or ())
    ):
        return False
    return not any(experiment.varied == ("other",) for experiment in study.experiments)


def _control(proofs: Sequence[Repeatability]) -> Literal["intact", "broken", "absent"]:
    proof = next((proof for proof in proofs if proof.variant == CONTROL), None)
    if proof is None or proof.is_equal is None:
        return "absent"
    return "intact" if proof.is_equal else "broken"


def _reference(experiments: Sequence[Experiment], kinds: Sequence[NoiseKind]) -> Experiment | None:
    """`algo+impl`, else the variant that varies most things, else the script as it stands.

    Never the one with the largest observed SD: that choice would depend on the scores.
    """
    by_name = {experiment.variant: experiment for experiment in experiments}
    if BOTH in by_name:
        return by_name[BOTH]
    varying = [
        experiment
        for experiment, kind in zip(experiments, kinds, strict=True)
        if kind in {"streams", "implementation", "mixed"}
    ]
    streams = find_drawn_streams(experiments)
    if streams is not None:  # a variant of streams without draws has no spread to refer to
        varying = [experiment for experiment in varying if not set(experiment.varied) <= set(STREAMS) - streams]
    return max(varying, key=lambda experiment: len(experiment.varied), default=by_name.get(SCRIPT))
