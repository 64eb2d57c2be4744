"""The sections on stability, the lines for a terminal, and what is not there and why."""

import re
from collections.abc import Iterator, Sequence

from deviate.model import Findings, Interval, Measure, SetStability, Unavailable
from deviate.report import Absent, Block, Items, Section, clean, confidence_text, counted, counted_of, name_text
from deviate.stability.report import classes
from deviate.stability.report.classes import widest_in_brief, worst_in_brief
from deviate.stability.report.convergence import convergence_part, weak_part
from deviate.stability.report.measure_labels import all_measures, find_measure, measure_text, methods
from deviate.stability.report.sets import N_OPEN, N_SETS, headline, sentence, set_parts, sets_by_name, weights_part

Sets = Sequence[SetStability]
MOST_ITEMS = 4
MOST_REASONS = 2
TEST = re.compile(r"(?:^|_)test(?:_|$)")
"""Names of the set that scores are about, where others were evaluated on the way."""
N_CLASS_PARTS = 24
NOTHING = (
    "Neither predictions nor weights of these runs are on record, so this report does not say on how many predictions "
    "runs disagree (churn), nor how far apart and how alike they are: "
    "deviate run … --capture predictions,weights keeps them without a change to the script."
)
IMPORTED = (
    "Neither predictions nor weights of these runs are on record, for their scores were imported; runs that deviate "
    "carries out keep them with --capture predictions,weights."
)
NO_PREDICTIONS = "No predictions are on record: --capture predictions keeps them, and tells on how many runs disagree."
NO_WEIGHTS = "No weights are on record: --capture weights keeps them, and tells how far apart they are, layer by layer."
NO_STEPS = "Nothing was kept on the way: --capture-every K shows how runs part with the steps."
NO_REDUCTIONS = (
    "No ensemble of a run's own outputs was formed: --capture-every K keeps snapshots, --tta flip,crop25 augments."
)
NO_CONVERGENCE = "Time to convergence is not told: it takes a metric that runs report at several steps."
NO_WEAK = "No run was left out as weak: --weak-below METRIC=VALUE shows spreads with and without such runs."
NO_CLASSES = (
    "No evaluation set with true labels is on record, so nothing is told of its classes: --capture predictions keeps "
    "outputs, and labels where the script has them."
)
NO_GROUPS = "No sub-groups were named: --groups FILE.csv, or --groups COLUMN of what the script logs, compares them."
HASHES = " The final weights have a hash of each run (Provenance): it tells equal from different, not how far."


def _why_nothing(findings: Findings) -> str:
    """Reasons why there are no results on stability; empty if there are."""
    stability = findings.stability
    has_results = stability.sets or stability.weights or stability.convergence or stability.weak
    return "" if has_results else _no_captures(findings)


def _no_captures(findings: Findings) -> str:
    experiments = [item.experiment for item in findings.experiments]
    text = IMPORTED if experiments and all(one.imported for one in experiments) else NOTHING
    if any(run.weights for one in experiments for run in one.runs):
        text += HASHES
    return text


def _reasons(findings: Findings, labels: Sequence[str]) -> tuple[str, ...]:
    """Reasons why requested results of an experiment are missing, with its name if there are several experiments."""
    sentences = [
        f"{label}: {clean(reason)}" if len(labels) > 1 else clean(reason)
        for label, reasons_of_experiment in zip(labels, findings.stability.reasons, strict=False)
        for reason in reasons_of_experiment
    ]
    return tuple(dict.fromkeys(sentences))


def _missing_parts(findings: Findings) -> Iterator[str]:
    """Missing parts of the section, with the commands that add them."""
    stability = findings.stability
    if not stability.sets and not stability.weights:
        yield _no_captures(findings)
    else:
        yield from [] if stability.sets else [NO_PREDICTIONS]
        yield from [] if stability.weights else [NO_WEIGHTS]
        has_steps = any(one.steps for one in stability.sets) or any(one.steps for one in stability.weights)
        yield from [] if has_steps else [NO_STEPS]
        yield from [] if any(one.reductions for one in stability.sets) else [NO_REDUCTIONS]
    yield from [] if stability.convergence else [NO_CONVERGENCE]
    yield from [] if stability.weak else [NO_WEAK]


def sections(findings: Findings, labels: Sequence[str]) -> tuple[Section, ...]:
    """The sections of a page on stability, in its order; `labels` name the experiments."""
    return stability_section(findings, labels), class_section(findings, labels)


def stability_section(findings: Findings, labels: Sequence[str]) -> Section:
    """Section on evaluation sets, weights, convergence and weak runs."""
    nothing, reasons = _why_nothing(findings), _reasons(findings, labels)
    if nothing:
        return Section("stability", "Stability", (Absent(" ".join([nothing, *reasons])), Items((), "footnotes")))
    blocks: tuple[Block, ...] = (
        *set_parts(findings, labels),
        *weights_part(findings, labels),
        *convergence_part(findings, labels),
        *weak_part(findings, labels),
        *map(Absent, (*reasons, *_missing_parts(findings))),
        Items(tuple(_footnotes(findings)), "footnotes"),
    )
    return Section("stability", "Stability", blocks)


def class_section(findings: Findings, labels: Sequence[str]) -> Section:
    """Section on classes and sub-groups of evaluation sets."""
    sets = findings.stability.sets
    blocks: tuple[Block, ...] = (
        *_class_parts(sets[:N_CLASS_PARTS], labels),
        Items(tuple(classes.footnotes(findings)), "footnotes"),
        *([] if any(captured.classes for captured in sets) else [Absent(NO_CLASSES)]),
        *([] if any(captured.groups for captured in sets) else [Absent(NO_GROUPS)]),
    )
    return Section("classes", "Classes of evaluation sets", blocks)


