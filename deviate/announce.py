"""What a user reads before the first run: what will be recorded, what becomes of seeds, what will be run."""

import shlex
from collections.abc import Iterator

from deviate import replay
from deviate.pipeline import Request
from deviate.prepare import Prepared
from deviate.report.analysis_text import render_analysis

OWN_GENERATORS = (".Random", ".RandomState", ".Generator")
"""What makes a generator apart from the global one: its seed is the script's in every variant."""


def announcement(prepared: Prepared, request: Request, width: int) -> str:
    """Several lines for a terminal of that width; the last one is empty, so that the runs stand apart."""
    found = prepared.analysis
    lines = [render_analysis(found, prepared.selection, width).rstrip(), *_seeds(prepared, request)]
    if found.outputs:
        lines.append(f"Outputs  start empty in each run: {', '.join(found.outputs)}")
    lines += [f"Variant  {name}: {replay.find_variant(name).description}" for name in request.variants]
    lines += [f"Note     {note}" for note in prepared.notes]
    return "\n".join([*lines, f"Running  {request.runs} x {shlex.join(prepared.target.command)}", ""])


def _seeds(prepared: Prepared, request: Request) -> Iterator[str]:
    seeds = prepared.analysis.seeds
    kept = [seed for seed in seeds if seed.call.endswith(OWN_GENERATORS)]
    varying = [name for name in request.variants if replay.find_variant(name).varied]
    how = f"replaced in {' and '.join(varying)}" if varying else "kept"
    if len(kept) < len(seeds):
        yield f"Seeds    the {'other ' if kept else ''}seeding calls above are {how}"
    for seed in kept:
        place = f"{seed.file}:{seed.line}"
        yield f"         {seed.call}({seed.argument}) at {place} is kept: a generator of its own"
