"""Cost of determinism, from times of runs, steps and kernels in both modes."""

from collections import defaultdict
from collections.abc import Mapping, Sequence

from deviate.model.cost import CostFactor, CostFindings, KernelCost, Pace, Profile, ProfileFindings, Timed
from deviate.model.estimates import Estimate, Unavailable
from deviate.model.records import Experiment, Run
from deviate.series.remarks import contention
from deviate.stats.estimates.overhead import mean_ratio, mean_ratio_interval, select_counted
from deviate.stats.estimates.sample import moments

MOST_KERNELS = 20
"""Source: Zhuang et al. (2022), top-20 kernels by cumulative time."""
PROFILED_RUNS = 2
"""Minimum number of profiled runs per mode, without the first, for the factor of a single kernel."""
WARMS_UP = Unavailable("needs a second completed run of each mode: the first warms up")


def cost(
    free_experiment: Experiment,
    held_experiment: Experiment,
    *,
    paces: Mapping[str, Pace],
    profiled: tuple[Experiment, Experiment] | None = None,
    profiles: Mapping[str, Profile] | None = None,
    no_profile: str = "",
    confidence: float = 0.95,
    facts: Sequence[tuple[str, str]] = (),
) -> CostFindings:
    """Compare runs of a command with free kernels and with deterministic kernels.

    Args:
        paces: run id to the pace of its main loop, for runs with at least two steps. profiled: further runs of both
            modes, free and held, that were profiled. profiles: run id to profile. no_profile: why there are none.
    """
    runs = (select_counted(free_experiment), select_counted(held_experiment))
    walls = [[run.wall_time_s for run in side] for side in runs]
    steps = [[paces[run.id].step_s for run in side if run.id in paces] for side in runs]
    findings, seen = _profile(profiled, profiles or {}, runs, no_profile)
    factors = [_factor("run", walls[0], walls[1], confidence), _factor("step", steps[0], steps[1], confidence)]
    if not isinstance(findings, Unavailable):
        kernels = [[run.total_s for run in side] for side in seen]
        factors.append(_factor("kernels", kernels[0], kernels[1], confidence))
    shared = contention([*runs[0], *runs[1]])
    sides = [free_experiment, held_experiment, *(profiled or ())]
    return CostFindings(
        experiment=free_experiment.name,
        command=free_experiment.command,
        free=free_experiment.variant,
        held=held_experiment.variant,
        n_free=len(runs[0]),
        n_held=len(runs[1]),
        confidence=confidence,
        factors=tuple(factors),
        profile=findings,
        facts=tuple(facts),
        notes=(
            *(f"contended: {shared}" for _ in range(bool(shared))),
            *(failure for side in sides for failure in _failures(side)),
        ),
    )


def _failures(side: Experiment) -> list[str]:
    """The number of runs of a mode that did not complete, and the last line of the first one's output."""
    failed = [run for run in side.runs if run.status != "completed"]
    if not failed:
        return []
    last = failed[0].stderr_tail[-1] if failed[0].stderr_tail else failed[0].reason
    advice = "; --warn-only lets them continue and lists such operations" if "deterministic" in last else ""
    return [f"{len(failed)} of {len(side.runs)} runs of {side.name}:{side.variant} did not complete: {last}{advice}"]


def _factor(quantity: Timed, free_times: list[float], held_times: list[float], confidence: float) -> CostFactor:
    factor = mean_ratio(free_times, held_times)
    if not (free_times and held_times):
        factor = Unavailable("the main loop took fewer than two steps") if quantity == "step" else WARMS_UP
    return CostFactor(
        quantity=quantity,
        free_s=tuple(free_times),
        held_s=tuple(held_times),
        free_mean_s=_mean(free_times),
        held_mean_s=_mean(held_times),
        factor=factor,
        interval=mean_ratio_interval(free_times, held_times, confidence=confidence),
    )


def _mean(values: list[float]) -> Estimate:
    return moments(values).mean if values else Unavailable("nothing was timed")


def _profile(
    profiled: tuple[Experiment, Experiment] | None,
    profiles: Mapping[str, Profile],
    timed: tuple[list[Run], list[Run]],
    no_profile: str,
) -> tuple[ProfileFindings | Unavailable, tuple[list[Profile], list[Profile]]]:
    if profiled is None:
        return Unavailable(no_profile or "not requested"), ([], [])
    runs = (select_counted(profiled[0]), select_counted(profiled[1]))
    seen = [[profiles[run.id] for run in side if run.id in profiles] for side in runs]
    if not seen[0] or not seen[1]:
        return Unavailable(no_profile or WARMS_UP.reason), ([], [])
    means = [_kernel_means(side) for side in seen]
    costs = [_kernel(name, means, min(map(len, seen))) for name in {**means[0], **means[1]}]
    largest = sorted(costs, key=lambda cost: (-max(cost.free_s, cost.held_s), cost.name))[:MOST_KERNELS]
    whole = sum(cost.free_s + cost.held_s for cost in costs)
    first = seen[0][0]
    findings = ProfileFindings(
        framework=first.framework,
        device=first.device,
        measure=first.measure,
        window=first.window,
        n_updates=first.n_updates,
        n_free=len(seen[0]),
        n_held=len(seen[1]),
        n_kernels=len(costs),
        kernels=tuple(largest),
        free_s=_mean([run.total_s for run in seen[0]]),
        held_s=_mean([run.total_s for run in seen[1]]),
        shown_share=sum(cost.free_s + cost.held_s for cost in largest) / whole if whole else 1.0,
        slowdown=mean_ratio([run.wall_time_s for run in timed[0]], [run.wall_time_s for run in runs[0]]),
    )
    return findings, (seen[0], seen[1])


def _kernel_means(profiles: Sequence[Profile]) -> dict[str, tuple[float, float]]:
    """Mean seconds and calls of each kernel; a window without it counts as 0."""
    means: dict[str, tuple[float, float]] = defaultdict(lambda: (0.0, 0.0))
    for kernel in (kernel for profile in profiles for kernel in profile.kernels):
        seconds, calls = means[kernel.name]
        means[kernel.name] = seconds + kernel.seconds / len(profiles), calls + kernel.calls / len(profiles)
    return dict(means)


def _kernel(name: str, means: Sequence[Mapping[str, tuple[float, float]]], n_fewest: int) -> KernelCost:
    """Times of one kernel; a factor only with several runs, as one delayed call distorts that of a single run."""
    (free_s, free_calls), (held_s, held_calls) = (side.get(name, (0.0, 0.0)) for side in means)
    factor: Estimate
    if n_fewest < PROFILED_RUNS:
        factor = Unavailable(f"needs {PROFILED_RUNS + 1} profiled runs of each mode: the first warms up")
    elif not all(name in side for side in means):
        factor = Unavailable("in one mode only")
    else:
        factor = held_s / free_s if free_s > 0 else Unavailable("takes no time with free kernels")
    return KernelCost(name, free_s, held_s, free_calls, held_calls, factor)
