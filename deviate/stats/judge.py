"""Judging experiments: every description, comparison and verdict of a report, computed once."""

import fnmatch
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from types import MappingProxyType

import numpy as np

from deviate.errors import InputError
from deviate.model.aggregates import AT_BEST
from deviate.model.comparisons import Comparison, Description, Equivalence
from deviate.model.estimates import Unavailable
from deviate.model.findings import Basis, Doubt, ExperimentFindings, Findings, PairFindings, PrimaryQuestion
from deviate.model.margin import MARGIN_AFTER, date_margin
from deviate.model.plan import PrimaryChoice, SelectedMetric
from deviate.model.records import Experiment
from deviate.series.aggregates import refuse_aggregate
from deviate.series.copies import distinct_metrics
from deviate.series.headline import DECLARED, NAMED_AFTER, Headline, choose_headline, is_result, rank_of
from deviate.series.lookup import require_metric
from deviate.series.repeatability import evaluation_agreement
from deviate.series.sides import Scale, rescaled, scale_factors
from deviate.stats.compare import smallest_se
from deviate.stats.describe import describe_runs
from deviate.stats.estimates.bootstrap import Resamples
from deviate.stats.hypothesis.failures import completion
from deviate.stats.hypothesis.paired import match_partners
from deviate.stats.hypothesis.survival import attainment
from deviate.stats.multiple.many import compare_many
from deviate.stats.multiple.pairs import compare_all, find_headline, label_of, match_metrics
from deviate.stats.multiple.tasks import compare_tasks
from deviate.stats.noise import noise
from deviate.stats.options import AnalysisOptions
from deviate.stats.planning import planning

NO_MATCHES: Mapping[str, str] = MappingProxyType({})
AS_RECORDED = AnalysisOptions()


def judge(experiments: Sequence[Experiment], options: AnalysisOptions = AS_RECORDED) -> Findings:
    """Describe each experiment and compare every further one with the first, the baseline.

    Equal records and options give equal findings.

    Raises:
        InputError: a setting is out of range, or names a metric that is not there.
    """
    _check(experiments, options)
    matches, confidence = options.matches, options.confidence
    if options.is_paired:
        experiments = [experiments[0], *(match_partners(experiments[0], experiment) for experiment in experiments[1:])]
    names = [metric.name for metric in experiments[0].metrics]
    named = [] if options.metric is None else [options.metric]
    for name in (*options.directions, *named, *options.targets):
        require_metric(name, names, experiments[0].name)
    chosen_tasks = _tasks(experiments, options.tasks) if options.compares else ()
    asked = {*options.keeps, *options.directions, *options.targets, *matches, *matches.values(), *chosen_tasks, *named}
    distinct = distinct_metrics(experiments, asked)
    recorded, experiments = experiments, distinct.experiments
    metrics = _with_settings(experiments, options)
    # Scores are read off where a metric is best even if that metric is shown as an alias or a function of another one.
    recorded_metrics = _with_settings(recorded, options)
    if options.aggregate is not None and options.aggregate.startswith(AT_BEST):
        for experiment, known_metrics in zip(recorded, recorded_metrics, strict=True):
            _refuse_best(options.aggregate.removeprefix(AT_BEST), known_metrics, experiment.name)
    candidates = _with_declared(metrics, matches)
    choice, question = _choice(candidates, recorded, options, has_tasks=bool(chosen_tasks))
    chosen = None if choice is None else choice.name
    metrics[0] = tuple(replace(metric, target=options.targets.get(metric.name, metric.target)) for metric in metrics[0])
    resolved = [
        _resolve_metrics(selection, metrics[0], matches if place else NO_MATCHES, chosen, options.margin)
        for place, selection in enumerate(metrics)
    ]
    rng = np.random.default_rng(options.analysis_seed)
    resamples = Resamples(rng)
    described = [
        ExperimentFindings(
            experiment,
            _in_order(
                distinct.mark(_describe(experiment, metric, reported, confidence, resamples), before)
                for metric in selection
            ),
            completion(experiment, confidence=confidence),
        )
        for before, experiment, reported, selection in zip(
            recorded, experiments, recorded_metrics, resolved, strict=True
        )
    ]
    pairs: tuple[PairFindings, ...] = ()
    if options.compares and options.scale is not None:
        factors = _factors(described, matches, options.scale)
        if any(factors):
            sides = [
                rescaled(experiment, of_one, options.scale)
                for experiment, of_one in zip(recorded, factors, strict=True)
            ]
            return judge(sides, replace(options, scale=None))
    if options.compares:
        described = _rounded_together(described, matches)
        is_chosen_after = choice is not None and choice.is_after_runs
        pairs = tuple(
            _with_late_margins(pair, described[0].experiment, candidate.experiment)
            for pair, candidate in zip(
                compare_all(described, options, is_chosen_after=is_chosen_after, resamples=resamples),
                described[1:],
                strict=True,
            )
        )
    labels = [label_of(one, experiments) for one in experiments]
    sources = None if pairs else noise(described, confidence=confidence)
    apart = {
        (comparison.metric.name, pair.candidate)
        for pair in pairs
        for comparison in pair.comparisons
        if comparison.verdict.word == "withheld" and isinstance(comparison.difference, Unavailable)
    }
    return Findings(
        experiments=tuple(described),
        pairs=pairs,
        primary=chosen,
        confidence=confidence,
        analysis_seed=options.analysis_seed,
        noise=sources,
        evaluation=evaluation_agreement(experiments),
        many=compare_many(described, labels, matches=matches, confidence=confidence, rng=rng, apart=apart)
        if pairs
        else (),
        tasks=compare_tasks(described, labels, chosen_tasks, matches=matches, confidence=confidence, rng=rng)
        if pairs
        else None,
        planning=planning(described, pairs, sources, chosen, confidence=confidence),
        primary_choice=choice,
        basis=Basis(
            matches=matches,
            is_paired=options.is_paired,
            question=None if not metrics[0] and distinct.never_reported else question,
            never_reported=tuple(distinct.never_reported),
            idle_margin=options.margin if chosen is None else None,
            undirected=tuple(metric.name for metric in metrics[0] if metric.direction is None)
            if options.aggregate == "best"
            else (),
        ),
    )


