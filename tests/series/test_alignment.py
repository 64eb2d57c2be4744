"""Which number of a log shows which recorded value."""

import math

from hypothesis import given
from hypothesis import strategies as st

from deviate.series.alignment import MOST_MISSES, Recorded, align
from deviate.series.lines import read_lines

TEST = ("train.py", 20)


def record(*values: tuple[int, float], statement: tuple[str, int] | None = None) -> list[Recorded]:
    """Values of sites, in order; each site is a statement of its own where none is given."""
    return [
        Recorded(ordinal, site, None, statement or ("train.py", site), value)
        for ordinal, (site, value) in enumerate(values)
    ]


def shown(values: list[Recorded], log: str) -> dict[int, tuple[int, float]]:
    """Ordinal of each value that the log shows, to its line and the number there."""
    lines = list(read_lines(log))
    return {
        ordinal: (line, lines[line].numbers[place].value)
        for ordinal, (line, place) in align(values, lines).items()
    }  # fmt: skip


def test_values_that_are_rounded_are_found_in_their_order() -> None:
    values = record((0, 0.51234), (1, 0.87654), (0, 0.41234), (1, 0.88654))
    log = "loss 0.512\nval acc 87.65%\nloss 0.412\nval acc 88.65%\n"
    assert shown(values, log) == {0: (0, 0.512), 1: (1, 87.65), 2: (2, 0.412), 3: (3, 88.65)}


def test_values_of_one_statement_stand_in_one_line_or_in_lines_that_follow_one_another() -> None:
    values = record((0, 0.5), (1, 0.25), (2, 0.125), statement=TEST)
    assert shown(values, "loss 0.5 acc 0.25 f1 0.125") == {0: (0, 0.5), 1: (0, 0.25), 2: (0, 0.125)}
    assert shown(values, "loss 0.5\nacc 0.25\nf1 0.125") == {0: (0, 0.5), 1: (1, 0.25), 2: (2, 0.125)}


def test_each_step_of_a_loop_writes_its_own_lines() -> None:
    values = [Recorded(step, 0, f"name {step}", TEST, 0.5123 + step, (7, step)) for step in range(8)]
    lines = "".join(f"name {step}  {0.5123 + step}\n" for step in range(8))
    assert [line for line, _ in shown(values, lines).values()] == list(range(8))


def test_a_value_of_its_own_line_each_may_be_of_one_statement() -> None:
    values = [Recorded(place, 0, f"key{place}", TEST, 0.1 * place + 0.05) for place in range(9)]
    lines = "".join(f"key{place}: {0.1 * place + 0.05:.2f}\n" for place in range(9))
    assert [line for line, _ in shown(values, lines).values()] == list(range(9))


def test_a_counter_with_the_same_digits_is_not_the_value() -> None:
    values = record((0, 3.0), (0, 4.0))
    found = shown(values, "starting\nepoch 1 reward 3.0\nepoch 2 reward 4.0\n")
    assert found == {0: (1, 3.0), 1: (2, 4.0)}


def test_equal_values_of_different_lines_keep_their_order() -> None:
    values = record((0, 0.5), (1, 0.5), (0, 0.5), (1, 0.5))
    assert [line for line, _ in shown(values, "loss 0.5\nacc 0.5\nloss 0.5\nacc 0.5\n").values()] == [0, 1, 2, 3]


def test_a_line_with_all_digits_of_a_value_is_its_line_whatever_comes_before() -> None:
    examples = [(0.0, 0.08617654124692689), (1.0, 0.9888445418418794), (1.0, 0.8710022580158069)]
    values = record(*(part for want, got in examples for part in ((0, want), (1, got))), statement=TEST)
    nodes = "".join(f"node {key}: bias -0.47, response 1.0, time 1.0, delay 0.0\n" for key in range(6))
    lines = "".join(f"expected {want}, got {got}\n" for want, got in examples)
    assert [line for line, _ in shown(values, nodes + lines).values()] == [6, 6, 7, 7, 8, 8]


def test_a_line_with_fewer_digits_goes_before_one_further_down_that_has_all() -> None:
    values = record((0, 0.4243232), (0, 0.5573007545913121), (1, 0.5573007545913121), (2, 0.72))
    log = "loss 0.4243\nloss 0.5573\n{'val_loss': 0.5573007545913121, 'val_acc': 0.72}\n"
    assert [line for line, _ in shown(values, log).values()] == [0, 1, 2, 2]


