import dataclasses

import pytest
from studies import equal

from deviate.model.estimates import Interval, Unavailable
from deviate.model.phrases import Reason
from deviate.model.records import Experiment
from deviate.stats.estimates.overhead import overhead


def _timed(name: str, *times: float, n_sharing: tuple[int, ...] = (), device: str = "") -> Experiment:
    item = equal(name, len(times))
    runs = tuple(
        dataclasses.replace(run, wall_time_s=time, n_sharing=n, device=device)
        for run, time, n in zip(item.runs, times, n_sharing or (0,) * len(times), strict=True)
    )
    return dataclasses.replace(item, runs=runs)


def test_the_first_replicate_warms_up_and_is_left_out_of_both_means() -> None:
    found = overhead([_timed("algo+impl", 90.0, 10.0, 11.0, 12.0), _timed("algo", 99.0, 20.0, 22.0, 24.0)])
    assert found is not None
    assert (found.held, found.free, found.n_held, found.n_free) == ("algo", "algo+impl", 3, 3)
    assert found.ratio == pytest.approx(2.0)
    assert isinstance(found.interval, Interval)
    assert found.interval.method == "Fieller"
    assert "warm-up" in found.note
    assert "contended" not in found.note


def test_runs_side_by_side_are_called_contended() -> None:
    free, held = _timed("impl", 9.0, 10.0, 11.0), _timed("control", 9.0, 20.0, 22.0, n_sharing=(3, 1, 2))
    found = overhead([free, held])
    assert found is not None
    assert (found.held, found.free) == ("control", "impl")
    assert found.note.endswith("; contended: measured while up to 2 other runs shared the machine")


def test_the_run_that_warms_up_may_share_the_device() -> None:
    free = _timed("impl", 9.0, 10.0, 11.0, device="GPU 0", n_sharing=(1, 0, 0))
    held = _timed("control", 9.0, 20.0, 22.0, device="GPU 0")
    alone = overhead([free, held])
    assert alone is not None
    assert "contended" not in alone.note


def test_without_variants_of_both_sorts_there_is_no_overhead() -> None:
    assert overhead([_timed("algo", 1.0, 2.0), _timed("control", 1.0, 2.0)]) is None
    assert overhead([_timed("as-is", 1.0, 2.0)]) is None


def test_a_single_run_of_each_leaves_nothing_after_warming_up() -> None:
    for times in ([9.0], [9.0, 9.0, 10.0]):
        found = overhead([_timed("impl", *times), _timed("control", *times)])
        assert found is not None
        assert found.ratio == found.interval == Unavailable(Reason.WARM_UP(4))


def test_times_that_vary_so_much_that_the_interval_would_hold_negative_factors_give_none() -> None:
    found = overhead([_timed("impl", 9.0, 1.0, 1.0, 3.0), _timed("control", 9.0, 1.0, 1.0, 4.0)])
    assert found is not None
    assert found.ratio == found.interval == Unavailable(Reason.TIMES_VARY)
