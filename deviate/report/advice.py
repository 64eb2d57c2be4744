"""Warnings for the user about limits of the numbers, each with what to do."""

import shlex
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence

from deviate.model.aggregates import AT_BEST
from deviate.model.comparisons import Description, Paired
from deviate.model.estimates import NOT_ASKED, Estimate, Unavailable
from deviate.model.findings import Doubt, ExperimentFindings, Findings, PairFindings, PrimaryQuestion
from deviate.model.phrases import Reason
from deviate.model.places import place_text
from deviate.model.plan import PrimaryChoice, SelectedMetric
from deviate.model.records import IMPORTED_AS, Experiment, Run
from deviate.model.texts import count, first_few
from deviate.report.evaluation import evaluation_warnings
from deviate.report.format import group_pairs, p_text, replicates
from deviate.report.statements import unrouted_words
from deviate.series.headline import is_on_test_data
from deviate.series.remarks import non_finite_note
from deviate.series.repeatability import select_completed
from deviate.series.score import is_telling
from deviate.series.sides import is_called_best
from deviate.series.words import words_of
from deviate.stats.describe import NO_RESULT, NOT_COUNTED
from deviate.stats.hypothesis.paired import pairing_cost
from deviate.stats.interim_analysis import n_counted
from deviate.stats.multiple.pairs import holm, label_of

FEWEST_EQUAL = 3
"""Runs with an equal score from which that is no chance."""
N_NAMED = 5
"""Maximum number of metrics, seeds or experiments that a warning names; it counts the rest."""


def warnings_of(findings: Findings) -> tuple[str, ...]:
    """What is missing comes first, then what limits comparisons, then what limits single metrics."""
    described, pairs, basis = findings.experiments, findings.pairs, findings.basis
    experiments = [item.experiment for item in described]
    labels = [label_of(one, experiments) if pairs else one.variant for one in experiments]
    if len(experiments) == 1:
        labels = [experiments[0].name]
    warnings = [] if basis.question is None else [ask_for_primary(basis.question)]
    warnings += _differing_plans(experiments, basis.matches, findings.primary_choice)
    if basis.idle_margin is not None:
        warnings.append(
            f"The margin {basis.idle_margin:g} is not used, because there is no primary metric: name one with --metric."
        )
    if basis.undirected:
        warnings.append(
            f"best needs a direction, which {', '.join(basis.undirected)} lacks: its own aggregate is used. "
            "Set direction in deviate.toml."
        )
    warnings += never_reported_warnings(basis.never_reported)
    for item, name in zip(described, labels, strict=True):
        warnings += _experiment_warnings(item, name)
    warnings += ending_warnings(experiments, labels)
    warnings += non_finite_warnings(experiments, labels)
    warnings += _silence_warnings(described, labels)
    warnings += evaluation_warnings(experiments, labels)
    warnings += fixed_seed_warnings(experiments, labels)
    warnings += _tuned_warnings(experiments, labels)
    if pairs:
        warnings += _look_warnings(experiments, labels)
        warnings += _candidates_before(experiments, pairs, labels[0], alpha=1 - findings.confidence)
        warnings += _experiments_alike(experiments, labels)
        warnings += _unrouted_warnings(experiments, labels)
    warnings += _metric_warnings(described, basis.matches)
    warnings += tail_warnings(described, labels)
    warnings += _margin_warnings(pairs)
    warnings += pairing_warnings(pairs, confidence=findings.confidence)
    warnings += _unmatched_warnings(pairs, findings.primary)
    return tuple(dict.fromkeys(warnings))


def _differing_plans(
    experiments: Sequence[Experiment], matches: Mapping[str, str], choice: PrimaryChoice | None
) -> list[str]:
    """A sentence for each candidate whose plan names another primary metric than the one that decides here."""
    name = "" if choice is None else matches.get(choice.name, choice.name)
    return [
        f"Plans differ: before its first run, {experiment.name} was planned to be judged by {experiment.primary.name}."
        for experiment in experiments[1:]
        if choice is not None and experiment.primary is not None and experiment.primary.name != name
    ]


def _experiment_warnings(findings: ExperimentFindings, label: str) -> list[str]:
    """What is missing from one experiment: failures, runs that do not count, scores."""
    experiment = findings.experiment
    warnings = _failures(experiment, label) + _uncounted_warnings(experiment, label)
    for description in findings.descriptions:
        if description.metric.role == "quality":
            warnings += _missing_scores(description, experiment, label)
    return warnings + _constant_score(findings, label)


