"""An experiment beside published results: what `deviate compare NAME --against RESULT` says."""

from collections.abc import Sequence
from dataclasses import replace

from deviate.errors import InputError
from deviate.model.comparisons import Description
from deviate.model.estimates import VERDICT_RUNS
from deviate.model.published_results import PublishedComparison, PublishedFindings, PublishedResult
from deviate.model.records import Experiment
from deviate.model.texts import count
from deviate.report.advice import warnings_of
from deviate.report.published_text import OPTION, parse_published
from deviate.series.sides import scale_between
from deviate.stats.judge import judge
from deviate.stats.options import AnalysisOptions
from deviate.stats.published_results import compare_published


def judge_published(experiment: Experiment, texts: Sequence[str], options: AnalysisOptions) -> PublishedFindings:
    """Compare an experiment with published results.

    Args:
        texts: the published results, as `parse_published` reads them.

    Raises:
        InputError: a result is not understood, or the margin is in units of one of several metrics.
    """
    names = [metric.name for metric in experiment.metrics]
    results = [parse_published(text, names) for text in texts]
    asked = list(dict.fromkeys(result.metric for result in results))
    if options.margin is not None and len(asked) > 1:
        raise InputError(
            f"--margin {options.margin:g} stands beside {OPTION} of several metrics: {', '.join(asked)}",
            "compare one metric at a time, or set margins in deviate.toml",
        )
    findings = judge([experiment], replace(options, compares=False, keeps=tuple(asked)))
    judged = findings.experiments[0]
    described = {one.metric.name: one for one in judged.descriptions}
    comparisons = tuple(
        compare_published(
            experiment, described[result.metric], result, confidence=options.confidence, margin=options.margin
        )
        for result in results
    )
    # Which metric is the primary one is no question here, for the user has named one.
    basis = replace(findings.basis, question=None, idle_margin=None)
    warnings = warnings_of(replace(findings, basis=basis))
    of_scales = (scale_note(result, described[result.metric]) for result in results)
    notes = [*filter(None, (*of_scales, *map(few_runs_note, comparisons))), *warnings]
    return PublishedFindings(
        experiment=experiment.name,
        variant=experiment.variant,
        command=experiment.command,
        confidence=options.confidence,
        comparisons=comparisons,
        notes=tuple(dict.fromkeys(notes)),
    )


def scale_note(published: PublishedResult, ours: Description) -> str:
    """A warning if one side looks like a percentage and the other like a fraction; empty otherwise."""
    factor = scale_between([published.mean], ours.values, ours.metric)
    if published.is_percentage and ours.n and max(ours.values) <= 1 < published.mean:
        factor = 0.01
    if not factor:
        return ""
    name, kinds = published.metric, ("a percentage", "a fraction") if factor < 1 else ("a fraction", "a percentage")
    verb = "divide" if factor < 1 else "multiply"
    return (
        f"{name}: theirs ({published.mean:g}) looks like {kinds[0]}, ours ({ours.mean:.6g}) like {kinds[1]}. Nothing "
        f"was converted: {verb} theirs and its spread by 100, as {name}={published.mean * factor:.6g}."
    )


def few_runs_note(comparison: PublishedComparison) -> str:
    """A warning if one side has too few runs for more than a description; empty otherwise."""
    sides = {"ours": comparison.n, "theirs": comparison.published.n}
    counts = [f"{count(n, 'run')} of {side}" for side, n in sides.items() if 1 < n < VERDICT_RUNS]
    if not counts:
        return ""
    return (
        f"{comparison.published.metric}: {' and '.join(counts)}; with fewer than {VERDICT_RUNS} the numbers only "
        "describe these runs, and the interval holds for normal scores."
    )
