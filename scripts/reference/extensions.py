"""The page of the names that plug-ins may import, by kind of extension."""

import inspect
import pydoc
from collections.abc import Iterator

from scripts.reference.api import described

HEAD = """\
# Extension interfaces

The names that plug-ins may import ([how to write one](../how-to/extend.md)). As long as deviate is 0.x, they may change
with a minor version, and never with a patch version. The changelog names each change.

Written from the docstrings by `python -m scripts.reference`.
"""
KINDS = {
    "Sinks": (
        "deviate.sinks",
        "sink Scalar Record Message Template FormatTemplate Row Table Summary by_keyword given methods find_sink",
    ),
    "Adapters": (
        "deviate.guest",
        """
        adapter_context.AdapterContext observations.Observations seeds.Seeding.override observers.arrays.Arrays
        streams.Bank
        """,
    ),
    "Importers": ("deviate.records", "importers.importer importers.Imported importers.ImportedRun"),
    "Executors": (
        "deviate.replay",
        """
        protocol.executor protocol.Executor protocol.Order protocol.RunUpdate
        protocol.Outcome executors.workers.Backend executors.workers.WorkersExecutor
        executors.workers.worker_command executors.workers.log_folder executors.local.LocalExecutor
        """,
    ),
    "Statistics": ("deviate.stats", "registry.statistic registry.Statistic"),
    "Forms": (
        "deviate.report",
        """
        forms.registry.document_form document.Document medium.Medium
        forms.registry.render parts.build.build_report
        """,
    ),
    "Values": (
        "deviate.model",
        """
        records.Series plan.SelectedMetric plan.Settings plan.Spec
        estimates.Interval estimates.Test estimates.Unavailable
        """,
    ),
    "Errors": ("deviate.errors", "DeviateError InputError RecordError RunError ToolError"),
}
"""Title of a section to a package and its names."""


def page() -> str:
    """The whole page as Markdown, ending in a newline."""
    return "\n".join([HEAD, *(line for title in KINDS for line in _section(title))]).rstrip() + "\n"


def _section(title: str) -> Iterator[str]:
    package, names = KINDS[title]
    yield f"## {title}\n"
    for name in names.split():
        value = pydoc.locate(f"{package}.{name}", forceload=False)
        is_constructed = inspect.isclass(value) and not getattr(value, "_is_protocol", False)
        yield from described(f"{package}.{name}", value, "###", is_constructed=is_constructed)
