"""Finds where two runs diverge: a ladder of pairs of runs, size of the first difference, causes, and remedies."""

import dataclasses
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from deviate.base import redact_words
from deviate.diverge.causes import Evidence, find_causes, gather_evidence
from deviate.diverge.columns import columns
from deviate.diverge.compare_outcomes import EndToEndDiff, compare_ends
from deviate.diverge.confirm import confirm
from deviate.diverge.findings import DivergenceFindings, Rung, RungFindings, Trace
from deviate.diverge.ladder import Climbed, Say, climb
from deviate.diverge.magnitude import measure_size, of_values
from deviate.diverge.requests import DivergeRequest, Execute, Pair, ending, run_pair, trace_capture
from deviate.diverge.windows import Window
from deviate.errors import InputError
from deviate.model import Experiment, Run, SelectedMetric, Variant
from deviate.replay import STREAMS
from deviate.report import counted
from deviate.workflows import read

FACTS = (
    "CPU", "cores", "GPU", "driver", "python", "torch", "tensorflow", "keras", "jax", "flax", "scikit-learn", "numpy",
)  # fmt: skip
"""Facts of the environment that rounding depends on."""
ACCELERATOR = re.compile(r"torch\.([a-z]+)")
"""Names of generators of accelerators in traces, such as `torch.cuda:0`."""


INTERRUPTED = "interrupted: what further pairs of runs would have shown is not known"


@dataclass(frozen=True, slots=True)
class Ladder:
    """The result of a ladder.

    Attributes:
        runs: both of the first rung, and those of further ones that failed, each with what it is called.
        is_interrupted: by the user, beyond the first rung.
    """

    findings: DivergenceFindings
    runs: tuple[tuple[str, Run], ...]
    is_interrupted: bool = False


def refuse_varied(variant: Variant) -> None:
    """Raise InputError for a variant whose runs get different seeds, as they differ by design."""
    streams = [stream for stream in variant.varied if stream in STREAMS]
    if streams:
        raise InputError(
            f"--variant {variant.name}: its two runs get different seeds for {', '.join(streams)}, and part by design",
            "take one that varies no stream: --variant control or --variant impl; or --seeds as-is",
        )


def diverge(
    request: DivergeRequest, execute: Execute, say: Say, *, goal: Rung | None = None, confirms: bool = False
) -> Ladder:
    """Climb the ladder; an interruption after its first rung ends it there.

    Args:
        say: tells a line of progress.
        goal: the last rung, to which it goes though the runs are equal; None as deep as there is a difference.
        confirms: whether the switches of causes are tried.

    Raises:
        InputError, RunError, RecordError, KeyboardInterrupt: as `run_pair`.
    """
    say("Rung 1, metrics: both runs to the end, reported values and losses")
    wanted = trace_capture(1, Window(), (2,), has_sums=bool(request.tolerance))
    pair = run_pair(request, "", wanted, execute)
    request = dataclasses.replace(request, snapshots=pair.snapshots)
    experiment = read(request.folder, pair.names)[0]
    metrics = quality(experiment)
    ends = compare_ends(pair, metrics, tolerance=request.tolerance)
    ends = dataclasses.replace(ends, findings=_with_reason(ends, pair, request.labels))
    climbed = [Climbed(ends.findings, pair)]
    later = _without_following(request)
    is_interrupted, why = False, ""
    try:
        if ends.is_equal is not None or goal is not None:
            for rung in climb(later, pair, ends.findings, execute, say, goal=goal):
                climbed.append(rung)  # noqa: PERF402  (an interruption leaves those before it)
        deepest = _deepest(climbed)
        if deepest is not None and climbed[deepest].findings.rung != "metrics":
            say("Size: one more pair keeps the numbers of what differs first")
            difference, why = measure_size(later, climbed[deepest], execute)
            deepest_findings = dataclasses.replace(climbed[deepest].findings, difference=difference)
            climbed[deepest] = dataclasses.replace(climbed[deepest], findings=deepest_findings)
    except KeyboardInterrupt:
        is_interrupted, deepest, why = True, _deepest(climbed), INTERRUPTED
    rungs = [rung.findings for rung in climbed]
    findings = findings_of(
        experiment,
        pair,
        ends,
        rungs,
        name=request.base,
        command=redact_words(request.sides[0].prepared.target.command),
        variant=request.variant.name,
        runs=request.labels,
        tolerance=request.tolerance,
    )
    notes = [
        *_notes(request, pair, ends, findings),
        *(note for rung in climbed if rung.pair for note in rung.pair.notes),
    ]
    findings = dataclasses.replace(findings, notes=(*notes, *filter(None, [why])))
    if findings.first is not None:
        seen = climbed[deepest].pair if deepest is not None else pair
        causes = find_causes(findings.first, _evidence(request, seen or pair, pair, findings.rungs))
        findings = dataclasses.replace(findings, causes=causes)
    if confirms and findings.first is not None and not is_interrupted:
        findings, is_interrupted = _confirm_causes(request, findings, metrics, execute, say)
    return Ladder(findings, tuple(_runs_to_report(climbed, request.labels)), is_interrupted)


