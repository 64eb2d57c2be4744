"""The preview before the first run: recorded metrics, treatment of seeds and side effects, commands."""

import shlex
from collections.abc import Iterator, Mapping, Sequence
from types import MappingProxyType

from deviate.base.redaction import redact_words
from deviate.model.analysis import Analysis
from deviate.model.places import place_text
from deviate.model.texts import first_few
from deviate.project.prepare import PreparedScript
from deviate.replay.capture_options import describe_capture, is_trace, with_defaults
from deviate.replay.experiments import Request
from deviate.replay.gpus import on_this_machine
from deviate.replay.variants import describe_variant
from deviate.report.format import clean, size_text
from deviate.report.lines import hang
from deviate.report.parts.analysis_text import render_brief

INDENT = " " * 9
NARROWEST = 60
MOST_PLACES = 4
NONE: Mapping[str, Sequence[str]] = MappingProxyType({})
TRACKERS = ("wandb", "neptune", "clearml", "swanlab", "comet", "mlflow")
"""Sinks that would publish each run."""
GROUPED = frozenset({"wandb", "swanlab", "comet", "mlflow"})
"""Trackers whose runs are given the experiment as their group."""
MOST_LINES = 12
LEFT_OUT_FIRST = ("Hazards", "Outputs", "Capture", "Inside", "Prepare", "Then", "Note")
"""What `deviate analyze` and the report have as well, in the order in which a long preview leaves it out."""
FATES: Mapping[str, str] = MappingProxyType({
    "tracker-id": "kept as the script has it, over what would tell the runs apart",
    "upload": "not stopped: each run does it again",
    "database": "not copied, unless it is a file of the project: all runs use the same one",
    "absolute-path": "not copied: all runs write the same files",
    "port": "kept: of two runs at a time only one gets it",
})  # fmt: skip
"""What becomes of each kind of side effect."""


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
        *_outside(script_analysis, request, name or request.name or "NAME"),
        *(f"Variant  {variant.name}: {describe_variant(variant)}" for variant in request.variants),
        *_capture(request),
    ]
    width = max(width, NARROWEST)
    lines = [
        *render_brief(on_this_machine(script_analysis), prepared.selection, width),
        *(line for text in paragraphs for line in hang(clean(text), width, "", INDENT)),
    ]
    if script_analysis.outputs:
        lines.append(f"Outputs  start empty in each run: {', '.join(script_analysis.outputs)}")
    lines += [f"Note     {clean(note)}" for note in prepared.notes]
    lines += _commands(prepared, request, apart or {name: prepared.target.command})
    lines += hang(f"Cost     {cost}", width, "", INDENT) if cost else []
    place = clean(name or request.name or "") or "NAME, named after the script"
    lines += [] if apart else [f"Record   .deviate/experiments/{place}"]
    return "\n".join([*_keep_short(lines), ""])


def _keep_short(lines: Sequence[str]) -> list[str]:
    """A preview of at most `MOST_LINES`: what decides nothing before the first run is left out first, then cut."""
    paragraphs = [text.split("\0") for text in "\n".join(lines).replace(f"\n{INDENT}", f"\0{INDENT}").split("\n")]
    for label in LEFT_OUT_FIRST:
        if sum(map(len, paragraphs)) > MOST_LINES:
            paragraphs = [paragraph for paragraph in paragraphs if not paragraph[0].startswith(label)]
    while sum(map(len, paragraphs)) > MOST_LINES and (longest := max(paragraphs, key=len))[1:]:
        longest[-2:] = [f"{longest[-2]} …"]
    return [line for paragraph in paragraphs for line in paragraph]


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
    """What happens to the seeds of the script."""
    script_analysis = prepared.analysis
    if not script_analysis.seeds:
        return
    replacing = [variant.name for variant in request.variants if variant.varied or variant.held]
    untouched = [variant.name for variant in request.variants if variant.name not in replacing]
    places = _places([(seed.file, seed.line) for seed in script_analysis.seeds], script_analysis.script)
    sentences = [f"kept in {', '.join(untouched)}"] if untouched else []
    if replacing:
        where = f" in {', '.join(replacing)}" if untouched else ""
        sentences.insert(0, f"replaced{where} where they are for what varies, kept where for what is held")
    yield f"Seeds    {places}: {'; '.join(sentences)}"


def _places(places: Sequence[tuple[str, int]], script: str) -> str:
    """`line 12, line 14, data.py:3`: the script is named above."""
    texts = dict.fromkeys(
        f"line {line}" if file == script and line else place_text(file, line) for file, line in places
    )
    return first_few(list(texts), MOST_PLACES)


def _capture(request: Request) -> Iterator[str]:
    """What is captured besides metrics, and its maximum size."""
    if request.capture and not is_trace(request.capture):
        limit, n_runs = int(dict(with_defaults(request.capture))["limit"]), request.runs * len(request.variants)
        most = f"at most {size_text(limit)} of each run, {size_text(limit * n_runs)} of {n_runs} together"
        yield f"Capture  {describe_capture(request.capture)}; {most}"


def _outside(analysis: Analysis, request: Request, experiment: str) -> Iterator[str]:
    """What happens to effects of the script outside of its work copy."""
    used = [name for name in TRACKERS if any(_is_of(site.sink, name) for site in analysis.sites)]
    used += [name for name in TRACKERS if any(_is_of(effect.what, name) for effect in analysis.side_effects)]
    offline = [variant.name for variant in request.variants if variant.are_trackers_offline]
    online = [variant.name for variant in request.variants if not variant.are_trackers_offline]
    if used:
        group = f", group deviate/{experiment}" if GROUPED & set(used) else ""
        sync = "; `wandb sync …/wandb/offline-run-*` uploads them" if "wandb" in used else ""
        where = ", ".join(offline) if online else "these runs"
        fates = [
            (f"offline in {where}{group}{sync}", offline),
            (f"as the script has them in {', '.join(online)}", online),
        ]
        yield f"Trackers {', '.join(dict.fromkeys(used))}: {'; '.join(fate for fate, names in fates if names)}"
    for kind, fate in FATES.items():
        those = [effect for effect in analysis.side_effects if effect.kind == kind]
        withheld = [effect for effect in those if kind == "upload" and not online and _is_kept_back(effect.what)]
        further = [(effect.file, effect.line) for effect in those if effect not in withheld]
        if withheld:
            uploads = _places([(effect.file, effect.line) for effect in withheld], analysis.script)
            yield f"Outside  upload at {uploads}: stays on the disk, offline"
        if further:
            yield f"Outside  {kind} at {_places(further, analysis.script)}: {fate}"


def _is_of(name: str, tracker: str) -> bool:
    return name.lower().startswith(tracker)


def _is_kept_back(client: str) -> bool:
    """Whether an offline tracker prevents this upload; it does not if the script sets the tracker online."""
    return client.startswith(("wandb.save", "wandb.log_", "wandb.init.")) and "online" not in client