def _constant_score(findings: ExperimentFindings, label: str) -> list[str]:
    """A score that is equal in all runs while other results differ, so that training has hardly made it."""
    results = [one for one in findings.descriptions if one.metric.role == "quality" and one.n >= FEWEST_EQUAL]
    constant = [one for one in results if one.metric.is_primary and one.sd == 0 and is_telling(one.values[0])]
    others = [one.metric.shown for one in results if isinstance(one.sd, float) and one.sd > 0]
    return [
        f"{one.metric.shown} is {one.values[0]:g} in all {one.n} runs of {label}, although {others[0]} differs: "
        "it may come from an earlier model, or from data that does not depend on training."
        for one in constant
        if others
    ]


def _metric_warnings(described: Sequence[ExperimentFindings], matches: Mapping[str, str]) -> list[str]:
    """Metrics whose evaluation needs a warning: best of test data, unequal aggregates or directions."""
    warnings = []
    for findings in described:
        for description in findings.descriptions:
            metric = description.metric
            if is_on_test_data(metric.name) and _picks_the_best(metric):
                warnings.append(
                    f"{metric.aggregate} of {metric.shown} chooses its step on test data, which makes it too good: "
                    "report last, or choose the step on validation data."
                )
            words = metric.metric.words
            if metric.is_primary and is_called_best(words) and is_on_test_data(words):
                warnings.append(f"{metric.shown} is the best of several looks at test data, so it is optimistic.")
    for findings in described[1:]:
        by_name = {description.metric.name: description.metric for description in findings.descriptions}
        for metric in (description.metric for description in described[0].descriptions):
            other = by_name.get(matches.get(metric.name, metric.name)) or by_name.get(metric.name)
            warnings += _disagreements(metric, other, findings.experiment.name)
    return warnings


def _unrouted_warnings(experiments: Sequence[Experiment], labels: Sequence[str]) -> list[str]:
    """Compared experiments with draws that belong to no stream; a noise study has a statement on them."""
    return [
        f"{label}: {words}. These draws belong to no stream: if all runs draw the same, intervals are too narrow."
        for experiment, label in zip(experiments, labels, strict=True)
        if (words := unrouted_words([experiment]))
    ]


def _look_warnings(experiments: Sequence[Experiment], labels: Sequence[str]) -> list[str]:
    """Compared experiments to which runs were added after results had been seen."""
    peeked = [label for experiment, label in zip(experiments, labels, strict=True) if experiment.n_unplanned_looks]
    looks = count(max(experiment.n_unplanned_looks for experiment in experiments), "unplanned look")
    sentence = (
        f"Runs were added to {', '.join(peeked)} after results had been reported ({looks}): p-values are not valid"
    )
    cure = "In a new experiment, fix --runs or declare --looks before the first run."
    return [f"{sentence}. {cure}"] if peeked else []


def tail_warnings(described: Sequence[ExperimentFindings], labels: Sequence[str]) -> list[str]:
    """Heavy tails of the primary metric, or without one of all metrics, with the outlying runs, in one sentence."""
    every = [(one, label) for item, label in zip(described, labels, strict=True) for one in item.descriptions]
    judged = [(one, label) for one, label in every if one.metric.is_primary] or every
    names = [
        f"{one.metric.shown} of {label}" + (f" (far out: {replicates(one.outliers)})" if one.outliers else "")
        for one, label in judged
        if one.tails
    ]
    if not names:
        return []
    sentence = f"Heavy tails in {first_few(names, N_NAMED)}: the intervals of these SDs are not reliable"
    chance = f". Up to 5 % of the {len(judged)} samples look like this by chance" if len(judged) > len(labels) else ""
    return [f"{sentence}{chance}. See median, MAD and bootstrap in the report, Shape and cross-checks."]


def _unmatched_warnings(pairs: Sequence[PairFindings], primary: str | None) -> list[str]:
    """Metrics that only one side has, and a primary metric without a partner."""
    warnings = []
    for pair in pairs:
        if primary is not None and pair.headline is None:
            warnings.append(
                f"{pair.candidate} has no metric {primary}, so its comparison has no headline verdict: "
                f"name its counterpart with --match {primary}=NAME."
            )
        ours, theirs = pair.unmatched_baseline, pair.unmatched_candidate
        sides = {f"only in {pair.baseline}": ours, f"only in {pair.candidate}": theirs}
        alone = "; ".join(f"{side}: {', '.join(names)}" for side, names in sides.items() if names)
        alike = (f"{a}={b}" for a in ours for b in theirs if ("best" in words_of(a)) == ("best" in words_of(b)))
        example = next(alike, "BASELINE_NAME=CANDIDATE_NAME")
        if alone:
            warnings.append(f"Not compared: {alone}. Pair metrics of different names with --match {example}.")
    return warnings


