"""Words in identifiers, labels and keys that show what a value is, and whether higher or lower is better."""

import re
from collections.abc import Iterable
from functools import lru_cache

from deviate.model.analysis import Direction, Role


def word_set(text: str) -> frozenset[str]:
    """The set of words in a string, separated by whitespace."""
    return frozenset(text.split())


HIGHER = word_set(
    "acc accs accuracy accuracies top1 top5 prec1 prec5 acc1 acc5 f1 fscore auc auroc auprc precision recall ap map "
    "iou miou dice bleu rouge psnr ssim reward rewards return returns score scores r2 correct corrects ndcg mrr hit "
    "hits likelihood sensitivity specificity specificities kappa mcc jaccard inception em sharpe explained win wins "
    "agreement elbo hr hitrate recalls precisions pck oks pesq stoi chrf meteor cider spice rank1 rank5 lddt"
)
LOWER = word_set(
    "loss losses error errors err perplexity ppl xent crossentropy nll mse rmse mae mape divergence cost bpc bpd "
    "bits fid wer cer ter distance residual regret hinge bce ce eer objective penalty misclassified wrong criterion "
    "forgetting forget lpips ade fde epe mpjpe fpr fnr hausdorff chamfer emd costs distances perplexities residuals"
)
NEUTRAL = word_set(
    "norm entropy kl metric metrics result results variance clipfrac fraction td advantage value_loss gap margin "
    "improve improvement"
)
QUALITY = HIGHER | LOWER | NEUTRAL
SHORT_TIMES = word_set("time times elapsed duration seconds secs sec minutes mins hours runtime ms took")
SPEEDS = word_set("throughput speed fps sps ips mfu persec it/s persecond")
RATES = word_set("lr lrs learningrate")
COUNTERS = word_set(
    "epoch epochs step steps iter iters iteration iterations batch batches idx index episode episodes round rounds "
    "generation generations fold count counter num number total seen timestep timesteps update updates rank"
)
ESTIMATES = word_set("eta remaining left estimated")
MEMORY = word_set("mem memory gb mb gib mib vram ram bytes")
WORD = re.compile(r"[A-Z]+(?![a-z])\d*|[A-Z]?[a-z]+\d*|\d+")


def split_identifier(text: str) -> list[str]:
    """Lower-case words of an identifier or a text: `valAcc_top1` gives val, acc, top1."""
    return list(_words(text))


@lru_cache(maxsize=4096)
def _words(text: str) -> tuple[str, ...]:
    joined = re.sub(r"learning[ _]rate", "learningrate", text, flags=re.IGNORECASE)
    joined = re.sub(r"cross[ _-]entropy", "crossentropy", joined, flags=re.IGNORECASE)
    return tuple(word.lower() for word in WORD.findall(joined))


def direction_of(name_words: Iterable[str]) -> Direction | None:
    """Whether higher or lower is better, by the last word that determines it."""
    listed_words = list(name_words)
    if {"neg", "negative"}.intersection(listed_words):
        direction = direction_of(word for word in listed_words if word not in {"neg", "negative"})
        return "min" if direction == "max" else None
    for word in reversed(listed_words):
        if word in LOWER or word in SHORT_TIMES:
            return "min"
        if word in HIGHER or word in SPEEDS:
            return "max"
    return None


def role_of(name_words: Iterable[str]) -> Role | None:
    """The role of a value by the words of its key; None if they do not determine it."""
    among = set(name_words)
    if among & RATES:
        return "other"
    if among & QUALITY:
        return "quality"
    if among & (COUNTERS - {"total"} | MEMORY | ESTIMATES):  # `step_time` is the exception
        return "time" if among & (SHORT_TIMES | SPEEDS) and not among & ESTIMATES else "other"
    return "time" if among & (SHORT_TIMES | SPEEDS) else None
