"""Checks a request before anything is frozen or run: refuses what no run can satisfy, warns of what is doubtful."""

import difflib
from collections.abc import Iterable
from pathlib import Path

from deviate.errors import InputError
from deviate.model.aggregates import AT_BEST
from deviate.project.command import CONFIG, refuse_missing_script, refuse_unknown_program
from deviate.project.prepare import PreparedScript
from deviate.records.plans import place_of
from deviate.replay.experiments import Request, make_executor
from deviate.series.aggregates import refuse_aggregate
from deviate.stats.options import AnalysisOptions

MOST_NAMED = 8


def validate_request(
    prepared: PreparedScript,
    request: Request,
    options: AnalysisOptions,
    folder: Path,
    *,
    starts: bool = True,
) -> tuple[str, ...]:
    """Check before the first run whether it can start, and whether the user's questions can be answered.

    Args:
        folder: the `.deviate/` folder.
        starts: whether runs are started, and not only planned.

    Returns: warnings, where only the runs can tell whether there is such a metric.

    Raises:
        InputError: a program or script is missing, the script is empty or reports nothing, no experiment can have this
            name, the executor cannot be used here, no run can report such a metric, or there is no such aggregate.
    """
    if request.name is not None:
        place_of(folder, request.name)
    refuse_missing_programs(prepared, request)
    if prepared.target.script.is_file() and not prepared.target.script.read_bytes().strip():
        raise InputError(f"{prepared.analysis.script} is empty", "name the script that trains")
    if starts and request.settings.executor != "local":
        make_executor(request.settings).close()
    refuse_mute(prepared, request)
    return validate_metrics(prepared, request, options)


def refuse_missing_programs(prepared: PreparedScript, request: Request) -> None:
    """Raise InputError for a program or script that is missing on this machine; a container has others."""
    target = prepared.target
    folder = target.root / target.cwd
    if request.settings.executor != "local":
        return
    if request.wrap:
        refuse_unknown_program(request.wrap, folder, "--wrap ")
        return
    for words in request.prepare:
        refuse_unknown_program(words, folder, "--prepare ")
    for words in request.prepare[:1]:  # a later command may need what an earlier one makes
        refuse_missing_script(words, folder, "--prepare ")
    if not (request.prepare and "/" in target.command[0]):  # which may be built by what prepares
        refuse_unknown_program(target.command, folder)
    for words in target.then:
        if "/" not in words[0]:  # else it may be a file that the training writes
            refuse_unknown_program(words, folder)


def refuse_mute(prepared: PreparedScript, request: Request) -> None:
    """Raise InputError if a script cannot report anything: the analysis sees no site and no framework that reports."""
    script = prepared.analysis
    if request.needs_metrics and not (prepared.selection.metrics or script.sites or script.reporting):
        from deviate.analysis.document import explain_nothing_found

        raise explain_nothing_found(script)


def validate_metrics(prepared: PreparedScript, request: Request, options: AnalysisOptions) -> tuple[str, ...]:
    """Check the names of metrics in the user's questions.

    Returns: warnings, where only the runs can tell whether there is such a metric.

    Raises:
        InputError: no run can report such a metric, or there is no such aggregate.
    """
    if options.aggregate is not None:
        refuse_aggregate(options.aggregate, "--aggregate")
    names = [item.name for item in prepared.selection.metrics]
    _refuse_undirected(prepared, options)
    warnings = []
    for option_text, name in _metrics_by_flag(request, options):
        if name in names:
            continue
        near = difflib.get_close_matches(name, names, 3, 0.5)
        listed = ", ".join([*near, *(other for other in names if other not in near)][:MOST_NAMED])
        if prepared.selection.is_fixed:
            raise InputError(
                f"{option_text}: no metric of this name is listed in {CONFIG}", f"name one of {listed}, or add it there"
            )
        meant = f" (nearest: {', '.join(near)})" if near else f" (found: {listed})" if listed else ""
        warnings.append(
            f"{option_text} is not among the metrics found{meant}: the first run decides whether there is one"
        )
    return tuple(warnings)


def has_all_names(prepared: PreparedScript) -> bool:
    """Whether the names of all metrics are known before a run: `deviate.toml` lists them."""
    return prepared.selection.is_fixed


def _metrics_by_flag(request: Request, options: AnalysisOptions) -> Iterable[tuple[str, str]]:
    """The options that name a metric, as they were given, each with its name."""
    if options.metric is not None:
        yield f"--metric {options.metric}", options.metric
    if options.aggregate is not None and options.aggregate.startswith(AT_BEST):
        yield f"--aggregate {options.aggregate}", options.aggregate.removeprefix(AT_BEST)
    if options.weak_below is not None:
        yield f"--weak-below {options.weak_below[0]}", options.weak_below[0]
    if request.sample_size.precision:
        from deviate.stats.design.precision import parse_target

        name = parse_target(request.sample_size.precision).metric
        yield f"--until {name}", name


def _refuse_undirected(prepared: PreparedScript, options: AnalysisOptions) -> None:
    """Raise InputError if scores are to be read off where a metric is best of which no better value is known."""
    name = (options.aggregate or "").removeprefix(AT_BEST)
    metric = next((item for item in prepared.selection.metrics if item.name == name), None)
    if name == options.aggregate or metric is None or name in options.directions or metric.direction is not None:
        return
    raise InputError(
        f"--aggregate {options.aggregate}: whether a higher or a lower {name} is better is not known",
        f"set its direction in [metrics.{name}] of {CONFIG}, which deviate analyze --save writes",
    )
