import math
import struct

import pytest
from experiments import run, selected
from studies import curve, equal, flip, noisy_run, variant, weights

from deviate.model.records import EvaluationData, Experiment, Series
from deviate.series.repeatability import absorption, evaluation_agreement, repeatability

NAN = math.nan
OTHER_NAN = struct.unpack("<d", struct.pack("<Q", 0x7FF8000000000123))[0]


def _control(*series: dict[str, Series], names: tuple[str, ...] = ("loss", "acc")) -> Experiment:
    metrics = [selected(name) for name in names]
    runs = [noisy_run(index, (), "same", series=one) for index, one in enumerate(series)]
    return Experiment("train", "control", ("python",), len(runs), tuple(metrics), tuple(runs))


def test_equal_runs_are_equal_in_metrics_and_weights() -> None:
    proof = repeatability(equal("control", 3))
    assert (proof.is_equal, proof.n, proof.n_metrics, proof.parting, proof.weights) == (True, 3, 1, None, "equal")


def test_one_bit_of_one_value_is_a_difference() -> None:
    value = 0.1
    proof = repeatability(
        _control({"acc": curve(value, 1.0)}, {"acc": curve(math.nextafter(value, 1.0), 1.0)}, names=("acc",))
    )
    assert proof.is_equal is False
    assert proof.parting is not None
    assert (proof.parting.metric, proof.parting.step, proof.parting.replicates) == ("acc", 0, (0, 1))
    assert proof.parting.values == (0.1, math.nextafter(0.1, 1.0))


def test_zeros_of_unlike_sign_differ_and_nan_equals_any_nan() -> None:
    assert repeatability(_control({"loss": curve(0.0)}, {"loss": curve(-0.0)})).is_equal is False
    assert repeatability(_control({"loss": curve(NAN, 1.0)}, {"loss": curve(OTHER_NAN, 1.0)})).is_equal is True
    assert repeatability(_control({"loss": curve(NAN)}, {"loss": curve(1.0)})).is_equal is False


def test_the_first_difference_is_that_of_the_smallest_step_then_of_the_first_metric() -> None:
    one = {"loss": curve(1.0, 2.0, 3.0), "acc": curve(1.0, 2.0, 3.0)}
    later = {"loss": curve(1.0, 2.0, 9.0), "acc": curve(1.0, 9.0, 9.0)}
    both = {"loss": curve(1.0, 9.0, 3.0), "acc": curve(1.0, 9.0, 3.0)}
    first = repeatability(_control(one, one, later)).parting
    assert first is not None
    assert (first.metric, first.step, first.replicates) == ("acc", 1, (0, 2))
    first = repeatability(_control(one, one, both, later)).parting
    assert first is not None
    assert (first.metric, first.step, first.replicates) == ("loss", 1, (0, 2))


def test_what_is_reported_outside_the_main_loop_comes_last() -> None:
    before = Series((None, 0, 1, None), (5.0, 1.0, 1.0, 7.0))
    after = Series((None, 0, 1, None), (6.0, 1.0, 2.0, 7.0))
    first = repeatability(_control({"acc": before}, {"acc": after})).parting
    assert first is not None
    assert first.step == 1
    first = repeatability(_control({"acc": before}, {"acc": Series((None, 0, 1, None), (5.0, 1.0, 1.0, 8.0))})).parting
    assert first is not None
    assert (first.step, first.values) == (None, (7.0, 8.0))


def test_a_metric_or_a_step_that_one_run_lacks_is_a_difference() -> None:
    lacking = repeatability(_control({"loss": curve(1.0), "acc": curve(2.0)}, {"loss": curve(1.0)})).parting
    assert lacking is not None
    assert (lacking.metric, lacking.step, lacking.values) == ("acc", 0, (2.0, None))
    short = repeatability(_control({"acc": curve(1.0, 2.0)}, {"acc": curve(1.0)})).parting
    assert short is not None
    assert (short.step, short.values) == (1, (2.0, None))
    gap = repeatability(_control({"acc": Series((0, 2), (1.0, 3.0))}, {"acc": curve(1.0, 2.0, 3.0)})).parting
    assert gap is not None
    assert (gap.step, gap.values) == (1, (None, 2.0))


def test_every_value_within_a_step_counts() -> None:
    one, other = ({"acc": Series((0, 1, 1, 1), (0.0, 0.1, value, 0.3))} for value in (0.2, 0.25))
    fewer = {"acc": Series((0, 1, 1), (0.0, 0.1, 0.2))}
    parting = repeatability(_control(one, other, names=("acc",))).parting
    assert parting is not None
    assert (parting.step, parting.values) == (1, (0.2, 0.25))
    parting = repeatability(_control(one, fewer, names=("acc",))).parting
    assert parting is not None
    assert (parting.step, parting.values) == (1, (0.3, None))
    assert repeatability(_control(one, one, names=("acc",))).is_equal is True


def test_clock_readings_and_settings_never_count() -> None:
    metrics = (selected("acc"), selected("seconds", role="time"), selected("lr", role="other"))
    runs = [
        noisy_run(i, (), "same", series={"acc": curve(1.0), "seconds": curve(1.0 + i), "lr": curve(float(i))})
        for i in range(2)
    ]
    proof = repeatability(Experiment("train", "control", ("python",), 2, metrics, tuple(runs)))
    assert (proof.is_equal, proof.n_metrics) == (True, 1)