def _factors(
    described: Sequence[ExperimentFindings], matches: Mapping[str, str], scale: Scale
) -> list[dict[str, float]]:
    """By what metrics of each experiment are to be multiplied; those that all report alike are left out."""
    baseline, *candidates = described
    matched = [
        {before.metric.name: after for before, after in match_metrics(baseline.descriptions, one.descriptions, matches)}
        for one in candidates
    ]
    factors: list[dict[str, float]] = [{} for _ in described]
    for before in baseline.descriptions:
        sides = [(0, before)]
        sides += [
            (at, of_one[before.metric.name]) for at, of_one in enumerate(matched, 1) if before.metric.name in of_one
        ]
        if of_sides := scale_factors(before, [side for _, side in sides[1:]], scale):
            for (at, side), factor in zip(sides, of_sides, strict=True):
                factors[at][side.metric.name] = factor
    return factors


def _rounded_together(described: Sequence[ExperimentFindings], matches: Mapping[str, str]) -> list[ExperimentFindings]:
    """Give compared descriptions the smallest of their standard errors, so that they are rounded alike."""
    baseline, candidates = described[0], described[1:]
    rows: dict[str, list[tuple[int, Description]]] = {
        description.metric.name: [(0, description)] for description in baseline.descriptions
    }
    for index, other in enumerate(candidates, start=1):
        for before, after in match_metrics(baseline.descriptions, other.descriptions, matches):
            rows[before.metric.name].append((index, after))
    shared = {
        (index, description.metric.name): smallest_se(side for _, side in row)
        for row in rows.values()
        if len(row) > 1
        for index, description in row
    }
    return [
        replace(
            findings,
            descriptions=tuple(
                replace(description, rounding_se=shared.get((index, description.metric.name)))
                for description in findings.descriptions
            ),
        )
        for index, findings in enumerate(described)
    ]


