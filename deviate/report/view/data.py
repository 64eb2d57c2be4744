"""The data behind a report: what lies beside its page, and what stands in it."""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class DataFile:
    """A file beside the page: its name, and what its rows are."""

    name: str
    rows: str


@dataclass(frozen=True, slots=True)
class DataView:
    """Files beside the page that deviate keeps, and why there are none of curves.

    Attributes:
        no_curves: why there is no file of curves; empty where there is one.
    """

    files: tuple[DataFile, ...]
    no_curves: str
