"""Finds where two runs diverge: pairs of runs on deeper and deeper levels, size of the first difference, causes."""

import dataclasses
import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import partial

import numpy as np

from deviate.base.redaction import redact_words
from deviate.diverge.causes import Evidence, gather_evidence
from deviate.diverge.causes.find import find_causes
from deviate.diverge.checkpoints import Start
from deviate.diverge.compare import compare_traces
from deviate.diverge.findings import (
    RUNGS,
    Cause,
    Difference,
    DivergenceFindings,
    InputDifference,
    Rung,
    RungFindings,
    Trace,
    Ulps,
)
from deviate.diverge.forecast import default_limit_s, elapsed_s, estimate_pair_s, proposed_limit
from deviate.diverge.inputs import compare_inputs, equal_inputs, idle_lines, with_uses
from deviate.diverge.levels import LEVEL_OF, LEVELS, MOST_AGAIN, MOST_EQUAL, Level, Window, next_window, window_around
from deviate.diverge.outcomes import EndToEndDiff, compare_ends
from deviate.diverge.printed import VOLATILE
from deviate.diverge.proof import BY_ROUNDING, Proof, Prover
from deviate.diverge.proved import Namer
from deviate.diverge.requests import (
    SHORTEST_S,
    DivergeRequest,
    Execute,
    Pair,
    ending,
    is_cut,
    run_pair,
    without_following,
)
from deviate.diverge.resumption import Resumption
from deviate.diverge.source import Texts
from deviate.diverge.traces import columns, kept_arrays
from deviate.diverge.ulps import float_form, ulps
from deviate.model.records import Experiment, Run
from deviate.records.layout import snapshot_folder
from deviate.records.read import TAP_FAILED
from deviate.replay.slots import slots
from deviate.replay.variants import HASH
from deviate.report.format import counted, duration
from deviate.workflows import read

FACTS = (
    "CPU", "cores", "GPU", "driver", "python", "torch", "tensorflow", "keras", "jax", "flax", "scikit-learn", "numpy",
)  # fmt: skip
"""Facts of the environment that affect rounding."""
ACCELERATOR = re.compile(r"torch\.([a-z]+)")
"""Pattern of the names of accelerator generators in traces, such as `torch.cuda:0`."""
DEAR = 1.5
"""Slowdown of a step above which the cost of a level is announced before it starts."""
PROBED = Window(5, 15)
"""Updates of the first level in which the costs of the second level are measured."""
N_PROBED = (PROBED.until or 0) - PROBED.first
"""Number of updates in which the cost of a level is measured."""
LONG_S = 60.0
"""Estimated duration of a level from which it is announced."""
WARM_UP, FEWEST = 2, 6
"""Number of first updates to ignore in costs, and minimum number of updates to measure."""
REFUTED = frozenset({"entropy", "unseeded", "hash-order", "environment-seed", "loader-workers"})
"""Causes that are none where runs with the same numbers of the system and the same hash seed differ."""
FRAMEWORKS = frozenset({"torch", "tensorflow", "jax", "scikit-learn", "lightgbm", "xgboost", "catboost"})
"""Supported frameworks, by their names in the facts of a run."""
UNLIMITED = "torch"
"""The framework that supports the last level, unless its trace says otherwise."""
WITHOUT_SIZE = frozenset({"state", "loss", "metric"})
"""Kinds of records without numbers, or with numbers in the record itself."""
MOST_SIZED = 2
"""Maximum number of pairs that record numbers: noise may appear in another record first."""
BUDGET = 8
"""Maximum number of runs that prove a cause, where the user does not say."""
WHY_NONE = "deviate cannot record this level for the framework of the script"
NOISE = (
    f"the difference of the level before did not appear again in {MOST_AGAIN} further pairs: the noise is intermittent"
)
INTERRUPTED = "interrupted before all pairs of runs were compared"
NOT_SIZED = "the size of the difference was not measured: further pairs diverged elsewhere, or not at all"

Say = Callable[[str], object]


@dataclass(frozen=True, slots=True)
class Ladder:
    """The result of a search over the levels.

    Attributes:
        runs: both runs of the first level, and failed runs of further levels, each with its name.
        is_interrupted: by the user, after the first level.
    """

    findings: DivergenceFindings
    runs: tuple[tuple[str, Run], ...]
    is_interrupted: bool = False


@dataclass(frozen=True, slots=True)
class Climbed:
    """A level with the last pair compared on it, and where that began; no pair if the level could not be recorded."""

    findings: RungFindings
    pair: Pair | None = None
    start: Start | None = None


