"""Event files: folded step by step, torn and bad lines counted."""

import math
import random
import sys
import time
from pathlib import Path
from typing import Any

import pytest
from recorded import start, value_line

from deviate import eventlog
from deviate.eventlog import SeedEntry, ValueEntry, decode, encode
from deviate.model.analysis import Place
from deviate.model.records import Artifact, ControlEvent, EvaluationData, Flip, SeedEvent, Weights
from deviate.records import files
from deviate.records.columns import NO_STEP
from deviate.records.events import Points, ProcessLog, ValueSource, read_events
from deviate.series.caption import Caption


def by_site(source: ValueSource) -> str:
    return f"{source.name or source.site} {source.label}"


def read(tmp_path: Path, *lines: str, main_loop: int | None = 0) -> ProcessLog:
    path = tmp_path / "events-1-1.jsonl"
    path.write_text(start() + "".join(lines))
    return read_events(path, main_loop, by_site)


def value(loops: tuple[int, ...], number: float, *, site: int = 0, label: str | None = None) -> str:
    return value_line(site, number, loops=loops, label=label)


def test_floats_keep_all_bits_and_non_finite_ones_come_back(tmp_path: Path) -> None:
    numbers = (0.1 + 0.2, 5e-324, math.pi * 1e300, -math.inf, math.inf, math.nan)
    log = read(tmp_path, *(value((0, step), number) for step, number in enumerate(numbers)))
    read_back = log.points["0 None"].values
    assert [number.hex() for number in read_back] == [number.hex() for number in numbers]


def test_all_values_within_a_step_and_outside_of_the_loop_are_kept(tmp_path: Path) -> None:
    places = [(), (), (0, 0, 1, 0), (0, 0, 1, 1), (0, 1, 1, 0), (), ()]
    lines = [value(loops, number) for number, loops in enumerate(places)]
    points = read(tmp_path, *lines).points["0 None"]
    assert points.steps.tolist() == [NO_STEP, NO_STEP, 0, 0, 1, NO_STEP, NO_STEP]
    assert points.values.tolist() == list(range(7))


@pytest.mark.parametrize("seed", range(20))
def test_every_value_is_kept_in_order_of_step_and_arrival(seed: int) -> None:
    rng = random.Random(seed)
    last, added = 0, []
    for number in range(rng.randrange(1, 60)):
        last += rng.randrange(2)
        added.append((max(0, last - rng.choice([0, 0, 0, 1, 5])), float(number), rng.random()))
    points = Points()
    for step, number, seconds in added:
        points.add(step, number, seconds)
    assert list(zip(points.steps, points.values, points.times, strict=True)) == sorted(added, key=lambda one: one[0])


def test_a_late_value_leaves_those_outside_of_the_loop_where_they_are() -> None:
    points = Points()
    for number, step in enumerate([NO_STEP, 3, 4, NO_STEP, 3, NO_STEP, 2, 5]):
        points.add(step, number, 0.0)
    assert points.steps.tolist() == [NO_STEP, 2, 3, 3, 4, NO_STEP, NO_STEP, 5]
    assert points.values.tolist() == [0.0, 6.0, 1.0, 4.0, 2.0, 3.0, 5.0, 7.0]


def test_steps_go_on_rising_when_the_main_loop_is_entered_again(tmp_path: Path) -> None:
    once = [line for step in range(3) for line in (encode("step", 0, step, 0.1), value((0, step), step))]
    rare = [encode("step", 0, 0, 0.1), encode("step", 0, 1, 0.1), value((0, 1), 9)]
    log = read(tmp_path, *once, *rare)
    assert log.points["0 None"].steps.tolist() == [0, 1, 2, 4]
    assert log.has_main


def test_a_loop_of_one_step_entered_often_counts_on(tmp_path: Path) -> None:
    lines = [line for index in range(3) for line in (encode("step", 0, 0, 0.1), value((0, 0), index))]
    assert read(tmp_path, *lines).points["0 None"].steps.tolist() == [0, 1, 2]


def test_without_step_events_a_smaller_step_means_that_the_loop_was_entered_again(tmp_path: Path) -> None:
    log = read(tmp_path, *(value((0, step), 1) for step in (0, 1, 0, 1)))
    assert log.points["0 None"].steps.tolist() == [0, 1, 2, 3]


