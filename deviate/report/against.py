"""An experiment beside published results: what `deviate compare NAME --against RESULT` says."""

from collections.abc import Sequence
from dataclasses import replace

from deviate.errors import InputError
from deviate.model.published_results import PublishedFindings
from deviate.model.records import Experiment
from deviate.report.advice import warnings_of
from deviate.report.published_text import OPTION, parse_published
from deviate.stats.judge import judge
from deviate.stats.options import AnalysisOptions
from deviate.stats.published_results import compare_published, few_runs_note, scale_note


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
