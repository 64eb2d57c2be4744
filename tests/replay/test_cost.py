"""What determinism costs: factors of runs, steps and kernels against figures worked by hand."""

import dataclasses

import pytest
from studies import equal

from deviate.model.cost import CostFindings, KernelTime, Pace, Profile
from deviate.model.estimates import Interval, Unavailable
from deviate.model.phrases import Reason
from deviate.model.records import Experiment
from deviate.replay.cost import cost
from deviate.stats.estimates.overhead import mean_ratio_interval

FREE = (90.0, 10.0, 11.0, 12.0)
HELD = (90.0, 70.0, 82.1, 94.2)


def timed(name: str, times: tuple[float, ...], prefix: str = "") -> Experiment:
    item = equal(name, len(times))
    runs = tuple(
        dataclasses.replace(run, id=f"{prefix}{name}-{run.replicate}", wall_time_s=time)
        for run, time in zip(item.runs, times, strict=True)
    )
    return dataclasses.replace(item, runs=runs)


def profile(replicate: int, *kernels: tuple[str, int, float]) -> Profile:
    return Profile(replicate, "torch", "cuda", "self time of kernels", (1, 3), 2, 5.0, 0.1,
                   tuple(KernelTime(*it) for it in kernels))  # fmt: skip


def profiled() -> CostFindings:
    """Each first run counts for nothing: its kernel alone would be the longest."""
    free, held = timed("impl", (9.0, 20.0, 24.0), "p-"), timed("control", (9.0, 40.0, 44.0), "p-")
    warm = profile(0, ("warm-up", 1, 100.0))
    seen = {
        "p-impl-0": warm,
        "p-impl-1": profile(1, ("conv", 4, 2.0), ("fast", 2, 1.0)),
        "p-impl-2": profile(2, ("conv", 4, 4.0), ("fast", 2, 1.0)),
        "p-control-0": warm,
        "p-control-1": profile(1, ("conv", 4, 6.0), ("slow", 2, 4.0)),
        "p-control-2": profile(2, ("conv", 8, 12.0), ("slow", 2, 4.0)),
    }
    return cost(timed("impl", FREE), timed("control", HELD), paces={}, profiled=(free, held), profiles=seen)


def test_746_percent_of_the_time_is_a_factor_of_seven_and_a_half() -> None:
    found = cost(timed("impl", FREE), timed("control", HELD), paces={})
    run = found.factors[0]
    t_default, t_det = 11.0, 82.1
    assert 100 * t_det / t_default == pytest.approx(746, abs=0.5), "as Zhuang et al. write it"
    assert run.factor == pytest.approx(7.46, abs=0.005)
    assert (run.quantity, run.free_s, run.held_s) == ("run", FREE[1:], HELD[1:])
    assert isinstance(run.interval, Interval)
    assert run.interval == mean_ratio_interval(list(FREE[1:]), list(HELD[1:]))
    assert run.interval.low < 7.46 < run.interval.high
    assert (found.n_free, found.n_held) == (3, 3)


def test_steps_are_told_of_the_runs_whose_main_loop_took_two() -> None:
    paces = {"impl-0": Pace(9, 50.0), "impl-1": Pace(9, 1.0), "impl-2": Pace(9, 3.0), "control-2": Pace(9, 5.0)}
    step = cost(timed("impl", FREE), timed("control", HELD), paces=paces).factors[1]
    assert (step.quantity, step.free_s, step.held_s) == ("step", (1.0, 3.0), (5.0,))
    assert step.factor == pytest.approx(2.5)
    assert isinstance(step.interval, Unavailable)
    none = cost(timed("impl", FREE), timed("control", HELD), paces={}).factors[1]
    assert none.factor == Unavailable("the main loop took fewer than two steps")