def test_a_value_that_comes_after_its_step_takes_its_place_with_its_time(tmp_path: Path) -> None:
    said = [((0, 0), 1.0, 0.25), ((0, 0), 2.0, 0.5), ((0, 2), 3.0, 4), ((0, 1), 9.0, 4.125), ((0, 0), 7.0, 4.25)]
    lines = [encode("step", 0, step, 0.1) for step in range(3)]
    lines += [value_line(0, number, loops=loops, at=at) for loops, number, at in said]
    points = read(tmp_path, *lines).points["0 None"]
    assert points.steps.tolist() == [0, 0, 0, 1, 2]
    assert points.values.tolist() == [1.0, 2.0, 7.0, 9.0, 3.0]
    assert points.times.tolist() == [0.25, 0.5, 4.25, 4.125, 4.0]


def test_a_value_without_a_time_is_a_bad_line_and_leaves_the_columns_as_long_as_each_other(tmp_path: Path) -> None:
    log = read(tmp_path, value((0, 0), 1), "[0, 0, [0, 1], null, 2.0]\n", value((0, 2), 3))
    points = log.points["0 None"]
    assert (len(points.steps), len(points.values), len(points.times), log.n_bad) == (2, 2, 2, 1)


def test_the_loop_of_an_unknown_framework_counts_when_the_analysis_found_none(tmp_path: Path) -> None:
    log = read(tmp_path, encode("named", "loss", 0, [-1, 4, 7, 2], 0.1, 0.5), main_loop=None)
    assert log.points["loss None"].steps.tolist() == [4]


def test_the_main_loop_of_the_analysis_goes_before_a_frameworks_own(tmp_path: Path) -> None:
    log = read(tmp_path, encode("named", "loss", 0, [0, 2, -1, 4], 0.1, 0.5))
    assert log.points["loss None"].steps.tolist() == [2]


def test_a_torn_last_line_is_dropped_and_counted(tmp_path: Path) -> None:
    log = read(tmp_path, value((0, 0), 1), value((0, 1), 2)[:-1])
    assert (log.points["0 None"].steps.tolist(), log.n_torn, log.n_bad) == ([0], 1, 0)


@pytest.mark.parametrize(
    "bad",
    ["\n", "{}\n", "[]\n", "[0]\n", '["value", 0, 0, [], 0.1, 1.0]\n', "[0, 99, [], 0.1, 1.0]\n", "\x00\x00\n",
     '["future", 1]\n', '[0, 0, [], 0.1, "many"]\n', f'[0, 0, [], 0.1, 1{"0" * 400}]\n', '["start"]\n',
     "[" * 100_000 + "\n", '["environment", []]\n', '["control", "kernels", "f", "True", "a.py", 1, "kept"]\n',
     '["draws", "torch", "init"]\n', '["draws", "torch", ["luck"]]\n', '["draws", "torch"]\n',
     '["uncontrolled", "os.urandom"]\n', '["operation", "put_", "train.py", "here"]\n',
     '["weights", "start", "torch", "ab", 5]\n', '["weights", "exit", "torch", "ab", null]\n',
     '["evaluation", "torch", "ab"]\n', '["flip", "torch", "w", "12", 0.5, 0.6]\n',
     '["flip", "torch", "w", [1, 2], true, 0.6]\n', '["artifact", "logits", "test", 0, "torch", "a.npz", 3]\n',
     '["artifact", "weights", "exit", 0, "torch", "../a.npz", 3]\n', '["not captured", "weights", "torch"]\n'],
)  # fmt: skip
def test_a_bad_line_is_counted_and_loses_nothing_else(tmp_path: Path, bad: str) -> None:
    log = read(tmp_path, value((0, 0), 1), bad, value((0, 1), 2))
    assert (log.points["0 None"].values.tolist(), log.n_bad) == ([1.0, 2.0], 1)


@pytest.mark.parametrize("bad", [["[0, 0, [0, 1], 0.1\n", "1.0]\n"], ["1], [2\n"]])
def test_lines_that_make_sense_only_together_are_bad(tmp_path: Path, bad: list[str]) -> None:
    log = read(tmp_path, value((0, 0), 1), *bad, value((0, 2), 2))
    assert (log.points["0 None"].values.tolist(), log.n_bad) == ([1.0, 2.0], len(bad))


@pytest.mark.parametrize("seed", range(3))
def test_in_pieces_of_any_size_a_file_reads_the_same(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, seed: int
) -> None:
    rng = random.Random(seed)
    lines = []
    for step in range(200):
        lines.append(encode("step", 0, step, 0.1))
        lines += [value((0, max(0, step - rng.randrange(3))), rng.random(), site=rng.randrange(2)) for _ in range(3)]
        lines += [value((), rng.random())] * (rng.random() < 0.1)
        lines += ["broken\n"] * (rng.random() < 0.05)
    whole = read(tmp_path, *lines)
    monkeypatch.setattr(files, "PIECE_CHARACTERS", rng.choice([1, 100, 1_000]))
    assert read(tmp_path, *lines).points == whole.points
    assert read(tmp_path, *lines).n_bad == whole.n_bad > 0


