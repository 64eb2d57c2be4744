"""Finds where two runs diverge: a ladder of pairs of runs, size of the first difference, causes, and remedies."""

import dataclasses
import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

import numpy as np

from deviate.base import redact_words
from deviate.diverge.causes import Evidence, gather_evidence
from deviate.diverge.causes.find import find_causes
from deviate.diverge.compare import compare_traces
from deviate.diverge.findings import (
    RUNGS,
    Cause,
    Confirmation,
    Difference,
    DivergenceFindings,
    Rung,
    RungFindings,
    Switch,
    Trace,
    Ulps,
)
from deviate.diverge.levels import LEVEL_OF, LEVELS, MOST_AGAIN, MOST_EQUAL, Level, Window, next_window, window_around
from deviate.diverge.outcomes import EndToEndDiff, compare_ends
from deviate.diverge.requests import (
    SHORTEST_S,
    DivergeRequest,
    Execute,
    Pair,
    ending,
    is_cut,
    run_pair,
    with_switch,
    without_following,
)
from deviate.diverge.traces import columns, kept_arrays
from deviate.diverge.ulps import float_form, ulps
from deviate.model import Experiment, Run
from deviate.records import TAP_FAILED
from deviate.report import counted
from deviate.workflows import read

FACTS = (
    "CPU", "cores", "GPU", "driver", "python", "torch", "tensorflow", "keras", "jax", "flax", "scikit-learn", "numpy",
)  # fmt: skip
"""Facts of the environment that rounding depends on."""
ACCELERATOR = re.compile(r"torch\.([a-z]+)")
"""Names of generators of accelerators in traces, such as `torch.cuda:0`."""
DEAR = 1.5
"""From so many times the time of a step on, a rung is announced before it begins."""
PROBED = Window(5, 15)
"""Updates of the first rung in which the costs of the second one are measured."""
WARM_UP, FEWEST = 2, 6
"""Updates that do not count for costs, and so many at least that do."""
FRAMEWORKS = frozenset({"torch", "tensorflow", "jax", "scikit-learn"})
"""Those that tell of what they compute, by what the facts of a run call them."""
UNLIMITED = "torch"
"""The one that goes to the last rung, unless its trace says otherwise."""
WITHOUT_SIZE = frozenset({"state", "loss", "metric"})
"""Kinds whose records have no numbers, or bring them along."""
MOST_SIZED = 2
"""Pairs that keep numbers, at most: noise may show in another record first."""
MOST_CONFIRMED = 3
"""Causes that are tried, at most."""
WHY_NONE = "what the script computes with is not seen by deviate there"
NOISE = f"the rung before parted, and of {MOST_AGAIN} further pairs none where it was looked at: noise comes and goes"
INTERRUPTED = "interrupted: what further pairs of runs would have shown is not known"
NOT_SIZED = "its size was not measured: further pairs parted elsewhere first, or not at all"

Say = Callable[[str], object]


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


@dataclass(frozen=True, slots=True)
class Climbed:
    """A rung with the last pair compared on it; no pair if it could not be climbed."""

    findings: RungFindings
    pair: Pair | None = None


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
    search = Search(request, execute, say, goal)
    try:
        while (level := search.next_level()) is not None:
            search.climb(level)
        search.measure_size()
    except KeyboardInterrupt:
        search.interrupt()
    search.explain()
    if confirms and search.findings.first is not None and not search.is_interrupted:
        search.confirm()
    return Ladder(search.findings, tuple(search.runs()), search.is_interrupted)


