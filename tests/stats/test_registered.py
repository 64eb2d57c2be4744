"""What holds of every registered statistic, whatever the scores."""

import importlib
import inspect
import itertools
import math
import pkgutil
from collections.abc import Callable, Iterable, Sequence
from typing import get_args, get_type_hints

import numpy as np
import pytest
from each import check_each
from hypothesis import given, settings
from hypothesis import strategies as st

from deviate import stats
from deviate.model.estimates import Interval, Test, Unavailable
from deviate.stats.estimates.sample import Sample
from deviate.stats.registry import STATISTICS, Behaviour, Statistic

Samples = list[list[float]]
Answer = float | Interval | Test | Unavailable

every = pytest.mark.parametrize("statistic", STATISTICS.values(), ids=STATISTICS)
few = settings(max_examples=12, deadline=None, derandomize=True)
# Dyadic numbers of moderate size: shifts, and scales by powers of two, lose no bits.
positive = st.integers(16, 3000).map(lambda k: k / 16)


def answer(statistic: Statistic, samples: Sequence[Sequence[float]], seed: int = 0) -> Answer:
    generator = {"rng": np.random.default_rng(seed)} if statistic.draws else {}
    found = statistic.function(*samples, **generator)
    assert isinstance(found, (float, Interval, Test, Unavailable))
    return found


def n_samples(statistic: Statistic) -> int:
    return statistic.n_samples or 3


def drawn(statistic: Statistic, data: st.DataObject, extra: int = 4) -> Samples:
    """Samples of as many runs as it needs, or some more."""
    n = [data.draw(st.integers(statistic.minimum, statistic.minimum + extra)) for _ in range(n_samples(statistic))]
    sizes = n[:1] * len(n) if statistic.is_paired else n
    return [data.draw(st.lists(positive, min_size=size, max_size=size)) for size in sizes]


def numbers(found: Answer) -> list[float]:
    """The numbers that shift and scale tell about: of an estimate, of both ends, or of p."""
    if isinstance(found, Interval):
        return [found.low, found.high]
    if isinstance(found, Test):
        return [found.p_value]
    return [] if isinstance(found, Unavailable) else [found]


def check_whole(found: Answer) -> None:
    """No answer holds a NaN, an infinite number, a p that is no probability, an interval without ends in order."""
    if isinstance(found, Unavailable):
        assert found.reason
        return
    if isinstance(found, Test):
        assert 0 < found.p_value <= 1
        assert math.isfinite(found.statistic)
        assert found.df is None or found.df > 0
    if isinstance(found, Interval):
        assert found.low <= found.high
        assert found.method
    assert all(isinstance(number, float) and math.isfinite(number) for number in numbers(found))


@every
@few
@given(data=st.data())
def test_order_of_runs_does_not_matter(statistic: Statistic, data: st.DataObject) -> None:
    samples = drawn(statistic, data)
    orders = [data.draw(st.permutations(range(len(sample)))) for sample in samples]
    if statistic.is_paired:
        orders = orders[:1] * len(orders)
    shuffled = [[sample[i] for i in order] for sample, order in zip(samples, orders, strict=True)]
    one, other = answer(statistic, samples), answer(statistic, shuffled)
    assert type(one) is type(other)
    assert numbers(other) == pytest.approx(numbers(one), rel=1e-9, abs=1e-9)


def moved(value: float, behaviour: Behaviour, by: float, *, is_shift: bool) -> float:
    if behaviour == "ignores":
        return value
    if behaviour == "squares":
        return value * by * by
    return value + by if is_shift else value * by


@every
@few
@given(data=st.data())
def test_a_shift_of_all_scores_does_what_was_declared(statistic: Statistic, data: st.DataObject) -> None:
    samples = drawn(statistic, data)
    by = data.draw(st.integers(-40, 400)) / 4
    one, other = answer(statistic, samples), answer(statistic, [[x + by for x in sample] for sample in samples])
    if statistic.shift != "neither":
        expected = [moved(x, statistic.shift, by, is_shift=True) for x in numbers(one)]
        assert type(one) is type(other)
        assert numbers(other) == pytest.approx(expected, rel=1e-6, abs=1e-7)


@every
@few
@given(data=st.data())
def test_a_scale_of_all_scores_does_what_was_declared(statistic: Statistic, data: st.DataObject) -> None:
    samples = drawn(statistic, data)
    by = data.draw(st.sampled_from([2.0**-10, 0.5, 4.0, 1024.0]))
    one, other = answer(statistic, samples), answer(statistic, [[x * by for x in sample] for sample in samples])
    if statistic.scale != "neither":
        expected = [moved(x, statistic.scale, by, is_shift=False) for x in numbers(one)]
        assert type(one) is type(other)
        assert numbers(other) == pytest.approx(expected, rel=1e-6, abs=1e-9)


def check_generators(statistic: Statistic) -> None:
    draws = np.random.default_rng(3)
    n = statistic.minimum + 3
    samples = [[round(x, 1) for x in draws.normal(10, 1, n).tolist()] for _ in range(n_samples(statistic))]
    np.random.seed(1)  # noqa: NPY002  # the global state is what is watched
    before = repr(np.random.get_state())  # noqa: NPY002
    assert answer(statistic, samples, seed=7) == answer(statistic, samples, seed=7)
    assert repr(np.random.get_state()) == before  # noqa: NPY002