def test_a_step_beyond_all_numbers_is_a_bad_line(tmp_path: Path) -> None:
    log = read(tmp_path, value((0, 1), 1), value((0, 10**30), 2), value((0, 2), 3))
    assert (log.points["0 None"].steps.tolist(), log.n_bad) == ([1, 2], 1)


def test_sources_differ_by_path_and_label(tmp_path: Path) -> None:
    seen: list[ValueSource] = []
    path = tmp_path / "events-1-1.jsonl"
    path.write_text(
        start() + encode("path", 1, [["train.py", 5], ["train.py", 30]]) + encode("path", 2, [["train.py", 6]])
        + "".join(value_line(0, 1, way=way, label=label) for way in (1, 2) for label in (None, "test"))
    )  # fmt: skip
    read_events(path, 0, lambda source: seen.append(source) or "name")  # type: ignore[func-returns-value]
    ways = ((Place("train.py", 5), Place("train.py", 30)), (Place("train.py", 6),))
    assert seen == [ValueSource(0, None, way, label, None, "before") for way in ways for label in (None, "test")]


def test_a_source_has_the_words_of_its_value_and_the_phase_of_the_run(tmp_path: Path) -> None:
    seen: list[ValueSource] = []
    path = tmp_path / "events-1-1.jsonl"
    lines = [value((), 1), encode("step", 0, 0, 0.1), value((0, 0), 2), value((0, 0), 3), value((), 4)]
    path.write_text(start() + "".join(lines))
    words = {1: Caption("loss"), 2: Caption("val loss"), 3: Caption("loss")}
    read_events(path, 0, lambda source: seen.append(source) or "name", words)  # type: ignore[func-returns-value]
    told = [(None if source.caption is None else source.caption.own, source.phase) for source in seen]
    assert told == [(None, "before"), ("loss", "along"), ("val loss", "along"), ("loss", "after")]


def test_what_else_happened_is_kept(tmp_path: Path) -> None:
    log = read(
        tmp_path,
        encode("seed", "torch.manual_seed", "0", "train.py", 3, "replaced"),
        encode("write", "/data/out.txt"),
        encode("error", "tap", "oops"),
        encode("environment", {"torch": "2.13.0", "threads": 2}),
        encode("end", 3.5, 0),
    )
    assert log.seeds == [SeedEvent("torch.manual_seed", "0", "train.py", 3, "replaced")]
    assert (log.writes, log.errors) == (["/data/out.txt"], ["tap: oops"])
    assert log.environment == {"torch": "2.13.0", "threads": "2"}
    assert log.ended == log.started + 3.5


def test_what_the_guest_tells_of_randomness_is_kept(tmp_path: Path) -> None:
    log = read(
        tmp_path,
        encode("control", "kernels", "torch.use_deterministic_algorithms", "True", "", 0, "set"),
        encode("control", "autotune", "torch.backends.cudnn.benchmark", "True", "train.py", 7, "overridden"),
        encode("flip", "torch", "0.weight", [3, 1], 0.1, 0.10000000149011612),
        encode("uncontrolled", "os.urandom", "train.py", 12),
        encode("uncontrolled", "draws of native threads", "", 0),
        encode("operation", "put_", "train.py", 14),
        encode("evaluation", "torch", "cd" * 32, 397, "inputs"),
        encode("weights", "loop", "torch", "ab" * 32, 650),
        encode("weights", "exit", "torch", "ef" * 32, 650),
        encode("draws", "torch", ["init", "shuffle"]),
        encode("draws", "numpy", []),
    )
    assert log.controls == [
        ControlEvent("kernels", "torch.use_deterministic_algorithms", "True", "", 0, "set"),
        ControlEvent("autotune", "torch.backends.cudnn.benchmark", "True", "train.py", 7, "overridden"),
    ]
    assert log.flips == [Flip("torch", "0.weight", (3, 1), 0.1, 0.10000000149011612)]
    assert log.uncontrolled == ["os.urandom (train.py:12)", "draws of native threads"]
    assert log.operations == ["put_ (train.py:14)"]
    assert log.evaluation == [EvaluationData("torch", "cd" * 32, 397)], "older guests tell no evidence"
    assert log.weights == [Weights("loop", "torch", "ab" * 32, 650), Weights("exit", "torch", "ef" * 32, 650)]
    assert log.draws == {"torch": ["init", "shuffle"], "numpy": []}
    assert log.n_bad == 0


