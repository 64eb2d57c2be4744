"""From a command to what is recorded: analyses the script, and applies or writes `deviate.toml`."""

import shlex
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from deviate.base.decisions import log_decision, timed_stage
from deviate.base.git import project_root
from deviate.base.redaction import redact_words
from deviate.errors import InputError
from deviate.model.analysis import Analysis
from deviate.model.plan import Selection, Variant
from deviate.project import config, selection
from deviate.project.command import CONFIG, Target, locate

if TYPE_CHECKING:
    from deviate.project.saving import SavedChanges

MOST_NOTICES = 4


@dataclass(frozen=True, slots=True)
class PreparedScript:
    """A command with its analysed script, and the metrics that the user selected.

    Attributes:
        notes: tell of a `deviate.toml` that was not obeyed, and of sections whose statements have moved.
        variants: those that the user has defined.
        sources: where the files are, for another state of the project than the one at its root.
    """

    target: Target
    analysis: Analysis
    selection: Selection
    config: config.Config
    notes: tuple[str, ...] = ()
    variants: tuple[Variant, ...] = ()
    sources: Path | None = None


@dataclass(frozen=True, slots=True)
class AnalyzedScript:
    """A script as analysed, and the matches of its `deviate.toml` sections.

    Attributes:
        matches: None without a metrics part.
        problem: why the main loop that the file names cannot be it.
        notes: why a `deviate.toml` is not obeyed.
    """

    target: Target
    analysis: Analysis
    config: config.Config
    matches: tuple[selection.Match, ...] | None
    problem: InputError | None = None
    notes: tuple[str, ...] = ()

    @property
    def config_path(self) -> Path:
        """The path of the project's `deviate.toml`."""
        return self.target.root / CONFIG


def find_target(
    words: Sequence[str],
    folder: Path,
    python: str | None = None,
    *,
    default: str | None = None,
    then: Sequence[Sequence[str]] = (),
) -> Target:
    """Interpret a command line, completed by `deviate.toml`: the command itself, and commands that follow.

    Args:
        words: a script with its arguments, or a whole command; nothing for the one that `deviate.toml` names.
        folder: where the user is.
        python, default: interpreter for a script, as in `locate`.
        then: commands that follow; by default those of `deviate.toml`, where it is for the script.

    Raises:
        InputError: there is no script, or it does not exist.
    """
    file = project_root(folder) / CONFIG
    log_decision("project", "settings from %s", file if file.exists() else f"no file: there is no {file}")
    settings = config.load(file)
    if not words and (settings.command or settings.train):
        words = shlex.split(settings.command) if settings.command else [str(settings.train)]
    target = locate(words, folder, python, default=default, then=then, train=settings.train)
    scripts = [path.relative_to(target.root).as_posix() for path in (target.script, *target.later_scripts)]
    if not then and settings.then and any(map(settings.is_for, scripts)):
        following = [shlex.split(text) for text in settings.then]
        target = locate(words, folder, python, default=default, then=following, train=settings.train)
    log_decision("project", "script %s of project %s", target.script, target.root)
    log_decision("project", "command %s in %s", shlex.join(redact_words(target.command)), target.cwd)
    return target


def analyze_target(target: Target) -> AnalyzedScript:
    """Analyse the script and read `deviate.toml`, without checking whether its sections match.

    Raises:
        InputError: the script or the file cannot be used.
    """
    return _read_config(target, analyze_scripts(target))


def analyze_scripts(target: Target, *, is_whole: bool = False) -> Analysis:
    """Analyse all scripts of a run; the training script is that of `deviate.toml`, else the first that trains.

    Raises:
        InputError: a script cannot be used.
    """
    from deviate.analysis.merge_analyses import analyze_together  # libcst, which the help of a verb does without

    train = config.load(target.root / CONFIG).train
    scripts = (target.script, *target.later_scripts)
    with timed_stage("analysis", "analysed %s", ", ".join(path.name for path in scripts)):
        script_analysis = analyze_together(scripts, target.root, train=train, is_whole=is_whole)
    _log_analysis(script_analysis)
    return script_analysis


def _log_analysis(script_analysis: Analysis) -> None:
    """Log the main loop and what becomes of each value; `deviate analyze` says more."""
    loop = next((loop for loop in script_analysis.loops if loop.is_main), None)
    place = "none found" if loop is None else f"{loop.file}:{loop.line} ({loop.kind}): {', '.join(loop.evidence)}"
    log_decision("analysis", "main loop %s", place)
    for metric in script_analysis.metrics:
        log_decision("analysis", "metric %s at %s:%s", metric.name, metric.file, metric.line)
    for value in script_analysis.rejected:
        log_decision("analysis", "no metric: %s at %s:%s: %s", value.expression, value.file, value.line, value.reason)


def _read_config(target: Target, script_analysis: Analysis) -> AnalyzedScript:
    settings = config.load(target.root / CONFIG)
    if not settings.is_for(script_analysis.script):
        return AnalyzedScript(
            target, script_analysis, config.Config(), None, None, (f"{CONFIG} is for {settings.train} and was ignored",)
        )
    return match_config(target, script_analysis, settings)


def match_config(
    target: Target, script_analysis: Analysis, settings: config.Config, *, is_current: bool = False
) -> AnalyzedScript:
    """Match the sections of a `deviate.toml` for this script; `is_current` as in `selection.match`."""
    script_analysis, problem = selection.choose_loop(script_analysis, settings)
    script_analysis, matches = selection.match(script_analysis, settings, is_current=is_current)
    return AnalyzedScript(target, script_analysis, settings, None if settings.metrics is None else matches, problem)


def prepare_script(target: Target) -> PreparedScript:
    """Analyse the script for a run, and apply the user's `deviate.toml`.

    Raises:
        InputError: the script or the file cannot be used, or nothing is left to record.
    """
    return apply_config(_read_config(target, analyze_scripts(target, is_whole=True)))


def apply_config(script: AnalyzedScript) -> PreparedScript:
    """Apply the user's `deviate.toml`.

    Raises:
        InputError: a section fits nothing, a variant cannot be made, or nothing is left to record.
    """
    if script.problem is not None:
        raise script.problem
    selected = selection.select_metrics(script.analysis, script.matches)
    moved = selection.describe_moves(script.matches or ())
    notes = (*script.notes, *_notices(script.analysis), *([moved] if moved else []))
    return PreparedScript(script.target, script.analysis, selected, script.config, notes, _variants(script.config))


def _notices(script_analysis: Analysis) -> list[str]:
    """The first sentences on what the analysis did not read, and how many more there are."""
    notices = list(script_analysis.notices)
    more = [f"{len(notices) - MOST_NOTICES} more such files"] if len(notices) > MOST_NOTICES else []
    return [*notices[:MOST_NOTICES], *more]


def _variants(settings: config.Config) -> tuple[Variant, ...]:
    from deviate.replay.variants import define_variant

    return tuple(
        define_variant(one.name, vary=one.vary, hold=one.hold, levels=one.levels, description=one.description)
        for one in settings.definitions
    )


def save_analysis(script: AnalyzedScript) -> "tuple[AnalyzedScript, SavedChanges]":
    """Write the metrics to `deviate.toml`, or update it.

    Raises:
        InputError: the file is for another script, or cannot be brought up to date or written.
    """
    from deviate.project import saving

    if script.problem is not None:
        raise script.problem
    settings = config.load(script.config_path)
    saved = saving.save(script.analysis, settings, script.matches or (), script.config_path)
    return _read_config(script.target, script.analysis), saved
