import pytest
from deviate_lab.statistic import median_shift

from deviate.model.estimates import Unavailable


def test_it_is_the_difference_of_the_medians():
    assert median_shift([0.1, 0.2, 0.9], [0.3, 0.5, 0.6]) == pytest.approx(0.3)


def test_one_run_is_too_few():
    assert median_shift([0.1], [0.3, 0.5]) == Unavailable("needs 2 runs in each, has 1 and 2")