def test_runs_that_did_not_complete_are_not_compared() -> None:
    crashed = run(2, {"test_acc": curve(1.0)}, status="crashed")
    proof = repeatability(variant("control", [*equal("control", 2).runs, crashed]))
    assert (proof.is_equal, proof.n) == (True, 2)


@pytest.mark.parametrize("n", [0, 1])
def test_fewer_than_two_runs_prove_nothing(n: int) -> None:
    assert repeatability(equal("control", n)).is_equal is None


def test_runs_that_show_neither_metrics_nor_weights_prove_nothing() -> None:
    runs = [noisy_run(i, (), "", series={}, weights=()) for i in range(3)]
    assert repeatability(variant("control", runs)).is_equal is None


def test_weights_count_where_metrics_are_equal() -> None:
    runs = [noisy_run(i, (50.0, 93.0), digest) for i, digest in enumerate("ab")]
    proof = repeatability(variant("control", runs))
    assert (proof.is_equal, proof.parting, proof.weights) == (False, None, "differ")


def test_weights_are_compared_at_the_latest_moment_that_all_runs_have() -> None:
    ended = (weights("a", "loop"), weights("b", "exit"))
    cut_off = (weights("a", "loop"),)
    others = (weights("a", "loop"), weights("c", "exit"))

    def state(*given: tuple[object, ...]) -> str:
        runs = [noisy_run(i, (1.0,), "", weights=it) for i, it in enumerate(given)]
        return repeatability(variant("control", runs)).weights

    assert state(ended, cut_off) == "equal"
    assert state(ended, others) == "differ"
    assert state(ended, cut_off, others) == "equal"
    assert state(ended, ()) == "not reached"


def test_weights_of_every_framework_and_every_model_count() -> None:
    torch, forest = weights("a"), weights("b", framework="sklearn")

    def state(*given: tuple[object, ...]) -> str:
        runs = [noisy_run(i, (1.0,), "", weights=it) for i, it in enumerate(given)]
        return repeatability(variant("control", runs)).weights

    assert state((torch, forest), (torch, weights("c", framework="sklearn"))) == "differ"
    assert state((torch, forest), (torch,)) == "equal"  # what one run lacks is not compared
    assert state((torch, weights("x")), (torch, weights("y"))) == "differ"  # two models at one moment


def test_evaluation_data_are_equal_only_if_every_run_shows_the_same_hash() -> None:
    other = (EvaluationData("torch", "f" * 64, 100, "loader"),)
    assert evaluation_agreement([equal("algo", 2), equal("impl", 2)]) == "equal"
    assert evaluation_agreement([equal("algo", 2), equal("impl", 2, evaluation=other)]) == "differ"
    assert evaluation_agreement([equal("algo", 2), equal("impl", 2, evaluation=())]) == "not seen"
    assert evaluation_agreement([equal("algo", 2), equal("split", 2, evaluation=other)]) == "equal"
    assert evaluation_agreement([]) == "not seen"


def test_hashes_of_different_frameworks_say_nothing_about_each_other() -> None:
    keras = (EvaluationData("keras", "f" * 64, 100, "loader"),)
    assert evaluation_agreement([equal("algo", 2), equal("impl", 2, evaluation=keras)]) == "not seen"


def _flipped(digests: str, *, same_flip: bool = False) -> Experiment:
    runs = [
        noisy_run(i, (50.0, 93.0 if it == "s" else 90.0 + i), it, flips=(flip(0 if same_flip else i),))
        for i, it in enumerate(digests)
    ]
    return variant("one-bit", runs)


def test_a_flip_is_absorbed_when_the_run_ends_bitwise_as_in_control() -> None:
    control = variant("control", [noisy_run(i, (50.0, 93.0), "s") for i in range(2)])
    found = absorption(_flipped("sabs"), control)
    assert (found.absorbed, found.n_flipped, found.against) == ((0, 3), 4, "control")


def test_equal_metrics_with_other_weights_are_no_absorbed_flip() -> None:
    control = variant("control", [noisy_run(i, (50.0, 93.0), "c") for i in range(2)])
    assert absorption(_flipped("ss"), control).absorbed == ()


def test_without_a_repeatable_control_different_flips_that_end_alike_are_absorbed() -> None:
    broken = variant("control", [noisy_run(i, (50.0, 93.0), it) for i, it in enumerate("xy")])
    for control in (None, broken):
        found = absorption(_flipped("sabs"), control)
        assert (found.absorbed, found.against) == ((0, 3), None)
    assert absorption(_flipped("ss", same_flip=True), None).absorbed == ()
    assert absorption(_flipped("sab"), None).absorbed == ()


def test_without_weights_an_absorbed_flip_cannot_be_told_from_one_without_effect_on_metrics() -> None:
    runs = [noisy_run(i, (50.0, 93.0 + (i == 2)), "", weights=(), flips=(flip(i),)) for i in range(3)]
    control = variant("control", [noisy_run(i, (50.0, 93.0), "", weights=()) for i in range(2)])
    found = absorption(variant("one-bit", runs), control)
    assert (found.absorbed, found.n_unknown) == ((), 2)
    assert absorption(variant("one-bit", runs), None).n_unknown == 3


def test_a_run_without_a_flip_is_not_counted_as_flipped() -> None:
    runs = [noisy_run(0, (1.0,), "a"), noisy_run(1, (1.0,), "b", flips=(flip(1),))]
    found = absorption(variant("one-bit", runs), None)
    assert (found.n_runs, found.n_flipped) == (2, 1)
