"""The ladder: pairs of runs, where each rung is more detailed than the previous one, while there is a difference."""

import dataclasses
from collections.abc import Callable, Iterator
from dataclasses import dataclass

from deviate.diverge.compare import compare_traces
from deviate.diverge.findings import RUNGS, Rung, RungFindings, Trace
from deviate.diverge.requests import SHORTEST_S, DivergeRequest, Execute, Pair, ending, is_cut, run_pair, trace_capture
from deviate.diverge.windows import AROUND, LONG_BEFORE, MOST_AGAIN, MOST_EQUAL, Window, next_window, window_around
from deviate.records import TAP_FAILED

DEAR = 1.5
"""From so many times the time of a step on, a rung is announced before it begins."""
PROBED = Window(5, 15)
"""Updates of the first rung in which the costs of the second one are measured."""
WARM_UP, FEWEST = 2, 6
"""Updates that do not count for costs, and so many at least that do."""
OUTSIDE_MODULES = frozenset({"initial", "random", "order", "data", "update"})
"""What differs first where no module has run yet, or all have: modules would show nothing more."""
FRAMEWORKS = frozenset({"torch", "tensorflow", "jax", "scikit-learn"})
"""Those that tell of what they compute, by what the facts of a run call them."""
UNLIMITED = "torch"
"""The one that goes to the last rung, unless its trace says otherwise."""
OF_RUNG: dict[Rung, frozenset[str]] = {
    "metrics": frozenset({"loss"}),
    "steps": frozenset({"state", "batch", "weights", "forward", "gradient", "update", "module"}),
    "modules": frozenset({"module", "module-gradient"}),
    "operations": frozenset({"operation"}),
}
"""Kinds of records of which a rung shows some at least, where it can be climbed."""
WHY_NONE = "what the script computes with is not seen by deviate there"
SENTENCE = {
    "steps": "batches, weights, gradients and random states of each update",
    "modules": "what each module gives and gets back",
    "operations": "operation by operation",
}

Say = Callable[[str], object]


@dataclass(frozen=True, slots=True)
class Climbed:
    """A rung with the last pair compared on it; no pair if it could not be climbed."""

    findings: RungFindings
    pair: Pair | None = None


def level_of(rung: Rung) -> int:
    """Trace level of the rung, from 1."""
    return RUNGS.index(rung) + 1


def climb(
    request: DivergeRequest, first: Pair, findings: RungFindings, execute: Execute, say: Say, *, goal: Rung | None
) -> Iterator[Climbed]:
    """Climb the rungs after the first one.

    Args:
        first: the pair of the first rung, and what comparing it found.
        say: tells a line of progress.
        goal: the last rung, to which it goes though the runs are equal; None as deep as there is a difference.
    """
    last, difference, pair = findings, findings.difference, first
    forecasts: dict[int, float | None] = {2: first.costs(2)}
    plain_s = plain_step_s(first)
    for rung in RUNGS[1:]:
        if (goal is None and difference is None) or (goal is not None and RUNGS.index(rung) > RUNGS.index(goal)):
            return
        if rung == "modules" and difference is not None and difference.phase in OUTSIDE_MODULES and goal != rung:
            continue
        if why := why_no_further(pair, rung):
            yield Climbed(RungFindings(rung, why_not=why))
            return
        level = level_of(rung)
        forecast = forecasts.get(level)
        say(announce(rung, forecast))
        window = _first_window(last, first.n_steps)
        measured = [rung_level for rung_level in range(level + 1, len(RUNGS) + 1) if forecasts.get(rung_level) is None]
        is_noise = difference is not None
        climbed = _run_rung(request, rung, window, measured, execute, say, is_noise=is_noise)
        if climbed.pair is not None:
            pair = climbed.pair
            forecasts |= {rung_level: pair.costs(rung_level) for rung_level in measured}
            cost = cost_of(pair, climbed.findings, plain_s)
            climbed = dataclasses.replace(
                climbed, findings=dataclasses.replace(climbed.findings, forecast=forecast, cost=cost)
            )
        yield climbed
        if climbed.findings.why_not or (goal is None and climbed.findings.difference is None):
            return
        last, difference = climbed.findings, climbed.findings.difference


def _first_window(last: RungFindings, n_steps: int) -> Window:
    """The first window for a rung, from the findings of the previous one."""
    if last.difference is None:
        return Window(0, MOST_EQUAL)
    return window_around(last.difference.step, n_steps, LONG_BEFORE if last.rung == "metrics" else AROUND)