def test_kernel_time_is_the_sum_over_kernels_and_the_first_profiled_run_is_left_out() -> None:
    found = profiled()
    kernels = found.factors[2]
    assert (kernels.quantity, kernels.free_s, kernels.held_s) == ("kernels", (3.0, 5.0), (10.0, 16.0))
    assert kernels.factor == pytest.approx(13 / 4)
    assert not isinstance(found.profile, Unavailable)
    assert (found.profile.free_s, found.profile.held_s) == (4.0, 13.0)
    assert (found.profile.n_free, found.profile.n_held, found.profile.n_kernels) == (2, 2, 3)
    assert found.profile.slowdown == pytest.approx(22 / 11), "the profiled runs of the free mode over the timed ones"


def test_kernels_stand_by_their_longer_time_and_one_mode_alone_makes_no_factor() -> None:
    found = profiled().profile
    assert not isinstance(found, Unavailable)
    assert [(it.name, it.free_s, it.held_s) for it in found.kernels] == [
        ("conv", 3.0, 9.0),
        ("slow", 0.0, 4.0),
        ("fast", 1.0, 0.0),
    ]
    assert [it.factor for it in found.kernels] == [3.0, *[Unavailable("in one mode only")] * 2]
    assert (found.kernels[0].free_calls, found.kernels[0].held_calls) == (4, 6)
    assert found.shown_share == 1


def test_one_profiled_run_that_counts_makes_no_factor_of_a_kernel() -> None:
    runs = timed("impl", (1.0, 1.0), "p-"), timed("control", (1.0, 1.0), "p-")
    seen = {
        run.id: profile(run.replicate, ("conv", 1, 0.01 if it is runs[0] else 1.18)) for it in runs for run in it.runs
    }
    found = cost(timed("impl", FREE), timed("control", HELD), paces={}, profiled=runs, profiles=seen).profile
    assert not isinstance(found, Unavailable)
    (kernel,) = found.kernels
    assert kernel.factor == Unavailable("needs 3 profiled runs of each mode: the first warms up")


def test_times_that_vary_too_much_have_no_interval_that_goes_below_zero() -> None:
    wild = cost(timed("impl", (1.0, 1.0, 3.0)), timed("control", (1.0, 1.0, 4.0)), paces={}).factors[0]
    assert wild.interval == Unavailable(Reason.TIMES_VARY)


def test_twenty_kernels_are_shown_with_their_share_of_the_time() -> None:
    many = tuple((f"k{number:02}", 1, float(number)) for number in range(1, 31))
    runs = timed("impl", (1.0, 1.0), "p-"), timed("control", (1.0, 1.0), "p-")
    seen = {run.id: profile(run.replicate, *many) for it in runs for run in it.runs}
    found = cost(timed("impl", FREE), timed("control", HELD), paces={}, profiled=runs, profiles=seen).profile
    assert not isinstance(found, Unavailable)
    assert [it.name for it in found.kernels] == [f"k{number:02}" for number in range(30, 10, -1)]
    assert found.n_kernels == 30
    assert found.shown_share == pytest.approx(sum(range(11, 31)) / sum(range(1, 31)))


def test_without_profiles_the_reason_is_told() -> None:
    found = cost(timed("impl", FREE), timed("control", HELD), paces={}, no_profile="no framework")
    assert found.profile == Unavailable("no framework")
    assert [it.quantity for it in found.factors] == ["run", "step"]


def test_runs_that_did_not_complete_are_told_with_their_last_words_and_what_to_do() -> None:
    held = timed("control", HELD)
    words = ("Traceback", "RuntimeError: put_ does not have a deterministic implementation, but you set …")
    runs = tuple(dataclasses.replace(run, status="crashed", stderr_tail=words) for run in held.runs[:2])
    found = cost(timed("impl", FREE), dataclasses.replace(held, runs=(*runs, *held.runs[2:])), paces={})
    assert found.n_held == 2
    [note] = found.notes
    assert note.startswith(f"2 of 4 runs of {held.name}:control did not complete: {words[1]}")
    assert "--warn-only" in note


def test_one_run_of_each_leaves_nothing_after_warming_up() -> None:
    found = cost(timed("impl", (1.0,)), timed("control", (2.0,)), paces={})
    assert found.factors[0].factor == Unavailable("needs a second completed run of each mode: the first warms up")
    assert isinstance(found.factors[0].interval, Unavailable)