def _runs_to_report(climbed: Sequence[Climbed], labels: Sequence[str]) -> Iterator[tuple[str, Run]]:
    for at, rung in enumerate(climbed):
        if rung.pair is None:
            continue
        for run, label in zip(rung.pair.runs, labels, strict=True):
            if at == 0:
                yield label, run
            elif run in rung.pair.failed:
                yield f"{label} of rung {rung.findings.rung}", run


def _with_reason(ends: EndToEndDiff, pair: Pair, labels: Sequence[str]) -> RungFindings:
    """The findings of the first rung; if nothing could be compared, with the failed run as the reason."""
    if ends.compared or not pair.failed:
        return ends.findings
    failed = [f"{label} {ending(run)}" for run, label in zip(pair.runs, labels, strict=True) if run in pair.failed]
    return dataclasses.replace(ends.findings, why_not="; ".join(failed))


def _confirm_causes(
    request: DivergeRequest, findings: DivergenceFindings, metrics: Sequence[str], execute: Execute, say: Say
) -> tuple[DivergenceFindings, bool]:
    """The findings with the tested causes, and whether the user interrupted the tests."""
    tried, notes, is_interrupted = [], findings.notes, False
    say("Confirm: pairs with the switches of the likeliest causes")
    try:
        for confirmation in confirm(request, findings.causes, metrics, execute):
            say(f"         {confirmation.flags}: {confirmation.what}")
            tried.append(confirmation)
    except KeyboardInterrupt:
        notes, is_interrupted = (*notes, INTERRUPTED), True
    if not tried and not is_interrupted:
        notes = (*notes, "nothing to confirm: what removes the likely causes is a change of the program")
    removed = {confirmation.cause for confirmation in tried if confirmation.is_equal}
    causes = sorted(findings.causes, key=lambda cause: cause.id not in removed)
    findings = dataclasses.replace(findings, causes=tuple(causes), confirmations=tuple(tried), notes=notes)
    return findings, is_interrupted


def quality(experiment: Experiment) -> tuple[str, ...]:
    """Names of the quantities to compare, the primary one first; clock readings are excluded."""
    metrics: list[SelectedMetric] = [metric for metric in experiment.metrics if metric.role == "quality"]
    return tuple(metric.name for metric in sorted(metrics, key=lambda metric: not metric.is_primary))


def _without_following(request: DivergeRequest) -> DivergeRequest:
    """The request without commands after the training, as later rungs end before them."""
    sides = tuple(
        dataclasses.replace(
            side, prepared=dataclasses.replace(side.prepared, target=dataclasses.replace(side.prepared.target, then=()))
        )
        for side in request.sides
    )
    return dataclasses.replace(request, sides=sides)


def _with_size(findings: RungFindings) -> RungFindings:
    if findings.difference is None:
        return findings
    return dataclasses.replace(findings, difference=of_values(findings.difference))