class Search:
    """The search for the first difference of two runs: where it stands on the ladder, and which step comes next.

    The first rung runs both to the end. While there is a difference, `next_level` names the next rung, whose pair is
    traced around it (`climb`); then one more pair keeps the numbers of what differs first (`measure_size`), the causes
    of that are looked up (`explain`), and pairs with their switches are compared to the end (`confirm`).

    Attributes:
        rungs: those that were climbed, in order; the last one may say why the ladder ends there.
        notes: what limits the answer, a sentence each. findings: the answer, from `explain` on.
        forecasts: what a level costs by its number, as measured by a pair above it; None where it was not.
    """

    findings: DivergenceFindings

    def __init__(self, request: DivergeRequest, execute: Execute, say: Say, goal: Rung | None) -> None:
        """Execute and compare the first pair."""
        self.execute, self.say, self.goal = execute, say, goal
        self.is_interrupted, self.why = False, ""
        say(announce(LEVELS[0], None))
        self.pair = run_pair(request, "", execute, LEVELS[0].number, measured=(2,))
        request = dataclasses.replace(request, snapshots=self.pair.snapshots)
        self.request, self.following = request, without_following(request)
        self.experiment = read(request.folder, self.pair.names)[0]
        self.metrics = quality(self.experiment)
        ends = compare_ends(self.pair, self.metrics, tolerance=request.tolerance)
        self.ends = dataclasses.replace(ends, findings=_with_reason(ends, self.pair, request.labels))
        self.rungs = [Climbed(self.ends.findings, self.pair)]
        self.forecasts: dict[int, float | None] = {2: self.pair.costs(2)}
        self.plain_s = _quickest_update(self.pair, Window(PROBED.until or 0))

    def next_level(self) -> Level | None:
        """The rung to climb next; None where the ladder ends."""
        last = self.rungs[-1].findings
        if last.why_not and len(self.rungs) > 1:
            return None
        if self.goal is None and last.difference is None:
            return None
        for level in LEVELS[LEVEL_OF[last.rung].number :]:
            if self.goal is not None and level.number > LEVEL_OF[self.goal].number:
                return None
            is_useless = last.difference is not None and last.difference.phase in level.useless_for
            if not is_useless or self.goal == level.rung:
                return level
        return None

    def climb(self, level: Level) -> None:
        """Run pairs of a rung until one has its first difference inside the window, or say why there is none."""
        last = self.rungs[-1].findings
        if why := why_no_further(self.rungs[-1].pair or self.pair, level):
            self.rungs.append(Climbed(RungFindings(level.rung, why_not=why)))
            return
        forecast = self.forecasts.get(level.number)
        self.say(announce(level, forecast))
        window = Window(0, MOST_EQUAL)
        if last.difference is not None:
            window = window_around(last.difference.step, self.pair.n_steps, LEVEL_OF[last.rung].before)
        measured = [deeper.number for deeper in LEVELS[level.number :] if self.forecasts.get(deeper.number) is None]
        climbed, pair = self._run_pairs(level, window, measured, is_noise=last.difference is not None)
        self.forecasts |= {number: pair.costs(number) for number in measured}
        climbed = dataclasses.replace(climbed, forecast=forecast, cost=cost_of(pair, climbed, self.plain_s))
        self.rungs.append(Climbed(climbed, pair))

    def _run_pairs(
        self, level: Level, window: Window, measured: Sequence[int], *, is_noise: bool
    ) -> tuple[RungFindings, Pair]:
        n_runs, seconds = 0, 0.0
        for number in range(1, MOST_AGAIN + 1):
            suffix = f".{level.number}" + (f"-{number}" if number > 1 else "")
            costs = measured if number == 1 else ()
            pair = run_pair(self.following, suffix, self.execute, level.number, window, measured=costs)
            n_runs, seconds = n_runs + 2, seconds + pair.wall_time_s
            findings = dataclasses.replace(
                compare_traces(*pair.traces, level.rung, tolerance_ulps=self.request.tolerance),
                first=window.first,
                until=window.until,
                n_runs=n_runs,
                wall_time_s=seconds,
            )
            difference = findings.difference
            following = next_window(window, difference)
            is_inside = difference is not None and following is None and not is_cut(difference, pair)
            if pair.failed and not is_inside:
                why = f"its run {pair.failed[0].replicate} {ending(pair.failed[0])}"
                break
            if pair.kinds.isdisjoint(level.kinds):
                why = next((why for deepest, why in ends_of(pair).values() if deepest < level.number), "")
                why = f"no records of it: {why or fault_of(pair) or WHY_NONE}"
                break
            if following is None or (difference is None and not is_noise):
                return findings, pair
            if number < MOST_AGAIN:
                moved = "did not part" if difference is None else f"parted at update {difference.step}"
                until = f"updates {following.first} to {following.until - 1}" if following.until else "to the end"
                self.say(f"         this pair {moved}: another one, {until}")
            window = following
        else:
            why = NOISE
        return dataclasses.replace(findings, difference=None, by_rank=(), why_not=why), pair

    @property
    def deepest(self) -> int | None:
        """The last rung with a difference, by position."""
        places = reversed(range(len(self.rungs)))
        return next((at for at in places if self.rungs[at].findings.difference is not None), None)

    def measure_size(self) -> None:
        """Run pairs that keep the numbers of what differs first on the lowest rung, and measure how far they differ."""
        at = self.deepest
        if at is None or self.rungs[at].findings.rung == "metrics":
            return
        self.say("Size: one more pair keeps the numbers of what differs first")
        findings = self.rungs[at].findings
        difference = findings.difference
        if difference is None or not _has_size(difference) or difference.phase == "order":
            return
        self.why = NOT_SIZED
        level, window, wanted = LEVEL_OF[findings.rung].number, Window(findings.first, findings.until), difference
        for number in range(1, MOST_SIZED + 1):
            suffix = ".size" + (f"-{number}" if number > 1 else "")
            pair = run_pair(
                self.following, suffix, self.execute, level, window, kept_record="|".join(map(str, _head(wanted)))
            )
            current = compare_traces(*pair.traces, findings.rung, tolerance_ulps=self.request.tolerance).difference
            if current is None or current.step is None:
                continue
            if _head(current) == _head(wanted):
                size = size_of(current, pair)
                self.why = "" if size is not None else "the numbers of what differs first could not be kept"
                if size is not None:
                    sized = dataclasses.replace(difference if wanted is difference else current, ulps=size)
                    findings = dataclasses.replace(findings, difference=sized)
                    self.rungs[at] = dataclasses.replace(self.rungs[at], findings=findings)
                return
            if _has_size(current):
                wanted = current

    def interrupt(self) -> None:
        self.is_interrupted, self.why = True, INTERRUPTED

    def explain(self) -> None:
        """Sum up what was found, and look up its causes."""
        request = self.request
        findings = findings_of(
            self.experiment,
            self.pair,
            self.ends,
            [rung.findings for rung in self.rungs],
            name=request.base,
            command=redact_words(request.sides[0].prepared.target.command),
            variant=request.variant.name,
            runs=request.labels,
            tolerance=request.tolerance,
        )
        notes = [*self._notes(is_equal=findings.is_equal)]
        notes += [note for rung in self.rungs if rung.pair for note in rung.pair.notes]
        self.findings = dataclasses.replace(findings, notes=(*notes, *filter(None, [self.why])))
        if self.findings.first is not None:
            causes = find_causes(self.findings.first, self._evidence())
            self.findings = dataclasses.replace(self.findings, causes=causes)

    def _notes(self, *, is_equal: bool | None) -> Iterator[str]:
        """Limitations of the result."""
        tolerance = self.request.tolerance
        if tolerance and is_equal is False:
            yield f"a difference within {counted(tolerance, 'ulp')} was taken for none"
        for run, label in zip(self.pair.runs, self.request.labels, strict=True):
            if run in self.pair.failed and not self.ends.findings.why_not:
                yield f"{label} {ending(run)}; compared up to there"
            elif run.status == "diverged":
                yield f"the training of {label} diverged: {run.reason}"
        if self.ends.is_equal is None and not self.pair.failed:
            yield (
                "nothing could be compared: the script reports no value that was seen, and no framework told of losses "
                "or weights; print a result, or name one in deviate.toml"
            )
        if tolerance and self.ends.weights != "not reached":
            yield "weights at the end are known by a hash, which says nothing of a difference within the tolerance"

    def _evidence(self) -> Evidence:
        """Evidence besides the difference, from the pair that shows it and the pair that ran to the end."""
        request = self.request
        pair = (None if self.deepest is None else self.rungs[self.deepest].pair) or self.pair
        differences = (rung.difference for rung in self.findings.rungs)
        first, second = (max((trace.n_steps for trace in side), default=0) for side in self.pair.traces)
        return dataclasses.replace(
            gather_evidence(*pair.runs, request.variant),
            hazards=request.sides[0].prepared.analysis.hazards,
            side_effects=request.sides[0].prepared.analysis.side_effects,
            devices=(_device(pair.traces[0]), _device(pair.traces[1])),
            n_ranks=pair.n_ranks,
            n_steps=(first, second),
            above=tuple(difference for difference in differences if difference is not None),
            runs=request.labels,
        )

    def confirm(self) -> None:
        """Try the switches of the causes in order, until one makes the runs equal."""
        self.say("Confirm: pairs with the switches of the likeliest causes")
        confirmations: list[Confirmation] = []
        notes = self.findings.notes
        try:
            for cause in self.findings.causes:
                switch, tried = cause.switch, {confirmation.flags for confirmation in confirmations}
                if switch is None or switch.flags in tried or len(tried) >= MOST_CONFIRMED:
                    continue
                number = f"-{len(tried) + 1}" if tried else ""
                confirmation = self._confirm_cause(cause, switch, f".confirm{number}")
                self.say(f"         {confirmation.flags}: {confirmation.what}")
                confirmations.append(confirmation)
                if confirmation.is_equal:
                    break
            if not confirmations:
                notes = (*notes, "nothing to confirm: what removes the likely causes is a change of the program")
        except KeyboardInterrupt:
            notes, self.is_interrupted = (*notes, INTERRUPTED), True
        removed = {confirmation.cause for confirmation in confirmations if confirmation.is_equal}
        causes = tuple(sorted(self.findings.causes, key=lambda cause: cause.id not in removed))
        self.findings = dataclasses.replace(
            self.findings, causes=causes, confirmations=tuple(confirmations), notes=notes
        )

    def _confirm_cause(self, cause: Cause, switch: Switch, suffix: str) -> Confirmation:
        """Execute a pair with the switch of a cause, and compare it to the end."""
        request, variant = self.request, with_switch(self.request, switch)
        pair = run_pair(request, suffix, self.execute, 1, variant=variant, environment=switch.environment)
        ends = compare_ends(pair, self.metrics, tolerance=request.tolerance)
        n_steps, first, is_equal = ends.findings.n_steps, ends.findings.difference, ends.is_equal
        if pair.failed:
            is_equal, what = None, f"run {pair.failed[0].replicate} {ending(pair.failed[0])}"
        elif is_equal is None:
            what = "nothing could be compared"
        elif is_equal:
            equal = "bitwise equal" if not request.tolerance else f"equal within {counted(request.tolerance, 'ulp')}"
            what = f"{equal} over {counted(n_steps, 'update')}: {ends.compared}"
        else:
            at = f" from update {first.step} on" if first is not None and first.step is not None else ""
            what = f"{first.name if first is not None else 'something'} still differs{at}"
        return Confirmation(cause.id, switch.flags, is_equal, n_steps, what, first)

    def runs(self) -> Iterator[tuple[str, Run]]:
        """Both runs of the first rung, and those of further ones that failed, each with what it is called."""
        yield from zip(self.request.labels, self.pair.runs, strict=True)
        for rung in self.rungs[1:]:
            for run, label in zip(rung.pair.runs, self.request.labels, strict=True) if rung.pair else ():
                if rung.pair is not None and run in rung.pair.failed:
                    yield f"{label} of rung {rung.findings.rung}", run