def _run_rung(
    request: DivergeRequest,
    rung: Rung,
    window: Window,
    measured: list[int],
    execute: Execute,
    say: Say,
    *,
    is_noise: bool,
) -> Climbed:
    """Run pairs until one has its first difference inside the window."""
    level, n_runs, seconds = level_of(rung), 0, 0.0
    findings = RungFindings(rung)
    pair: Pair | None = None
    for number in range(1, MOST_AGAIN + 1):
        again = f"-{number}" if number > 1 else ""
        wanted = trace_capture(level, window, measured if number == 1 else (), has_sums=bool(request.tolerance))
        pair = run_pair(request, f".{level}{again}", wanted, execute)
        n_runs, seconds = n_runs + 2, seconds + pair.wall_time_s
        findings = compare_traces(*pair.traces, rung, tolerance_ulps=request.tolerance)
        findings = dataclasses.replace(
            findings, first=window.first, until=window.until, n_runs=n_runs, wall_time_s=seconds
        )
        following = next_window(window, findings.difference)
        is_found = findings.difference is not None and following is None and not is_cut(findings.difference, pair)
        if pair.failed and not is_found:
            run = pair.failed[0]
            return _end_climb(findings, f"its run {run.replicate} {ending(run)}", pair)
        if pair.kinds.isdisjoint(OF_RUNG[rung]):
            why = next((why for deepest, why in ends_of(pair).values() if deepest < level), "")
            why = why or fault_of(pair) or WHY_NONE
            return _end_climb(findings, f"no records of it: {why}", pair)
        if following is None or (findings.difference is None and not is_noise):
            return Climbed(findings, pair)
        if number < MOST_AGAIN:
            moved = "did not part" if findings.difference is None else f"parted at update {findings.difference.step}"
            say(f"         this pair {moved}: another one{_window_text(following)}")
        window = following
    why = f"the rung before parted, and of {MOST_AGAIN} further pairs none where it was looked at: noise comes and goes"
    return _end_climb(findings, why, pair)


def _end_climb(findings: RungFindings, why: str, pair: Pair | None) -> Climbed:
    return Climbed(dataclasses.replace(findings, difference=None, by_rank=(), why_not=why), pair)


def _window_text(window: Window) -> str:
    return ", to the end" if window.until is None else f", updates {window.first} to {window.until - 1}"


def announce(rung: Rung, forecast: float | None) -> str:
    """`Rung 4, operations: operation by operation; each step takes 2.1 times as long`."""
    dear = f"; each step takes {forecast:.1f} times as long" if forecast is not None and forecast > DEAR else ""
    return f"Rung {level_of(rung)}, {rung}: {SENTENCE[rung]}{dear}"


def why_no_further(pair: Pair, rung: Rung) -> str:
    """Why the ladder of these runs ends before a rung, from their traces; empty if it does not."""
    used = FRAMEWORKS & pair.runs[0].environment.keys()
    if not used:
        return "the script uses no framework that deviate can look into (PyTorch, TensorFlow, Keras, JAX, scikit-learn)"
    ends = ends_of(pair)
    if UNLIMITED in used and UNLIMITED not in ends:
        return ""
    deepest, why = max(ends.values(), default=(len(RUNGS), ""))
    return why if deepest < level_of(rung) else ""


def fault_of(pair: Pair) -> str:
    """An error of deviate itself in the runs; empty if there is none."""
    failures = [warning for run in pair.runs for warning in run.warnings if warning.startswith(TAP_FAILED)]
    return f"deviate itself failed in the run{failures[0].removeprefix(TAP_FAILED)}" if failures else ""


def ends_of(pair: Pair) -> dict[str, tuple[int, str]]:
    """The highest level that each framework supports in any process of a pair, with the reason why not more."""
    ends: dict[str, tuple[int, str]] = {}
    for trace in (side_trace for side in pair.traces for side_trace in side):
        for name, end in trace.ends.items():
            ends[name] = max(ends.get(name, end), end)
    return ends


def plain_step_s(pair: Pair) -> float | None:
    """Duration of an update on the first rung in seconds; None if too few were similar."""
    return _quickest(
        [duration for trace in _first_ranks(pair) for duration in _durations(trace, Window(PROBED.until or 0))]
    )


def cost_of(pair: Pair, findings: RungFindings, plain_s: float | None) -> float | None:
    """Duration of a traced update relative to one on the first rung, without the warm-up of each run.

    None if the first pair was slower, because the machine was busy.
    """
    window = Window(max(WARM_UP, findings.first), findings.until)
    traced_s = _quickest([duration for trace in _first_ranks(pair) for duration in _durations(trace, window)])
    cost = traced_s / plain_s if traced_s and plain_s else 0.0
    return cost if cost >= 1 else None


def _first_ranks(pair: Pair) -> list[Trace]:
    return [side[0] for side in pair.traces if side]


def _durations(trace: Trace, window: Window) -> list[float]:
    ends = trace.seconds
    return [ends[step] - ends[step - 1] for step in range(1, len(ends)) if step in window]


def _quickest(durations: list[float]) -> float | None:
    """Duration of an undisturbed update; None if there are too few, or if it is too short to measure."""
    least = min(durations) if len(durations) >= FEWEST else 0.0
    return least if least >= SHORTEST_S else None
