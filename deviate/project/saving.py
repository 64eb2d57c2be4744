"""Updates `deviate.toml` after an analysis: keeps the user's entries, adds new metrics, marks those that are gone."""

import dataclasses
import os
import re
import shutil
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path

from deviate.analysis.resolve.statements import read_statements
from deviate.errors import InputError
from deviate.model.aggregates import AGGREGATES
from deviate.model.analysis import Analysis, Metric, Place, Rejected
from deviate.model.places import place_text
from deviate.model.texts import numbered
from deviate.project.config import Config, MetricConfig, parse, read_text
from deviate.project.config_text import ConfigText, comment, comment_out, section_text
from deviate.project.selection import Match, places_now, section_of

INTRODUCTION = """\
Metrics that deviate records in {script}. {loop}
Delete a section to exclude its metric; rename a metric by renaming its section. Add another value with where
(file:line) and expression. Other keys: direction (max, min, none), unit, role (quality, time, other), primary = true,
margin, target, n_examples, title, aggregate ({aggregates}).
After a change of the script, deviate analyze {script} --save updates this file, and --edit opens it."""
OFFERED = "---- Also reported, but not recorded. Uncomment a section to record it."
EXPERIMENT = "[experiment]\n"
GONE = "Commented out by deviate, because the script no longer has it:"
BOM = b"\xef\xbb\xbf"


@dataclass(frozen=True, slots=True)
class SavedChanges:
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


def save(analysis: Analysis, config: Config, matches: Sequence[Match], path: Path) -> SavedChanges:
    """Update the file, and say what has changed.

    Raises:
        InputError: the file is for another script, a section fits nothing for another reason than a change of the
            script, nothing would be recorded, or the file cannot be written.
    """
    refuse_other_script(analysis, config, path)
    for match in matches:
        if isinstance(match.outcome, InputError) and not match.is_gone:
            raise match.outcome
    text, saved = update(read_text(path), analysis, config, matches)
    refuse_no_metric(analysis, parse(text, path.name))
    write_text(path, text)
    return saved


def update(text: str, analysis: Analysis, config: Config, matches: Sequence[Match]) -> tuple[str, SavedChanges]:
    """The text of a file brought up to date: new metrics are added, missing ones commented out, moved ones followed.

    A metric that existed when the file was last saved, but is not listed in it, was removed by the user.
    """
    listed = [match for match in matches if not match.is_gone]
    unlisted, left_out = _split_unlisted(analysis, config, matches)
    names = {match.section.name for match in listed}
    new = {_section_of_metric(metric, names): "; ".join(metric.evidence) for metric in unlisted}
    is_by_hand = bool(config.metrics) and not config.statements  # then it is not added to, only offered more
    added, offered = ({}, new) if is_by_hand else (new, {})
    if not config.metrics:
        offered = {
            _section_of_rejected(value, names): value.reason for value in analysis.rejected if value.site is not None
        }
    document = ConfigText(text)
    document.insert([
        *([comment(_introduction(analysis))] if config.metrics is None else []),
        *([] if document.holds("experiment") else [EXPERIMENT]),
        *(section_text(section, reason) for section, reason in added.items()),
        *([comment(OFFERED)] if offered else []),
        *(comment_out(section_text(section, reason)) for section, reason in offered.items()),
    ])  # fmt: skip
    gone = [match for match in matches if match.is_gone]
    for match in gone:
        document.comment_out(match.written.name, GONE)
    for match in listed:
        document.set(("metrics", match.written.name), _moved(match))
    sections = [*(match.section for match in listed), *added]
    return refresh(document, analysis, config, sections), SavedChanges(
        added=_names(added) if config.metrics else (),
        moved=tuple(match.section.name for match in listed if match.has_moved),
        gone=tuple(match.written.name for match in gone),
        left=tuple(metric.name for metric in left_out),
        offered=_names(new) if is_by_hand else (),
    )


def refresh(document: ConfigText, analysis: Analysis, config: Config, sections: Sequence[MetricConfig]) -> str:
    """The text of a file that lists these metrics, with the script, the main loop and the statements as they are now.

    Args:
        config: the file before; a main loop is written only where it names one.
    """
    document.insert([] if document.holds("experiment") else [EXPERIMENT])
    loop = analysis.main_loop if config.main_loop else None
    chosen = Place(loop.file, loop.line) if loop else None
    if not document.holds("experiment", "train"):
        document.set(("experiment",), {"train": analysis.script})
    if chosen != config.main_loop:
        document.set(("experiment",), {"main_loop": str(chosen)})
    document.remember(_statements(analysis, sections, chosen))
    return document.listing(sections)


def _moved(match: Match) -> dict[str, str | list[str]]:
    """The keys of a section with places that have moved."""
    now, values = match.section, dict[str, str | list[str]]()
    if now.where != match.written.where:
        values["where"] = str(now.where)
    if now.path != match.written.path:
        values["path"] = list(map(str, now.path or ()))
    return values


def _introduction(analysis: Analysis) -> str:
    loop = analysis.main_loop
    sentence = "The script has no main loop." if loop is None else f"Main loop: {place_text(loop.file, loop.line)}."
    return INTRODUCTION.format(script=analysis.script, loop=sentence, aggregates=", ".join(AGGREGATES))


def refuse_other_script(analysis: Analysis, config: Config, path: Path) -> None:
    """Raise InputError when the file was written for another script."""
    if not config.is_for(analysis.script):
        raise InputError(
            f"{path} is for {config.train}, not for {analysis.script}", "Change train in it, or move the file away."
        )


def refuse_no_metric(analysis: Analysis, config: Config) -> None:
    """Raise InputError when the file lists no metric."""
    if not config.metrics:
        raise InputError(
            f"no metric of {analysis.script} would be recorded",
            "Keep a metric, or name a value in deviate.toml by where and expression.",
        )


def _split_unlisted(analysis: Analysis, config: Config, matches: Sequence[Match]) -> tuple[list[Metric], list[Metric]]:
    """Metrics that the file does not list: new ones, and those that existed when it was saved."""
    listed = {match.outcome.id for match in matches if isinstance(match.outcome, Metric)}
    not_listed = [metric for metric in analysis.metrics if metric.id not in listed]
    remembered = places_now(analysis, config.statements)
    left_out = [
        metric for metric in not_listed if config.statements and remembered.issuperset(_places(section_of(metric)))
    ]
    return [metric for metric in not_listed if metric not in left_out], left_out


def _section_of_metric(metric: Metric, used_names: set[str]) -> MetricConfig:
    return dataclasses.replace(section_of(metric), name=_free_name(metric.name, used_names))


def _section_of_rejected(value: Rejected, used_names: set[str]) -> MetricConfig:
    """The section for a rejected value, named by the words of its expression."""
    name = "_".join(re.findall(r"[A-Za-z0-9]+", value.expression))[:40].strip("_").lower() or "value"
    return MetricConfig(_free_name(name, used_names), Place(value.file, value.line), value.expression)


def _free_name(name: str, used_names: set[str]) -> str:
    """The name, numbered if it is used already, and marked as used."""
    free = next(one for one in numbered(name, "_") if one not in used_names)
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


def _names(sections: Iterable[MetricConfig]) -> tuple[str, ...]:
    return tuple(section.name for section in sections)