def test_a_value_that_no_line_shows_is_passed_over_and_costs_no_other() -> None:
    values = record((0, 0.5123), (9, 123.456), (1, 0.8765), (0, 0.4123), (9, 234.567), (1, 0.8865))
    found = shown(values, "loss 0.5123\nacc 0.8765\nloss 0.4123\nacc 0.8865\n")
    assert found == {0: (0, 0.5123), 2: (1, 0.8765), 3: (2, 0.4123), 5: (3, 0.8865)}


def test_a_statement_that_writes_elsewhere_finds_nothing_by_chance() -> None:
    values = record(*((9, float(step)) for step in range(2 * MOST_MISSES)))
    assert shown(values, "lr 0.5\n" * 5 + "accuracy 0.8765\n") == {}


def test_lines_between_are_passed_over_where_the_digits_tell() -> None:
    noise = "".join(f"chunk {number} of 30 loaded\n" for number in range(30))
    assert shown(record((0, 0.51234)), f"{noise}loss 0.51234\n") == {0: (30, 0.51234)}


def test_a_number_further_down_that_agrees_by_chance_does_not_mislead_what_comes_next() -> None:
    values = record((9, 0.4181234), *((site, step / 7 + site) for step in range(8) for site in range(3)))
    lines = [f"{['loss', 'acc', 'time'][one.site]} {one.value:.3f}" for one in values[1:]]
    lines.insert(13, "grad 0.418")
    log = "".join(f"{line}\n" for line in lines)
    places = align(values, list(read_lines(log)))
    assert [places[ordinal][0] for ordinal in range(1, len(values))] == [*range(13), *range(14, 25)]


def test_a_counter_is_not_the_rounded_value_of_what_comes_next() -> None:
    values = record((0, 0.0), (1, 2.2021), (0, 1.0), (1, 2.3599), (0, 2.0), (1, 2.3558))
    log = "".join(
        f"-- generation {step} --\nfitness {value:.4f}\n" for step, value in enumerate([2.2021, 2.3599, 2.3558])
    )
    assert [line for line, _ in shown(values, log).values()] == [0, 1, 2, 3, 4, 5]


def test_a_number_without_decimals_shows_a_value_with_them_only_where_nothing_shows_it_better() -> None:
    lines = "".join(f"[{step}] error: {step}.5\n" for step in range(20))
    assert shown(record((0, 0.3923017)), f"{lines}took 0.3923017\n") == {0: (20, 0.3923017)}
    assert shown(record((0, 212.6)), "return 213\n") == {0: (0, 213.0)}


def test_of_numbers_in_one_line_the_one_with_most_decimals_shows_a_value() -> None:
    log = "update 8  returns [0.7 0.2 1.1 1. ]  mean 0.75\nupdate 9  returns [2.1 1.9]  mean 1.74\n"
    found = shown(record((0, 8.0), (1, 0.74792), (0, 9.0), (1, 1.74022), statement=TEST), log)
    assert list(found.values()) == [(0, 8.0), (0, 0.75), (1, 9.0), (1, 1.74)]


def test_no_number_shows_two_values() -> None:
    values = record((0, 0.5), (1, 0.5))
    assert list(shown(values, "loss 0.5\n")) == [0]


def test_nan_is_shown_by_nan() -> None:
    assert shown(record((0, 0.5), (0, math.nan)), "loss 0.5\nloss nan\n")[1][0] == 1


@given(st.lists(st.tuples(st.floats(0, 10), st.floats(0, 1)), min_size=1, max_size=20), st.integers(3, 6))
def test_every_value_of_a_plain_log_is_found_in_its_line(values: list[tuple[float, float]], decimals: int) -> None:
    pairs = enumerate(values, start=1)
    recorded = record(
        *(one for epoch, (loss, acc) in pairs for one in ((0, float(epoch)), (1, loss), (2, acc))), statement=TEST
    )
    log = "".join(
        f"Epoch {epoch} train_loss: {loss:.{decimals}f} val_acc: {acc:.{decimals}f}\n"
        for epoch, (loss, acc) in enumerate(values, start=1)
    )
    found = shown(recorded, log)
    assert [found[ordinal][0] for ordinal in range(len(recorded))] == [ordinal // 3 for ordinal in range(len(recorded))]
    for ordinal, value in enumerate(recorded):
        assert abs(found[ordinal][1] - value.value) <= 0.51 * 10.0**-decimals