WIDE_MARGIN = 0.2
"""Margin of scores from 0 to 1 from which percentage points were probably meant."""


def _margin_warnings(pairs: Sequence[PairFindings]) -> list[str]:
    """Margins that hardly any difference could exceed, such as 0.5 for accuracies from 0 to 1."""
    compared = (comparison for pair in pairs for comparison in pair.comparisons)
    scored = ((one.metric, [*one.baseline.values, *one.candidate.values]) for one in compared)
    return [
        f"The margin {metric.margin:g} of {metric.shown} is {metric.margin:.0%} of the scale, as all scores are "
        f"between 0 and 1. If percentage points were meant, use {metric.margin / 100:g}."
        for metric, scores in scored
        if metric.margin is not None and metric.margin >= WIDE_MARGIN and metric.direction == "max"
        if scores and min(scores) >= 0 and max(scores) <= 1
    ]


def _failures(experiment: Experiment, label: str) -> list[str]:
    warnings = []
    n_runs = sum(run.status not in NOT_COUNTED for run in experiment.runs)
    for status, kind in {"diverged": Reason.DIVERGED, **NO_RESULT}.items():
        if failed := [run.replicate for run in experiment.runs if run.status == status]:
            advice = f"deviate show {experiment.name}:{experiment.variant} --run {failed[0]} names the log"
            if experiment.imported:
                advice = "check their output"
            if status == "diverged":
                advice = "if NaN is a valid value, deselect the metric in deviate.toml"
            sentence = f"{len(failed)} of {count(n_runs, 'run')} of {label}: {kind.value} ({replicates(failed)})"
            warnings.append(f"{sentence}. Counted as failures, without a score; {advice}.")
    return warnings


def _uncounted_warnings(experiment: Experiment, label: str) -> list[str]:
    warnings = []
    lost = [run.replicate for run in experiment.runs if run.status in NOT_COUNTED]
    absent = experiment.n_planned - len(experiment.runs)
    statuses = {run.status for run in experiment.runs}
    if "crashed" in statuses and statuses <= {"crashed", "cancelled"} and len(lost) + absent > 0:
        n_left = count(len(lost) + absent, "planned run")
        return [f"{n_left} of {label} did not run, as the first ones failed: correct the script and run it again."]
    if lost:
        warnings.append(f"{count(len(lost), 'run')} of {label} lost or cancelled ({replicates(lost)}): run them again.")
    if absent > 0 and n_counted(experiment) not in experiment.looks:  # it may end at any declared look
        advice = (
            "to run them after a comparison was shown is an unplanned look" if experiment.is_cut_short else "run them"
        )
        warnings.append(f"{absent} of {experiment.n_planned} planned runs of {label} are missing: {advice}.")
    return warnings


def never_reported_warnings(names: Sequence[str]) -> list[str]:
    """One sentence on all metrics that are left out because no run reported them."""
    if not names:
        return []
    cure = f"Correct or deselect {'them' if len(names) > 1 else 'it'} in deviate.toml."
    return [f"Left out, because no run reported them: {first_few(names, N_NAMED)}. {cure}"]


def non_finite_warnings(experiments: Sequence[Experiment], labels: Sequence[str]) -> list[str]:
    """A sentence for each quality metric that some completed run reported as NaN or infinite and then as finite."""
    return [
        f"{label}: {metric.shown} was {note}, but finite at the end. These runs count as completed."
        for experiment, label in zip(experiments, labels, strict=True)
        for metric in experiment.metrics
        if metric.role == "quality" and (note := non_finite_note(experiment.runs, metric.name))
    ]


def _silence_warnings(described: Sequence[ExperimentFindings], labels: Sequence[str]) -> list[str]:
    """Metrics for which no completed run of an experiment reported a number, each with all such experiments."""
    silent = group_pairs(
        (description.metric.name, label)
        for findings, label in zip(described, labels, strict=True)
        for description in findings.descriptions
        if 0 < _n_completed(findings.experiment) == description.missing_kinds.count(Reason.NEVER_REPORTED)
    )
    return [
        f"{name} was never reported in {', '.join(where)}: correct or deselect it in deviate.toml."
        for name, where in silent.items()
    ]