def diverge(
    request: DivergeRequest, execute: Execute, say: Say, *, goal: Rung | None = None, budget: int = BUDGET
) -> Ladder:
    """Compare pairs of runs level by level until it is proved why they differ; an interruption ends the search.

    Args:
        say: prints a line of progress.
        goal: the last level, which is compared even if the runs are equal; None to stop at a level without difference.
        budget: the most runs that may be made to prove a cause.

    Raises:
        InputError, RunError, RecordError, KeyboardInterrupt: as `run_pair`.
    """
    search = Search(request, execute, say, goal)
    try:
        while (level := search.next_level()) is not None:
            search.climb(level)
            if level.rung == "steps":
                search.prove(budget)
            if search.is_settled and goal is None:
                break
        if not search.is_settled:
            search.measure_size()
    except KeyboardInterrupt:
        search.interrupt()
    finally:
        search.resumption.remove()
    search.explain()
    return Ladder(search.findings, tuple(search.runs()), search.is_interrupted)


class Search:
    """The search for the first difference of two runs: the levels so far, and the next step.

    The first level runs both to the end. While there is a difference, `next_level` names the next level, whose pair is
    traced around it (`climb`); then one more pair records the numbers of the first difference (`measure_size`), its
    causes are proved by further runs (`prove`) and looked up (`explain`).

    Attributes:
        rungs: levels in order; the last one may say why the search ends there.
        notes: limits of the answer, a sentence each. findings: the answer, from `explain` on.
        forecasts: cost of a level by its number, as measured by a pair above it; None if not measured.
        resumption: the checkpoints from which pairs of further levels begin.
        limit_s: time limit of each further level.
    """

    findings: DivergenceFindings
    proof: Proof | None = None

    def __init__(self, request: DivergeRequest, execute: Execute, say: Say, goal: Rung | None) -> None:
        """Execute and compare the first pair."""
        self.execute, self.say, self.goal = execute, say, goal
        self.is_interrupted, self.why = False, ""
        say(announce(LEVELS[0], None))
        self.pair = run_pair(request, "", execute, LEVELS[0].number, measured=(2,), keeps_checkpoints=True)
        request = dataclasses.replace(request, snapshots=self.pair.snapshots)
        self.request, self.following = request, without_following(request)
        self.experiment = read(request.folder, self.pair.names)[0]
        self.metrics = quality(self.experiment)
        ends = compare_ends(self.pair, self.metrics, tolerance=request.tolerance)
        self.ends = dataclasses.replace(ends, findings=_with_reason(ends, self.pair, request.labels))
        self.rungs = [Climbed(self.ends.findings, self.pair)]
        self.forecasts: dict[int, float | None] = {2: self.pair.costs(2)}
        self.plain_s = _quickest_update(self.pair, Window(PROBED.until or 0))
        self.resumption = Resumption(self.pair, request)
        self.is_parallel = len(slots(request.request.settings)) > 1
        self.limit_s = request.level_limit_s or default_limit_s(self.pair, is_parallel=self.is_parallel)

    def next_level(self) -> Level | None:
        """The level to compare next; None where the search ends."""
        last = self.rungs[-1].findings
        if last.why_not and len(self.rungs) > 1:
            return None
        if self.goal is None and last.difference is None:
            return None
        for level in LEVELS[LEVEL_OF[last.rung].number :]:
            if self.goal is not None and level.number > LEVEL_OF[self.goal].number:
                return None
            if self.goal == level.rung or last.difference is None:
                return level
            if level.is_useful(last.difference.phase, (self.rungs[-1].pair or self.pair).kinds):
                return level
        return None

    def climb(self, level: Level) -> None:
        """Run pairs of a level until one has its first difference inside the window, or say why there is none."""
        last = self.rungs[-1].findings
        if why := why_no_further(self.rungs[-1].pair or self.pair, level):
            self.rungs.append(Climbed(RungFindings(level.rung, why_not=why)))
            return
        window = Window(0, MOST_EQUAL)
        if last.difference is not None:
            window = self._window_around(last.difference, LEVEL_OF[last.rung])
        measured = [deeper.number for deeper in LEVELS[level.number :] if self.forecasts.get(deeper.number) is None]
        climbed = self._run_pairs(level, window, measured, is_noise=last.difference is not None)
        self.rungs.append(climbed)
        if climbed.pair is not None:
            self.forecasts |= {number: climbed.pair.costs(number) for number in measured}
            cost = cost_of(climbed.pair, climbed.findings, self.plain_s)
            self.rungs[-1] = dataclasses.replace(climbed, findings=dataclasses.replace(climbed.findings, cost=cost))

    def _window_around(self, difference: Difference, level: Level) -> Window:
        """Where to trace the next level, within the checkpoints that are known to be equal and different."""
        bracket, step = self.resumption.bracket, difference.step
        equal, different = bracket.last_equal(step), bracket.different
        return window_around(
            step,
            self.pair.n_steps,
            level.before,
            equal=equal.step if equal is not None else 0,
            different=different.step if different is not None and level.number == 1 else None,
        )

    def _run_pairs(self, level: Level, window: Window, measured: Sequence[int], *, is_noise: bool) -> Climbed:
        """Run pairs until one has its first difference inside the window, the time limit ends them, or all are run."""
        n_runs, seconds, used_s, n_tries = 0, 0.0, 0.0, 0
        forecast, pair, why = self.forecasts.get(level.number), None, NOISE
        findings = RungFindings(level.rung, limit_s=self.limit_s)
        while n_tries < MOST_AGAIN:
            start = self.resumption.start_for(window)
            costs = measured if not n_runs else ()
            estimate = self._estimate_s(window, forecast, start, costs)
            findings = dataclasses.replace(findings, forecast=forecast, estimate_s=findings.estimate_s or estimate)
            if not n_runs:
                self.say(announce(level, forecast, estimate, start))
            if estimate is not None and used_s + estimate > self.limit_s:
                why = self._beyond_limit(estimate, window, forecast, start, used_s)
                self.say(f"         not started: {why}")
                break
            suffix = f".{level.number}" + (f"-{n_runs // 2 + 1}" if n_runs else "")
            left_s = (self.limit_s - used_s) / (1 if self.is_parallel else 2)
            pair = run_pair(
                self.following,
                suffix,
                self.execute,
                level.number,
                window,
                measured=costs,
                start=start,
                timeout_s=left_s,
            )
            n_runs, seconds, n_tries = n_runs + 2, seconds + pair.wall_time_s, n_tries + 1
            used_s += elapsed_s(pair, is_parallel=self.is_parallel)
            findings = self._compared(pair, level, findings, window, start)
            findings = dataclasses.replace(findings, n_runs=n_runs, wall_time_s=seconds)
            difference = findings.difference
            following = _next_window(window, difference, start)
            is_inside = difference is not None and following is None and not is_cut(difference, pair)
            if pair.failed and not is_inside and self._is_at_limit(pair.failed[0], left_s):
                why, pair = self._ended_at_limit(pair, window, estimate), None  # its runs have not failed
                break
            if start is not None and (doubt := self.resumption.refuse(pair, start, difference, is_inside=is_inside)):
                self.say(f"         {doubt}; next pair: from update 0")
                n_tries -= 1
                continue
            if pair.failed and not is_inside:
                why = f"run {pair.failed[0].replicate} of this level {ending(pair.failed[0])}"
                break
            if pair.kinds.isdisjoint(level.kinds):
                why = next((why for deepest, why in ends_of(pair).values() if deepest < level.number), "")
                why = f"nothing was recorded: {why or fault_of(pair) or WHY_NONE}"
                break
            if following is None or (difference is None and not is_noise):
                return Climbed(findings, pair, start)
            if n_tries < MOST_AGAIN:
                moved = "did not diverge" if difference is None else f"diverged at update {difference.step}"
                until = f"updates {following.first} to {following.until - 1}" if following.until else "to the end"
                self.say(f"         this pair {moved}; next pair: {until}")
            window = following
        return Climbed(dataclasses.replace(findings, difference=None, by_rank=(), why_not=why), pair)

    def _compared(
        self, pair: Pair, level: Level, findings: RungFindings, window: Window, start: Start | None
    ) -> RungFindings:
        """The comparison of a pair; steps of the main loop are those of the first pair, where it began later."""
        compared = compare_traces(*pair.traces, level.rung, tolerance_ulps=self.request.tolerance)
        if start is not None:
            of_first = partial(_with_main_step, first=self.pair)
            compared = dataclasses.replace(
                compared,
                n_steps=max(0, compared.n_steps - start.step),
                start=start.step,
                checkpoint=start.file,
                difference=None if compared.difference is None else of_first(compared.difference),
                by_rank=tuple(map(of_first, compared.by_rank)),
            )
        return dataclasses.replace(
            compared,
            first=window.first,
            until=window.until,
            forecast=findings.forecast,
            estimate_s=findings.estimate_s,
            limit_s=findings.limit_s,
        )

    def _estimate_s(
        self, window: Window, forecast: float | None, start: Start | None, measured: Sequence[int]
    ) -> float | None:
        return estimate_pair_s(
            self.pair,
            window,
            forecast,
            is_parallel=self.is_parallel,
            start=0 if start is None else start.step,
            n_probed=N_PROBED * len(measured),
        )

    def _beyond_limit(
        self, estimate: float, window: Window, forecast: float | None, start: Start | None, used_s: float
    ) -> str:
        """`it would take about 3 h (2 runs of 90,016 updates …), beyond the limit of 30 min: --level-time 4h`."""
        end = self.pair.n_steps if window.until is None else min(window.until, self.pair.n_steps)
        n_steps = end - (0 if start is None else start.step)
        times = f", {forecast:.1f} times as long in the window" if forecast is not None and forecast > DEAR else ""
        before = f" after {duration(used_s)} of earlier pairs" if used_s else ""
        return (
            f"it would take about {duration(estimate)} (2 runs of {counted(n_steps, 'update')}{times}){before}, "
            f"beyond the limit of {duration(self.limit_s)}: --level-time {proposed_limit(used_s + estimate)}"
        )

    def _is_at_limit(self, run: Run, left_s: float) -> bool:
        """Whether a run was ended by the limit of the level, not by that of the user for runs."""
        timeout_s = self.request.request.settings.timeout_s
        return run.status == "timed_out" and (timeout_s is None or left_s < timeout_s)

    def _ended_at_limit(self, pair: Pair, window: Window, estimate: float | None) -> str:
        end = self.pair.n_steps if window.until is None else min(window.until, self.pair.n_steps)
        expected = f", estimated at {duration(estimate)}" if estimate is not None else ""
        return (
            f"it reached the limit of {duration(self.limit_s)} after update {pair.n_steps:,} of {end:,}{expected}: "
            f"--level-time {proposed_limit(2 * self.limit_s)}"
        )

    @property
    def deepest(self) -> int | None:
        """The last level with a difference, by position."""
        places = reversed(range(len(self.rungs)))
        return next((at for at in places if self.rungs[at].findings.difference is not None), None)

    def measure_size(self) -> None:
        """Run pairs that record the numbers of the first difference on the last level, and measure its size."""
        at = self.deepest
        if at is None or self.rungs[at].findings.rung == "metrics":
            return
        self.say("Size: one more pair records the numbers of the first difference")
        findings = self.rungs[at].findings
        difference = findings.difference
        if difference is None or not _has_size(difference) or difference.phase == "order":
            return
        self.why = NOT_SIZED
        level, window, wanted = LEVEL_OF[findings.rung].number, Window(findings.first, findings.until), difference
        for number in range(1, MOST_SIZED + 1):
            suffix = ".size" + (f"-{number}" if number > 1 else "")
            pair = run_pair(
                self.following,
                suffix,
                self.execute,
                level,
                window,
                kept_record="|".join(map(str, _head(wanted))),
                start=self.rungs[at].start,
            )
            current = compare_traces(*pair.traces, findings.rung, tolerance_ulps=self.request.tolerance).difference
            if current is None or current.step is None:
                continue
            if _head(current) == _head(wanted):
                size = size_of(current, pair)
                self.why = "" if size is not None else "the numbers of the first difference could not be recorded"
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
        """Summarise the findings, and look up causes."""
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
        notes += self.resumption.notes if len(self.rungs) > 1 else []
        notes += [_repetition(*steps)] if (steps := self._moved) is not None else []
        notes += [note for rung in self.rungs if rung.pair for note in rung.pair.notes]
        self.findings = dataclasses.replace(findings, notes=(*notes, *filter(None, [self.why])))
        step = None if self.findings.first is None else self.findings.first.step
        self.findings = dataclasses.replace(
            self.findings,
            checkpoints=self.resumption.range_around(step),
            inputs=self._inputs_of(self._deepest_pair, self.findings.first),
        )
        if self.findings.first is not None:
            proof, evidence = self.proof, self._evidence()
            if proof is not None and proof.is_chance_in_vain and evidence.variant is not None:
                held = dataclasses.replace(evidence.variant, held=(*evidence.variant.held, HASH))
                evidence = dataclasses.replace(evidence, variant=held)
            causes = find_causes(self.findings.first, evidence)
            if proof is not None and proof.sources:
                causes = self._name_proved(proof, causes)
            elif proof is not None and proof.is_chance_in_vain:
                causes = tuple(cause for cause in causes if cause.id not in REFUTED)
            tests = () if proof is None else proof.tests
            self.findings = dataclasses.replace(self.findings, causes=causes, confirmations=tests)

    @property
    def _moved(self) -> tuple[int, int] | None:
        """The updates at which the first pair and one from a checkpoint diverge, if the second one is later."""
        steps = [None if rung.findings.difference is None else rung.findings.difference.step for rung in self.rungs]
        later = next((step for rung, step in zip(self.rungs, steps, strict=True) if rung.start is not None), None)
        return None if steps[0] is None or later is None or later <= steps[0] else (steps[0], later)

    def _inputs_of(self, pair: Pair, difference: Difference | None) -> tuple[InputDifference, ...]:
        """The inputs of a pair that differ, with what the source does with them."""
        prepared = self.request.sides[0].prepared
        root = prepared.sources or prepared.target.root
        return with_uses(compare_inputs(*pair.traces, difference), root / prepared.analysis.script, root)

    def _notes(self, *, is_equal: bool | None) -> Iterator[str]:
        """Limitations of the result."""
        tolerance = self.request.tolerance
        if tolerance and is_equal is False:
            yield f"differences within {counted(tolerance, 'ulp')} count as equal"
        for run, label in zip(self.pair.runs, self.request.labels, strict=True):
            if run in self.pair.failed and not self.ends.findings.why_not:
                yield f"{label} {ending(run)}; compared up to that point"
            elif run.status == "diverged":
                yield f"the training of {label} diverged: {run.reason}"
        if self.ends.is_equal is None and not self.pair.failed:
            yield (
                "nothing could be compared: the runs recorded no reported value, loss or weights; "
                "print a result, or name one in deviate.toml"
            )
        if tolerance and self.ends.weights != "not reached":
            yield "final weights are recorded as a hash, which cannot be compared within a tolerance"

    @property
    def _deepest_pair(self) -> Pair:
        """The pair that shows the first difference, or else the one that ran to the end."""
        return (None if self.deepest is None else self.rungs[self.deepest].pair) or self.pair

    def _evidence(self) -> Evidence:
        """Evidence besides the difference, from the pair that shows it and the pair that ran to the end."""
        request = self.request
        pair = self._deepest_pair
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
            inputs=self.findings.inputs,
            equal_inputs=equal_inputs(*pair.traces),
            idle_lines=idle_lines(trace for side in pair.traces for trace in side),
            runs=request.labels,
        )

    def prove(self, budget: int) -> None:
        """Repeat run 1 with what run 0 had by chance, and find the fewest sources that make both equal."""
        first = self.rungs[-1].findings.difference or self.ends.findings.difference
        if first is None or len(self.request.sides) > 1 or not budget:
            return
        self.say(f"Proof: at most {counted(budget, 'run')} with what the first run had by chance")
        prover = Prover(
            self.request,
            self.pair,
            self.ends.findings.difference,
            first.phase,
            self.execute,
            self.metrics,
            self.say,
            budget,
        )
        self.proof = prover.prove(
            self._inputs_of(self._deepest_pair, first), self.request.sides[0].prepared.analysis.hazards
        )

    @property
    def is_settled(self) -> bool:
        """Whether it is proved why the runs differ, and no level can show more: numbers that were given differ."""
        return self.proof is not None and bool(self.proof.sources) and BY_ROUNDING.isdisjoint(self.proof.sources)

    def _name_proved(self, proof: Proof, causes: tuple[Cause, ...]) -> tuple[Cause, ...]:
        folder = snapshot_folder(self.pair.runs[0].folder.parent.parent.parent)
        hazards = self.request.sides[0].prepared.analysis.hazards
        return tuple(Namer(Texts(folder), self.findings.inputs, hazards, causes).name(proof))

    def runs(self) -> Iterator[tuple[str, Run]]:
        """Both runs of the first level, and failed runs of further levels, each with its name."""
        yield from zip(self.request.labels, self.pair.runs, strict=True)
        for rung in self.rungs[1:]:
            for run, label in zip(rung.pair.runs, self.request.labels, strict=True) if rung.pair else ():
                if rung.pair is not None and run in rung.pair.failed:
                    yield f"{label} of level {rung.findings.rung}", run


