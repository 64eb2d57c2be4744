"""What is shown while runs go on."""

import io
import itertools
import os
import pty
import re
import signal
import struct
import subprocess
import sys
import termios
import threading
import time
from collections.abc import Callable
from fcntl import ioctl
from pathlib import Path
from typing import Any

import pytest
from rich.console import Console

from deviate.cli.progress.display import MeansReader, Printer, Screen, display
from deviate.cli.progress.tally import Tally, mean_text, place_text
from deviate.model.estimates import Unavailable
from deviate.model.plan import Spec
from deviate.replay.live_estimates import Mean
from deviate.replay.protocol import Order, Outcome, RunUpdate
from deviate.replay.states import Expected

TRAIN = """\
import os, random, time

for epoch in range(5):
    acc = 90 + random.random()
    print("acc %.4f" % acc)
    time.sleep(float(os.environ.get("PACE", "0.2")))
"""


class Clock:
    """Time as the test says."""

    def __init__(self) -> None:
        self.now = 0.0

    def __call__(self) -> float:
        return self.now


def update(kind: str, replicate: int, *, experiment: str = "x", **news: Any) -> RunUpdate:
    spec = Spec("", (), ".", "as-is", replicate, (), (), ())
    of_outcome = {name: news.pop(name) for name in ("status", "wall_time_s", "reason") if name in news}
    outcome = Outcome(**{  # type: ignore[arg-type]
        "spec": spec, "wall_time_s": 0.0, "folder": Path(), **of_outcome,
    }) if of_outcome else None  # fmt: skip
    return RunUpdate(kind, Order(Path(experiment), spec), Path(), outcome=outcome, **news)  # type: ignore[arg-type]


def means_of(*means: Mean) -> MeansReader:
    reader = MeansReader(tuple, 1.0)
    reader.means = means
    return reader


def mean(**facts: object) -> Mean:
    return Mean(**{  # type: ignore[arg-type]
        "experiment": "x", "variant": "as-is", "metric": "acc", "unit": "%", "n": 4, "mean": 93.4142, "sd": 0.2,
        "half_width": 0.3182, "confidence": 0.95, **facts,
    })  # fmt: skip


def text_of(table: Screen, *, height: int = 24) -> str:
    console = Console(width=110, record=True, file=io.StringIO())
    console.print(table.render(height))
    return console.export_text()


def test_lines_count_runs_and_forecast_the_rest() -> None:
    stream = io.StringIO()
    lines = Printer(
        stream, Tally(4, 1, (), Clock()), means_of(), 60.0, lambda update: "acc 0.9" if update.is_completed else ""
    )
    lines.take(update("started", 0))
    lines.take(update("progress", 0, step=3))
    lines.take(update("finished", 0, status="completed", wall_time_s=10.0))
    lines.take(update("finished", 1, status="crashed", wall_time_s=20.0, reason="exit code 1"))
    assert stream.getvalue() == (
        "[1/4] as-is replicate 0 · completed · 10 s · acc 0.9 · about 30 s left\n"
        "[2/4] as-is replicate 1 · crashed · 20 s · about 20 s left · exit code 1\n"
    )


def test_no_line_is_cut_where_there_is_no_terminal() -> None:
    stream, clock = io.StringIO(), Clock()
    means = means_of(*(mean(variant=f"variant-{i}") for i in range(9)))
    lines = Printer(stream, Tally(9, 1, (), clock), means, 60.0)
    lines.take(update("finished", 0, status="crashed", wall_time_s=10.0, reason="long " * 40))
    clock.now = 61.0
    lines.tick()
    first, second = stream.getvalue().splitlines()
    assert first.count("long") == 40
    assert all(f"variant-{i}" in second for i in range(9))


def test_a_running_run_has_the_time_that_it_takes_still() -> None:
    clock = Clock()
    table = Screen(io.StringIO(), Tally(3, 1, (), clock), means_of())
    table.take(update("finished", 0, status="completed", step=9, wall_time_s=30.0))
    table.take(update("started", 1))
    clock.now = 10.0
    table.take(update("progress", 1, step=3))
    assert re.fullmatch(r" *as-is replicate 1 +step 4 of 10 .* +10 s +20 s left *", text_of(table).splitlines()[0])


def test_after_silence_a_line_tells_counts_time_left_and_means() -> None:
    stream, clock = io.StringIO(), Clock()
    lines = Printer(stream, Tally(4, 1, (), clock), means_of(mean()), 60.0)
    lines.take(update("finished", 0, status="completed", wall_time_s=100.0))
    lines.take(update("started", 1))
    stream.truncate(0)
    clock.now = 59.0
    lines.tick()
    assert not stream.getvalue().strip("\0")
    clock.now = 61.0
    lines.means.means = (mean(), mean(metric="loss"))
    lines.tick()
    lines.tick()
    assert stream.getvalue().strip("\0") == (
        "1 of 4 done · 1 running · 2 waiting · about 3 min 59 s left · acc 93.41 % [93.10 … 93.73], n = 4\n"
    )


