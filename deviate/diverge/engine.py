"""Finds where two runs diverge: pairs of runs on deeper and deeper levels, size of the first difference, causes."""

import dataclasses
import math
import re
from collections.abc import Callable, Iterator, Sequence
from functools import cached_property

from deviate.base.redaction import redact_words
from deviate.diverge.calls import Calls
from deviate.diverge.compare import compare_traces
from deviate.diverge.findings import (
    COMPUTED,
    RUNGS,
    Cause,
    Difference,
    DivergenceFindings,
    Phase,
    Rung,
    RungFindings,
    Ulps,
)
from deviate.diverge.inputs import compare_inputs, equal_inputs, idle_lines
from deviate.diverge.levels import LEVEL_OF, LEVELS, MOST_AGAIN, MOST_EQUAL, Level, Window, next_window, window_around
from deviate.diverge.outcomes import Quantities, compare_ends
from deviate.diverge.proof import BY_ROUNDING, Proof, Prover
from deviate.diverge.proved import Namer
from deviate.diverge.requests import DivergeRequest, Execute, Pair, ending, is_cut, run_pair
from deviate.diverge.source import texts_of
from deviate.diverge.suspects import Evidence, find_causes, find_suspects
from deviate.diverge.traces import Trace, kept_array
from deviate.diverge.ulps import ulps
from deviate.model.places import place_text
from deviate.model.records import Experiment, Run
from deviate.records.experiments import read
from deviate.records.read import TAP_FAILED
from deviate.replay.slots import slots
from deviate.report.format import counted, duration
from deviate.sources.catalogue import SOURCES

FACTS = (
    "CPU", "cores", "GPU", "driver", "python", "torch", "tensorflow", "keras", "jax", "flax", "scikit-learn", "numpy",
)  # fmt: skip
"""Facts of the environment that affect rounding."""
ACCELERATOR = re.compile(r"torch\.([a-z]+)")
"""Pattern of the names of accelerator generators in traces, such as `torch.cuda:0`."""
LEAST_LIMIT_S = 600.0
"""Added to the duration of the first level for the default limit: slow levels of short runs are worth it."""
FRAMEWORKS = frozenset({"torch", "tensorflow", "jax", "scikit-learn", "lightgbm", "xgboost", "catboost"})
"""Supported frameworks, by their names in the facts of a run."""
UNLIMITED = "torch"
"""The framework that supports the last level, unless its trace says otherwise."""
WITHOUT_SIZE = frozenset({"state", "loss", "metric"})
"""Kinds of records without numbers, or with numbers in the record itself."""
WHY_NONE = "deviate cannot record this level for the framework of the script"
NOISE = (
    f"the difference of the level before did not appear again in {MOST_AGAIN} further pairs: the noise is intermittent"
)
INTERRUPTED = "interrupted before all pairs of runs were compared"
NOT_SIZED = "the size of the difference was not measured: a further pair diverged elsewhere, or not at all"

Say = Callable[[str], object]


def diverge(request: DivergeRequest, execute: Execute, say: Say, *, goal: Rung | None, budget: int) -> "Search":
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
        search.count_draws(budget)
        while not (search.is_settled and goal is None) and (level := search.next_level()) is not None:
            search.climb(level)
            if level.rung == "steps":
                search.prove(budget)
        if not search.is_settled:
            search.measure_size()
    except KeyboardInterrupt:
        search.is_interrupted, search.why = True, INTERRUPTED
    search.explain()
    return search