def test_what_was_captured_and_what_could_not_be_is_kept(tmp_path: Path) -> None:
    log = read(
        tmp_path,
        encode("artifact", "predictions", "test", 4, "torch", "predictions-test-4-7.npz", 100),
        encode("artifact", "weights", "exit", -1, "torch", "weights-torch-exit-7.npz", 6),
        encode("not captured", "weights", "torch", "the limit is reached"),
    )
    assert log.artifacts == [
        Artifact("predictions", "test", 4, "torch", Path("predictions-test-4-7.npz"), 100),
        Artifact("weights", "exit", None, "torch", Path("weights-torch-exit-7.npz"), 6),
    ]
    assert (list(map(str, log.not_captured)), log.n_bad) == (["weights of torch: the limit is reached"], 0)


def test_a_flip_to_or_from_infinity_comes_back(tmp_path: Path) -> None:
    log = read(tmp_path, encode("flip", "jax", "w", [0, 0], "inf", "-inf"))
    assert log.flips == [Flip("jax", "w", (0, 0), math.inf, -math.inf)]


def test_a_process_is_whole_when_its_end_is_told(tmp_path: Path) -> None:
    assert read(tmp_path, value((0, 0), 1), encode("end", 0.5, 0)).is_whole
    assert not read(tmp_path, value((0, 0), 1)).is_whole
    assert not read(tmp_path, encode("end", 0.5, 0)[:-1]).is_whole


def test_a_rank_that_is_no_number_costs_the_rank_alone(tmp_path: Path) -> None:
    path = tmp_path / "events-1-1.jsonl"
    path.write_text(encode("start", 1, {"pid": 7, "time": 5.0, "rank": "first", "python": "3.11.9"}))
    log = read_events(path, 0, by_site)
    assert (log.pid, log.started, log.rank, log.environment, log.n_bad) == (7, 5.0, None, {"python": "3.11.9"}, 1)


def test_a_rank_that_becomes_known_later_is_that_of_the_whole_process(tmp_path: Path) -> None:
    log = read(tmp_path, value((0, 0), 1), encode("rank", 3, 4), encode("rank", 1, 2), encode("end", 0.5, 0))
    assert (log.rank, log.n_bad) == (1, 0)


def test_reading_costs_linear_time_and_24_bytes_per_value(tmp_path: Path) -> None:
    path = tmp_path / "events-1-1.jsonl"
    with path.open("w") as file:
        file.write(start())
        file.writelines(value((0, index // 1000, 1, index % 1000), 0.5) for index in range(100_000))
    began = time.process_time()
    log = read_events(path, 0, by_site)
    assert time.process_time() - began < 30.0
    points = log.points["0 None"]
    assert len(points.steps) == 100_000
    assert sum(map(sys.getsizeof, (points.steps, points.values, points.times))) < 1.2 * 24 * 100_000


def test_an_event_has_the_fields_of_its_kind() -> None:
    assert decode(encode("seed", "random.seed", "1", "train.py", 3, "kept")) == SeedEntry(
        "random.seed", "1", "train.py", 3, "kept"
    )
    with pytest.raises(TypeError):
        encode("seed", "random.seed")
    with pytest.raises(LookupError):
        encode("sed", "random.seed")
    for line in ('["seed", "random.seed"]', '["sed"]', "[]", "5", "null", '{"seed": 1}', '"seed"'):
        with pytest.raises(ValueError, match="not an event"):
            decode(line)


def test_a_value_without_a_label_has_none() -> None:
    assert decode("[0,0,[],0.1,0.5]") == ValueEntry(0, 0, [], 0.1, 0.5, None)


def test_at_run_time_kinds_are_what_type_checkers_take_them_for() -> None:
    """`typing.NamedTuple` of the same body has the same fields, defaults and attributes."""
    text = Path(eventlog.__file__).read_text(encoding="utf-8").replace("TYPE_CHECKING = False", "TYPE_CHECKING = True")
    checked: dict[str, Any] = {"__name__": "checked"}
    exec(compile(text, "eventlog.py", "exec"), checked)
    for kind, made in eventlog.KINDS.items():
        other = checked["KINDS"][kind]
        assert made._fields == other._fields  # type: ignore[attr-defined]
        items = tuple(range(len(other._fields)))
        assert [getattr(made(*items), name) for name in other._fields] == list(made(*items)) == list(other(*items))
        n_least = len(other._fields) - len(other._field_defaults)
        assert made(*items[:n_least]) == tuple(other(*items[:n_least]))
        for wrong in (items[: n_least - 1], (*items, 0)):
            with pytest.raises(TypeError):
                made(*wrong)
