"""Plain lines for a file or a pipe: one per ended run, and a status line from time to time."""

from typing import TextIO

from deviate.cli.progress.means import mean_text, place_text
from deviate.cli.progress.tally import Tally
from deviate.replay import RunUpdate
from deviate.report import clean, duration
from deviate.workflows import Mean


class Lines:
    """Writes a line when a run has ended, and a status line after `interval_s` seconds without output."""

    def __init__(self, stream: TextIO, tally: Tally, interval_s: float) -> None:
        self.stream, self.tally, self.interval_s = stream, tally, interval_s
        self._spoke = tally.clock()

    def show(self, update: RunUpdate) -> None:
        self.tally.take(update)
        if update.kind == "finished":
            self._say(finished_line(self.tally, update))

    def notice(self, text: str) -> None:
        self._say(clean(text))

    def tick(self, means: tuple[Mean, ...]) -> None:
        """Write a status line if it is due."""
        tally = self.tally
        if tally.clock() - self._spoke < self.interval_s:
            return
        estimates = [": ".join(filter(None, (place_text(mean, means), mean_text(mean)))) for mean in means]
        self._say(" · ".join(filter(None, (tally.counts(), tally.forecast(), *estimates))))

    def _say(self, line: str) -> None:
        self._spoke = self.tally.clock()
        print(line, file=self.stream, flush=True)


def finished_line(tally: Tally, update: RunUpdate) -> str:
    """The line for a run that has ended."""
    parts = [
        f"[{tally.n_done}/{tally.n_runs}] {tally.name(update)}",
        str(update.status),
        duration(update.wall_time_s),
        clean(update.value),
        clean(update.reason),
        tally.forecast(),
    ]
    return " · ".join(part for part in parts if part)