class Search:
    """The search for the first difference of two runs: the levels so far, and the next step.

    The first level runs both to the end. While there is a difference, `next_level` names the next level, whose pair is
    traced around it (`climb`); then one more pair records the numbers of the first difference (`measure_size`), its
    causes are proved by further runs (`prove`) and looked up (`explain`).

    Attributes:
        levels: in order; the last one may say why the search ends there. pairs: the last pair compared on each level.
        findings: the answer, from `explain` on.
        n_at_a_time: runs of a pair that are executed at the same time.
        limit_s: time limit of each further level.
        is_interrupted: by the user, after the first level.
        why: a limit of the answer, in a sentence.
    """

    findings: DivergenceFindings
    proof: Proof | None = None
    is_interrupted = False
    why = ""

    def __init__(self, request: DivergeRequest, execute: Execute, say: Say, goal: Rung | None) -> None:
        """Execute and compare the first pair."""
        self.execute, self.say, self.goal = execute, say, goal
        say(announce(LEVELS[0]))
        self.pair = run_pair(request, "", execute, LEVELS[0].number)
        self.request = dataclasses.replace(request, snapshots=self.pair.snapshots)
        self.experiment = read(request.folder, self.pair.names)[0]
        self.quantities = Quantities.of(self.experiment)
        self.ends = compare_ends(self.pair, self.quantities, tolerance=request.tolerance)
        (findings,) = self.ends.rungs
        if not self.ends.what:
            failed = zip(request.labels, self.pair.runs, strict=True)
            why = "; ".join(f"{label} {ending(run)}" for label, run in failed if run in self.pair.failed)
            findings = dataclasses.replace(findings, why_not=why)
        self.levels, self.pairs = [findings], {findings.rung: self.pair}
        self.n_at_a_time = min(2, len(slots(request.request.settings)))
        self.limit_s = request.level_limit_s or self.pair.wall_time_s / self.n_at_a_time + LEAST_LIMIT_S

    def next_level(self) -> Level | None:
        """The level to compare next; None where the search ends."""
        last = self.levels[-1]
        if (last.why_not and len(self.levels) > 1) or (self.goal is None and last.difference is None):
            return None
        for level in LEVELS[LEVEL_OF[last.rung].number : LEVEL_OF[self.goal or RUNGS[-1]].number]:
            if self.goal == level.rung or last.difference is None:
                return level
            if level.is_useful(last.difference.phase, self._last_pair.kinds):
                return level
        return None

    def climb(self, level: Level) -> None:
        """Run pairs of a level until one has its first difference inside the window, or say why there is none."""
        why = why_no_further(self._last_pair, level)
        self.levels.append(RungFindings(level.rung, why_not=why) if why else self._run_pairs(level))

    @property
    def _last_pair(self) -> Pair:
        return self.pairs.get(self.levels[-1].rung, self.pair)

    def _run_pairs(self, level: Level) -> RungFindings:
        """Run pairs until one has its first difference inside the window, the time limit ends them, or all are run."""
        last, above = LEVEL_OF[self.levels[-1].rung], self.levels[-1].difference
        window = window_around(above.step, self.pair.n_steps, last.before) if above else Window(0, MOST_EQUAL)
        findings, why = RungFindings(level.rung), NOISE
        self.say(announce(level))
        for n_tries in range(1, MOST_AGAIN + 1):
            left_s = max(1.0, (self.limit_s * self.n_at_a_time - findings.wall_time_s) / 2)
            suffix = f".{level.number}" + (f"-{n_tries}" if n_tries > 1 else "")
            pair = run_pair(self.request, suffix, self.execute, level.number, window, timeout_s=left_s)
            self.pairs[level.rung] = pair
            findings = dataclasses.replace(
                compare_traces(*pair.traces, level.rung, tolerance_ulps=self.request.tolerance),
                first=window.first,
                until=window.until,
                n_runs=findings.n_runs + 2,
                wall_time_s=findings.wall_time_s + pair.wall_time_s,
            )
            difference = findings.difference
            following = next_window(window, difference)
            is_inside = difference is not None and following is None and not is_cut(difference, pair)
            if pair.failed and not is_inside and self._is_at_limit(pair.failed[0], left_s):
                longer = f"--level-time {math.ceil(self.limit_s / 30)}m"
                why = f"its runs came to update {pair.n_steps:,} within {duration(self.limit_s)}; try {longer}"
                del self.pairs[level.rung]  # its runs have not failed
                break
            if pair.failed and not is_inside:
                why = f"run {pair.failed[0].replicate} of this level {ending(pair.failed[0])}"
                break
            if pair.kinds.isdisjoint(level.kinds):
                why = next((why for deepest, why in ends_of(pair).values() if deepest < level.number), "")
                why = f"nothing was recorded: {why or fault_of(pair) or WHY_NONE}"
                break
            if following is None or (difference is None and above is None):
                return findings
            if n_tries < MOST_AGAIN:
                moved = "did not diverge" if difference is None else f"diverged at update {difference.step}"
                until = f"updates {following.first} to {following.until - 1}" if following.until else "to the end"
                self.say(f"         this pair {moved}; next pair: {until}")
            window = following
        return dataclasses.replace(findings, difference=None, by_rank=(), why_not=why)

    def _is_at_limit(self, run: Run, left_s: float) -> bool:
        """Whether a run was ended by the limit of the level, not by that of the user for runs."""
        timeout_s = self.request.request.settings.timeout_s
        return run.status == "timed_out" and (timeout_s is None or left_s < timeout_s)

    @property
    def deepest(self) -> RungFindings | None:
        """The last level with a difference."""
        return next((level for level in reversed(self.levels) if level.difference is not None), None)

    def measure_size(self) -> None:
        """Run a pair that records the numbers of the first difference on the last level, and measure its size.

        Only of computations from equal numbers: how far others are apart says nothing.
        """
        deepest = self.deepest
        difference = None if deepest is None else deepest.difference
        if deepest is None or difference is None or difference.rung == "metrics":
            return
        if difference.phase not in COMPUTED or difference.kind in WITHOUT_SIZE or difference.only_in is not None:
            return
        self.say("Size: one more pair records the numbers of the first difference")
        self.why = NOT_SIZED
        level, window = LEVEL_OF[difference.rung].number, Window(deepest.first, deepest.until)
        kept = "|".join(map(str, _head(difference)))
        pair = run_pair(self.request, ".size", self.execute, level, window, kept_record=kept)
        current = compare_traces(*pair.traces, difference.rung, tolerance_ulps=self.request.tolerance).difference
        size = None if current is None or _head(current) != _head(difference) else size_of(current, pair)
        if size is not None:
            self.why = ""
            sized = dataclasses.replace(deepest, difference=dataclasses.replace(difference, ulps=size))
            self.levels[self.levels.index(deepest)] = sized

    def explain(self) -> None:
        """Summarise the findings, and look up causes."""
        request = self.request
        command = redact_words(request.sides[0].prepared.target.command)
        findings = findings_of(self.experiment, self.pair, self.ends, self.levels)
        first = findings.first
        notes = [*self._notes(is_equal=findings.is_equal)]
        notes += [note for pair in self.pairs.values() for note in pair.notes]
        self.findings = dataclasses.replace(
            findings,
            name=request.base,
            command=command,
            variant=request.variant.name,
            runs=request.labels,
            notes=(*notes, *filter(None, [self.why])),
            inputs=compare_inputs(*self._deepest_pair.traces, first),
            confirmations=() if self.proof is None else self.proof.tests,
        )
        if first is not None:
            self.findings = dataclasses.replace(self.findings, causes=self._causes(first))

    def _causes(self, first: Difference) -> tuple[Cause, ...]:
        evidence = self._evidence()
        named = Namer(self._calls, find_suspects(first, evidence)).name(self.proof) if self.proof else ()
        return tuple(named) or find_causes(first, evidence)

    def _notes(self, *, is_equal: bool | None) -> Iterator[str]:
        """Limitations of the result."""
        tolerance = self.request.tolerance
        if tolerance and is_equal is False:
            yield f"differences within {counted(tolerance, 'ulp')} count as equal"
        yield from notes_of(self.pair, self.ends, self.request.labels)
        hazards = self.request.sides[0].prepared.analysis.hazards if is_equal else ()
        idle = idle_lines(trace for side in self.pair.traces for trace in side)
        lines = {(one.file, one.line): None for one in hazards if SOURCES[one.name].held == "workers"}
        for file, line in [line for line in lines if line not in idle]:
            yield f"parallel work ended in the same order in both runs, maybe by chance ({place_text(file, line)})"
        if tolerance and self.ends.weights != "not reached":
            yield "final weights are recorded as a hash, which cannot be compared within a tolerance"

    @property
    def _deepest_pair(self) -> Pair:
        """The pair that shows the first difference, or else the one that ran to the end."""
        return self.pair if self.deepest is None else self.pairs.get(self.deepest.rung, self.pair)

    def _evidence(self) -> Evidence:
        """Evidence besides the difference, from the pair that shows it and the pair that ran to the end."""
        request = self.request
        pair = self._deepest_pair
        return Evidence(
            (pair.runs[0], pair.runs[1]),
            request.labels,
            request.variant,
            hazards=request.sides[0].prepared.analysis.hazards,
            inputs=self.findings.inputs,
            equal_inputs=equal_inputs(*pair.traces),
            idle_lines=idle_lines(trace for side in pair.traces for trace in side),
            devices=(_device(pair.traces[0]), _device(pair.traces[1])),
            n_ranks=pair.n_ranks,
            is_chance_equal=self.proof is not None and self.proof.is_chance_in_vain,
            calls=self._calls,
        )

    @cached_property
    def _calls(self) -> Calls:
        """The calls of the source as it ran."""
        return Calls(texts_of(self.pair.runs[0].folder))

    def count_draws(self, budget: int) -> None:
        """Count printed numbers that are no results, if generators without a seed make them differ, as importances do.

        Times, addresses and names that are drawn stay a note.
        """
        if not self.ends.is_equal:
            return
        quantities = dataclasses.replace(self.quantities, counts_fractions=True)
        ends = compare_ends(self.pair, quantities, tolerance=self.request.tolerance)
        prover = self._prover(ends.first, "metric", quantities, budget)
        if prover is not None and (proof := prover.prove_draws()).sources:
            self.quantities, self.ends, self.levels, self.proof = quantities, ends, [*ends.rungs], proof

    def prove(self, budget: int) -> None:
        """Repeat run 1 with what run 0 had by chance, and find the fewest sources that make both equal."""
        first = self.levels[-1].difference or self.ends.first
        if first is None or (prover := self._prover(self.ends.first, first.phase, self.quantities, budget)) is None:
            return
        self.say(f"Proof: at most {counted(budget, 'run')} with what the first run had by chance")
        inputs = compare_inputs(*self._deepest_pair.traces, first)
        self.proof = prover.prove(inputs, self.request.sides[0].prepared.analysis.hazards)

    def _prover(self, shown: Difference | None, phase: Phase, quantities: Quantities, budget: int) -> Prover | None:
        if shown is None or len(self.request.sides) > 1 or not budget:
            return None
        return Prover(self.request, self._calls, self.pair, shown, phase, self.execute, quantities, self.say, budget)

    @property
    def is_settled(self) -> bool:
        """Whether it is proved why the runs differ, and no level can show more: numbers that were given differ."""
        proof = self.proof
        return bool(proof and proof.sources and not proof.is_suspected and BY_ROUNDING.isdisjoint(proof.sources))

    def runs(self) -> Iterator[tuple[str, Run]]:
        """Both runs of the first level, and failed runs of further levels, each with its name."""
        yield from zip(self.request.labels, self.pair.runs, strict=True)
        for level, pair in list(self.pairs.items())[1:]:
            named = zip(pair.runs, self.request.labels, strict=True)
            yield from ((f"{label} of level {level}", run) for run, label in named if run in pair.failed)