def announce(level: Level, forecast: float | None) -> str:
    """`Rung 4, operations: operation by operation; each step takes 2.1 times as long`."""
    dear = f"; each step takes {forecast:.1f} times as long" if forecast is not None and forecast > DEAR else ""
    return f"Rung {level.number}, {level.rung}: {level.announced}{dear}"


def _with_reason(ends: EndToEndDiff, pair: Pair, labels: Sequence[str]) -> RungFindings:
    """The findings of the first rung; if nothing could be compared, with the failed run as the reason."""
    if ends.compared or not pair.failed:
        return ends.findings
    failed = [f"{label} {ending(run)}" for run, label in zip(pair.runs, labels, strict=True) if run in pair.failed]
    return dataclasses.replace(ends.findings, why_not="; ".join(failed))


def why_no_further(pair: Pair, level: Level) -> str:
    """Why the ladder of these runs ends before a rung, from their traces; empty if it does not."""
    used = FRAMEWORKS & pair.runs[0].environment.keys()
    if not used:
        return "the script uses no framework that deviate can look into (PyTorch, TensorFlow, Keras, JAX, scikit-learn)"
    ends = ends_of(pair)
    if UNLIMITED in used and UNLIMITED not in ends:
        return ""
    deepest, why = max(ends.values(), default=(len(RUNGS), ""))
    return why if deepest < level.number else ""


