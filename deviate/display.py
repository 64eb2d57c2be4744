"""What a user sees while runs go on: a live table on a terminal, plain lines elsewhere, nothing when quiet."""

import time
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Protocol, TextIO

from rich.console import Console, RenderableType
from rich.live import Live
from rich.table import Table
from rich.text import Text

from deviate.replay import RunUpdate
from deviate.report.format import duration


class Display(Protocol):
    """Takes news of runs."""

    def show(self, update: RunUpdate) -> None: ...


@contextmanager
def display(stream: TextIO, *, n_runs: int, jobs: int, is_quiet: bool) -> Iterator[Display]:
    """The display that suits the stream.

    Args:
        n_runs: runs of all variants together, those on record included.
    """
    if is_quiet:
        yield Silence()
    elif stream.isatty():
        table = LiveTable(n_runs, jobs)
        with Live(console=Console(file=stream), get_renderable=table.render, refresh_per_second=4, transient=True):
            yield table
    else:
        yield Lines(stream, n_runs, jobs)


class Silence:
    """Shows nothing."""

    def show(self, update: RunUpdate) -> None:
        """Take the news and keep it."""


class Tally:
    """What both displays count: finished runs, their times, and from these a forecast."""

    def __init__(self, n_runs: int, jobs: int) -> None:
        self.n_runs, self.jobs = n_runs, jobs
        self.began = time.monotonic()
        self.finished: list[RunUpdate] = []

    @property
    def n_failed(self) -> int:
        return sum(update.status != "completed" for update in self.finished)

    def forecast(self) -> str:
        """Time left, from the runs so far; empty before the first has ended."""
        left = self.n_runs - len(self.finished)
        if not self.finished or not left:
            return ""
        each = sum(update.wall_time_s for update in self.finished) / len(self.finished)
        return f"about {duration(each * left / min(self.jobs, left))} left"


class Lines:
    """One line for each run that ends."""

    def __init__(self, stream: TextIO, n_runs: int, jobs: int) -> None:
        self.stream = stream
        self.tally = Tally(n_runs, jobs)

    def show(self, update: RunUpdate) -> None:
        if update.kind != "finished":
            return
        self.tally.finished.append(update)
        parts = [
            f"[{len(self.tally.finished)}/{self.tally.n_runs}] {update.variant} replicate {update.replicate}",
            str(update.status),
            duration(update.wall_time_s),
            update.value,
            update.reason,
            self.tally.forecast(),
        ]
        print(" · ".join(part for part in parts if part), file=self.stream, flush=True)


class LiveTable:
    """One line for each run that is going on, and a line of totals."""

    def __init__(self, n_runs: int, jobs: int) -> None:
        self.tally = Tally(n_runs, jobs)
        self.running: dict[str, tuple[float, RunUpdate]] = {}

    def show(self, update: RunUpdate) -> None:
        if update.kind == "finished":
            self.running.pop(update.run_id, None)
            self.tally.finished.append(update)
        else:
            began, _ = self.running.get(update.run_id, (time.monotonic(), update))
            self.running[update.run_id] = (began, update)

    def render(self) -> RenderableType:
        """The table as it stands now."""
        table = Table.grid(padding=(0, 2))
        now = time.monotonic()
        for began, update in self.running.values():
            step = "" if update.step is None else f"step {update.step}"
            table.add_row(
                Text(f"{update.variant} replicate {update.replicate}"), duration(now - began), step, Text(update.value)
            )
        tally = self.tally
        failed = f", {tally.n_failed} failed" if tally.n_failed else ""
        left = tally.forecast()
        table.add_row(
            Text(f"{len(tally.finished)} of {tally.n_runs} done{failed}", style="bold"),
            duration(now - tally.began),
            left,
            "",
        )
        return table