def announce(level: Level) -> str:
    """`Level 4, operations: each operation`."""
    return f"Level {level.number}, {level.rung}: {level.compares}{' to the end' * (level is LEVELS[0])}"


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


def _head(difference: Difference) -> tuple[str, str, int]:
    return difference.kind, difference.name, difference.ordinal


def size_of(difference: Difference, pair: Pair) -> Ulps | None:
    """The size of a difference whose numbers both runs have stored; None if one has not."""
    mine, theirs = (kept_array(run.folder, difference.rank, difference.step or 0) for run in pair.runs)
    if mine is None or theirs is None:
        return None
    try:
        return ulps(mine, theirs, difference.form)
    except ValueError:  # of another type or shape
        return None


def findings_of(
    experiment: Experiment, pair: Pair, ends: DivergenceFindings, rungs: Sequence[RungFindings]
) -> DivergenceFindings:
    """The findings without names, causes and notes; a difference that only a deeper level shows counts as well."""
    return dataclasses.replace(
        ends,
        is_equal=False if any(rung.difference is not None for rung in rungs) else ends.is_equal,
        rungs=tuple(rungs),
        facts=tuple(_facts(experiment, pair)),
    )


def notes_of(pair: Pair, ends: DivergenceFindings, labels: Sequence[str]) -> Iterator[str]:
    """Limitations of the comparison of a pair that ran to the end."""
    yield from ends.notes
    for run, label in zip(pair.runs, labels, strict=True):
        if run in pair.failed and ends.what:
            yield f"{label} {ending(run)}; compared up to that point"
        elif run.status == "diverged":
            yield f"the training of {label} diverged: {run.reason}"
    if ends.is_equal is None and not pair.failed:
        yield (
            "nothing could be compared: the runs recorded no reported value, loss or weights; "
            "print a result, or name one in deviate.toml"
        )


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
    heads = {head for trace in traces for head in trace.records.heads}
    states = {name for kind, name, *_ in heads if kind == "state" and name.startswith("torch")}
    accelerators = sorted(match[1] for state in states if (match := ACCELERATOR.match(state)))
    return accelerators[0] if accelerators else "cpu" if states else ""
