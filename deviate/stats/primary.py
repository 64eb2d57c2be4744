"""The primary metric: the one that the user declared, or the one that the names of the metrics tell.

The rule reads names, roles, directions and the order in the source, never a value, so that its choice stands before the
runs: measured on test data before validation data before training data; a field's measure of merit before a loss; the
one by which the script keeps its best model; a metric before one that restates it; the overall one before one of a
class or part; then the one that is reported first.
"""

import difflib
import re
import shlex
from collections.abc import Callable, Sequence

from deviate.errors import InputError
from deviate.model import PrimaryChoice, SelectedMetric
from deviate.model.analysis import with_known_items
from deviate.model.metric_vocabulary import CONTAINERS, word_set

TEST_WORDS = word_set("test tst testing")
VALIDATION_WORDS = word_set("val valid validation dev eval evaluation")
TRAINING_WORDS = word_set("train training trn tr")
SPREAD_WORDS = word_set("std stdev stddev sd deviation")
"""Words of measures of spread, which a comparison is not about."""
MERITS = word_set(
    "acc accs accuracy accuracies top1 top5 prec1 prec5 acc1 acc5 f1 fscore auc auroc auprc precision recall ap "
    "map iou miou dice bleu rouge psnr ssim reward rewards rew return returns score scores r2 ndcg mrr hit hits "
    "sensitivity specificity kappa mcc jaccard em sharpe win wins hr hitrate pck pesq stoi chrf meteor cider "
    "spice rank1 lddt fitness fid wer cer ter rmse mae mape lpips eer error err errors misclassified mpjpe epe "
    "rmsle smape brier matthews pearson pearsonr spearman spearmanr"
)
"""Words of measures by which a field reports its results, in either direction."""
PARTIAL_MERITS = word_set(
    "precision recall sensitivity specificity top5 acc5 prec5 hit hits error err errors misclassified"
)
"""Words of partial measures of merit: one side of a trade-off, a wider criterion, a complement."""
LANGUAGE_WORDS = word_set("ppl perplexity bpb bpc bpd token tokens")
"""Words of language models, whose measure of merit is loss or perplexity and not the accuracy of tokens."""
RESTATING_WORDS = word_set("ppl perplexity correct corrects neg negative best max min")
ATTACKS = (word_set("autoattack aa"), word_set("adv adversarial robust attack attacked pgd cw"), word_set("fgsm"))
"""Words of attacks on a model, the strongest first: a script that attacks its model is about robustness."""
HOLDING = (CONTAINERS | {"history", "evaluation"}) - MERITS - {"loss", "losses"}
_WORD = re.compile(r"[A-Z]?[a-z]+[0-9]*|[A-Z]+(?![a-z])[0-9]*|[0-9]+")

DECLARED = "declared before the runs"
NAMED_AFTER = "named after the runs, so its p and interval are adjusted over all quality metrics"
TEST, VALIDATION, UNNAMED, TRAINING = range(4)
LEVELS = {TEST: "test", VALIDATION: "validation", UNNAMED: "other than training", TRAINING: "training"}
Key = Callable[[SelectedMetric], int]


def find_primary(metrics: Sequence[SelectedMetric], planned: PrimaryChoice | None = None) -> tuple[str | None, str]:
    """Name of the primary metric, or None and the sentence that asks for one: see `choose_primary`."""
    choice = choose_primary(metrics, planned)
    return (None, ask_for_primary(metrics)) if choice is None else (choice.name, "")


def ask_for_primary(metrics: Sequence[SelectedMetric]) -> str:
    """The sentence that asks for a primary metric where none can be chosen."""
    declared = [metric.name for metric in metrics if metric.is_primary]
    if declared:
        return _ask("several metrics are declared primary", declared)
    telling = [metric for metric in metrics if metric.role == "quality" and not words_of(metric.name) & SPREAD_WORDS]
    return _ask("no quality metric has a known direction", [metric.name for metric in telling or metrics])


def choose_primary(
    metrics: Sequence[SelectedMetric], planned: PrimaryChoice | None = None, kept_by: str | None = None
) -> PrimaryChoice | None:
    """The metric that decides a comparison, with the reason; None where no quality metric has a known direction.

    The one that the plan names is kept as long as there is such a metric, and so is a declared one. What only the runs
    showed is no candidate where anything else is: it was not there to be chosen before them.

    Args:
        kept_by: name of the metric by which the script keeps its best model.
    """
    if planned is not None and any(metric.name == planned.name for metric in metrics):
        return planned
    declared = [metric for metric in metrics if metric.is_primary]
    if len(declared) == 1:
        return PrimaryChoice(declared[0].name, DECLARED)
    candidates = [metric for metric in metrics if metric.role == "quality" and metric.direction is not None]
    mappings = with_known_items(metric.metric for metric in metrics)
    candidates = [
        metric
        for metric in candidates
        if not words_of(metric.name) & SPREAD_WORDS and not _is_container(metric) and metric.metric.id not in mappings
    ]
    candidates = [metric for metric in candidates if not metric.is_found_by_running] or candidates
    if not candidates or declared:
        return None
    if len(candidates) == 1:
        return PrimaryChoice(candidates[0].name, "the only quality metric with a known direction")
    left, reason = candidates, ""
    for key, sentence in _rules(candidates, kept_by):
        best = min(map(key, left))
        kept = [metric for metric in left if key(metric) == best]
        reason = reason or (sentence if len(kept) < len(left) else "")
        left = kept
    others = tuple(metric.name for metric in candidates if metric is not left[0])
    return PrimaryChoice(left[0].name, reason or "reported first", others)


