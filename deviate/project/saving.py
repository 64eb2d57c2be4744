"""Updates `deviate.toml` after an analysis: keeps the user's entries, adds new metrics, marks those that are gone."""

import dataclasses
import os
import re
import shutil
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from deviate.analysis.resolve.statements import read_statements
from deviate.base.notebooks import place_text
from deviate.errors import InputError
from deviate.model.aggregates import AGGREGATES
from deviate.model.analysis import Analysis, Metric, Place, Rejected
from deviate.project.config import Config, MetricConfig, read_text
from deviate.project.config_edit import Entry, Rewriting, rewrite
from deviate.project.selection import Match, places_now, section_of

INTRODUCTION = """\
Metrics that deviate records in {script}. {loop}
Delete a section to exclude its metric; rename a metric by renaming its section. Add another value with where
(file:line) and expression. Other keys: direction (max, min, none), unit, role (quality, time, other), primary = true,
margin, target, n_examples, aggregate ({aggregates}).
After a change of the script, deviate analyze {script} --save updates this file, and --review asks."""
GONE = "Commented out by deviate, because the script no longer has it:"
BOM = b"\xef\xbb\xbf"


@dataclass(frozen=True, slots=True)
class Saved:
    """Changes to an existing metrics section, as names of metrics.

    Attributes:
        left: found, but excluded by the user before.
        offered: found, and written as comments.
    """

    added: tuple[str, ...] = ()
    moved: tuple[str, ...] = ()
    gone: tuple[str, ...] = ()
    left: tuple[str, ...] = ()
    offered: tuple[str, ...] = ()

    def __str__(self) -> str:
        names_by_change = {
            "added": self.added,
            "moved with the script": self.moved,
            "no longer in the script, commented out": self.gone,
            "still excluded": self.left,
            "new, written as comments": self.offered,
        }
        return "; ".join(f"{change}: {', '.join(names)}" for change, names in names_by_change.items() if names)


def save(analysis: Analysis, config: Config, matches: Sequence[Match], path: Path) -> Saved:
    """Update the file: new metrics are added, missing ones are commented out, and moved ones are followed.

    A metric that existed when the file was last saved, but is not listed in it, was removed by the user.

    Raises:
        InputError: the file is for another script, a section fits nothing for another reason than a change of the
            script, or the file cannot be written.
    """
    refuse_other_script(analysis, config, path)
    for match in matches:
        if isinstance(match.outcome, InputError) and not match.is_gone:
            raise match.outcome
    present = [match for match in matches if isinstance(match.outcome, Metric)]
    gone_matches = [match for match in matches if match not in present]
    unlisted_metrics, left_out = split_unlisted(analysis, config, matches)
    new = new_entries(unlisted_metrics, [match.section.name for match in present])
    is_by_hand = bool(config.metrics) and not config.statements  # then it is not added to, only offered more
    entries = [*(Entry(match.section, match.written) for match in present), *([] if is_by_hand else new)]
    offered = new if is_by_hand else rejected_entries(analysis.rejected, entries) if not config.metrics else []
    dropped = {match.written.name: GONE for match in gone_matches}
    wanted = listing(analysis, entries, dropped, offered, has_chosen_loop=config.main_loop is not None)
    write_listed(wanted, path)
    return Saved(
        added=() if is_by_hand or not config.metrics else _names(new),
        moved=tuple(match.section.name for match in present if match.has_moved),
        gone=tuple(match.written.name for match in gone_matches),
        left=tuple(metric.name for metric in left_out),
        offered=_names(new) if is_by_hand else (),
    )


def split_unlisted(
    analysis: Analysis, config: Config, matches: Sequence[Match]
) -> tuple[tuple[Metric, ...], tuple[Metric, ...]]:
    """Metrics that the file does not list: new ones, and those that existed when it was saved."""
    listed = {match.outcome.id for match in matches if isinstance(match.outcome, Metric)}
    not_listed = [metric for metric in analysis.metrics if metric.id not in listed]
    remembered = places_now(analysis, config.statements)
    left_out = [
        metric for metric in not_listed if config.statements and remembered.issuperset(_places(section_of(metric)))
    ]
    return tuple(metric for metric in not_listed if metric not in left_out), tuple(left_out)


def refuse_other_script(analysis: Analysis, config: Config, path: Path) -> None:
    """Raise InputError when the file was written for another script."""
    if not config.is_for(analysis.script):
        raise InputError(
            f"{path} is for {config.train}, not for {analysis.script}", "Move the file away, and save again."
        )


