"""The main loop by what runs counted."""

from pathlib import Path

import pytest

from deviate.eventlog import encode
from deviate.model.analysis import NAMED, Loop, Metric, Span
from deviate.records.main_loop import confirm_main_loop
from deviate.records.schema import Manifest

SITE, OTHER_SITE = 0, 1


def metric(site: int) -> Metric:
    return Metric(site, f"m{site}", "m", "train.py", 9, "print", "quality", "min", (), site)


def manifest(main: int | None, *, kind: str = "for", is_named: bool = False) -> Manifest:
    evidence = (NAMED,) if is_named else ()
    loops = tuple(
        Loop(
            number, "train.py", 10 * number, 10 * number, kind if number == main else "for",  # type: ignore[arg-type]
            None, Span(1, 0, 1, 1), number == main, evidence,
        )
        for number in range(4)
    )  # fmt: skip
    return Manifest(
        root="", sources_hash="", main_loop=main, files={}, linked_folders={}, sites=(),
        metrics=(metric(SITE), metric(OTHER_SITE)), warnings=(), loops=loops,
    )  # fmt: skip


def attempt(
    folder: Path, *rows: tuple[int, int | None, int, int, int, float], values: list[list[int]] | None = None
) -> Path:
    lines = [encode("start", 1, {"pid": 1, "time": 0.0})]
    lines += [encode("value", SITE, 0, loops, 0.1, 1.0) for loops in values or []]
    (folder / "events-1-1.jsonl").write_text(
        "".join([*lines, encode("loops", [(*row, -1) for row in rows]), encode("end", 1.0, 1)])
    )
    return folder


def test_a_main_loop_that_never_ran_gives_way_to_the_outermost_one_that_updates_weights(tmp_path: Path) -> None:
    run = attempt(tmp_path, (3, None, 1, 9, -1, 9.0), (1, 3, 1, 5, 4, 3.0), (2, 1, 5, 50, 49, 2.0))
    main = confirm_main_loop(manifest(0), run)
    assert main.id == 1
    assert "train.py:10" in main.note
    assert "train.py:0, which never ran" in main.note


def test_where_no_weights_are_seen_the_outermost_loop_that_took_longest_is_taken(tmp_path: Path) -> None:
    run = attempt(tmp_path, (1, None, 1, 5, -1, 0.1), (2, None, 1, 4, -1, 3.0), (3, 2, 4, 400, -1, 2.9))
    assert confirm_main_loop(manifest(None), run).id == 2


@pytest.mark.parametrize(
    ("n_updated", "values", "chosen"),
    [
        (5, [[1, 0], [1, 1]], 1),  # reported between the inner loops, over and over
        (0, [[1, 0], [1, 1]], 2),  # each pass trains a new model
        (5, [[1, 0, 2, 0], [1, 1, 2, 0]], 2),  # reported inside of the inner loop alone
        (5, [[1, 5]], 2),  # reported once
    ],
)
def test_a_loop_around_the_main_loop_is_the_better_one_where_it_goes_on_with_the_weights_and_reports(
    n_updated: int, values: list[list[int]], chosen: int, tmp_path: Path
) -> None:
    run = attempt(tmp_path, (1, None, 1, 6, n_updated, 3.0), (2, 1, 6, 48, 42, 2.0), values=values)
    assert confirm_main_loop(manifest(2), run).id == chosen


def test_the_choice_of_the_user_and_loops_of_frameworks_stand(tmp_path: Path) -> None:
    run = attempt(tmp_path, (1, None, 1, 6, 5, 3.0))
    assert confirm_main_loop(manifest(2, is_named=True), run).id == 2
    run = attempt(tmp_path, (1, None, 1, 6, -1, 3.0))
    assert confirm_main_loop(manifest(2, kind="managed"), run).id == 2
    run = attempt(tmp_path, (1, None, 1, 6, 5, 3.0), (-1, 1, 1, 3, -1, 2.0))
    assert confirm_main_loop(manifest(2), run).id == 2


def test_a_main_loop_that_never_ran_is_none_also_where_no_loop_ran(tmp_path: Path) -> None:
    assert confirm_main_loop(manifest(2), attempt(tmp_path)).id is None


def test_runs_that_did_not_count_confirm_nothing(tmp_path: Path) -> None:
    (tmp_path / "events-1-1.jsonl").write_text(encode("start", 1, {"pid": 1, "time": 0.0}))
    assert confirm_main_loop(manifest(2), tmp_path).id == 2
