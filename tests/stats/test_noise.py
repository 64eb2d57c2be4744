import dataclasses
import math

import numpy as np
import pytest
from experiments import run, selected, single, with_moments
from scipy import stats as scipy_stats
from studies import equal, flip, noisy_run, spread, study, usual, variant

from deviate.model.estimates import Interval, Unavailable
from deviate.model.findings import Findings, NoiseFindings, NoiseRow, NoiseTable
from deviate.model.phrases import Reason
from deviate.model.records import Experiment
from deviate.report.statements import with_statements
from deviate.stats.noise import noise


def _noise(*experiments: Experiment) -> NoiseFindings:
    found = study(*experiments).noise
    assert found is not None
    return found


def _table(*experiments: Experiment) -> NoiseTable:
    (table,) = _noise(*experiments).tables
    return table


def _row(name: str, *experiments: Experiment) -> NoiseRow:
    return next(row for row in _table(*experiments).rows if row.variant == name)


def _scores(n: int, sd: float, seed: int = 0) -> tuple[float, ...]:
    return with_moments(n, 93.4, sd, np.random.default_rng(seed))


def test_sd_ratio_and_share_of_each_variant_are_those_of_scipy_on_its_scores() -> None:
    both, algo = _scores(10, 0.22), _scores(8, 0.2, 1)
    row = _row("algo", spread("algo+impl", both), spread("algo", algo), equal("control", 3))
    assert row.sd == pytest.approx(np.std(algo, ddof=1), rel=1e-12)
    assert isinstance(row.sd_interval, Interval)
    assert row.sd_interval.low == pytest.approx(0.2 * math.sqrt(7 / scipy_stats.chi2.ppf(0.975, 7)), rel=1e-9)
    assert row.sd_interval.method == "chi-square"
    assert row.ratio == pytest.approx(0.2 / 0.22, rel=1e-9)
    assert isinstance(row.ratio_interval, Interval)
    assert row.ratio_interval.low == pytest.approx(0.2 / 0.22 / math.sqrt(scipy_stats.f.ppf(0.975, 7, 9)), rel=1e-9)
    assert row.ratio_interval.method == "F, normal theory"
    assert row.share == pytest.approx((0.2 / 0.22) ** 2, rel=1e-9)
    assert isinstance(row.share_interval, Interval)
    assert row.share_interval.high == pytest.approx(row.ratio_interval.high**2, rel=1e-9)


def test_bitwise_equal_runs_of_impl_show_no_noise_and_have_no_interval_ratio_or_test() -> None:
    row = _row("impl", *usual())
    assert row.note == "no implementation noise observed, 5 runs bitwise equal"
    assert row.sd == 0.0
    for figure in (row.sd_interval, row.ratio, row.ratio_interval, row.share, row.share_interval):
        assert isinstance(figure, Unavailable)


def test_control_is_identical_and_its_spread_exactly_zero() -> None:
    found = _noise(*usual())
    row = _row("control", *usual())
    assert (found.control, row.sd, row.note) == ("intact", 0.0, "identical, 5 runs bitwise equal")
    assert (
        "control is intact: identical, 5 runs bitwise equal (1 quality metric and final weights)." in found.statements
    )


def test_equal_scores_of_runs_that_are_not_equal_say_where_they_part() -> None:
    runs = [noisy_run(i, (50.0 + i, 93.0), f"w{i}") for i in range(5)]
    row = _row("impl", spread("algo+impl", _scores(5, 1)), variant("impl", runs), equal("control", 2))
    assert row.note.startswith("all 5 values equal, the runs are not: test_acc differs at main-loop step 0: 50.0")
    other_weights = variant("impl", [noisy_run(i, (50.0, 93.0), digest) for i, digest in enumerate("abcde")])
    row = _row("impl", spread("algo+impl", _scores(5, 1)), other_weights, equal("control", 2))
    assert row.note == "all 5 values equal, the runs are not: final weights differ"
    assert isinstance(row.ratio, Unavailable)