def _n_completed(experiment: Experiment) -> int:
    return sum(run.status == "completed" for run in experiment.runs)


def _missing_scores(description: Description, experiment: Experiment, label: str) -> list[str]:
    """Completed runs without a score of this metric, by reason; one that no run reported is told of elsewhere."""
    completed = {run.replicate for run in experiment.runs if run.status == "completed"}
    missing = [(reason, replicate) for replicate, reason in description.missing if replicate in completed]
    if not missing or description.missing_kinds.count(Reason.NEVER_REPORTED) >= len(completed):
        return []
    metric = description.metric
    listed = "; ".join(f"{reason} ({replicates(indices)})" for reason, indices in group_pairs(missing).items())
    of_runs = f"{len(missing)} of {count(len(completed), 'completed run')} of {label}"
    sentence = f"{metric.name} ({metric.aggregate}) has no score in {of_runs}: {listed}"
    return [f"{sentence}. Choose an aggregate that every run has."]


def _picks_the_best(metric: SelectedMetric) -> bool:
    """Whether the step of a metric on test data is chosen by test data."""
    if metric.aggregate.startswith(AT_BEST):
        return is_on_test_data(metric.aggregate.removeprefix(AT_BEST))
    return metric.aggregate == "best" or (metric.direction is not None and metric.aggregate == metric.direction)


def _disagreements(metric: SelectedMetric, other: SelectedMetric | None, candidate: str) -> list[str]:
    if metric.direction is None or other is None or other.direction in (None, metric.direction):
        return []
    ours, theirs = ("higher", "lower") if metric.direction == "max" else ("lower", "higher")
    better = f"{ours} is better in the baseline, {theirs} in {candidate}"
    return [f"{metric.name}: {better}. The baseline's direction is used; set direction in deviate.toml."]


MOST_ENDINGS = 3
"""Maximum number of runs that a warning names; it counts the rest."""


def ending_warnings(experiments: Sequence[Experiment], labels: Sequence[str]) -> list[str]:
    """Imported runs that count as completed although they end before the step at which most of them end.

    Nothing is said where no last step is that of most runs, as with early stopping.
    """
    warnings = []
    for experiment, label in zip(experiments, labels, strict=True):
        completed = [run for run in experiment.runs if experiment.imported and run.status == "completed"]
        ends = Counter(map(_last_step, completed))
        last, n = ends.most_common(1)[0] if ends else (0, 0)
        early = [f"{run_label(run)} at step {_last_step(run)}" for run in completed if _last_step(run) < last]
        if early and 2 * n > len(completed) and last == max(ends):
            warnings.append(
                f"{len(early)} of {count(len(experiment.runs), 'run')} of {label} end before the others, which end at "
                f"step {last}: {first_few(early, MOST_ENDINGS)}. They count as completed, with their last values; if "
                "they crashed or are still running, leave them out."
            )
    return warnings


def run_label(run: Run) -> str:
    """What a run was called where it was found, else its replicate."""
    return run.environment.get(IMPORTED_AS) or f"replicate {run.replicate}"


def _last_step(run: Run) -> int:
    return max((step for series in run.series.values() for step in series.steps[-1:] if step is not None), default=-1)


def fixed_seed_warnings(experiments: Sequence[Experiment], labels: Sequence[str]) -> list[str]:
    """One sentence for all experiments that have the same of these seeds; nothing where their values differ."""
    seeds_of = ((tuple(fixed_seeds(experiment)), label) for experiment, label in zip(experiments, labels, strict=True))
    return [
        f"Not varied by deviate{_where(affected, labels)}: {first_few(seeds, N_NAMED)}. The value is the same in all "
        "runs, so the spread does not include draws from it. To include them, pass another value to each run: "
        "--seed {replicate}."
        for seeds, affected in group_pairs(seeds_of).items()
        if seeds
    ]


def fixed_seeds(experiment: Experiment) -> Iterator[str]:
    """Call, value and place of each seed that was left as it was, and was the same in all completed runs."""
    by_run = [
        group_pairs(
            ((event.call, event.file, event.line), event.value) for event in run.seed_events if event.action == "fixed"
        )
        for run in select_completed(experiment)
    ]
    for key in dict.fromkeys(key for values in by_run for key in values):
        together = zip(*(values[key] for values in by_run if key in values), strict=False)
        if all(len(set(values)) == 1 for values in together):
            values = list(dict.fromkeys(next(values[key] for values in by_run if key in values)))
            more = ", …" if len(values) > 1 else ""
            call, file, line = key
            yield f"{call} = {values[0]}{more} ({place_text(file, line)})"


