"""The preview before the first run: recorded metrics, treatment of seeds and side effects, commands."""

import shlex
import textwrap
from collections.abc import Iterator, Mapping, Sequence
from types import MappingProxyType

from deviate import analysis, replay
from deviate.base import first_few, place_text, redact_words
from deviate.model import Analysis
from deviate.project import PreparedScript
from deviate.report import clean, render_brief, size_text
from deviate.workflows import Request

INDENT = " " * 9
NARROWEST = 60
MOST_PLACES = 4
NONE: Mapping[str, Sequence[str]] = MappingProxyType({})
TRACKERS = ("wandb", "neptune", "clearml", "swanlab", "comet", "mlflow")
"""Sinks that would publish each run."""
FATES: Mapping[str, str] = MappingProxyType({
    "tracker-id": "kept as the script has it, over what would tell the runs apart",
    "upload": "not stopped: each run does it again",
    "database": "not copied, unless it is a file of the project: all runs use the same one",
    "absolute-path": "not copied: all runs write the same files",
    "port": "kept: of two runs at a time only one gets it",
})  # fmt: skip
"""What becomes of each kind of side effect."""

FATES_OF_SEEDS = {
    "replaced": "replaced at {places} by one for each stream",
    "kept with the split": "kept at {places} where split is held, for they choose examples",
    "unknown": "maybe kept at {places}: the runs tell",
}
"""What becomes of the seeds of a script where a variant replaces them."""


def announcement(
    prepared: PreparedScript,
    request: Request,
    width: int,
    *,
    name: str | None = None,
    apart: Mapping[str, Sequence[str]] = NONE,
    cost: str = "",
) -> str:
    """Text for a terminal of that width; ends with an empty line before the output of runs.

    Args:
        name: of the experiment, where it is one of several that are run together.
        apart: names of experiments and their commands, where runs of one request are started from several.
        cost: what the runs take, as far as it is known.
    """
    script_analysis = prepared.analysis
    paragraphs = [
        *_seeds(prepared, request),
        *_outside(script_analysis, request),
        *(f"Variant  {variant.name}: {replay.describe_variant(variant)}" for variant in request.variants),
        *_capture(request),
    ]
    lines = [
        render_brief(script_analysis, prepared.selection, width).rstrip(),
        *(_wrap(line, width) for line in paragraphs),
    ]
    if script_analysis.outputs:
        lines.append(f"Outputs  start empty in each run: {', '.join(script_analysis.outputs)}")
    lines += [f"Note     {clean(note)}" for note in prepared.notes]
    lines += _commands(prepared, request, apart or {name: prepared.target.command})
    lines += [_wrap(f"Cost     {cost}", width)] if cost else []
    return "\n".join([*lines, ""])


def _commands(
    prepared: PreparedScript,
    request: Request,
    commands: Mapping[str, Sequence[str]] | Mapping[str | None, Sequence[str]],
) -> Iterator[str]:
    """Commands of a run, in order."""
    for words in request.prepare:
        yield f"Prepare  once: {_command(words)}"
    for name, command in commands.items():
        whose = f"{clean(name)}: " if name is not None else ""
        yield f"Running  {whose}{request.runs // len(commands)} x {_command(command)}"
    for words in prepared.target.then:
        yield f"Then     {_command(words)}"
    if request.wrap:
        yield f"Inside   {_command(request.wrap)}"


def _command(words: Sequence[str]) -> str:
    return shlex.join(redact_words(words))


def _seeds(prepared: PreparedScript, request: Request) -> Iterator[str]:
    """What happens to the seeds of the script, in one line."""
    replacing = [variant.name for variant in request.variants if variant.varied or variant.held]
    untouched = [variant.name for variant in request.variants if variant.name not in replacing]
    places: dict[str, dict[str, None]] = {}
    for seed in prepared.analysis.seeds:
        places.setdefault(analysis.fate_of(seed), {})[place_text(seed.file, seed.line)] = None
    texts = {fate: first_few(list(of_fate), MOST_PLACES) for fate, of_fate in places.items()}
    parts = [text.format(places=texts[fate]) for fate, text in FATES_OF_SEEDS.items() if fate in texts and replacing]
    if parts and untouched:
        parts = [f"{parts[0]} ({', '.join(replacing)})", *parts[1:]]
    if texts and untouched:
        parts.append(f"as the script has them in {', '.join(untouched)}")
    if parts:
        yield f"Seeds    {'; '.join(parts)}"


def _capture(request: Request) -> Iterator[str]:
    """What is captured besides metrics, and its maximum size."""
    if request.capture and not replay.is_trace(request.capture):
        limit, n_runs = int(dict(replay.with_defaults(request.capture))["limit"]), request.runs * len(request.variants)
        most = f"at most {size_text(limit)} of each run, {size_text(limit * n_runs)} of {n_runs} together"
        yield f"Capture  {replay.describe_capture(request.capture)}; {most}"


def _outside(analysis: Analysis, request: Request) -> Iterator[str]:
    """What happens to effects of the script outside of its work copy."""
    used = [name for name in TRACKERS if any(_is_of(site.sink, name) for site in analysis.sites)]
    used += [name for name in TRACKERS if any(_is_of(effect.what, name) for effect in analysis.side_effects)]
    offline = [variant.name for variant in request.variants if variant.are_trackers_offline]
    online = [variant.name for variant in request.variants if not variant.are_trackers_offline]
    if used:
        fates = [("offline in", offline), ("as the script has them in", online)]
        sentence = "; ".join(f"{fate} {', '.join(names)}" for fate, names in fates if names)
        yield f"Trackers {', '.join(dict.fromkeys(used))}: {sentence}"
    for kind, fate in FATES.items():
        those = [effect for effect in analysis.side_effects if effect.kind == kind]
        withheld = [effect for effect in those if kind == "upload" and not online and _is_kept_back(effect.what)]
        places = [place_text(effect.file, effect.line) for effect in those if effect not in withheld]
        if withheld:
            uploads = [place_text(effect.file, effect.line) for effect in withheld]
            yield f"Outside  upload at {first_few(uploads, MOST_PLACES)}: stays on the disk, offline"
        if places:
            yield f"Outside  {kind} at {first_few(places, MOST_PLACES)}: {fate}"


def _is_of(name: str, tracker: str) -> bool:
    return name.lower().startswith(tracker)


def _is_kept_back(client: str) -> bool:
    """Whether an offline tracker prevents this upload; it does not if the script sets the tracker online."""
    return client.startswith(("wandb.save", "wandb.log_", "wandb.init.")) and "online" not in client


def _wrap(line: str, width: int) -> str:
    lines = textwrap.wrap(clean(line), max(width, NARROWEST), subsequent_indent=INDENT, break_on_hyphens=False)
    return "\n".join(lines)
