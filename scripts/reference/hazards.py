"""The page of hazards, from what their own files say of them."""

from collections.abc import Iterator

from deviate.sources.catalogue import GROUPS, HAZARDS, Kind

HEAD = """\
# Hazards

A hazard is code that can make runs of one script differ, or that draws random numbers which no variant controls.
`deviate analyze` lists the hazards that a script reaches: in its own file, in the files of the project that it imports,
and in the data sets and models that it makes. It runs nothing.

A line is listed if the source shows the hazard. Left out are sorted names, sets used only for membership tests, kernels
that the script itself makes deterministic, and lines with the comment `# deviate: ignore`. Only an experiment shows
whether a hazard matters for the results: see `control` and `impl` among the [variants](variants.md).

Generated from the files in `deviate/sources/` by `python -m scripts.reference`.
"""


def page() -> str:
    """The whole page as Markdown, ending in a newline."""
    return "\n".join([HEAD, *_contents(), *_groups()])


def _contents() -> Iterator[str]:
    yield "| hazard | description |\n|---|---|"
    for group in GROUPS:
        for kind in _kinds(group):
            yield f"| [{kind.name}](#{kind.name}) | {kind.title.rstrip('.')} |"
    yield ""


def _groups() -> Iterator[str]:
    for group, title in GROUPS.items():
        yield f"## {title}\n"
        for kind in _kinds(group):
            yield f"### {kind.name}\n\n{kind.title}\n\n{kind.reason}\n"
            yield f"```python\n{kind.example}\n```\n\nInstead:\n\n```python\n{kind.remedy}\n```\n"
            yield f"Source: {kind.source}\n"


def _kinds(group: str) -> list[Kind]:
    return sorted((kind for kind in HAZARDS.values() if kind.group == group), key=lambda kind: kind.name)
