"""The page of sources of difference, from the entries of the catalogue."""

import tempfile
from collections.abc import Iterator
from pathlib import Path

from deviate.analysis.analyze import analyze
from deviate.model.analysis import Hazard
from deviate.sources.catalogue import GROUPS, SOURCES, Source

HEAD = """\
# Sources of difference

This is everything that deviate knows to make two runs of one command differ, or to draw random numbers that no variant
controls. Each source has one name in all of deviate. `deviate analyze` lists as *hazards* the places of sources that a
script reaches: in its own file, in the files of the project that it imports, and in the data sets and models that it
makes. It runs nothing. A traced run records what enters the program, under the names that are given here.

A line is listed if the source shows it. Left out are sorted names, sets used only for membership tests, kernels that
the script itself makes deterministic, and lines with the comment `# deviate: ignore`. What differs on a GPU only is
left out on a machine without one, unless `--all` asks for it. Only an experiment shows whether a hazard matters for the
results: see `control` and `impl` among the [variants](variants.md).

Generated from the entries in `deviate/sources/` by `python -m scripts.reference`.
"""


def page() -> str:
    """The whole page as Markdown, ending in a newline."""
    return "\n".join([HEAD, *_groups()])


def _groups() -> Iterator[str]:
    for group, title in GROUPS.items():
        yield f"## {title}\n"
        for kind in sorted((kind for kind in SOURCES.values() if kind.group == group), key=lambda kind: kind.name):
            reason = " ".join(kind.reason.split())
            yield f"### {kind.name}\n**{kind.title}** {reason}\n\n{' '.join(_facts(kind))}\n"


def _facts(kind: Source) -> Iterator[str]:
    cure = _cure(kind)
    if cure:
        yield f"*Cure:* {cure}."
    if kind.held:
        yield f"*Held by* `{kind.held}`."
    if kind.observed:
        yield f"*Recorded as* {', '.join(f'`{name}`' for name in kind.observed)}."
    yield f"*Source:* {kind.reference}"


def _cure(kind: Source) -> str:
    """The cure of the example: a line to add, the expression in another's place, or the lines that are new."""
    if kind.line:
        return f"add `{kind.line}`"
    if kind.remedy:
        old = [line.strip() for line in kind.example.splitlines()]
        lines = [line.strip() for line in kind.remedy.splitlines() if not line.startswith(("import", "from"))]
        new = [line for line in lines if line not in old and not line.endswith(":")]
        new = new or [line for line in lines if line not in old] or lines
        return f"`{'; '.join(new)}`"
    for hazard in _hazards(kind.example) if kind.cure else ():
        if kind.cure_of(hazard):
            return f"`{hazard.code}` becomes `{kind.cure_of(hazard)}`"
    return ""


def _hazards(text: str) -> tuple[Hazard, ...]:
    with tempfile.TemporaryDirectory() as folder:
        script = Path(folder, "train.py")
        script.write_text(text, encoding="utf-8")
        return analyze(script, script.parent).hazards