def test_the_same_generator_state_gives_the_same_answer_and_no_global_state_is_touched() -> None:
    check_each(STATISTICS.items(), check_generators)


def check_types_of_numbers(statistic: Statistic) -> None:
    draws = np.random.default_rng(4)
    whole = [draws.integers(1, 40, statistic.minimum + 3).tolist() for _ in range(n_samples(statistic))]
    floats = [[float(x) for x in sample] for sample in whole]
    expected = answer(statistic, floats)
    assert answer(statistic, whole) == expected
    assert answer(statistic, [np.array(sample) for sample in floats]) == expected
    assert answer(statistic, [tuple(np.array(sample)) for sample in whole]) == expected


def test_integers_and_arrays_give_what_floats_give() -> None:
    check_each(STATISTICS.items(), check_types_of_numbers)


def check_samples_afterwards(statistic: Statistic) -> None:
    samples = [np.random.default_rng(i).normal(9, 1, statistic.minimum + 2) for i in range(n_samples(statistic))]
    copies = [sample.copy() for sample in samples]
    answer(statistic, samples)
    assert all(np.array_equal(sample, copy) for sample, copy in zip(samples, copies, strict=True))


def test_no_sample_is_changed() -> None:
    check_each(STATISTICS.items(), check_samples_afterwards)


def some(n: int, mean: float = 5.0, sd: float = 1.0, seed: int = 0) -> list[float]:
    return [float(x) for x in np.random.default_rng(seed).normal(mean, sd, n)]


DEGENERATE = {
    "none": [],
    "one": [0.5],
    "two": [0.5, 0.7],
    "two equal": [0.5, 0.5],
    "all equal": [0.25] * 20,
    "all equal elsewhere": [0.75] * 20,
    "equal but for an ulp": [1.0] * 19 + [1.0 + 2**-52],
    "zeros": [0.0] * 20,
    "two values": [0.0, 1.0] * 10,
    "one aside": [0.5] * 19 + [0.9],
    "around zero": some(20, 0.0),
    "far from zero": some(20, 1e9),
    "very far from zero": some(20, 1e15, 3.0),
    "tiny": some(20, 0.0, 1e-200),
    "huge": some(20, 0.0, 1e140),
    "too large": some(20, 0.0, 1e300),
    "largest": [1.7e308, -1.7e308] * 10,
    "with NaN": [math.nan, *some(19)],
    "with infinity": [*some(19), math.inf],
    "negative infinity": [-math.inf] * 20,
    "plain": some(20, seed=1),
    "many": some(60, seed=2),
    "three": some(3, seed=3),
    "integers": [1, 2, 3, 4, 5, 5, 6, 7, 7, 8, 9, 9],
}


def pair_degenerate(n: int) -> Iterable[tuple[str, ...]]:
    """Names of `n` samples: each first and each last beside every other, and no order twice."""
    orders = [
        order
        for one, other in itertools.product(DEGENERATE, repeat=2)
        for order in ((one, *[other] * (n - 1)), (*[other] * (n - 1), one))
    ]
    return dict.fromkeys(orders)


@every
def test_degenerate_scores_have_a_named_answer(statistic: Statistic) -> None:
    """On either side, against every other sample, without a NaN, an exception or a warning."""
    orders = pair_degenerate(n_samples(statistic))
    check_each(
        ((" | ".join(names), [DEGENERATE[name] for name in names]) for names in orders),
        lambda samples: check_whole(answer(statistic, samples)),
    )


def check_minimum(statistic: Statistic) -> None:
    draws = np.random.default_rng(5)
    for n in range(statistic.minimum):
        samples = [draws.normal(10, 1, n).tolist() for _ in range(n_samples(statistic))]
        found = answer(statistic, samples)
        assert isinstance(found, Unavailable)
    enough = [draws.normal(10, 1, statistic.minimum).tolist() for _ in range(n_samples(statistic))]
    assert not isinstance(answer(statistic, enough), Unavailable)


def test_too_few_runs_are_refused_with_their_number() -> None:
    check_each(STATISTICS.items(), check_minimum)


def takes_samples_alone(function: Callable[..., object]) -> bool:
    """Whether samples, settings with defaults and a generator are all that it needs for a number, interval or test."""
    hints = get_type_hints(function)
    needed = [it for it in inspect.signature(function).parameters.values() if it.default is inspect.Parameter.empty]
    others = [it for it in needed if hints[it.name] not in {Sequence[float], Sample} and it.name != "rng"]
    return bool(needed) and not others and bool({float, Interval, Test} & {*get_args(hints["return"])})


def test_every_public_function_of_samples_is_registered() -> None:
    modules = [importlib.import_module(it.name) for it in pkgutil.walk_packages(stats.__path__, "deviate.stats.")]
    of_samples = {
        name
        for module in modules
        for name, it in inspect.getmembers(module, inspect.isfunction)
        if it.__module__ == module.__name__ and not name.startswith("_") and takes_samples_alone(it)
    }
    ours = {name for name, it in STATISTICS.items() if it.function.__module__.startswith("deviate.")}  # no plug-in's
    assert (
        of_samples - {"crossing", "interval_of_both", "mean_of", "range_of", "resolution", "sd_of"} == ours
    )  # those are what others are made of
