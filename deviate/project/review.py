"""A review: the user checks in the terminal what will be recorded, step by step."""

import enum
import os
import sys
from collections.abc import Callable, Sequence
from functools import partial
from typing import Protocol

from rich.console import Console, RenderableType

from deviate.errors import InputError
from deviate.model.analysis import Analysis, Metric, Rejected
from deviate.project import saving, selection
from deviate.project.config import Config, MetricConfig
from deviate.project.config_edit import Entry, Rewriting
from deviate.project.review_items import (
    SETTINGS,
    Item,
    attach,
    show_error,
    show_item,
    show_keys,
    show_loop,
    show_misses,
    show_places,
    show_summary,
    with_place,
)
from deviate.project.selection import Match

MOST_MISSES = 12
UNWANTED = "Excluded in a review."
WORDS = {
    "keep": "k", "drop": "x", "where": "w", "back": "b", "finish": "f", "quit": "q", "all": "a",
    **{setting.word: key for key, setting in SETTINGS.items()},
}  # fmt: skip


class Screen(Protocol):
    """Where the review is shown, and where the user answers."""

    def show(self, content: RenderableType) -> None: ...

    def ask(self, question: str) -> str:
        """Read one line; raises EOFError or KeyboardInterrupt if there is none."""


class Move(enum.Enum):
    """The step after an answer; `STAY` shows the current one again."""

    NEXT = enum.auto()
    BACK = enum.auto()
    STAY = enum.auto()
    ADDED = enum.auto()
    FINISH = enum.auto()
    QUIT = enum.auto()


MOVES = {"": Move.NEXT, "b": Move.BACK, "f": Move.FINISH, "q": Move.QUIT}


def review(
    analysis: Analysis,
    config: Config,
    matches: Sequence[Match] | None,
    screen: Screen,
    *,
    has_chosen_loop: bool = False,
) -> Rewriting | None:
    """Review the analysis with the user.

    Args:
        matches: what the sections of the file stand for; None without a metrics part.
        has_chosen_loop: whether the main loop is the one that the file names.

    Returns: the choice, or None when the user wants nothing written.
    """
    walk = _Walk(analysis, _items(analysis, config, matches or ()), screen, has_chosen_loop=has_chosen_loop)
    if not walk.run():
        return None
    left_out = [item for item in walk.items if not item.is_kept]
    entries = [Entry(item.section, item.was, item.reason) for item in walk.items if item.is_kept]
    offered: list[Entry] = []
    if matches is None:
        offered = [Entry(item.section, None, item.reason) for item in left_out]
        offered += saving.rejected_entries(walk.misses(), [*entries, *offered])
    dropped = {item.was.name: saving.GONE if item.is_gone else UNWANTED for item in left_out if item.was}
    return saving.listing(walk.analysis, entries, dropped, offered, has_chosen_loop=walk.has_chosen_loop)


def _items(analysis: Analysis, config: Config, matches: Sequence[Match]) -> list[Item]:
    """The sections of the file in order, then metrics that it does not list."""
    items = [
        Item(match.section, match.outcome, match.written)
        if isinstance(match.outcome, Metric)
        else Item(
            match.section, None, match.written, is_kept=False, problem=match.outcome.message, is_gone=match.is_gone
        )
        for match in matches
    ]
    new, left_out = saving.split_unlisted(analysis, config, matches)
    names = [item.section.name for item in items]
    entries = saving.new_entries([*new, *left_out], names)
    is_kept = not config.metrics or bool(config.statements)
    for metric, entry in zip([*new, *left_out], entries, strict=True):
        items.append(Item(entry.section, metric, is_kept=is_kept and metric in new))
    return items