def listing(
    analysis: Analysis,
    entries: Sequence[Entry],
    dropped: Mapping[str, str],
    offered: Sequence[Entry],
    *,
    has_chosen_loop: bool,
) -> Rewriting:
    """What makes the file list exactly these metrics, after a save or a review; all else in it stays.

    Args:
        entries, dropped, offered: as in `Rewriting`.
        has_chosen_loop: whether the main loop is the user's choice, which is written down.

    Raises:
        InputError: there is nothing to list.
    """
    if not entries:
        raise InputError(
            f"no metric of {analysis.script} would be recorded",
            "Keep a metric, or name a value in deviate.toml by where and expression.",
        )
    loop = analysis.main_loop
    chosen = Place(loop.file, loop.line) if loop is not None and has_chosen_loop else None
    loop_sentence = (
        "The script has no main loop." if loop is None else f"Main loop: {place_text(loop.file, loop.line)}."
    )
    introduction = INTRODUCTION.format(script=analysis.script, loop=loop_sentence, aggregates=", ".join(AGGREGATES))
    statements = _statements(analysis, [entry.section for entry in entries], chosen)
    return Rewriting(analysis.script, chosen, introduction, entries, dropped, offered, statements)


def write_listed(wanted: Rewriting, path: Path) -> None:
    """Write the file with what is wanted of it. Raises InputError."""
    write_text(path, rewrite(read_text(path), wanted))


def new_entries(metrics: Iterable[Metric], used_names: Iterable[str]) -> list[Entry]:
    """Sections for newly found metrics, under unused names."""
    names = set(used_names)
    return [
        Entry(
            dataclasses.replace(section_of(metric), name=free_name(metric.name, names)),
            None,
            "; ".join(metric.evidence),
        )
        for metric in metrics
    ]


def rejected_entries(rejected: Iterable[Rejected], entries: Iterable[Entry]) -> list[Entry]:
    """Sections for reported values that can be recorded but were rejected as metrics, with the reason."""
    names = {entry.section.name for entry in entries}
    return [Entry(section_of_rejected(item, names), None, item.reason) for item in rejected if item.site is not None]


def section_of_rejected(item: Rejected, used_names: set[str]) -> MetricConfig:
    """The section for a rejected value, under an unused name."""
    return MetricConfig(free_name(name_from(item.expression), used_names), Place(item.file, item.line), item.expression)


def name_from(expression: str) -> str:
    """A name made from the words of an expression."""
    return "_".join(re.findall(r"[A-Za-z0-9]+", expression))[:40].strip("_").lower() or "value"


def free_name(name: str, used_names: set[str]) -> str:
    """The name, numbered if it is used already, and marked as used."""
    free, number = name, 1
    while free in used_names:
        number += 1
        free = f"{name}_{number}"
    used_names.add(free)
    return free


def write_text(path: Path, text: str) -> None:
    """Replace the contents of a file atomically, so that an interruption leaves the old contents.

    Raises:
        InputError: it cannot be written.
    """
    target = path.resolve()
    staged = target.with_name(f".{target.name}.{os.getpid()}")
    try:
        start = b""
        if target.exists():
            with target.open("r+b") as before:  # refused here where the file may not be changed
                start = BOM if before.read(len(BOM)) == BOM else b""
        staged.write_bytes(start + text.encode("utf-8"))
        if target.exists():
            shutil.copymode(target, staged)
        staged.replace(target)
    except OSError as error:
        staged.unlink(missing_ok=True)
        raise InputError(f"cannot write {path}: {error.strerror}", "Check the folder and its permissions.") from None


def _statements(analysis: Analysis, sections: Sequence[MetricConfig], loop: Place | None) -> dict[Place, str]:
    """Statements at the main loop and at all metrics, listed or not, sorted by file and line."""
    every = {place for section in (*map(section_of, analysis.metrics), *sections) for place in _places(section)}
    every |= {loop} if loop else set()
    files = {file: read_statements(analysis.root / file) for file in {place.file for place in every}}
    texts = {place: files[place.file].text_at(place.line) for place in every}
    ordered = sorted(texts.items(), key=lambda pair: (pair[0].file, pair[0].line))
    return {place: text for place, text in ordered if text}


def _places(section: MetricConfig) -> set[Place]:
    return {*(section.path or ()), *([section.where] if section.where else [])}


def _names(entries: Iterable[Entry]) -> tuple[str, ...]:
    return tuple(entry.section.name for entry in entries)