def _deepest(climbed: Sequence[Climbed]) -> int | None:
    """The last rung with a difference, by position."""
    return next((at for at in reversed(range(len(climbed))) if climbed[at].findings.difference is not None), None)


def findings_of(
    experiment: Experiment,
    pair: Pair,
    ends: EndToEndDiff,
    rungs: Sequence[RungFindings],
    *,
    name: str,
    command: tuple[str, ...],
    variant: str,
    runs: tuple[str, str],
    tolerance: int,
) -> DivergenceFindings:
    """The findings without causes and notes; a difference that only a deeper rung shows counts as well."""
    rungs = tuple(map(_with_size, rungs))
    return DivergenceFindings(
        name=name,
        command=command,
        variant=variant,
        runs=runs,
        is_equal=False if any(rung.difference is not None for rung in rungs) else ends.is_equal,
        what=ends.compared,
        n_steps=ends.findings.n_steps,
        n_metrics=len(ends.metrics),
        n_values=ends.n_values,
        weights=ends.weights,
        tolerance_ulps=tolerance,
        rungs=rungs,
        growth=ends.growth,
        ranks=pair.n_ranks,
        facts=tuple(facts_of(experiment, pair)),
    )


def _notes(request: DivergeRequest, pair: Pair, ends: EndToEndDiff, findings: DivergenceFindings) -> Iterator[str]:
    """Limitations of the result."""
    if request.tolerance and findings.is_equal is False:
        yield f"a difference within {counted(request.tolerance, 'ulp')} was taken for none"
    for run, label in zip(pair.runs, request.labels, strict=True):
        if run in pair.failed and not ends.findings.why_not:
            yield f"{label} {ending(run)}; compared up to there"
        elif run.status == "diverged":
            yield f"the training of {label} diverged: {run.reason}"
    if ends.is_equal is None and not pair.failed:
        yield (
            "nothing could be compared: the script reports no value that was seen, and no framework told of losses or "
            "weights; print a result, or name one in deviate.toml"
        )
    if request.tolerance and ends.weights != "not reached":
        yield "weights at the end are known by a hash, which says nothing of a difference within the tolerance"


def _evidence(request: DivergeRequest, pair: Pair, whole: Pair, rungs: Sequence[RungFindings]) -> Evidence:
    """Evidence besides the difference, from the pair that shows it and the pair that ran to the end."""
    return dataclasses.replace(
        gather_evidence(*pair.runs, request.variant),
        hazards=request.sides[0].prepared.analysis.hazards,
        side_effects=request.sides[0].prepared.analysis.side_effects,
        devices=(_device(pair.traces[0]), _device(pair.traces[1])),
        n_ranks=pair.n_ranks,
        n_steps=(_n_steps(whole, 0), _n_steps(whole, 1)),
        above=tuple(rung.difference for rung in rungs if rung.difference is not None),
        runs=request.labels,
    )


def _device(traces: Sequence[Trace]) -> str:
    """Device of a PyTorch run, from its generators: accelerators have some once they are initialised."""
    heads = {head for trace in traces for head in columns(trace.records).heads}
    states = {name for kind, name, *_ in heads if kind == "state" and name.startswith("torch")}
    accelerators = sorted(filter(None, (ACCELERATOR.match(state) for state in states)), key=lambda match: match[1])
    return accelerators[0][1] if accelerators else "cpu" if states else ""


def _n_steps(pair: Pair, run: int) -> int:
    return max((trace.n_steps for trace in pair.traces[run]), default=0)


def facts_of(experiment: Experiment, pair: Pair) -> Iterator[tuple[str, str]]:
    """Environment facts of both runs that affect rounding; both values if they differ."""
    mine, theirs = (run.environment for run in pair.runs)
    for name in FACTS:
        values = dict.fromkeys(facts[name] for facts in (mine, theirs) if name in facts)
        if values:
            yield name, " and ".join(values)
    yield "threads of each run", str(experiment.n_threads or "as the machine has them")
    if device := pair.runs[0].device:
        yield "device", device
