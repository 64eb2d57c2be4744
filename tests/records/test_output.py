"""Which values of a run its output shows, and under which words."""

import json
from collections.abc import Sequence
from pathlib import Path

from deviate.model.analysis import Site, Span
from deviate.records.output import MOST_KEYS, read_output
from deviate.series.naming import LoggedOutput

SINKS = ("print", "tqdm", "file", "logging", "logging.debug")
SITES = tuple(
    Site(i, "train.py", 10 * (i + 1), Span(10 * (i + 1), 0, 10 * (i + 1), 1), "x", sink) for i, sink in enumerate(SINKS)
)


def read(folder: Path, events: Sequence[list[object]], stdout: str, stderr: str = "") -> LoggedOutput:
    lines = "".join(f"{json.dumps(event)}\n" for event in events)
    (folder / "events-1-0.jsonl").write_text(lines)
    (folder / "stdout.log").write_text(stdout)
    (folder / "stderr.log").write_text(stderr)
    return read_output([folder], SITES, 0)


def step(number: int) -> list[object]:
    return ["step", 0, number, 0.1]


def value(number: float, *, site: int = 0, at: int | None = None, key: str | None = None) -> list[object]:
    return [site, 0, [] if at is None else [0, at], 0.1, number, *([] if key is None else [key])]


def words(output: LoggedOutput) -> list[str | None]:
    captions = output.captions["events-1-0.jsonl"]
    return [captions[ordinal].text if ordinal in captions else None for ordinal in range(1 + max(captions, default=-1))]


def test_a_value_whose_line_was_never_written_is_silent(tmp_path: Path) -> None:
    steps = [event for at in range(3) for event in (step(at), value(0.5123 + at, at=at))]
    log = "".join(f"distance {0.5123 + at:.3f}\n" for at in range(3))
    assert words(read(tmp_path, [value(0.123456), *steps], log)) == ["", "distance", "distance", "distance"]


def test_a_line_that_was_not_found_has_the_words_of_those_that_were(tmp_path: Path) -> None:
    steps = [event for at in range(4) for event in (step(at), value(0.5123 + at, at=at))]
    log = "distance 0.512\ndistance 1.512\ndistance 3.512\n"
    assert words(read(tmp_path, steps, log)) == ["distance"] * 4


def test_a_progress_bar_has_no_words(tmp_path: Path) -> None:
    steps = [event for at in range(2) for event in (step(at), value(0.5123 + at, site=1, at=at))]
    assert words(read(tmp_path, steps, "", "100%|####| 2/2 [00:01, loss=1.5123]\n")) == []


def test_a_statement_that_writes_to_one_log_is_not_sought_in_the_other(tmp_path: Path) -> None:
    found = read(tmp_path, [value(0.5123), value(0.0)], "loss 0.5123\n", "set OPTION=0 to turn it off\n")
    assert words(found) == ["loss"]


def test_details_that_a_logger_leaves_out_are_silent_where_it_shows_the_rest(tmp_path: Path) -> None:
    events = [value(0.5123, site=3), value(0.7654, site=4)]
    assert words(read(tmp_path, events, "", "INFO loss 0.5123\n")) == ["INFO loss", ""]
    assert words(read(tmp_path, events, "", "INFO loss 0.5123\nDEBUG time 0.7654\n")) == ["INFO loss", "DEBUG time"]
    assert words(read(tmp_path, events, "")) == []


def test_more_keys_than_results_have_are_data(tmp_path: Path) -> None:
    keys = [f"tree.{number}" for number in range(MOST_KEYS + 1)]
    assert read(tmp_path, [value(0.5, site=2, key=key) for key in keys], "").dumped == {2}
    named = [["named", key, 1, [], 0.1, 0.5] for key in keys]
    assert read(tmp_path, named, "").dumped == set(keys)
    assert not read(tmp_path, named[1:], "").dumped


def test_results_above_the_first_line_of_training_are_series_and_sizes_are_not(tmp_path: Path) -> None:
    log = "data 0.25 kept\nlogreg accuracy 0.94\nforest accuracy 0.95\n"
    found = read(tmp_path, [step(0), value(0.95, at=0)], log)
    assert [key.words[3] for key in found.unrecorded] == ["logreg accuracy"]