def _class_parts(sets: Sets, labels: Sequence[str]) -> Iterator[Section]:
    for place, captured in enumerate(sets):
        if captured.classes:
            yield classes.class_part(captured, place, labels, is_folded=place >= N_OPEN)
        if captured.groups:
            yield classes.group_part(captured, place, labels)


def _footnotes(findings: Findings) -> Iterator[str]:
    stability = findings.stability
    measures = all_measures(stability)
    if methods_text := methods(one.interval for one in measures):
        yield f"Intervals: {methods_text}. They come from runs, never from pairs: pairs share their runs."
    if stability.sets:
        yield (
            "Disagreement counts examples on which two runs predict different classes, whichever of them is right. "
            "Averaged outputs are probabilities where there are any."
        )
        yield "No verdict rests on these figures; intervals of differences are not corrected for their number."
    n_left = len(sets_by_name(findings)) - N_SETS
    if n_left > 0:
        yield f"{counted(n_left, 'further evaluation set')} not shown; JSON and CSV have all."


def limits(findings: Findings) -> Iterator[str]:
    """Limits of what predictions and weights show."""
    sets = findings.stability.sets
    if any(captured.disagreement for captured in sets):
        yield "How often runs disagree is not how often they are wrong, and no verdict rests on it."
    if any(captured.classes or captured.groups for captured in sets):
        yield "Classes and sub-groups are explored, not tested: the widest of many is wide by chance too."
    if findings.stability.weights:
        yield "Distance of weights is not distance of functions: units of a layer may change places."


def brief_lines(findings: Findings, labels: Sequence[str]) -> tuple[str, ...]:
    """At most four sentences on the test set, else on the first set; on weights if there are no predictions.

    Requests without a result are listed last.
    """
    named_sets, lacking = sets_by_name(findings), _lacking(findings, labels)
    if not named_sets:
        return (*(sentence(weights, labels) for weights in findings.stability.weights[:MOST_ITEMS]), *lacking)
    (_, sets), *other_sets = sorted(named_sets.items(), key=lambda pair: not TEST.search(pair[0]))
    lines = [_churn(sets, labels), *_least(sets, labels)]
    if other_sets:
        text = ", ".join(name_text(name) for name, _ in other_sets[:MOST_ITEMS]) + " …" * (len(other_sets) > MOST_ITEMS)
        lines.append(
            f"… and of {counted_of(len(other_sets), 'more evaluation set')} ({text}): see the report, Stability"
        )
    return (*filter(None, lines), *lacking)


def _lacking(findings: Findings, labels: Sequence[str]) -> tuple[str, ...]:
    sentences = _reasons(findings, labels)
    n_left = len(sentences) - MOST_REASONS
    return (*sentences[:MOST_REASONS], *([f"… and {n_left} more: see the report, Stability"] if n_left > 0 else []))


def _churn(sets: Sets, labels: Sequence[str]) -> str:
    """Churn: a sentence for one experiment, a list for several."""
    first = sets[0]
    if len(sets) == 1:
        return headline(first, labels[first.experiment])
    parts = [f"{labels[captured.experiment]} {_figure(captured)}" for captured in sets[:MOST_ITEMS]]
    n_left = len(sets) - MOST_ITEMS
    more = f"; and {n_left} more" if n_left > 0 else ""
    subject = "Two runs disagree" if find_measure(first.measures, "churn") else "Correlation of the outputs of two runs"
    level = next((text for one in sets if (text := _level(one))), "")
    examples = f"{name_text(first.name)} ({counted_of(first.n_examples, 'example')})"
    return f"{subject} on {examples}{level}: {'; '.join(parts)}{more}."


def _headline_measure(captured: SetStability) -> Measure | None:
    return find_measure(captured.measures, "churn") or find_measure(captured.measures, "pearson")


def _figure(captured: SetStability) -> str:
    measure = _headline_measure(captured)
    if measure is None:
        return "not known"
    if isinstance(measure.value, Unavailable):
        return f"not known, {clean(measure.value.reason)}"
    return measure_text(measure)


def _level(captured: SetStability) -> str:
    measure = _headline_measure(captured)
    interval = measure.interval if measure else None
    return f" [{confidence_text(interval.confidence)} CI]" if isinstance(interval, Interval) else ""


def _least(sets: Sets, labels: Sequence[str]) -> Iterator[str]:
    """The class with the widest spread over all experiments, and a sub-group of the first experiment with any."""
    spread = [
        (one.sd, captured) for captured in sets for one in captured.classes[:1] if not isinstance(one.sd, Unavailable)
    ]
    if any(sd for sd, _ in spread):
        captured = max(spread, key=lambda one: one[0])[1]
        yield _sentence(f"{_whose(captured, sets, labels)}{widest_in_brief(captured)}")
    worst = [(text, captured) for captured in sets if (text := worst_in_brief(captured))]
    if worst:
        text, captured = worst[0]
        yield _sentence(f"{_whose(captured, sets, labels)}{text}")


def _whose(captured: SetStability, sets: Sets, labels: Sequence[str]) -> str:
    return f"In {labels[captured.experiment]} " if len(sets) > 1 else ""


def _sentence(text: str) -> str:
    return f"{text[:1].upper()}{text[1:]}."
