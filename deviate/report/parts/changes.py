"""The frozen code as text: its commit, uncommitted changes, and inserted taps."""

import operator
from collections.abc import Iterable, Sequence

from deviate.model.records import Experiment, InjectedCode, Revision
from deviate.report.document import Absent, Block, Changes, Section
from deviate.report.format import clean, counted, name_text, shorten

N_FILES = 20
"""Files whose changed lines a page shows; further ones are named."""
N_LINES = 400
"""Lines that a page shows of one file."""
N_NAMED = 5
"""Untracked files that are named."""
LONGEST_LINE = 1_000
INJECTED = "Code inserted into the files of the project, line by line; each line keeps its number."


def changes_section(experiment: Experiment, earlier: Sequence[Experiment], labels: Sequence[str]) -> Section:
    """Section on the code of an experiment.

    Args:
        earlier: experiments that the page has shown before, by their `labels`; what is the same is not shown again.
    """
    folder = clean(str(experiment.folder)) if experiment.folder is not None else "the record"
    same = next((label for other, label in zip(earlier, labels, strict=False) if _is_same(other, experiment)), None)
    if same is not None and (experiment.injected or experiment.revision):
        return Section("", "Code", (Absent(f"The same code as {same}."),))
    injected = [_describe_injected(code, folder) for code in experiment.injected[:N_FILES]]
    uncommitted = _describe_uncommitted(experiment.revision, folder)
    blocks: list[Block] = [INJECTED, *injected] if injected else []
    blocks += [Absent(why)] if (why := _no_injected(experiment)) else []
    blocks += [uncommitted] if uncommitted else []
    blocks += [Absent(why)] if (why := _no_uncommitted(experiment)) else []
    return Section("", "Code", tuple(blocks))


def commit_text(experiment: Experiment) -> str:
    """`3f9d1c7e on branch main; no uncommitted changes; 2 untracked files: a.txt, b.txt`; empty where none is known."""
    revision = experiment.revision
    if revision is None:
        return ""
    parts = [clean(revision.commit) if revision.commit else "no commit yet"]
    parts[0] += f" on branch {clean(revision.branch)}" if revision.branch else ""
    parts += ["with changes that were not committed" if revision.is_dirty else "no uncommitted changes"]
    parts += [_untracked(revision)] if revision.n_untracked else []
    return "; ".join(parts)


def _untracked(revision: Revision) -> str:
    """`2 untracked files: a.txt, b.txt`, with names as far as they are on record."""
    text = counted(revision.n_untracked, "untracked file")
    names = [name_text(name) for name in revision.untracked[:N_NAMED]]
    if not names:
        return text
    more = revision.n_untracked - len(names)
    return f"{text}: {', '.join(names)}" + (f" and {more} more" if more else "")


CODE = operator.attrgetter("sources_hash", "injected", "revision")


def _is_same(one: Experiment, other: Experiment) -> bool:
    return bool(one.sources_hash) and CODE(one) == CODE(other)


def _describe_injected(code: InjectedCode, folder: str) -> Changes:
    rest = ""
    if code.is_cut or len(code.diff) > N_LINES or any(len(line) > LONGEST_LINE for line in code.diff):
        rest = f"Not all is shown: compare {folder}/{clean(code.original)} with {folder}/{clean(code.instrumented)}."
    return _file(name_text(code.file), f"{counted(code.n_lines, 'changed line')}", code.diff, rest)


def _no_injected(experiment: Experiment) -> str:
    if experiment.imported:
        return "Imported: no code was inserted."
    if not experiment.injected:
        return "The record has no inserted code."
    further_files = [name_text(file.file) for file in experiment.injected[N_FILES:]]
    return f"Further files with taps: {', '.join(further_files)}." if further_files else ""


def _describe_uncommitted(revision: Revision | None, folder: str) -> Changes | None:
    if revision is None or not revision.diff:
        return None
    lines = revision.diff.splitlines()
    is_cut = revision.is_cut or len(lines) > N_LINES or any(len(line) > LONGEST_LINE for line in lines)
    rest = f"Not all is shown: the diff as it was kept is {folder}/{clean(revision.file)}." if is_cut else ""
    return _file("Changes that were not committed", f"{counted(len(lines), 'line')} of diff", lines, rest)


def _no_uncommitted(experiment: Experiment) -> str:
    revision = experiment.revision
    if revision is None:
        if experiment.imported:
            return ""
        return "The record has no git commit; the sources have a hash."
    if revision.diff:
        return ""
    text = "Tracked files differ from the commit; no diff was kept" if revision.is_dirty else "No uncommitted changes"
    return f"{text}; {_untracked(revision)}." if revision.n_untracked else f"{text}."


def _file(name: str, summary: str, lines: Iterable[str], rest: str) -> Changes:
    diff_lines = tuple(shorten(clean(line), LONGEST_LINE) for line in list(lines)[:N_LINES])
    return Changes(name, summary, diff_lines, tuple(map(_kind, diff_lines)), rest)


def _kind(line: str) -> str:
    return {"+": "add", "-": "remove", "@": "place"}.get(line[:1], "same")