def test_weights_out_of_reach_are_said_wherever_runs_are_called_equal() -> None:
    both = [spread("algo+impl", _scores(5, 1)), equal("impl", 5, weights=()), equal("control", 5, weights=())]
    assert _row("impl", *both).note.endswith("5 runs bitwise equal in metrics")
    assert "bitwise equal in metrics" in _noise(*both).statements[0]


def test_a_broken_control_takes_their_isolation_from_all_variants_that_hold_something() -> None:
    broken = variant("control", [noisy_run(0, (50.0, 93.0), "a"), noisy_run(1, (50.0, 94.0), "b")])
    items = [*usual()[:3], broken, spread("init", _scores(5, 1)), spread("as-is", _scores(5, 1))]
    found = _noise(*items)
    assert found.control == "broken"
    assert found.statements[0] == (
        "control failed: test_acc differs at main-loop step 1: 93.0 in replicate 0, 94.0 in replicate 1, "
        "although everything was held."
    )
    assert found.statements[1] == "Not isolated: algo, impl and init, because control failed."
    isolated = {row.variant: row.is_isolated for row in found.tables[0].rows}
    assert isolated == {
        "algo+impl": None,
        "algo": False,
        "impl": False,
        "control": None,
        "init": False,
        "as-is": None,
    }
    assert all(row.note.startswith("not isolated") == (row.is_isolated is False) for row in found.tables[0].rows)


def test_control_breaks_where_only_the_weights_differ() -> None:
    broken = variant("control", [noisy_run(i, (50.0, 93.0), digest) for i, digest in enumerate("ab")])
    found = _noise(*usual()[:3], broken)
    assert found.control == "broken"
    assert found.statements[0] == "control failed: final weights differ, although everything was held."


@pytest.mark.parametrize("n", [0, 1])
def test_fewer_than_two_runs_of_control_are_no_control(n: int) -> None:
    found = _noise(*usual()[:3], equal("control", n))
    assert found.control == "absent"
    assert f"Isolation was not checked: it needs 2 completed runs of control, has {n}." in found.statements[0]
    assert all(row.is_isolated is None for row in found.tables[0].rows)


def test_the_reference_is_algo_impl_or_else_the_variant_that_varies_most_not_the_one_with_the_largest_sd() -> None:
    wide, narrow = spread("init", _scores(6, 9)), spread("algo", _scores(6, 0.1))
    assert _table(wide, narrow, *usual()[:1]).reference == "algo+impl"
    assert _table(wide, narrow).reference == "algo"
    assert _table(spread("as-is", _scores(6, 1)), equal("control", 2)).reference == "as-is"
    assert _table(equal("control", 2), spread("config", _scores(6, 1))).reference is None


def test_a_reference_without_spread_measures_nothing() -> None:
    row = _row("algo", equal("algo+impl", 6), spread("algo", _scores(6, 1)), equal("control", 2))
    assert row.ratio == row.share == Unavailable(Reason.OF("algo+impl", Reason.EQUAL(6)))


def test_fewer_than_five_runs_have_an_sd_but_no_ratio() -> None:
    row = _row("algo", spread("algo+impl", _scores(4, 1)), spread("algo", _scores(4, 1)))
    assert isinstance(row.sd_interval, Interval)
    assert row.ratio == row.share_interval == Unavailable(Reason.TOO_FEW_EACH(5, "run", 4, 4))


def test_one_run_has_no_spread() -> None:
    row = _row("algo", spread("algo+impl", _scores(5, 1)), spread("algo", [93.0]))
    assert row.sd == Unavailable(Reason.SINGLE_RUN)


def test_a_share_is_given_only_of_what_the_reference_varies_too() -> None:
    both = spread("algo+impl", _scores(6, 1))
    split = _row("split", both, spread("split", _scores(6, 1)))
    assert isinstance(split.ratio, float)
    assert split.share == Unavailable(Reason.NOT_VARIED(("split",), "algo+impl"))
    assert _row("as-is", both, spread("as-is", _scores(6, 1))).share == Unavailable(Reason.NO_PART("algo+impl"))


