"""Expected calibration error: exact cases and a loop over bins."""

import math

import numpy as np
import pytest
from outputs import drawn, labelled, scored

from deviate.model.records import OutputKind
from deviate.stability.measures.classified import calibration_error, classify


def by_loop(confidences: list[float], is_right: list[bool]) -> float:
    total = 0.0
    for index in range(15):
        of_bin = [at for at, it in enumerate(confidences) if index / 15 < it <= (index + 1) / 15]
        if of_bin:
            accuracy = sum(is_right[at] for at in of_bin) / len(of_bin)
            confidence = sum(confidences[at] for at in of_bin) / len(of_bin)
            total += len(of_bin) / len(confidences) * abs(accuracy - confidence)
    return total


@pytest.mark.parametrize("seed", range(4))
def test_it_is_the_mean_gap_of_fifteen_bins(seed: int) -> None:
    rng = np.random.default_rng(seed)
    confidences, is_right = rng.random(300), rng.random(300) < 0.6
    assert calibration_error(confidences, is_right) == pytest.approx(by_loop(confidences.tolist(), is_right.tolist()))


def test_sure_and_right_is_calibrated_and_sure_and_wrong_is_not() -> None:
    assert calibration_error(np.ones(4), np.ones(4, dtype=bool)) == 0
    assert calibration_error(np.ones(4), np.zeros(4, dtype=bool)) == 1
    assert calibration_error(np.array([0.75] * 4), np.array([True, True, True, False])) == 0
    assert math.isnan(calibration_error(np.array([math.nan]), np.array([True])))


@pytest.mark.parametrize("kind", ["logits", "log-probabilities", "probabilities"])
def test_every_kind_of_scores_has_the_same_calibration(kind: OutputKind) -> None:
    expected = classify(drawn(3)).calibration_errors
    assert classify(drawn(3, kind=kind)).calibration_errors == pytest.approx(expected)
    assert len(expected) == 6


def test_without_probabilities_or_truth_there_is_none() -> None:
    assert classify(labelled([[0, 1]], [0, 1])).calibration_errors == ()
    assert classify(scored([[[0.2, 0.8]]], kind="probabilities")).calibration_errors == ()