def test_a_run_on_record_is_done_and_a_lost_one_is_started_anew() -> None:
    tally = Tally(5, 1, (Expected("x", 5, n_done=2, n_steps=10, mean_s=4.0),), Clock())
    assert tally.counts() == "2 of 5 done · 3 waiting"
    tally.take(update("finished", 2, status="lost", experiment="x"))
    assert tally.counts() == "2 of 5 done · 2 waiting · 1 lost"
    tally.take(update("started", 2, experiment="x"))
    assert tally.counts() == "2 of 5 done · 1 running · 2 waiting · 1 started anew"
    tally.take(update("finished", 2, status="timed_out", experiment="x"))
    assert tally.counts() == "3 of 5 done · 2 waiting · 1 failed · 1 started anew"


def test_time_left_is_foreseen_for_each_experiment_by_its_own_runs() -> None:
    clock = Clock()
    tally = Tally(6, 2, (Expected("fast", 3), Expected("slow", 3)), clock)
    for replicate, experiment, seconds in ((0, "fast", 1.0), (1, "slow", 100.0)):
        tally.take(update("finished", replicate, status="completed", wall_time_s=seconds, experiment=experiment))
    assert tally.left_s() == pytest.approx((2 * 1 + 2 * 100) / 2)
    tally.take(update("started", 2, experiment="slow"))
    clock.now = 40.0
    assert tally.left_s() == pytest.approx((60 + 2 * 1 + 100) / 2)


def test_before_the_first_run_has_ended_its_steps_foretell_the_time() -> None:
    clock = Clock()
    known = Tally(2, 1, (Expected("x", 2, n_steps=10),), clock)
    known.take(update("started", 0, experiment="x"))
    assert known.forecast() == ""
    clock.now = 20.0
    known.take(update("progress", 0, experiment="x", step=4))  # the fifth step has begun, so four are done
    assert known.left_s() == pytest.approx(30 + 50)
    unknown = Tally(2, 1, (), clock)
    unknown.take(update("started", 0))
    unknown.take(update("progress", 0, step=4))
    assert unknown.forecast() == ""


def test_steps_count_from_one_of_as_many_as_a_finished_run_had() -> None:
    tally = Tally(3, 1, (), Clock())
    tally.take(update("started", 0))
    assert tally.progress(update("progress", 0)) is None
    assert tally.progress(update("progress", 0, step=0)) == (1, None)
    tally.take(update("finished", 0, status="completed", step=9, wall_time_s=1.0))
    assert tally.progress(update("progress", 1, step=3)) == (4, 10)
    assert tally.progress(update("progress", 1, step=12)) == (13, None)


def test_the_live_table_has_a_line_for_each_running_run_and_the_totals() -> None:
    clock = Clock()
    table = Screen(io.StringIO(), Tally(3, 2, (), clock), means_of(mean()))
    table.take(update("started", 0))
    table.take(update("started", 1, device="GPU 0"))
    clock.now = 2.0
    table.take(update("finished", 0, status="timed_out", step=9, wall_time_s=2.0))
    table.take(update("progress", 1, step=7, device="[red]GPU\x1b[31m 0\x07"))
    table.take("No new runs; \x1b]0;x\x071 running run finishes.")
    text = text_of(table)
    first, totals, told, notice = text.splitlines()
    assert re.fullmatch(r"\[red\]GPU 0 +as-is replicate 1 +step 8 +2\.0 s *", first)
    assert totals.rstrip() == "1 of 3 done · 1 running · 1 waiting · 1 failed   2.0 s"
    assert told.rstrip() == "acc 93.41 % [95% CI 93.10 … 93.73], n = 4"
    assert notice.rstrip() == "No new runs; 1 running run finishes."


def test_more_runs_than_the_terminal_has_lines_leave_the_totals_in_sight() -> None:
    table = Screen(io.StringIO(), Tally(500, 500, (), Clock()), means_of())
    for replicate in range(500):
        table.take(update("started", replicate))
    lines = text_of(table, height=20).splitlines()
    assert len(lines) < 20
    assert lines[-2].startswith("… and 483 more running")
    assert lines[-1].startswith("0 of 500 done · 500 running")


def test_a_mean_says_why_it_has_no_half_width_and_whose_it_is() -> None:
    single = mean(n=1, sd=Unavailable("1 run"), half_width=Unavailable("1 run"), unit="")
    assert mean_text(single) == "acc 93.4142 (1 run)"
    equal = mean(sd=0.0, half_width=Unavailable("all 4 values equal"), unit="")
    assert mean_text(equal) == "acc 93.4142 (all 4 values equal)"
    several = (mean(), mean(experiment="y"), mean(experiment="y", variant="control"))
    assert [place_text(it, several) for it in several] == ["x:as-is", "y:as-is", "y:control"]
    assert place_text(mean(), (mean(),)) == ""