def ends_of(pair: Pair) -> dict[str, tuple[int, str]]:
    """The highest level that each framework supports in any process of a pair, with the reason why not more."""
    ends: dict[str, tuple[int, str]] = {}
    for trace in (side_trace for side in pair.traces for side_trace in side):
        for name, end in trace.ends.items():
            ends[name] = max(ends.get(name, end), end)
    return ends


def fault_of(pair: Pair) -> str:
    """An error of deviate itself in the runs; empty if there is none."""
    failures = [warning for run in pair.runs for warning in run.warnings if warning.startswith(TAP_FAILED)]
    return f"deviate itself failed in the run{failures[0].removeprefix(TAP_FAILED)}" if failures else ""


def cost_of(pair: Pair, findings: RungFindings, plain_s: float | None) -> float | None:
    """Duration of a traced update relative to one on the first rung, without the warm-up of each run.

    None if the first pair was slower, because the machine was busy.
    """
    traced_s = _quickest_update(pair, Window(max(WARM_UP, findings.first), findings.until))
    cost = traced_s / plain_s if traced_s and plain_s else 0.0
    return cost if cost >= 1 else None


def _quickest_update(pair: Pair, window: Window) -> float | None:
    """Duration of an undisturbed update in seconds; None if there are too few, or if it is too short to measure."""
    ends = [side[0].seconds for side in pair.traces if side]
    durations = [run[step] - run[step - 1] for run in ends for step in range(1, len(run)) if step in window]
    least = min(durations) if len(durations) >= FEWEST else 0.0
    return least if least >= SHORTEST_S else None


