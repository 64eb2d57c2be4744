"""The page of sources of difference, from the entries of the catalogue."""

import tempfile
from collections.abc import Iterator
from pathlib import Path

from deviate.analysis.analyze import analyze
from deviate.diverge.holds import HOLDS
from deviate.model.analysis import Hazard
from deviate.sources.catalogue import GROUPS, SOURCES, Source

HEAD = """\
# Sources of difference

This is all that deviate knows to make two runs of one command differ. Each source has one name in all of deviate.
`deviate analyze` lists as *hazards* the places of sources that a script reaches, without running it. `deviate diverge`
names the source that further runs prove, or those that it suspects.

A line is no hazard if the source shows that it cannot matter: names that are sorted, kernels that the script itself
makes deterministic. Neither is one with the comment `# deviate: ignore`. What differs on a GPU only is left out on a
machine without one, unless `--all` asks for it. Whether a hazard matters for the results, only an experiment shows: see
`control` and `impl` among the [variants](variants.md).

Generated from `deviate/sources/`, where the documentation of each is named, by `python -m scripts.reference`.
"""

KERNELS = """\
A variant that holds `kernels` requests deterministic kernels. Where PyTorch has none, it raises an error, unless
`--warn-only` is set.
"""


def page() -> str:
    """The whole page as Markdown, ending in a newline."""
    return "\n".join([HEAD, *_groups()])


def _groups() -> Iterator[str]:
    for group, title in GROUPS.items():
        yield f"## {title}\n"
        if group == "kernels":
            yield KERNELS
        for kind in sorted((kind for kind in SOURCES.values() if kind.group == group), key=lambda kind: kind.name):
            reason = " ".join(kind.reason.split())
            yield f"### {kind.name}\n**{kind.title}** {reason}\n\n{' '.join(_facts(kind))}\n"


def _facts(kind: Source) -> Iterator[str]:
    if cure := _cure(kind):
        yield f"*Cure:* {cure}."
    if kind.held:
        yield f"*Held by* `{'--hold ' * (kind.held in HOLDS)}{kind.held}`."
    if kind.observed:
        yield f"*Recorded as* {', '.join(f'`{name}`' for name in kind.observed)}."


def _cure(kind: Source) -> str:
    """A line to add, the expression in the place of that of the example, or what to do in words."""
    if kind.line:
        return f"add `{kind.line}`"
    for hazard in _hazards(kind.example) if kind.cure and not kind.advice else ():
        if cured := kind.cure_of(hazard.code):
            return f"`{hazard.code}` becomes `{cured}`"
    return kind.advice


def _hazards(text: str) -> tuple[Hazard, ...]:
    with tempfile.TemporaryDirectory() as folder:
        script = Path(folder, "train.py")
        script.write_text(text, encoding="utf-8")
        return analyze(script, script.parent).hazards
