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

Why do two runs part that should be equal? `deviate diverge` finds the place, and names what may be behind it out of
this table. It calls a cause *certain* where what was found leaves no other explanation that we know: two values of a
seed, two devices, a stream that the variant varies. It is *likely* where what differs first is known to differ for this
cause, and *possible* where the program has it and nothing found tells it from others. What only surrounds the runs, as
two versions of a library do or a line of the source, is likely where no other cause is. Where none is likely, the last
one says what to try.

What deviate can do against a cause itself stands under *deviate*; `--confirm` does it and compares the runs again. All
else is for the program: the [hazards](hazards.md) have the same places as they stand in the source, before any run.

Which operations of PyTorch are meant by each kernel is in its documentation; on a CPU each was also tried a dozen times
on the same input (PyTorch 2.13, two threads): of 34 operations and gradients only those under
[index-put](#index-put) gave other bits.

Written from the files in `deviate/diverge/causes/` by
`python -m deviate.diverge.causes.page > docs/reference/causes.md`.
"""
WIDTH = 120


def page() -> str:
    """The whole page as Markdown, ending in a newline."""
    return "\n".join([HEAD, *_contents(), *_groups()])


def _contents() -> Iterator[str]:
    yield "| cause | what |\n|---|---|"
    for group in GROUPS:
        for cause in _causes_of(group):
            yield f"| [{cause.id}](#{cause.id}) | {cause.title} |"
    yield ""


def _groups() -> Iterator[str]:
    for group, title in GROUPS.items():
        yield f"## {title}\n"
        for cause in _causes_of(group):
            yield f"### {cause.id}\n\n{_sentence(cause.title)}\n\n{fill(cause.reason, WIDTH, break_on_hyphens=False)}\n"
            yield _item(f"Points to it: {cause.signs}.")
            yield _item(f"Cure: {cause.cure}.")
            yield _item(f"deviate: {_switch(cause)}.") + "\n"
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


def _switch(cause: KnownCause) -> str:
    variables = " ".join(f"`--env {name}={value}`" for name, value in cause.environment)
    if not cause.holds:
        return variables or "nothing; only the program can be changed"
    hold_clause = f"holds {', '.join(f'`{factor}`' for factor in cause.holds)} with `--variant control`"
    return f"{hold_clause}, or sets {variables}" if variables else hold_clause


def _link(source: str) -> str:
    return ", ".join(
        f"[{link}]({link})" if link.endswith(".md") else f"<{link}>" for link in re.split(r",\s*", source) if link
    )


if __name__ == "__main__":
    sys.stdout.write(page())
