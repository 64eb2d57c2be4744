"""An experiment beside a published result: Welch's interval from a summary, and never a verdict."""

from dataclasses import replace

import pytest
from samples import experiment, metric, sample
from scipy import stats as scipy_stats

from deviate.model.estimates import Interval, Unavailable
from deviate.model.phrases import Note, Reason
from deviate.model.published_results import PublishedComparison, PublishedResult
from deviate.model.records import Experiment
from deviate.report.against import few_runs_note, scale_note
from deviate.stats.describe import describe_runs
from deviate.stats.estimates.effect import hedges_g, sd_ratio
from deviate.stats.published_results import compare_published

OURS, THEIRS = sample(94.6, 0.25, 10), sample(94.2, 0.3, 6)
NO_SPREAD = Unavailable("1 run has no spread")


def published(mean: float = 94.2, n: int = 6, sd: float | Unavailable = 0.3) -> PublishedResult:
    return PublishedResult("acc=…", "", "acc", n, mean, sd, "", 0.1, is_percentage=False)


def compared(
    theirs: PublishedResult, scores: list[float] = OURS, *, margin: float | None = None, **changes: int
) -> PublishedComparison:
    ours: Experiment = replace(experiment("new", [metric("acc")], {"acc": scores}), **changes)  # type: ignore[arg-type]
    return compare_published(ours, describe_runs(ours, ours.metrics[0]), theirs, margin=margin)


def test_the_summary_gives_the_interval_and_effects_of_the_runs_behind_it_and_no_verdict() -> None:
    result = compared(published())
    expected = scipy_stats.ttest_ind(OURS, THEIRS, equal_var=False).confidence_interval(0.95)
    assert isinstance(result.interval, Interval)
    assert (result.interval.low, result.interval.high) == pytest.approx((expected.low, expected.high))
    assert result.difference == pytest.approx(0.4)
    assert result.hedges_g == pytest.approx(hedges_g(THEIRS, OURS))
    assert result.sd_ratio == pytest.approx(sd_ratio(THEIRS, OURS))
    assert (result.verdict.word, result.verdict.refusal.kind) == ("undecided", "their scores are not known")


def test_a_margin_is_held_against_the_interval_of_equivalence_and_decides_nothing() -> None:
    result = compared(published(94.6, 40, 0.1), margin=1.0)
    assert isinstance(result.margin_interval, Interval)
    assert result.margin_interval.confidence == pytest.approx(0.9)
    assert result.margin_interval.high < 1
    assert result.verdict.word == "undecided"


@pytest.mark.parametrize(
    ("theirs", "n_ours", "reason", "verdict"),
    [
        (published(n=1, sd=NO_SPREAD), 10, "1 run has no spread", Reason.TOO_FEW_EACH),
        (published(sd=Unavailable("their spread is not known")), 10, "not known", Reason.SCORES_UNKNOWN),
        (published(), 1, "needs 2 runs in each, has 6 and 1", Reason.TOO_FEW_EACH),
    ],
)
def test_without_a_spread_on_both_sides_there_is_a_difference_and_no_interval(
    theirs: PublishedResult, n_ours: int, reason: str, verdict: str
) -> None:
    result = compared(theirs, OURS[:n_ours])
    assert isinstance(result.difference, float)
    assert isinstance(result.interval, Unavailable)
    assert reason in result.interval.reason
    assert (result.verdict.word, result.verdict.refusal.kind) == ("undecided", verdict)


def test_runs_still_to_come_and_unplanned_looks_are_no_secret() -> None:
    waiting = compared(published(), n_pending=2, n_planned=12)
    assert waiting.interval == Unavailable(Note.NO_INTERVAL(Reason.PENDING((Note.ENDED(10, 12, "new"),))))
    looked = compared(published(), n_unplanned_looks=2).interval
    assert isinstance(looked, Interval)
    assert looked.note == "not valid: 2 unplanned looks"


@pytest.mark.parametrize(
    ("theirs", "ours", "word"),
    [(94.2, 0.946, "like a fraction"), (0.942, 94.6, "like a percentage"), (94.2, 94.6, ""), (0.9, 0.8, "")],
)
def test_a_percentage_against_a_fraction_is_warned_of(theirs: float, ours: float, word: str) -> None:
    side = experiment("new", [metric("acc")], {"acc": sample(ours, ours / 100, 5)})
    note = scale_note(published(theirs), describe_runs(side, side.metrics[0]))
    assert (word in note) if word else not note


def test_few_runs_are_named_with_their_side() -> None:
    assert "3 runs of theirs" in few_runs_note(compared(published(n=3)))
    assert not few_runs_note(compared(published()))
