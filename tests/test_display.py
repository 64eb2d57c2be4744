"""What is shown while runs go on."""

import io
from pathlib import Path

from rich.console import Console

from deviate.display import Lines, LiveTable, display
from deviate.replay import RunUpdate


def update(kind: str, replicate: int, **news: object) -> RunUpdate:
    return RunUpdate(kind, f"id{replicate}", replicate, "as-is", Path(), **news)  # type: ignore[arg-type]


def test_lines_count_runs_and_forecast_the_rest() -> None:
    stream = io.StringIO()
    lines = Lines(stream, 4, 1)
    lines.show(update("started", 0))
    lines.show(update("progress", 0, step=3, value="acc 0.5"))
    lines.show(update("finished", 0, status="completed", wall_time_s=10.0, value="acc 0.9"))
    lines.show(update("finished", 1, status="crashed", wall_time_s=20.0, reason="exit code 1"))
    assert stream.getvalue() == (
        "[1/4] as-is replicate 0 · completed · 10 s · acc 0.9 · about 30 s left\n"
        "[2/4] as-is replicate 1 · crashed · 20 s · exit code 1 · about 30 s left\n"
    )


def test_the_live_table_has_a_line_for_each_running_run_and_the_totals() -> None:
    table = LiveTable(3, 2)
    table.show(update("started", 0))
    table.show(update("started", 1))
    table.show(update("progress", 1, step=7, value="[red]loss 0.1"))
    table.show(update("finished", 0, status="timed_out", wall_time_s=4.0))
    console = Console(width=100, record=True, file=io.StringIO())
    console.print(table.render())
    text = console.export_text()
    assert "replicate 1" in text
    assert "step 7" in text
    assert "[red]loss 0.1" in text
    assert "replicate 0" not in text
    assert "1 of 3 done, 1 failed" in text


def test_nothing_is_shown_when_quiet_and_no_control_codes_elsewhere() -> None:
    stream = io.StringIO()
    with display(stream, n_runs=1, jobs=1, is_quiet=True) as shown:
        shown.show(update("finished", 0, status="completed", wall_time_s=1.0))
    assert stream.getvalue() == ""
    with display(stream, n_runs=1, jobs=1, is_quiet=False) as shown:
        shown.show(update("finished", 0, status="completed", wall_time_s=1.0))
    assert "\x1b" not in stream.getvalue()
    assert stream.getvalue().count("\n") == 1
