"""Generates the documentation page of known causes from their table.

python -m deviate.diverge.causes.page > docs/reference/causes.md
"""

import re
import sys
from collections.abc import Iterator
from textwrap import fill

from deviate.diverge.causes import GROUPS, KnownCause
from deviate.diverge.causes.find import KNOWN_CAUSES

HEAD = """\
# Causes

`deviate diverge` proves a cause by further runs where it can: runs that have the same hash seed, the same numbers of
the operating system, a sorted listing, one thread or deterministic kernels are equal, and others are not. Where nothing
is proved, it names *suspected* causes from this table, ranked by evidence:

1. *observed* before the first difference: both runs recorded [inputs](traces.md#inputs), such as a listing, and one of
   them differs; or the first difference is itself of this kind;
2. *observed*, but later, or around the runs;
3. only contained in the source. A line that did not run, and an order that was equal in both runs, is no cause.

Clocks, process numbers and random numbers from the operating system differ between any two runs. They count if the
source shows that a condition, a seed, an index or a computed number depends on them. An order that the program sorts at
once does not count.

[Hazards](hazards.md) lists the same places in the source, before any run.

The documentation of PyTorch lists the operations of each kernel. On a CPU each was also run a dozen times on the same
input (PyTorch 2.13, two threads): of 34 operations and gradients only those under [index-put](#index-put) gave
different bits.

Generated from the files in `deviate/diverge/causes/` by
`python -m deviate.diverge.causes.page > docs/reference/causes.md`.
"""
WIDTH = 120


def page() -> str:
    """The whole page as Markdown, ending in a newline."""
    return "\n".join([HEAD, *_contents(), *_groups()])


def _contents() -> Iterator[str]:
    yield "| cause | description |\n|---|---|"
    for group in GROUPS:
        for cause in _causes_of(group):
            yield f"| [{cause.id}](#{cause.id}) | {cause.title} |"
    yield ""


def _groups() -> Iterator[str]:
    for group, title in GROUPS.items():
        yield f"## {title}\n"
        for cause in _causes_of(group):
            yield f"### {cause.id}\n\n{_sentence(cause.title)}\n\n{fill(cause.reason, WIDTH, break_on_hyphens=False)}\n"
            yield _item(f"Evidence: {cause.signs}.")
            yield _item(f"Cure: {cause.cure}.") + "\n"
            if cause.code:
                yield f"```text\n{cause.code}\n```\n"
            yield f"Source: {_link(cause.source)}\n"


def _item(text: str) -> str:
    return fill(text, WIDTH, initial_indent="- ", subsequent_indent="  ", break_on_hyphens=False)


def _causes_of(group: str) -> list[KnownCause]:
    return [cause for cause in KNOWN_CAUSES if cause.group == group]


def _sentence(text: str) -> str:
    is_name = not text.partition(" ")[0].replace("-", "").islower() or "_" in text.partition(" ")[0]
    return f"{text}." if is_name else f"{text[0].upper()}{text[1:]}."


def _link(source: str) -> str:
    return ", ".join(
        f"[{link}]({link})" if link.endswith(".md") else f"<{link}>" for link in re.split(r",\s*", source) if link
    )


if __name__ == "__main__":
    sys.stdout.write(page())