def _where(affected: Sequence[str], labels: Sequence[str]) -> str:
    return "" if len(affected) == len(labels) else f" in {', '.join(affected)}"


def _candidates_before(
    experiments: Sequence[Experiment], pairs: Sequence[PairFindings], label: str, *, alpha: float
) -> list[str]:
    """Tries on record that this comparison does not show, for each was a chance to look better.

    The verdict stays that of the comparison shown: which of the tries belong together only their author knows.
    """
    present = {(experiment.name, experiment.variant, experiment.created) for experiment in experiments[1:]}
    past = [earlier for earlier in experiments[0].past_comparisons if earlier.key not in present]
    if not past:
        return []
    tests = [pair.headline.deciding_test if pair.headline else NOT_ASKED for pair in pairs]
    p_now: list[Estimate] = [test if isinstance(test, Unavailable) else test.p_value for test in tests]
    p_before: list[Estimate] = [NOT_ASKED if earlier.p is None else earlier.p for earlier in past]
    adjusted = [
        f"{p_text(p)} for {pair.candidate}{'' if p < alpha else ', not below alpha'}"
        for pair, p in zip(pairs, holm([*p_now, *p_before]), strict=False)
        if not isinstance(p, Unavailable)
    ]
    names = list(dict.fromkeys(earlier.candidate for earlier in past))
    sentence = f"{label} was also compared with {count(len(past), 'more candidate')}: {first_few(names, N_NAMED)}."
    return [f"{sentence} Holm over all {len(p_now) + len(p_before)}: {'; '.join(adjusted)}." if adjusted else sentence]


def _experiments_alike(experiments: Sequence[Experiment], labels: Sequence[str]) -> list[str]:
    compared = {experiment.name for experiment in experiments}
    return [
        f"{label} is one of {len(others) + 1} experiments of the same command on the same code (others: "
        f"{first_few(others, N_NAMED)}). Do not choose among them by their results: report that there are several, or "
        "compare each."
        for experiment, label in zip(experiments, labels, strict=True)
        if (others := [name for name in experiment.siblings if name not in compared])
    ]


def _tuned_warnings(experiments: Sequence[Experiment], labels: Sequence[str]) -> list[str]:
    """Experiments whose configuration was chosen among several by its results."""
    searches = ((experiment.tuned, label) for experiment, label in zip(experiments, labels, strict=True))
    return [
        f"{first_few(tuned, N_NAMED)}: tuned, {search}. The best of several looks better than it is, so what is said "
        "of it is exploratory: run the chosen configuration again with fresh seeds, and compare those runs."
        for search, tuned in group_pairs(searches).items()
        if search
    ]


def pairing_warnings(pairs: Sequence[PairFindings], *, confidence: float = 0.95) -> list[str]:
    """What a reader must know of pairs: which lost a half, and where pairing cost power."""
    warnings = []
    for pair in pairs:
        paired = [
            (comparison, comparison.paired)
            for comparison in pair.comparisons
            if comparison.is_paired and isinstance(comparison.paired, Paired)
        ]
        lost = group_pairs(
            ((tuple(of_pairs.unpaired), of_pairs.n), comparison.metric.shown)
            for comparison, of_pairs in paired
            if comparison.metric.role == "quality" and of_pairs.unpaired
        )
        warnings += [
            f"{first_few(names, N_NAMED)}: {replicates(unpaired)} {'have' if len(unpaired) > 1 else 'has'} a score in "
            f"only one of {pair.baseline} and {pair.candidate}: {count(n, 'pair')} left."
            for (unpaired, n), names in lost.items()
        ]
        warnings += [
            f"{pair.candidate} against {pair.baseline}, {one.metric.shown}: {one.note}. Unpaired, these runs would "
            "detect smaller differences. Pairing was chosen before and stays; next time compare without --paired."
            for one, _ in paired
            if one.metric.is_primary and pairing_cost(one.baseline, one.candidate, confidence=confidence)
        ]
    return warnings


def ask_for_primary(question: PrimaryQuestion) -> str:
    """The sentence that asks for a primary metric where none can be chosen."""
    if question.reason is Doubt.NO_METRIC:
        return f"There is no primary metric, because {question.reason.value}: name one in deviate.toml."
    options = " or ".join(f"--metric {shlex.quote(name)}" for name in question.names)
    lasting = "for later experiments, set primary = true in its section of deviate.toml"
    return f"There is no primary metric, so no headline verdict: {question.reason.value}. Add {options}; {lasting}."