def test_nothing_is_shown_when_quiet_and_no_control_codes_elsewhere() -> None:
    stream = io.StringIO()
    with display(stream, n_runs=1, jobs=1, is_quiet=True) as shown:
        shown.show(update("finished", 0, status="completed", wall_time_s=1.0))
    assert stream.getvalue() == ""
    with display(stream, n_runs=1, jobs=1, is_quiet=False) as shown:
        shown.show(update("finished", 0, status="completed", wall_time_s=1.0, reason="a\x1b[2Jb\nc"))
    assert stream.getvalue() == "[1/1] as-is replicate 0 · completed · 1.0 s · ab c\n"


def test_runs_that_are_added_are_counted_from_then_on() -> None:
    stream = io.StringIO()
    with display(stream, n_runs=1, jobs=1, is_quiet=False, expected=(Expected("x", 1),)) as shown:
        shown.show(update("finished", 0, status="completed", wall_time_s=2.0, experiment="x"))
        shown.expect(3)
        shown.show(update("finished", 1, status="completed", wall_time_s=2.0, experiment="x"))
    assert stream.getvalue() == (
        "[1/1] as-is replicate 0 · completed · 2.0 s\n[2/3] as-is replicate 1 · completed · 2.0 s · about 2.0 s left\n"
    )


def test_reading_means_holds_nobody_up() -> None:
    stream, is_asked, is_shown = io.StringIO(), threading.Event(), threading.Event()
    asked: list[float] = []

    def standing() -> tuple[Mean, ...]:
        asked.append(time.monotonic())
        is_asked.set()
        is_shown.wait(60)
        time.sleep(0.5)
        return (mean(),)

    def wait_for(text: str) -> None:
        until = time.monotonic() + 60
        while text not in stream.getvalue():
            assert time.monotonic() < until, stream.getvalue()
            time.sleep(0.05)

    with display(stream, n_runs=2, jobs=1, is_quiet=False, standing=standing, interval_s=0.4) as shown:
        assert is_asked.wait(60)
        for replicate in range(2):
            shown.show(update("finished", replicate, status="completed", wall_time_s=1.0))
        shown.notice("No new runs.")
        wait_for("No new runs.\n")
        is_shown.set()
        wait_for("acc 93.41")
        time.sleep(0.5)  # one that did not rest would be asked again by now
    assert asked
    assert stream.getvalue().index("[2/2]") < stream.getvalue().index("acc 93.41")
    assert "No new runs.\n" in stream.getvalue()
    # It rests ten times as long as it reads, and that is half a second at least.
    assert all(later - earlier >= 0.5 * 10 for earlier, later in itertools.pairwise(asked))


def test_runs_go_on_when_nobody_reads_any_more() -> None:
    reader, writer = os.pipe()
    os.close(reader)
    with os.fdopen(writer, "w") as stream:
        with display(stream, n_runs=2, jobs=1, is_quiet=False) as shown:
            for replicate in range(2):
                shown.show(update("finished", replicate, status="completed", wall_time_s=1.0))
                time.sleep(0.3)
        with pytest.raises(BrokenPipeError):
            stream.flush()
        os.dup2(os.open(os.devnull, os.O_WRONLY), writer)


class Terminal:
    """A process on a terminal of its own, and all that it wrote there."""

    def __init__(self, folder: Path, *arguments: str, **variables: str) -> None:
        path = f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"
        environment = {**os.environ, "PATH": path, "TERM": "xterm", **variables}
        environment.pop("COLUMNS", None)
        self.outer, inner = pty.openpty()
        ioctl(inner, termios.TIOCSWINSZ, struct.pack("HHHH", 30, 120, 0, 0))
        self.process = subprocess.Popen(
            [sys.executable, "-m", "deviate", *arguments],
            cwd=folder,
            env=environment,
            stdin=inner,
            stdout=inner,
            stderr=inner,
            start_new_session=True,
        )
        os.close(inner)
        self.written = ""

    def read_until(self, is_seen: Callable[[str], object]) -> str:
        """What was written so far, once it has what is looked for, or all when the process has ended."""
        while not is_seen(self.written):
            try:
                piece = os.read(self.outer, 65536)
            except OSError:  # the other side is closed
                break
            self.written += piece.decode(errors="replace")
        return self.written

    def end(self) -> int:
        self.read_until(lambda _: False)
        os.close(self.outer)
        return self.process.wait()


def test_a_terminal_shows_runs_with_steps_and_keeps_what_was_noticed(project: Path) -> None:
    (project / "train.py").write_text(TRAIN)
    terminal = Terminal(project, "run", "train.py", "-r", "4", "-j", "1", PACE="0.4")
    terminal.read_until(lambda text: re.search(r"replicate [1-3] +step \d of 5 ", text))
    seen = terminal.read_until(lambda text: re.search(r"[1-3] of 4 done · 1 running", text) and " left" in text)
    assert "\x1b[?25l" in seen  # the cursor is hidden, so this is the live table
    terminal.process.send_signal(signal.SIGINT)
    terminal.read_until(lambda text: "No new runs; " in text)
    assert terminal.end() == 130
    assert terminal.written.endswith(tuple("\n\r"))
    assert "\x1b[?25h" in terminal.written
    last = terminal.written.rpartition("\x1b[2K")[2]
    assert "No new runs; " in last
    assert "replicate" not in last