def announce(level: Level, forecast: float | None, estimate_s: float | None = None, start: Start | None = None) -> str:
    """`Level 4, operations: each operation; each step takes 2.1 times as long; about 3 h 2 min`."""
    dear = f"; each step takes {forecast:.1f} times as long" if forecast is not None and forecast > DEAR else ""
    long = f"; about {duration(estimate_s)}" if estimate_s is not None and estimate_s >= LONG_S else ""
    begun = f"; from the checkpoint of update {start.step:,} ({start.file})" if start is not None else ""
    return f"Level {level.number}, {level.rung}: {level.announced}{dear}{long}{begun}"


def _next_window(window: Window, difference: Difference | None, start: Start | None) -> Window | None:
    """The next window, as `next_window`; runs that began at a checkpoint were equal there."""
    if start is None or difference is None or difference.step is None:
        return next_window(window, difference)
    if difference.step == window.first == start.step:
        return None
    following = next_window(window, difference)
    return following and Window(max(following.first, start.step), following.until)


def _repetition(first: int, later: int) -> str:
    return (
        f"runs from the checkpoint diverge at update {later:,}, those from update 0 at {first:,}: "
        "noise varies, or the script repeats updates when it resumes"
    )


def _with_main_step(difference: Difference, first: Pair) -> Difference:
    """The difference with the step of the main loop that its update has in the first pair; None if unknown."""
    records = columns(first.traces[0][0].records) if first.traces[0] else None
    step = -1 if difference.step is None else difference.step
    at = -1 if records is None or step not in records.steps else records.steps.index(step)
    main_step = None if records is None or at < 0 else records[at].main_step
    return dataclasses.replace(difference, main_step=main_step)


