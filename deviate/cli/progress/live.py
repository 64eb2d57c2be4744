"""The live table on a terminal: a line per running run, totals, means and the latest notice."""

from rich.console import Group, RenderableType
from rich.progress_bar import ProgressBar
from rich.table import Table
from rich.text import Text

from deviate.cli.progress.means import mean_text, place_text
from deviate.cli.progress.tally import Tally
from deviate.replay import RunUpdate
from deviate.report import clean, duration
from deviate.workflows import Mean

FEWEST_ROWS = 3
BAR_WIDTH = 12


class LiveTable:
    """Accepts updates, and renders the current state."""

    def __init__(self, tally: Tally) -> None:
        self.tally = tally
        self.means: tuple[Mean, ...] = ()
        self.notices: list[str] = []

    def show(self, update: RunUpdate) -> None:
        self.tally.take(update)

    def notice(self, text: str) -> None:
        """Keep a sentence visible until the end."""
        self.notices.append(clean(text))

    def render(self, height: int = 24) -> RenderableType:
        """The current table, limited to a number of lines and to the width."""
        tally, now = self.tally, self.tally.clock()
        below = [
            *(Text("  ".join(filter(None, (place_text(mean, self.means), mean_text(mean))))) for mean in self.means),
            *(Text(text, style="yellow") for text in self.notices),
        ]
        n_rows = max(FEWEST_ROWS, height - len(below) - 3)
        running = list(tally.running.values())
        table = Table.grid(padding=(0, 2))
        for running_run in running[:n_rows]:
            table.add_row(*self._cells(running_run.update, now - running_run.began))
        hidden = len(running) - n_rows
        more = [Text(f"… and {hidden} more running")] if hidden > 0 else []
        totals = Text("   ".join(filter(None, (tally.counts(), duration(now - tally.began), tally.forecast()))))
        totals.stylize("bold")
        return Group(*([table] if running else []), *more, totals, *below)

    def _cells(self, update: RunUpdate, elapsed: float) -> tuple[RenderableType, ...]:
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
            Text(clean(update.value)),
        )