def _check(experiments: Sequence[Experiment], options: AnalysisOptions) -> None:
    if not experiments:
        raise InputError("There is no experiment to judge.", "Name at least one.")
    if not 0.5 < options.confidence < 1:
        raise InputError(f"The confidence {options.confidence:g} is not between 0.5 and 1.", "Use 0.95, for example.")
    if options.aggregate is not None:
        refuse_aggregate(options.aggregate)
    margin, ratio = options.margin, options.spread_ratio
    if margin is not None and not 0 < margin < float("inf"):
        raise InputError(f"The margin must be positive, not {margin:g}.", "Give it in units of the primary metric.")
    if ratio is not None and not 1 < ratio < float("inf"):
        raise InputError(f"The ratio of SDs must be above 1, not {ratio:g}.", "Use 1.5, for example.")
    if options.analysis_seed < 0:
        raise InputError(
            f"The analysis seed must not be negative: {options.analysis_seed}.", "Use 0 or a positive whole number."
        )
    candidate_names = sorted({metric.name for experiment in experiments[1:] for metric in experiment.metrics})
    for name, other in options.matches.items():
        require_metric(name, [metric.name for metric in experiments[0].metrics], experiments[0].name)
        require_metric(other, candidate_names, *(experiment.name for experiment in experiments[1:]))


def _with_settings(experiments: Sequence[Experiment], options: AnalysisOptions) -> list[tuple[SelectedMetric, ...]]:
    """The metrics of each experiment with another aggregate, where they can have it, and other directions."""
    matched = {options.matches.get(name, name): direction for name, direction in options.directions.items()}
    return [
        tuple(
            replace(
                metric,
                aggregate=metric.aggregate
                if options.aggregate == "best" and metric.direction is None
                else options.aggregate or metric.aggregate,
                direction=(matched if place else options.directions).get(metric.name, metric.direction),
            )
            for metric in experiment.metrics
        )
        for place, experiment in enumerate(experiments)
    ]


def _refuse_best(name: str, metrics: Sequence[SelectedMetric], experiment: str) -> None:
    """Raise InputError if no score can be read off where this metric is best."""
    require_metric(name, [metric.name for metric in metrics], experiment)
    if all(metric.direction is None for metric in metrics if metric.name == name):
        raise InputError(
            f"{AT_BEST}{name} needs to know whether {name} is better if higher or lower",
            f"Say it with --direction {name}=max or --direction {name}=min.",
        )


def _describe(
    experiment: Experiment,
    metric: SelectedMetric,
    metrics: Sequence[SelectedMetric],
    confidence: float,
    resamples: Resamples,
) -> Description:
    described = describe_runs(experiment, metric, metrics=metrics, confidence=confidence, rng=resamples)
    if metric.target is None:
        return described
    return replace(described, attainment=attainment(experiment, metric, confidence=confidence))


def _tasks(experiments: Sequence[Experiment], asked: str | None) -> tuple[str, ...]:
    """Metrics of the baseline that are tasks, by the patterns that were asked for or by the records.

    Raises:
        InputError: a pattern fits none of them.
    """
    if asked is None:
        return experiments[0].tasks
    patterns = [pattern for pattern in asked.split(",") if pattern]
    names = [metric.name for metric in experiments[0].metrics]
    for pattern in patterns:
        if not fnmatch.filter(names, pattern):
            require_metric(pattern, names, experiments[0].name)
    return tuple(name for name in names if any(fnmatch.fnmatchcase(name, pattern) for pattern in patterns))


def _choice(
    metrics: Sequence[SelectedMetric],
    experiments: Sequence[Experiment],
    options: AnalysisOptions,
    *,
    has_tasks: bool,
) -> tuple[PrimaryChoice | None, PrimaryQuestion | None]:
    """The primary metric of the baseline, or the question for one where it cannot be told.

    Args:
        has_tasks: over tasks no single metric decides, unless one was declared.
    """
    planned, named = experiments[0].primary, options.metric
    if named is not None:
        plans = [experiment.primary for experiment in experiments]
        names = [named, *(options.matches.get(named, named) for _ in plans[1:])]
        is_planned = all(plan is not None and plan.name == name for plan, name in zip(plans, names, strict=True))
        is_declared = any(metric.is_primary and metric.name == named for metric in metrics)
        headline = _headline(experiments[0], metrics)
        if headline is not None and headline.choice.name == named and not is_planned:
            return headline.choice, None  # whoever names what the rule would choose has chosen nothing after the runs
        return planned if is_planned else _named(named, is_declared=is_declared), None
    if has_tasks and not any(metric.is_primary for metric in metrics):
        return None, None
    if planned is not None and any(metric.name == planned.name for metric in metrics):
        return planned, None
    headline = _headline(experiments[0], metrics)
    if headline is not None:
        return headline.choice, None
    statuses = {run.status for experiment in experiments for run in experiment.runs}
    return None, None if not metrics and statuses and "completed" not in statuses else _question(metrics)


