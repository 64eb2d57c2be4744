"""The numbers of a line: what they are worth, how they are rounded, and what holds digits and is no number."""

import math

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from deviate.series.lines import Number, read_line, read_lines


def numbers(text: str) -> list[tuple[float, str]]:
    return [(number.value, number.unit) for number in read_line(text).numbers]


def only(text: str) -> Number:
    (number,) = read_line(text).numbers
    return number


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        (
            "Test set: Average loss: 0.0434, Accuracy: 9912/10000 (99%)",
            [(0.0434, ""), (9912, ""), (10000, ""), (99, "%")],
        ),
        ("Epoch [1/5] train_loss: .5 val_IoU: .4", [(1, ""), (5, ""), (0.5, ""), (0.4, "")]),
        ("CV AUC: .98 +/- .01", [(0.98, ""), (0.01, "")]),
        ("train_loss 1.5e-3 val_loss 2E+02", [(0.0015, ""), (200, "")]),
        ("params: 1,234,567 of 12,34", [(1234567, ""), (12, ""), (34, "")]),
        ("reward -3.5, change −2", [(-3.5, ""), (-2, "")]),
        ("1234.5 images/s, 512 MB, 3.5s", [(1234.5, "images/s"), (512, "MB"), (3.5, "s")]),
        ("parameters: 0.09M, 2d", [(0.09, "")]),
        ("2 min, 31.2 dB", [(2, "min"), (31.2, "dB")]),
        ("acc: 55 %", [(55, "%")]),
        ("acc=0.44 sec=4.80 ms: 12", [(0.44, ""), (4.8, ""), (12, "")]),
        ("epoch 1, 12.5s: loss 0.3", [(1, ""), (12.5, "s"), (0.3, "")]),
        ("loss=tensor(0.5432, device='cuda:0') np.float64(0.25)", [(0.5432, ""), (0.25, "")]),
        ("\x1b[32mloss\x1b[0m \x1b[1m0.5\x1b[0m", [(0.5, "")]),
        ("│ 0.5 ┃ 0.25 │", [(0.5, ""), (0.25, "")]),
    ],
)  # fmt: skip
def test_a_line_has_its_numbers_with_their_units(text: str, expected: list[tuple[float, str]]) -> None:
    assert numbers(text) == expected


@pytest.mark.parametrize(
    "text",
    [
        "2024-01-05 10:20:30,123 INFO",
        "[00:12<03:45]",
        "eta 1:02:03",
        "saved to runs/2024/model_0.95.pt",
        "/data/imagenet/2012/train",
        "./out/3/log.txt",
        "https://example.org/v2/1.5",
        "torch 2.13.0+cpu at 127.0.0.1",
        "0x7f3a40 9925-f780cc61 conv2d layer3 resnet-50 top1 1st 3D",
        "tensor of dtype=torch.float32",
        "run 4417e902, 12345e67, 1e400, 0e999",
        "information, nano, infinite",
    ],
)
def test_dates_times_paths_versions_and_words_are_no_numbers(text: str) -> None:
    assert numbers(text) == []


def test_what_is_no_number_leaves_the_places_of_the_others() -> None:
    text = "2024-01-05 10:20:30 loss 0.5"
    assert only(text).start == text.index("0.5")


@pytest.mark.parametrize("text", ["loss nan", "loss: NaN"])
def test_nan_shows_nan_alone(text: str) -> None:
    assert only(text).shows(math.nan)
    assert not only(text).shows(0.0)
    assert not only("loss 0.0").shows(math.nan)


@pytest.mark.parametrize(("text", "value"), [("inf", math.inf), ("loss -inf", -math.inf)])
def test_an_infinite_value_is_a_number(text: str, value: float) -> None:
    assert only(text).value == value
    assert not only(text).shows(0.0)


@given(st.floats(-1e6, 1e6), st.integers(0, 8), st.sampled_from([".{}f", "+.{}f", ",.{}f", ".{}e", ".{}g"]))
def test_a_number_shows_the_value_that_it_was_formatted_from(value: float, decimals: int, form: str) -> None:
    text = format(value, form.format(decimals))
    number = only(f"loss {text}")
    assert number.value == float(text.replace(",", ""))
    is_counter = number.is_whole and abs(value) < 10 and not value.is_integer()  # nobody rounds 1.3 to 1
    assert number.shows(value) == (not is_counter)
    assert (number.start, number.end) == (len("loss "), len("loss ") + len(text))


@given(st.floats(0, 1), st.integers(0, 6))
def test_a_percentage_shows_the_share_and_the_percentage(value: float, decimals: int) -> None:
    assert only(f"acc {value:.{decimals}%}").shows(value)
    assert only(f"acc {100 * value:.{decimals}f} %").shows(100 * value)


@given(st.floats(-1e3, 1e3), st.integers(0, 6), st.floats(1.1, 50))
def test_a_number_shows_no_value_beyond_its_last_digit(value: float, decimals: int, units: float) -> None:
    number = only(f"loss {value:.{decimals}f}")
    assert number.rounding == pytest.approx(0.5 * 10.0**-decimals)
    assert not number.shows(number.value + units * number.rounding)
    assert not number.shows(number.value - units * number.rounding)


@given(st.floats(allow_nan=False, allow_infinity=False))
def test_a_value_that_is_written_in_full_is_read_to_the_last_bit(value: float) -> None:
    assume(abs(value) < 1e16)
    assert only(f"loss {value!r}").value == value


def test_of_a_line_that_was_drawn_over_the_last_text_counts() -> None:
    lines = list(read_lines("loss 0.9\rloss 0.8\rloss 0.7\nacc 0.5\r\n"))
    assert [[number.value for number in line.numbers] for line in lines] == [[0.9], [0.8], [0.7], [0.5], []]
    assert [line.is_drawn_over for line in lines] == [True, True, False, False, False]
    assert lines[3].text == "acc 0.5"


def test_a_line_that_is_gone_back_over_is_drawn_over() -> None:
    lines = list(read_lines("1/2 loss: 2.5" + "\b" * 13 + "\n2/2 loss: 2.0\n"))
    assert [(line.is_drawn_over, len(line.numbers)) for line in lines] == [(True, 3), (False, 3), (False, 0)]


def test_of_what_was_drawn_over_many_times_the_last_text_alone_is_read() -> None:
    (line, _) = read_lines("".join(f"{step}/999 loss 0.5\r" for step in range(999)) + "999/999 loss 0.4\n")
    assert [number.value for number in line.numbers] == [999, 999, 0.4]


def test_what_is_written_without_decimals_is_whole() -> None:
    assert [number.is_whole for number in read_line("3 3.0 1e3 1,000 3% nan 3. 5...").numbers] == [
        True, False, False, True, True, False, False, True,
    ]  # fmt: skip


def test_a_line_of_data_is_read_up_to_a_limit() -> None:
    (line,) = read_lines("0.5 " * 10_000)
    assert len(line.numbers) == 1_250
