"""Code as it was frozen: the commit, what was not committed, and what was put into the user's files."""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class ChangedFile:
    """Changed lines of one file, or of all for what was not committed.

    Attributes:
        kinds: of each line: `add`, `remove`, `place` or `same`.
        rest: where the whole is; empty where the lines are all.
    """

    name: str
    summary: str
    lines: tuple[str, ...]
    kinds: tuple[str, ...]
    rest: str


@dataclass(frozen=True, slots=True)
class ChangesView:
    """The code of one experiment; `no_…` says why a part is absent."""

    injected: tuple[ChangedFile, ...]
    no_injected: str
    uncommitted: ChangedFile | None
    no_uncommitted: str