def test_the_configuration_is_never_noise() -> None:
    items = [*usual(), spread("config", _scores(6, 0.1))]
    row = _row("config", *items)
    assert row.ratio == row.share == row.sd_interval == Unavailable(Reason.CONFIGURATION)
    assert row.note == "configuration, not noise"
    assert any("config" in text and "not noise" in text for text in _noise(*items).statements)
    quiet = _row("config", *usual(), equal("config", 4))
    assert quiet.note == "configuration, not noise; no effect of the configuration observed, 4 runs bitwise equal"


def test_the_excess_needs_the_three_variants_and_keeps_its_sign() -> None:
    three = [spread("algo+impl", _scores(6, 1)), spread("algo", _scores(6, 2)), spread("impl", _scores(6, 1))]
    table = _table(*three)
    assert table.excess == pytest.approx(1 - 4 - 1, rel=1e-9)
    assert isinstance(table.excess_interval, Interval)
    assert table.excess_interval.low < -4 < table.excess_interval.high
    assert _table(*three[:2]).excess == Unavailable(Reason.NEEDS_VARIANTS("algo+impl"))
    assert _table(*usual()).excess == pytest.approx(0.22**2 - 0.2**2, rel=1e-9)


def test_a_stream_from_which_nothing_was_drawn_is_not_called_without_effect() -> None:
    augment = _row("augment", *usual(), equal("augment", 5))
    assert augment.note == "no draw observed from this stream, 5 runs bitwise equal"
    init = _row("init", *usual(), equal("init", 5))
    assert init.note == "had no observed effect, 5 runs bitwise equal"
    assert "init had no observed effect, 5 runs bitwise equal." in _noise(*usual(), equal("init", 5)).statements
    both = equal("augment", 5)
    pair = dataclasses.replace(both, variant="augment+split", varied=("augment", "split"))
    assert _row("augment+split", *usual(), pair).note == "no draw observed from these streams, 5 runs bitwise equal"


def test_runs_that_differ_though_nothing_was_drawn_from_what_varies_are_pointed_out() -> None:
    row = _row("augment", *usual(), spread("augment", _scores(5, 1)))
    assert row.note == "no draw observed from this stream, yet the runs differ"


def test_without_a_record_of_draws_nothing_is_said_about_them() -> None:
    row = _row("augment", spread("algo+impl", _scores(5, 1), draws={}), equal("augment", 5, draws={}))
    assert row.note == "had no observed effect, 5 runs bitwise equal"


def test_a_moving_other_that_is_left_out_takes_the_shares_of_single_streams() -> None:
    moving = {"torch": ("init", "other")}
    items = [
        spread("algo+impl", _scores(6, 1), draws=moving),
        spread("algo", _scores(6, 1), draws=moving),
        spread("init", _scores(6, 1), draws=moving),
    ]
    assert _row("init", *items).share == Unavailable(Reason.OTHER_LEFT_OUT)
    assert isinstance(_row("init", *items).ratio, float)
    assert isinstance(_row("algo", *items).share, float)
    told = " ".join(_noise(*items).statements)
    assert "Some draws belong to no stream (other); algo+impl and algo vary them. The share of init leaves" in told
    with_other = [*items, spread("other", _scores(6, 1), draws=moving)]
    assert isinstance(_row("init", *with_other).share, float)
    assert "add other to --variants" not in " ".join(_noise(*with_other).statements)


def _one_bit(digests: str) -> Experiment:
    runs = [
        noisy_run(i, (50.0, 93.0 if it == "s" else 90.0 + i), it * 8 if it != "s" else "same", flips=(flip(i),))
        for i, it in enumerate(digests)
    ]
    return variant("one-bit", runs)


def test_absorbed_flips_are_counted_beside_the_spread_and_are_no_part_of_it() -> None:
    row = _row("one-bit", *usual(), _one_bit("abscdes"))
    assert row.n == 5
    assert row.sd == pytest.approx(np.std([90, 91, 93, 94, 95], ddof=1))
    note = "2 of 7 flips absorbed, left out (replicates 2, 6: metrics and final weights bitwise as in control)"
    assert row.note == note
    assert row.share == Unavailable("no part of algo+impl")
    (found,) = _noise(*usual(), _one_bit("abscdes")).absorption
    assert found.absorbed == (2, 6)
    assert f"one-bit: {note}." in _noise(*usual(), _one_bit("abscdes")).statements


