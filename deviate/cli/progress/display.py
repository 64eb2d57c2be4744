"""The displays of runs that go on: plain lines for a file or a pipe, and the live table on a terminal."""

import os
import queue
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import TextIO

from rich.console import Console, Group, RenderableType
from rich.live import Live
from rich.progress_bar import ProgressBar
from rich.table import Table
from rich.text import Text

from deviate.cli.progress.tally import Running, Tally, mean_text, place_text
from deviate.errors import DeviateError
from deviate.replay.live_estimates import Mean
from deviate.replay.protocol import Outcome, RunUpdate
from deviate.replay.states import Expected
from deviate.report.format import clean, duration


def finished_line(tally: Tally, update: RunUpdate, outcome: Outcome, score: str = "") -> str:
    """The line for a run that has ended."""
    parts = [
        f"[{tally.n_done}/{tally.n_runs}] {tally.name(update)}",
        outcome.status,
        duration(outcome.wall_time_s),
        clean(score),
        tally.forecast(),
        clean(outcome.reason),
    ]
    return " · ".join(part for part in parts if part)


FEWEST_ROWS = 3
BAR_WIDTH = 12


# Run updates are shown in a separate thread, so that the scheduler never waits for the terminal or for reading.

QUIET_S = 60.0
"""Without a terminal, how things stand is told when nothing was said for so long."""
REFRESH_S = 0.25
MEANS_S = 5.0
"""How often means are computed on a terminal, at most."""
REST = 10
"""Computing them rests so many times as long as it took."""
LEAVE_S = 5.0
"""A stream that takes nothing, as a terminal that was stopped, is waited for so long in the end."""

Means = Callable[[], Sequence[Mean]]
News = RunUpdate | str | int | None


class RunDisplay:
    """Takes news of runs, and shows nothing. Nothing here waits, and all may be called in a signal handler."""

    def show(self, update: RunUpdate) -> None:
        """Show an update of a run."""

    def notice(self, text: str) -> None:
        """Show a sentence that stays visible."""

    def expect(self, n_runs: int) -> None:
        """Set the total number of runs, including recorded ones."""


@contextmanager
def display(
    stream: TextIO,
    *,
    n_runs: int,
    jobs: int,
    is_quiet: bool,
    standing: Means | None = None,
    score_text: Callable[[RunUpdate], str] = lambda _: "",
    expected: Sequence[Expected] = (),
    interval_s: float = QUIET_S,
) -> Iterator[RunDisplay]:
    """The display for a stream.

    Args:
        n_runs: runs of all experiments and variants together, those on record included.
        jobs: runs at a time.
        standing: gives the running means; called in a thread of its own, a few times a minute.
        score_text: gives the score of a run that has ended, where it is known.
        expected: each experiment with its number of runs, and what is known of them already.
        interval_s: without a terminal, seconds after which something is said in any case.
    """
    if is_quiet:
        yield RunDisplay()
        return
    tally = Tally(n_runs, jobs, expected, time.monotonic)
    is_live = stream.isatty() and os.environ.get("TERM") not in {"dumb", "unknown"}
    means = MeansReader(standing or tuple, MEANS_S if is_live else min(MEANS_S * 6, interval_s / 2))
    display_of_runs = Screen(stream, tally, means) if is_live else Printer(stream, tally, means, interval_s, score_text)
    means.start()
    display_of_runs.start()
    try:
        yield display_of_runs
    finally:
        means.leave()
        display_of_runs.leave()


class MeansReader(threading.Thread):
    """Computes running means occasionally, with long pauses: reading many values takes processor time from the runs."""

    def __init__(self, standing: Means, pause_s: float) -> None:
        super().__init__(name="means", daemon=True)
        self.means: tuple[Mean, ...] = ()
        self._standing, self._pause_s = standing, pause_s
        self._left = threading.Event()

    def run(self) -> None:
        pause_s = self._pause_s
        while not self._left.wait(pause_s):
            began = time.monotonic()
            try:
                self.means = tuple(self._standing())
            except (DeviateError, OSError):  # told by whoever reads the records in the end; the next time may be better
                self.means = ()
            pause_s = max(self._pause_s, REST * (time.monotonic() - began))

    def leave(self) -> None:
        """Stop computing means."""
        self._left.set()


class _Watcher(RunDisplay, threading.Thread):
    """Takes updates from a queue, which is safe to fill in a signal handler, and shows them."""

    def __init__(self, tally: Tally, means: MeansReader) -> None:
        super().__init__(name="display", daemon=True)
        self.tally, self.means = tally, means
        self._news: queue.SimpleQueue[News] = queue.SimpleQueue()

    def show(self, update: RunUpdate) -> None:
        self._news.put(update)

    def notice(self, text: str) -> None:
        self._news.put(text)

    def expect(self, n_runs: int) -> None:
        self._news.put(n_runs)

    def leave(self) -> None:
        """Show pending updates, and stop."""
        self._news.put(None)
        self.join(LEAVE_S)

    def run(self) -> None:
        try:
            self.watch()
        except (OSError, ValueError):  # the stream is gone, as when its reader ended: the runs go on
            while self._news.get() is not None:
                pass

    def watch(self) -> None:
        """Show updates until there are no more."""
        raise NotImplementedError

    def take(self, news: RunUpdate | str | int) -> None:
        """Count news, which those that inherit this show."""
        if isinstance(news, int):
            self.tally.n_runs = news
        elif isinstance(news, RunUpdate):
            self.tally.take(news)

    def next_news(self) -> tuple[News, ...]:
        """Pending updates, after waiting for REFRESH_S at most; an empty tuple if there are none."""
        news: list[News] = []
        try:
            news.append(self._news.get(timeout=REFRESH_S))
            while news[-1] is not None:
                news.append(self._news.get_nowait())
        except queue.Empty:
            pass
        return tuple(news)