def _question(metrics: Sequence[SelectedMetric]) -> PrimaryQuestion:
    declared = tuple(metric.name for metric in metrics if metric.is_primary)
    results = tuple(metric.name for metric in metrics if is_result(metric))
    if not metrics:
        return PrimaryQuestion(Doubt.NO_METRIC, ())
    if declared:
        return PrimaryQuestion(Doubt.SEVERAL, declared)
    if results:
        return PrimaryQuestion(Doubt.ORDER, results)
    return PrimaryQuestion(Doubt.NO_RESULT, tuple(metric.name for metric in metrics))


def _headline(experiment: Experiment, metrics: Sequence[SelectedMetric]) -> Headline | None:
    """What the first completed run announces; None where only the order of the columns of a table would tell."""
    first = next((run for run in experiment.runs if run.status == "completed"), None)
    headline = choose_headline(metrics, first.series if first else {}, first.trained_s if first else None)
    is_table = bool(experiment.imported) or not experiment.sources_hash
    return None if headline is None or (is_table and headline.is_by_order) else headline


def _named(named: str, *, is_declared: bool) -> PrimaryChoice:
    return PrimaryChoice(named, DECLARED) if is_declared else PrimaryChoice(named, NAMED_AFTER, is_after_runs=True)


def _with_late_margins(pair: PairFindings, baseline: Experiment, candidate: Experiment) -> PairFindings:
    """The pair, whose verdicts say where they rest on a margin that was given after the runs."""

    def marked(comparison: Comparison) -> Comparison:
        is_used = isinstance(comparison.equivalence, Equivalence) and comparison.verdict.word != "withheld"
        if not is_used or date_margin(comparison, baseline, candidate) != MARGIN_AFTER:
            return comparison
        return replace(comparison, verdict=replace(comparison.verdict, is_margin_late=True))

    comparisons = tuple(map(marked, pair.comparisons))
    return replace(pair, comparisons=comparisons, headline=find_headline(comparisons))


def _with_declared(
    metrics: Sequence[Sequence[SelectedMetric]], matches: Mapping[str, str]
) -> tuple[SelectedMetric, ...]:
    """The baseline's metrics; if it declares no primary one, a candidate's declaration is used."""
    if any(metric.is_primary for metric in metrics[0]):
        return tuple(metrics[0])
    declared = {metric.name for candidate in metrics[1:] for metric in candidate if metric.is_primary}
    return tuple(replace(metric, is_primary=matches.get(metric.name, metric.name) in declared) for metric in metrics[0])


def _resolve_metrics(
    selection: Sequence[SelectedMetric],
    baseline: Sequence[SelectedMetric],
    matches: Mapping[str, str],
    primary: str | None,
    margin: float | None,
) -> tuple[SelectedMetric, ...]:
    """The metrics with primary mark, margin and target; an unknown direction is taken from the baseline."""
    by_name = {metric.name: metric for metric in baseline}
    present = {metric.name for metric in selection}
    partners = {name: metric for name, metric in by_name.items() if matches.get(name) not in present}
    partners |= {other: by_name[name] for name, other in matches.items()}
    resolved = []
    for metric in selection:
        partner = partners.get(metric.name)
        is_primary = partner is not None and partner.name == primary
        resolved.append(
            replace(
                metric,
                is_primary=is_primary,
                direction=metric.direction or (partner.direction if partner else None),
                margin=margin if is_primary and margin is not None else metric.margin,
                target=metric.target if partner is None or partner.target is None else partner.target,
            )
        )
    return tuple(resolved)


def _in_order(descriptions: Iterable[Description]) -> tuple[Description, ...]:
    """Primary metric first, then results, losses, times and the rest; each in the order in which they were reported."""
    return tuple(
        sorted(descriptions, key=lambda one: rank_of(one.metric, one.metric.name if one.metric.is_primary else None))
    )
