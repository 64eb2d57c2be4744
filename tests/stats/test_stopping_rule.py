from dataclasses import replace

import pytest
from samples import experiment, metric, run, sample

from deviate.errors import InputError
from deviate.model.estimates import Unavailable
from deviate.model.phrases import Reason
from deviate.model.records import Experiment
from deviate.stats.design.precision import forecast, half_width, parse_target
from deviate.stats.interim_analysis import is_settled, next_look, progress
from deviate.stats.judge import judge

METRICS = [metric("val_acc"), metric("test_acc", is_primary=True)]


def scored(mean: float, n: int, name: str = "a") -> Experiment:
    return experiment(name, METRICS, {"val_acc": sample(70, 5, n), "test_acc": sample(mean, 1.0, n)})


def test_progress_has_the_figures_of_the_metric_that_the_target_names() -> None:
    target = parse_target("test_acc ±0.5")
    found = progress(scored(90, 10), target)
    scores = sample(90, 1.0, 10)
    assert (found.n, found.mean) == (10, pytest.approx(90))
    assert found.half_width == half_width(scores)
    assert found.n_forecast == forecast(scores, target) == 18
    assert not found.is_reached
    assert progress(scored(90, 18), target).is_reached


def test_failed_and_lost_runs_give_no_score_towards_a_target() -> None:
    item = scored(90, 4)
    ended = replace(item, runs=(*item.runs, run(4, {}, "crashed"), run(5, {}, "lost")))
    found = progress(ended, parse_target("test_acc ±9"))
    assert (found.n, found.is_reached) == (4, False)


def test_progress_begins_with_reasons() -> None:
    found = progress(experiment("a", METRICS, {}), parse_target("test_acc ±9"))
    assert (found.n, found.mean, found.is_reached) == (0, Unavailable(Reason.NO_SCORE), False)
    assert found.n_forecast == found.half_width == Unavailable(Reason.TOO_FEW(2, "run", 0))


def test_a_target_of_an_unknown_metric_is_refused_with_a_near_one() -> None:
    target = parse_target("test_ac ±0.5")
    with pytest.raises(InputError) as caught:
        progress(scored(90, 5), target)
    assert caught.value.hint == "Did you mean test_acc? Its metrics are: val_acc, test_acc."


def test_the_next_look_is_the_first_after_these_runs() -> None:
    assert [next_look((5, 10, 20), n) for n in (0, 5, 7, 10, 20, 25)] == [5, 10, 10, 20, None, None]


def test_runs_may_end_when_every_candidate_has_a_verdict_that_stands() -> None:
    def looked(item: Experiment) -> Experiment:
        return replace(item, looks=(5, 10, 20))

    base, same, better = (looked(scored(90, 10, "base")), looked(scored(90.1, 10, "b")), looked(scored(93, 10, "c")))
    assert is_settled(judge([base, better]))
    assert not is_settled(judge([base, same]))
    assert not is_settled(judge([base, better, same]))
    assert not is_settled(judge([looked(scored(90, 7, "base")), looked(scored(93, 7, "c"))]))
    assert not is_settled(judge([base]))