def _with_reason(ends: EndToEndDiff, pair: Pair, labels: Sequence[str]) -> RungFindings:
    """The findings of the first level; if nothing could be compared, with the failed run as the reason."""
    if ends.compared or not pair.failed:
        return ends.findings
    failed = [f"{label} {ending(run)}" for run, label in zip(pair.runs, labels, strict=True) if run in pair.failed]
    return dataclasses.replace(ends.findings, why_not="; ".join(failed))


def why_no_further(pair: Pair, level: Level) -> str:
    """Why the search ends before a level, from the traces; empty if it does not."""
    used = FRAMEWORKS & pair.runs[0].environment.keys()
    if not used:
        return (
            "the script uses no framework that deviate can trace "
            "(PyTorch, TensorFlow, Keras, JAX, scikit-learn, LightGBM, XGBoost, CatBoost)"
        )
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
    """Duration of a traced update relative to one on the first level, without the warm-up of each run.

    None if the first pair was slower, because the machine was busy.
    """
    traced_s = _quickest_update(pair, Window(max(WARM_UP, findings.first), findings.until))
    cost = traced_s / plain_s if traced_s and plain_s else 0.0
    return cost if cost >= 1 else None


def _quickest_update(pair: Pair, window: Window) -> float | None:
    """Duration of an undisturbed update in seconds; None if there are too few, or if it is too short to measure."""
    traces = [side[0] for side in pair.traces if side]
    durations = [
        trace.seconds[at] - trace.seconds[at - 1]
        for trace in traces
        for at in range(1, len(trace.seconds))
        if at + trace.start in window
    ]
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
    """Names of the quantities to compare, the primary one first.

    Other numbers than results count where both runs report them: what has the number of a run in its name does not, nor
    clocks, and what the system gives each process.
    """
    metrics = [metric for metric in experiment.metrics if metric.role == "quality"]
    metrics += [
        metric
        for metric in experiment.metrics
        if metric.role == "other"
        and all(metric.name in run.series for run in experiment.runs)
        and VOLATILE.isdisjoint(metric.name.split("_"))
    ]
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
    """The findings without causes and notes; a difference that only a deeper level shows counts as well."""
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
    """The findings with the size of a difference of reported values, which needs no further pair."""
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
    yield "threads per run", str(experiment.n_threads or "default of the machine")
    if device := pair.runs[0].device:
        yield "device", device


def _device(traces: Sequence[Trace]) -> str:
    """Device of a PyTorch run, from its generators: accelerators have some once they are initialised."""
    heads = {head for trace in traces for head in columns(trace.records).heads}
    states = {name for kind, name, *_ in heads if kind == "state" and name.startswith("torch")}
    accelerators = sorted(match[1] for state in states if (match := ACCELERATOR.match(state)))
    return accelerators[0] if accelerators else "cpu" if states else ""
