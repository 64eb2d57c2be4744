"""What a user reads before the first run: what will be recorded, what becomes of seeds, what will be run."""

import shlex
import textwrap
from collections.abc import Iterator

from deviate import replay
from deviate.pipeline import Request
from deviate.prepare import Prepared
from deviate.report.analysis_text import render_analysis
from deviate.report.format import clean

INDENT = " " * 9
NARROWEST = 60


def announcement(prepared: Prepared, request: Request, width: int) -> str:
    """Several lines for a terminal of that width; the last one is empty, so that the runs stand apart."""
    found = prepared.analysis
    told = [*_seeds(prepared, request), *(f"Variant  {it.name}: {replay.tell(it)}" for it in request.variants)]
    lines = [render_analysis(found, prepared.selection, width).rstrip(), *(_wrapped(line, width) for line in told)]
    if found.outputs:
        lines.append(f"Outputs  start empty in each run: {', '.join(found.outputs)}")
    lines += [f"Note     {note}" for note in prepared.notes]
    return "\n".join([*lines, f"Running  {request.runs} x {shlex.join(prepared.target.command)}", ""])


def _seeds(prepared: Prepared, request: Request) -> Iterator[str]:
    """What becomes of each seed that the script sets."""
    replacing = [variant.name for variant in request.variants if variant.varied or variant.held]
    keeping = [variant.name for variant in request.variants if variant.name not in replacing]
    fates = [("replaced in", replacing), ("kept in", keeping)]
    told = "; ".join(f"{fate} {', '.join(names)}" for fate, names in fates if names)
    for seed in prepared.analysis.seeds:
        yield f"Seeds    sets {seed.call}({seed.argument}) at {seed.file}:{seed.line}; {told}"
    if prepared.analysis.seeds and replacing:
        yield f"{INDENT}replaced by a seed for each stream: one for all runs where it is held, else one for each run"


def _wrapped(line: str, width: int) -> str:
    lines = textwrap.wrap(clean(line), max(width, NARROWEST), subsequent_indent=INDENT, break_on_hyphens=False)
    return "\n".join(lines)