def _rules(candidates: Sequence[SelectedMetric], kept_by: str | None) -> tuple[tuple[Key, str], ...]:
    words = {metric.name: words_of(metric.name) for metric in candidates}
    is_language = any(found & LANGUAGE_WORDS for found in words.values())
    best_level = min(_level(found) for found in words.values())

    def data(metric: SelectedMetric) -> int:
        found = words[metric.name]
        may_be_best = _level(found) == UNNAMED and _is_merit(found, is_language=is_language)
        return best_level if may_be_best and not _has_counterpart(metric, words) else _level(found)

    def loss(metric: SelectedMetric) -> int:
        return not _is_merit(words[metric.name], is_language=is_language)

    def kept(metric: SelectedMetric) -> int:
        return _measure(words[metric.name]) != _measure(words_of(kept_by or ""))

    def restating(metric: SelectedMetric) -> int:
        return bool(words[metric.name] & RESTATING_WORDS)

    def part(metric: SelectedMetric) -> int:
        return bool(words[metric.name] & PARTIAL_MERITS)

    def attack(metric: SelectedMetric) -> int:
        strengths = [place for place, names in enumerate(ATTACKS) if words[metric.name] & names]
        return min(strengths, default=len(ATTACKS))

    def detail(metric: SelectedMetric) -> int:
        found = words[metric.name]
        return any(other < found for name, other in words.items() if name != metric.name)

    return (
        (data, f"measured on {LEVELS[best_level]} data"),
        (loss, "a measure of merit before a loss"),
        (kept, "the script keeps its best model by it"),
        (restating, "a metric before one that restates it"),
        (part, "an overall measure before one side of it"),
        (attack, "measured under the strongest attack"),
        (detail, "an overall metric before one of a part"),
        (lambda metric: _level(words[metric.name]), "its name says on which data it is measured"),
    )


def _is_container(metric: SelectedMetric) -> bool:
    """Whether its name says no more than that it holds things: what it holds, only a run shows."""
    return _measure(words_of(metric.name)) <= HOLDING


def _level(words: frozenset[str]) -> int:
    for level, known in ((TEST, TEST_WORDS), (VALIDATION, VALIDATION_WORDS), (TRAINING, TRAINING_WORDS)):
        if words & known:
            return level
    return UNNAMED


def _measure(words: frozenset[str]) -> frozenset[str]:
    """The words that say what is measured, whatever the data."""
    return words - TEST_WORDS - VALIDATION_WORDS - TRAINING_WORDS


def _has_counterpart(metric: SelectedMetric, words: dict[str, frozenset[str]]) -> bool:
    """Whether the same measure is reported of named data, so that this one is of training data: `acc`, `val_acc`."""
    own = words[metric.name]
    return any(found - TEST_WORDS - VALIDATION_WORDS == own and found != own for found in words.values())


def _is_merit(words: frozenset[str], *, is_language: bool) -> bool:
    if is_language:
        return not words & MERITS or bool(words & {"bleu", "rouge", "em", "f1"})
    return bool(words & MERITS.union(*ATTACKS)) and "loss" not in words


def is_on_test_data(name: str) -> bool:
    """Whether a word of the metric's name says that it is measured on test data."""
    return bool(TEST_WORDS & words_of(name))


def require_metric(name: str, names: Sequence[str], where: str) -> None:
    """Raises InputError for a metric that is not known there; the hint names a near one, and all."""
    if name in names:
        return
    near = difflib.get_close_matches(name, names, n=1)
    listed = ", ".join(names) or "none"
    hint = f"Did you mean {near[0]}? " if near else ""
    raise InputError(f"There is no metric {name!r} in {where}.", f"{hint}Its metrics are: {listed}.")


def words_of(name: str) -> frozenset[str]:
    """The words of a metric's name in lower case, with and without the digits at their ends."""
    found = [word.lower() for word in _WORD.findall(name)]
    return frozenset([*found, *filter(None, (word.rstrip("0123456789") for word in found))])


def _ask(reason: str, names: Sequence[str]) -> str:
    if not names:
        return "There is no primary metric, because there are no metrics: name one in deviate.toml."
    options = " or ".join(f"--metric {shlex.quote(name)}" for name in names)
    lasting = "for later experiments, set primary = true in its section of deviate.toml"
    return f"There is no primary metric, so no headline verdict: {reason}. Add {options}; {lasting}."