def test_where_every_flip_was_absorbed_there_is_no_spread_to_show() -> None:
    row = _row("one-bit", *usual(), _one_bit("ssss"))
    assert (row.n, row.sd) == (0, Unavailable(Reason.NO_SCORE))
    assert row.note.startswith("4 of 4 flips absorbed, left out (replicates 0–3: ")


def test_runs_without_a_flip_are_left_out_and_counted() -> None:
    bare = dataclasses.replace(
        _one_bit("abc"), runs=tuple(dataclasses.replace(r, flips=()) for r in _one_bit("abc").runs)
    )
    row = _row("one-bit", *usual(), bare)
    assert row.note == "3 of 3 runs left out without a flip: no weight matrix was reached"


def test_flips_of_which_nothing_can_be_told_are_not_called_unabsorbed() -> None:
    runs = [noisy_run(i, (50.0, 93.0), "", weights=(), flips=(flip(i),)) for i in range(3)]
    items = [*usual(), variant("one-bit", runs)]
    assert _row("one-bit", *items).note == "3 of 3 flips unknown: weights not reached"
    assert _noise(*items).statements[-4] == "one-bit: 3 of 3 flips unknown: weights not reached."


def test_a_single_variant_has_no_tables_but_its_proof() -> None:
    found = _noise(equal("control", 4))
    assert found.tables == ()
    assert found.statements == (
        "control is intact: identical, 4 runs bitwise equal (1 quality metric and final weights).",
    )
    assert _noise(spread("algo+impl", _scores(5, 1))).statements == ()
    assert "impl: no implementation noise observed, 4 runs bitwise equal." in _noise(equal("impl", 4)).statements


def test_only_quality_metrics_have_tables_and_the_primary_one_is_first() -> None:
    metrics = [selected("loss"), selected("seconds", role="time"), selected("test_acc", is_primary=True)]
    sides = [
        dataclasses.replace(
            variant(name, [run(i, {it.name: single(i ** len(it.name)) for it in metrics}) for i in range(5)]),
            metrics=tuple(metrics),
        )
        for name in ("algo+impl", "algo")
    ]
    assert [table.metric.name for table in _noise(*sides).tables] == ["test_acc", "loss"]


def test_no_table_holds_nan_whatever_the_scores() -> None:
    cases: list[tuple[float, ...]] = [
        (),
        (1.0,),
        (1.0, 1.0),
        (1.0, 2.0),
        (0.5,) * 7 + (0.5 + math.ulp(0.5),),
        tuple(1e149 * i for i in range(1, 8)),
        tuple(1e-149 * i for i in range(1, 8)),
        tuple(5e-324 * i for i in range(1, 8)),
        tuple(i / 7 for i in range(9)),
    ]
    for at, both in enumerate(cases):
        for by, algo in enumerate(cases):
            impl = cases[(at + by) % len(cases)]  # so that each two of the variants have each two of the cases
            items = [spread("algo+impl", both), spread("algo", algo), spread("impl", impl), equal("control", 2)]
            for number in _numbers(study(*items)):
                assert math.isfinite(number), (both, algo, impl)


def _numbers(findings: Findings) -> list[float]:
    assert findings.noise is not None
    numbers: list[float] = []
    for table in findings.noise.tables:
        for figure in (
            table.excess,
            table.excess_interval,
            *(
                getattr(row, name)
                for row in table.rows
                for name in ("sd", "sd_interval", "ratio", "ratio_interval", "share", "share_interval")
            ),
        ):
            if isinstance(figure, float):
                numbers.append(figure)
            elif isinstance(figure, Interval):
                numbers += [figure.low, figure.high]
    return numbers


def test_noise_of_descriptions_is_what_a_study_finds() -> None:
    findings = study(*usual())
    found = dataclasses.replace(findings, noise=noise(findings.experiments))
    assert with_statements(found) == findings
