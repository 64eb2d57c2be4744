"""An experiment beside published results: what `deviate compare NAME --against RESULT` says."""

from collections.abc import Sequence
from dataclasses import replace

from deviate.errors import InputError
from deviate.model.estimates import VERDICT_RUNS, Unavailable
from deviate.model.published_results import PublishedComparison, PublishedFindings
from deviate.model.records import Experiment
from deviate.model.texts import count
from deviate.report.advice import warnings_of
from deviate.report.published_text import OPTION, parse_published
from deviate.stats.judge import judge
from deviate.stats.options import AnalysisOptions
from deviate.stats.published_results import compare_published

FAR = 25.0
"""Ratio of two means from which one of them is taken for a percentage, if nothing else says so."""


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
    of_numbers = [note(one) for note in (scale_note, few_runs_note) for one in comparisons]
    notes = [*filter(None, of_numbers), *warnings]
    return PublishedFindings(
        experiment=experiment.name,
        variant=experiment.variant,
        command=experiment.command,
        confidence=options.confidence,
        comparisons=comparisons,
        notes=tuple(dict.fromkeys(notes)),
    )


def scale_note(comparison: PublishedComparison) -> str:
    """A warning if one side looks like a percentage and the other like a fraction; empty otherwise."""
    mean, published_mean = comparison.mean, comparison.published.mean
    if isinstance(mean, Unavailable) or min(mean, published_mean) <= 0:
        return ""
    is_far = comparison.direction == "max" or max(mean, published_mean) / min(mean, published_mean) >= FAR
    if mean <= 1 < published_mean <= 100 and (is_far or comparison.published.is_percentage):
        words, change, factor = ("a percentage", "a fraction"), "divide theirs and its spread by 100", 0.01
    elif published_mean <= 1 < mean <= 100 and is_far:
        words, change, factor = ("a fraction", "a percentage"), "multiply theirs and its spread by 100", 100.0
    else:
        return ""
    name = comparison.published.metric
    return (
        f"{name}: theirs ({published_mean:g}) looks like {words[0]}, ours ({mean:.6g}) like {words[1]}. Nothing was "
        f"converted: {change}, as {name}={published_mean * factor:.6g}."
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
