"""Limits of a report, and the rules behind its numbers, in sentences."""

from collections.abc import Iterator, Sequence

from deviate.model.comparisons import Description
from deviate.model.estimates import (
    N_RESAMPLES,
    PAIRED_ALONE_RUNS,
    PAIRED_RUNS,
    SPREAD_RUNS,
    VERDICT_RUNS,
    Interval,
    Unavailable,
)
from deviate.model.findings import Findings
from deviate.model.records import Experiment
from deviate.registry import wing
from deviate.report.format import (
    clean,
    confidence_text,
    counted,
    decimals,
    difference_unit,
    name_text,
    number,
    with_unit,
)
from deviate.report.parts.noise import is_study
from deviate.report.parts.script_seeds import seed_sentence

VARIED = {
    "as-is": "Variant as-is changes nothing: the spread comes from whatever the script leaves free.",
    "algo+impl": (
        "Variant algo+impl varies seeds and implementation together: the share of each in the spread is not separated. "
        "--variants as-is shows how much runs of the unchanged script differ."
    ),
}
COVERAGE = (
    "stopping on precision favours no side, but it stops when the spread happens to be small, so intervals cover "
    "slightly less often than stated (a nominal 95% interval in 92 to 95% of cases with at least 5 runs)."
)
EARLY = "A difference that was decided at a look before the last one is, on average, estimated too large."
SEPARATING = frozenset({"algo", "impl"})


def conditions(findings: Findings, labels: Sequence[str]) -> Iterator[str]:
    """What became of the seeds of the script, and whether the runs had the same test data, if so."""
    experiments = [item.experiment for item in findings.experiments]
    seeds = seed_sentence(
        [
            (label, experiment.varied, experiment.held, (event for run in experiment.runs for event in run.seed_events))
            for label, experiment in zip(labels, experiments, strict=True)
        ]
    )
    yield from [seeds] if seeds else []
    if findings.evaluation == "equal":
        yield from _on_test_data(findings)


def _on_test_data(findings: Findings) -> Iterator[str]:
    """Sentences on the test data of the runs; a study has them among its noise sources."""
    from deviate.report.evaluation import evaluation_statements  # loads numpy, of which help has no use

    if not is_study(findings):
        yield from evaluation_statements([item.experiment for item in findings.experiments])


def limits(findings: Findings) -> Iterator[str]:
    """Sentences on what the report does not show, most general first."""
    experiments = [item.experiment for item in findings.experiments]
    split = "this split of the data" if findings.evaluation == "equal" else "the test data of these runs"
    yield f"The results hold for {split}, this hardware and this software; others may give other results."
    if findings.evaluation != "equal":
        yield from _on_test_data(findings)
    variants = dict.fromkeys(one.variant for one in experiments if one.runs and not one.imported)
    for variant in variants:
        if variant in VARIED and not (variant == "algo+impl" and SEPARATING & variants.keys()):
            yield VARIED[variant]
    if any(run.unrouted for one in experiments for run in one.runs):
        yield "Some draws belong to no stream (Provenance, Beyond control): a variant may neither vary nor hold them."
    yield f"No interval contains the error of a finite test set{_test_set(findings)}, and no number of runs reduces it."
    yield from _of_few(findings)
    if findings.pairs and not findings.basis.is_paired and _share_seeds(experiments):
        yield "The sides share seeds run by run, and are compared as independent runs; --paired compares pairs."
    for target in dict.fromkeys(clean(one.precision) for one in experiments if one.precision):
        yield f"Runs were added until {target}: {COVERAGE}"
    if findings.pairs and any(experiment.looks for experiment in experiments):
        yield EARLY
    yield from wing("stability.report.sections").limits(findings)


def _share_seeds(experiments: Sequence[Experiment]) -> bool:
    """Whether runs of the same replicate drew from equal seeds in two experiments."""
    seeds = [
        {(run.replicate, stream, seed) for run in one.runs for stream, seed in run.seeds.items()} for one in experiments
    ]
    return any(not seeds[0].isdisjoint(others) for others in seeds[1:])


def _of_few(findings: Findings) -> Iterator[str]:
    """What few runs do not tell."""
    n_fewest = min((description.n for description in _descriptions(findings)), default=0)
    is_comparison = bool(findings.pairs)
    if is_comparison:
        yield "Undecided does not mean equal: these runs cannot tell which side is better, if one is."
    if is_comparison and n_fewest < VERDICT_RUNS:
        yield f"With fewer than {VERDICT_RUNS} runs on a side the verdict is always undecided."
    if 2 <= n_fewest < SPREAD_RUNS:
        yield f"With fewer than {SPREAD_RUNS} runs an SD is imprecise, as its interval shows."
    if is_comparison and n_fewest < SPREAD_RUNS:
        yield f"A verdict on spread needs {SPREAD_RUNS} runs on each side."


def _descriptions(findings: Findings) -> list[Description]:
    return [item for experiment in findings.experiments for item in experiment.descriptions]


def _test_set(findings: Findings) -> str:
    """The sampling error of the test set, if the number of examples of the primary metric is known."""
    for description in (description for description in _descriptions(findings) if description.metric.is_primary):
        error, n_examples = description.sampling_se, description.n_examples
        if not isinstance(error, Unavailable) and n_examples is not None:
            size = with_unit(number(error, decimals(error)), difference_unit(clean(description.metric.unit)))
            return f" (SE {size} of {name_text(description.metric.shown)} with {counted(n_examples, 'example')})"
    return ""


def footnotes(findings: Findings) -> tuple[str, ...]:
    """Footnotes on how to read the tables; shown once per page."""
    level = confidence_text(findings.confidence)
    alpha = f"{1 - findings.confidence:.6g}"
    sides = ", the smaller one for both sides of a comparison and their difference" if findings.pairs else ""
    sentences = [
        "± is one standard deviation over runs (ddof 1). n is the number of runs with a score.",
        "Steps, examples and classes are not runs. CV is SD divided by |mean|.",
        f"Intervals are {level} intervals: of a mean by Student's t, of an SD by chi-square, assuming normal scores.",
        f"Rounded to two digits of the standard error{sides}. JSON and CSV hold every bit.",
    ]
    if findings.pairs or any(isinstance(one.median_bootstrap, Interval) for one in _descriptions(findings)):
        sentences.append(
            f"Permutations of ranks and resamples of runs begin with analysis seed {findings.analysis_seed}, on which "
            f"no verdict depends; a bootstrap has {N_RESAMPLES} resamples."
        )
    if findings.pairs:
        sentences += [
            "Differences are candidate minus baseline; of percentages, in points. All tests are two-sided.",
            "Two tests decide, Welch's t-test and the studentized permutation test (of pairs, t and sign flips).",
            "p is the larger of the two, and the interval holds all values that at least one of them does not reject.",
            f"Better and worse: that interval excludes 0, and the adjusted p is below {alpha}.",
            f"Each of the two needs {VERDICT_RUNS} runs on each side, or {PAIRED_RUNS} pairs.",
            f"{PAIRED_ALONE_RUNS} pairs are enough if the primary metric is alone and no interim look is planned.",
            "Equivalent needs a margin given before.",
            "Otherwise: undecided.",
        ]
    sentences += [pair.family for pair in findings.pairs if pair.family]
    sentences += [f"{name_text(pair.candidate)}: {pair.looks}." for pair in findings.pairs if pair.looks]
    return tuple(dict.fromkeys(sentences))
