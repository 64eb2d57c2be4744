"""The preview before the first run: recorded metrics, treatment of seeds and side effects, commands."""

import shlex
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from types import MappingProxyType
from typing import IO

import typer

from deviate.base.redaction import redact_words
from deviate.cli.app import print_document
from deviate.model.analysis import Analysis
from deviate.model.places import place_text
from deviate.model.texts import first_few
from deviate.project.begin import name_of
from deviate.project.prepare import PreparedScript
from deviate.replay.capture_options import describe_capture, is_trace, with_defaults
from deviate.replay.experiments import Request
from deviate.replay.gpus import on_this_machine
from deviate.replay.variants import describe_variant
from deviate.report.document import Document, Fact, Facts, fact, paragraph
from deviate.report.format import clean, size_text
from deviate.report.parts.analysis_text import brief_facts

MOST_PLACES = 4
NONE: Mapping[str, Sequence[str]] = MappingProxyType({})
TRACKERS = ("wandb", "neptune", "clearml", "swanlab", "comet", "mlflow")
"""Sinks that would publish each run."""
GROUPED = frozenset({"wandb", "swanlab", "comet", "mlflow"})
"""Trackers whose runs are given the experiment as their group."""
MOST_LINES, MARGIN = 12, 11
LEFT_OUT_FIRST = ("Hazards", "Outputs", "Capture", "Inside", "Prepare", "Then", "Note", "Seeds")
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
) -> Document:
    """What will be run, before the output of the runs.

    Args:
        width: of the terminal. Of a long preview, what decides nothing before the first run is left out.
        name: of the experiment, where it is one of several that are run together.
        apart: names of experiments and their commands, where runs of one request are started from several.
        cost: what the runs take, as far as it is known.
    """
    analysis = prepared.analysis
    stem = name_of(Path(analysis.script))
    facts = [
        *brief_facts(on_this_machine(analysis), prepared.selection),
        *_seeds(prepared, request),
        *_outside(analysis, request, name or request.name or stem),
        *(fact("Variant", f"{variant.name}: {describe_variant(variant)}") for variant in request.variants),
        *_capture(request),
    ]
    if analysis.outputs:
        facts.append(fact("Outputs", f"start empty in each run: {', '.join(analysis.outputs)}"))
    facts += [fact("Note", note) for note in prepared.notes]
    facts += _commands(prepared, request, apart or {name: prepared.target.command})
    facts += [fact("Cost", cost)] if cost else []
    place = clean(name or request.name or "") or f"{stem}, or {stem}-2 … where other code has that name"
    facts += [] if apart else [fact("Record", f".deviate/experiments/{place}", is_code=True)]
    for label in LEFT_OUT_FIRST:
        if sum(1 if one.is_code else -(-len(one.cell.text) // (width - MARGIN)) for one in facts) > MOST_LINES:
            facts = [one for one in facts if one.label != label]
    return Document(sections=(paragraph(Facts(tuple(facts))),))


def announce(document: Document, file: IO[str]) -> None:
    """Print the preview, and an empty line before the output of runs."""
    print_document(document, file=file)
    typer.echo(file=file)


def _commands(
    prepared: PreparedScript,
    request: Request,
    commands: Mapping[str, Sequence[str]] | Mapping[str | None, Sequence[str]],
) -> Iterator[Fact]:
    """Commands of a run, in order."""
    for words in request.prepare:
        yield fact("Prepare", f"once: {_command(words)}", is_code=True)
    for name, command in commands.items():
        whose = f"{name}: " if name is not None else ""
        yield fact("Running", f"{whose}{request.runs // len(commands)} x {_command(command)}", is_code=True)
    for words in prepared.target.then:
        yield fact("Then", _command(words), is_code=True)
    if request.wrap:
        yield fact("Inside", _command(request.wrap), is_code=True)


def _command(words: Sequence[str]) -> str:
    return shlex.join(redact_words(words))


def _seeds(prepared: PreparedScript, request: Request) -> Iterator[Fact]:
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
        sentences.insert(0, f"seeds of what varies are replaced{where}, those of held data are kept")
    yield fact("Seeds", f"{places}: {'; '.join(sentences)}")


def _places(places: Sequence[tuple[str, int]], script: str) -> str:
    """`line 12, line 14, data.py:3`: the script is named above."""
    texts = dict.fromkeys(
        f"line {line}" if file == script and line else place_text(file, line) for file, line in places
    )
    return first_few(list(texts), MOST_PLACES)


def _capture(request: Request) -> Iterator[Fact]:
    """What is captured besides metrics, and its maximum size."""
    if request.capture and not is_trace(request.capture):
        limit, n_runs = int(dict(with_defaults(request.capture))["limit"]), request.runs * len(request.variants)
        most = f"at most {size_text(limit)} of each run, {size_text(limit * n_runs)} of {n_runs} together"
        yield fact("Capture", f"{describe_capture(request.capture)}; {most}")


def _outside(analysis: Analysis, request: Request, experiment: str) -> Iterator[Fact]:
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
        fates_text = "; ".join(fate for fate, names in fates if names)
        yield fact("Trackers", f"{', '.join(dict.fromkeys(used))}: {fates_text}")
    for kind, fate in FATES.items():
        those = [effect for effect in analysis.side_effects if effect.kind == kind]
        withheld = [effect for effect in those if kind == "upload" and not online and _is_kept_back(effect.what)]
        further = [(effect.file, effect.line) for effect in those if effect not in withheld]
        if withheld:
            uploads = _places([(effect.file, effect.line) for effect in withheld], analysis.script)
            yield fact("Outside", f"upload at {uploads}: stays on the disk, offline")
        if further:
            yield fact("Outside", f"{kind} at {_places(further, analysis.script)}: {fate}")


def _is_of(name: str, tracker: str) -> bool:
    return name.lower().startswith(tracker)


def _is_kept_back(client: str) -> bool:
    """Whether an offline tracker prevents this upload; it does not if the script sets the tracker online."""
    return client.startswith(("wandb.save", "wandb.log_", "wandb.init.")) and "online" not in client