class Printer(_Watcher):
    """Writes a line when a run has ended, and a status line after `interval_s` seconds without output."""

    def __init__(
        self,
        stream: TextIO,
        tally: Tally,
        means: MeansReader,
        interval_s: float,
        score_text: Callable[[RunUpdate], str] = lambda _: "",
    ) -> None:
        super().__init__(tally, means)
        self._stream, self._interval_s, self._score_text = stream, interval_s, score_text
        self._spoke = tally.clock()

    def watch(self) -> None:
        while True:
            for news in self.next_news():
                if news is None:
                    return
                self.take(news)
            self.tick()

    def take(self, news: RunUpdate | str | int) -> None:
        super().take(news)
        if isinstance(news, str):
            self._say(clean(news))
        elif isinstance(news, RunUpdate) and news.outcome:
            self._say(finished_line(self.tally, news, news.outcome, self._score_text(news)))

    def tick(self) -> None:
        """Write a status line if it is due."""
        tally, means = self.tally, self.means.means
        if tally.clock() - self._spoke < self._interval_s:
            return
        primary: dict[tuple[str, str], Mean] = {}
        for mean in means:  # the primary metric of an experiment comes first
            primary.setdefault((mean.experiment, mean.variant), mean)
        estimates = (
            ": ".join(filter(None, (place_text(mean, means), mean_text(mean, has_level=False))))
            for mean in primary.values()
        )
        self._say(" · ".join(filter(None, (tally.counts(), tally.forecast(), *estimates))))

    def _say(self, line: str) -> None:
        self._spoke = self.tally.clock()
        print(line, file=self._stream, flush=True)


class Screen(_Watcher):
    """Redraws the bottom of a terminal; failures are printed above it permanently."""

    def __init__(self, stream: TextIO, tally: Tally, means: MeansReader) -> None:
        super().__init__(tally, means)
        self._console = Console(file=stream)
        self._notices: list[str] = []

    def watch(self) -> None:
        try:
            self._draw()
        finally:
            for text in self._notices:
                self._console.print(Text(text))

    def _draw(self) -> None:
        console = self._console
        with Live(
            console=console,
            get_renderable=lambda: self.render(console.height),
            auto_refresh=False,
            transient=True,
        ) as live:
            drawn = 0.0
            while True:
                news = self.next_news()
                for item in news:
                    if item is None:
                        return
                    self.take(item)
                now = time.monotonic()
                if now - drawn >= (REFRESH_S if news else 2 * REFRESH_S):
                    drawn = now
                    live.refresh()

    def take(self, news: RunUpdate | str | int) -> None:
        super().take(news)
        if isinstance(news, str):
            self._notices.append(clean(news))
        elif isinstance(news, RunUpdate) and news.outcome and not news.is_completed:
            self._console.print(Text(finished_line(self.tally, news, news.outcome)))

    def render(self, height: int) -> RenderableType:
        """The current table, limited to a number of lines and to the width."""
        tally, now, means = self.tally, self.tally.clock(), self.means.means
        below = [
            *(Text("  ".join(filter(None, (place_text(mean, means), mean_text(mean))))) for mean in means),
            *(Text(text, style="yellow") for text in self._notices),
        ]
        n_rows = max(FEWEST_ROWS, height - len(below) - 3)
        running = list(tally.running.values())
        table = Table.grid(padding=(0, 2))
        for running_run in running[:n_rows]:
            table.add_row(*self._cells(running_run, now - running_run.began))
        hidden = len(running) - n_rows
        more = [Text(f"… and {hidden} more running")] if hidden > 0 else []
        totals = Text("   ".join(filter(None, (tally.counts(), duration(now - tally.began), tally.forecast()))))
        totals.stylize("bold")
        return Group(*([table] if running else []), *more, totals, *below)

    def _cells(self, running_run: Running, elapsed: float) -> tuple[RenderableType, ...]:
        update, left_s = running_run.update, self.tally.run_left_s(running_run)
        at = self.tally.progress(update)
        bar: RenderableType = ""
        step = ""
        if at is not None:
            step = f"step {at[0]}" if at[1] is None else f"step {at[0]} of {at[1]}"
            if at[1] is not None:
                bar = ProgressBar(total=at[1], completed=at[0], width=BAR_WIDTH)
        return (
            Text(clean(update.device)),
            Text(self.tally.name(update)),
            Text(step),
            bar,
            Text(duration(elapsed)),
            Text("" if left_s is None else f"{duration(left_s)} left"),
        )