def _head(difference: Difference) -> tuple[str, str, int]:
    return difference.kind, difference.name, difference.ordinal


def _has_size(difference: Difference) -> bool:
    return difference.kind not in WITHOUT_SIZE and difference.only_in is None


def size_of(difference: Difference, pair: Pair) -> Ulps | None:
    """The size of a difference whose numbers both runs have stored; None if one has not."""
    key = (difference.rank, difference.step or 0)
    mine, theirs = (kept_arrays(run.folder).get(key) for run in pair.runs)
    if mine is None or theirs is None:
        return None
    try:
        return ulps(mine, theirs, difference.form)
    except ValueError:  # of another type or shape
        return None


def quality(experiment: Experiment) -> tuple[str, ...]:
    """Names of the quantities to compare, the primary one first; clock readings are excluded."""
    metrics = [metric for metric in experiment.metrics if metric.role == "quality"]
    return tuple(metric.name for metric in sorted(metrics, key=lambda metric: not metric.is_primary))


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
        rungs=tuple(map(_with_size, rungs)),
        growth=ends.growth,
        ranks=pair.n_ranks,
        facts=tuple(_facts(experiment, pair)),
    )


def _with_size(findings: RungFindings) -> RungFindings:
    """The findings with the size of a difference of values, which nothing has to be kept for."""
    difference = findings.difference
    if difference is None or difference.values is None or difference.ulps is not None:
        return findings
    one, other = (np.asarray(value, dtype=float_form(*difference.values)) for value in difference.values)
    return dataclasses.replace(findings, difference=dataclasses.replace(difference, ulps=ulps(one, other)))


def _facts(experiment: Experiment, pair: Pair) -> Iterator[tuple[str, str]]:
    """Environment facts of both runs that affect rounding; both values if they differ."""
    mine, theirs = (run.environment for run in pair.runs)
    for name in FACTS:
        values = dict.fromkeys(facts[name] for facts in (mine, theirs) if name in facts)
        if values:
            yield name, " and ".join(values)
    yield "threads of each run", str(experiment.n_threads or "as the machine has them")
    if device := pair.runs[0].device:
        yield "device", device


def _device(traces: Sequence[Trace]) -> str:
    """Device of a PyTorch run, from its generators: accelerators have some once they are initialised."""
    heads = {head for trace in traces for head in columns(trace.records).heads}
    states = {name for kind, name, *_ in heads if kind == "state" and name.startswith("torch")}
    accelerators = sorted(match[1] for state in states if (match := ACCELERATOR.match(state)))
    return accelerators[0] if accelerators else "cpu" if states else ""