class _Walk:
    """Goes from step to step, and keeps the choices made so far."""

    def __init__(self, analysis: Analysis, items: list[Item], screen: Screen, *, has_chosen_loop: bool) -> None:
        self.analysis = analysis
        self.has_chosen_loop = has_chosen_loop
        self.items = items
        self.screen = screen
        self.shows_all_misses = False
        self.has_shown_keys = False

    def run(self) -> bool:
        """Run the review; returns whether the user wants to save the result."""
        place = 0
        while True:
            steps = self._steps()
            if place == len(steps):
                return True
            n_items = len(self.items)
            match steps[place]():
                case Move.NEXT:
                    place += 1
                case Move.BACK:
                    place = max(0, place - 1)
                case Move.ADDED:
                    place = 1 + n_items
                case Move.FINISH:
                    place = len(steps) - 1
                case Move.QUIT:
                    return False

    def misses(self) -> tuple[Rejected, ...]:
        """Reported values that were neither selected as metrics nor added by the user."""
        sites = {item.metric.site for item in self.items if item.metric is not None}
        return tuple(miss for miss in self.analysis.rejected if miss.site is not None and miss.site not in sites)

    def _steps(self) -> list[Callable[[], Move]]:
        of_items = [partial(self._look_at, number) for number in range(len(self.items))]
        return [self._begin, *of_items, *([self._add_misses] if self.misses() else []), self._add_place, self._end]

    def _answer(self) -> tuple[str, str, str]:
        """An answer of the user: its first word as a key, and the remaining text."""
        line = self.screen.ask("> ").strip()
        word, _, rest = line.partition(" ")
        return line, WORDS.get(word, word), rest.strip()

    def _begin(self) -> Move:
        self.screen.show(show_loop(self.analysis))
        _, key, _ = self._answer()
        alternatives = {str(number): loop for number, loop in enumerate(self.analysis.alternatives, start=1)}
        if key in alternatives:
            self.analysis = selection.with_main_loop(self.analysis, alternatives[key])
            self.has_chosen_loop = True
        return MOVES.get(key, Move.STAY)

    def _look_at(self, number: int) -> Move:
        item = self.items[number]
        self.screen.show(show_item(item, number + 1, len(self.items), self.analysis))
        if not self.has_shown_keys:
            self.screen.show(show_keys())
            self.has_shown_keys = True
        while True:
            _, key, rest = self._answer()
            if key in MOVES and not rest:
                return MOVES[key]
            if key in ("k", "x") and not rest:
                item.is_kept = key == "k" and item.metric is not None
                return Move.NEXT
            if key != "w" and key not in SETTINGS:
                self.screen.show(show_keys())
                continue
            try:
                self._change(item, key, rest)
            except InputError as error:
                self.screen.show(show_error(error))
            else:
                return Move.STAY

    def _change(self, item: Item, key: str, value: str) -> None:
        question = "file:line expression" if key == "w" else SETTINGS[key].question
        if question and not value:
            value = self.screen.ask(f"{question}: ").strip()
        if key == "w":
            section = with_place(value, self.analysis.script, item.section)
            self.analysis = attach(self.analysis, section, item, self.items)
        else:
            SETTINGS[key].set(item, value, self.items)

    def _add_misses(self) -> Move:
        misses = self.misses()
        self.screen.show(show_misses(misses, None if self.shows_all_misses else MOST_MISSES))
        line, key, _ = self._answer()
        if key in MOVES:
            return MOVES[key]
        numbers = [int(word) for word in line.replace(",", " ").split() if word.isdecimal()]
        if key == "a" or not numbers or max(numbers) > len(misses) or 0 in numbers:
            self.shows_all_misses = self.shows_all_misses or key == "a"
            return Move.STAY
        return self._add([saving.section_of_rejected(misses[number - 1], set()) for number in dict.fromkeys(numbers)])

    def _add_place(self) -> Move:
        self.screen.show(show_places(self.analysis))
        line, key, _ = self._answer()
        if key in MOVES:
            return MOVES[key]
        try:
            section = with_place(line, self.analysis.script, MetricConfig(""))
        except InputError as error:
            self.screen.show(show_error(error))
            return Move.STAY
        return self._add([section])

    def _add(self, sections: Sequence[MetricConfig]) -> Move:
        """Show new items next."""
        added = 0
        for section in sections:
            item = Item(section, None)
            try:
                self.analysis = attach(self.analysis, section, item, self.items)
            except InputError as error:
                self.screen.show(show_error(error))
                continue
            name = section.name or saving.name_from(item.section.expression or "")
            item.change(name=saving.free_name(name, self._names()))
            self.items.append(item)
            added += 1
        return Move.ADDED if added else Move.STAY

    def _end(self) -> Move:
        self.screen.show(show_summary(self.items, self.analysis))
        _, key, _ = self._answer()
        if key in ("", "w"):
            try:
                selection.select_metrics(
                    self.analysis,
                    [
                        Match(item.section, item.section, item.metric)
                        for item in self.items
                        if item.is_kept and item.metric
                    ],
                )
            except InputError as error:
                self.screen.show(show_error(error))
                return Move.STAY
            return Move.NEXT
        return MOVES.get(key, Move.STAY)

    def _names(self) -> set[str]:
        return {item.section.name for item in self.items}


class Terminal:
    """Writes to standard output and reads from standard input.

    Raises:
        InputError: one of them is not a terminal.
    """

    def __init__(self) -> None:
        if not (sys.stdin.isatty() and sys.stdout.isatty()):
            raise InputError("--review needs a terminal", "Use --save, and edit deviate.toml by hand.")
        self.console = Console(highlight=False, no_color="NO_COLOR" in os.environ)

    def show(self, content: RenderableType) -> None:
        self.console.print(content)

    def ask(self, question: str) -> str:
        try:
            return self.console.input(question, markup=False)
        except UnicodeDecodeError:
            return "?"
