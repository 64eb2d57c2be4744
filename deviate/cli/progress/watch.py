"""Shows run updates in a separate thread, so that the scheduler never waits for the terminal or for reading."""

import os
import queue
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import TextIO

from rich.console import Console
from rich.live import Live
from rich.text import Text

from deviate.cli.progress.lines import Lines, finished_line
from deviate.cli.progress.live import LiveTable
from deviate.cli.progress.tally import Tally
from deviate.errors import DeviateError
from deviate.replay import RunUpdate
from deviate.workflows import Expected, Mean

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


class Display:
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
    expected: Sequence[Expected] = (),
    interval_s: float = QUIET_S,
) -> Iterator[Display]:
    """The display for a stream.

    Args:
        n_runs: runs of all experiments and variants together, those on record included.
        jobs: runs at a time.
        standing: gives the running means; called in a thread of its own, a few times a minute.
        expected: each experiment with its number of runs, and what is known of them already.
        interval_s: without a terminal, seconds after which something is said in any case.
    """
    if is_quiet:
        yield Display()
        return
    tally = Tally(n_runs, jobs, expected, time.monotonic)
    is_live = stream.isatty() and os.environ.get("TERM") not in {"dumb", "unknown"}
    means = MeansReader(standing or tuple, MEANS_S if is_live else min(MEANS_S * 6, interval_s / 2))
    display_of_runs = Screen(stream, tally, means) if is_live else Printer(stream, tally, means, interval_s)
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


class _Watcher(Display, threading.Thread):
    """Takes updates from a queue, which is safe to fill in a signal handler, and shows them."""

    def __init__(self, tally: Tally, means: MeansReader, view: Lines | LiveTable) -> None:
        super().__init__(name="display", daemon=True)
        self.tally, self.means, self.view = tally, means, view
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
        """Hand news to what shows it."""
        if isinstance(news, int):
            self.tally.n_runs = news
        elif isinstance(news, str):
            self.view.notice(news)
        else:
            self.view.show(news)

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
    """Prints lines."""

    def __init__(self, stream: TextIO, tally: Tally, means: MeansReader, interval_s: float) -> None:
        self._lines = Lines(stream, tally, interval_s)
        super().__init__(tally, means, self._lines)

    def watch(self) -> None:
        while True:
            for news in self.next_news():
                if news is None:
                    return
                self.take(news)
            self._lines.tick(self.means.means)


class Screen(_Watcher):
    """Redraws the bottom of a terminal; failures are printed above it permanently."""

    def __init__(self, stream: TextIO, tally: Tally, means: MeansReader) -> None:
        self._console = Console(file=stream)
        self._table = LiveTable(tally)
        super().__init__(tally, means, self._table)

    def watch(self) -> None:
        try:
            self._draw()
        finally:
            for text in self._table.notices:
                self._console.print(Text(text))

    def _draw(self) -> None:
        console, table = self._console, self._table
        with Live(
            console=console,
            get_renderable=lambda: table.render(console.height),
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
                    table.means = self.means.means
                    live.refresh()

    def take(self, news: RunUpdate | str | int) -> None:
        super().take(news)
        if isinstance(news, RunUpdate) and news.kind == "finished" and news.status != "completed":
            self._console.print(Text(finished_line(self.tally, news)))
