"""Words that tell what a value is: taken from identifiers and from the text before it."""

import re
from collections.abc import Iterable

from deviate.model import Direction

from .tree import listed

HIGHER = listed(
    "acc accs accuracy accuracies top1 top5 prec1 prec5 acc1 acc5 f1 fscore auc auroc auprc precision recall ap map "
    "iou miou dice bleu rouge psnr ssim reward rewards return returns score scores r2 correct corrects ndcg mrr hit "
    "hits likelihood sensitivity specificity specificities kappa mcc jaccard inception em sharpe explained win wins "
    "agreement elbo"
)
LOWER = listed(
    "loss losses error errors err perplexity ppl xent crossentropy nll mse rmse mae mape divergence cost bpc bpd "
    "bits fid wer cer ter distance residual regret hinge bce ce eer objective penalty misclassified wrong"
)
NEUTRAL = listed(
    "norm entropy kl metric metrics result results variance clipfrac fraction td advantage value_loss gap margin"
)
QUALITY = HIGHER | LOWER | NEUTRAL
SHORT_TIMES = listed("time times elapsed duration seconds secs sec minutes mins hours runtime ms took")
SPEEDS = listed("throughput speed fps sps ips mfu persec it/s persecond")
RATES = listed("lr lrs learningrate")
COUNTERS = listed(
    "epoch epochs step steps iter iters iteration iterations batch batches idx index episode episodes round rounds "
    "generation generations fold count counter num number total seen timestep timesteps update updates rank"
)
ESTIMATES = listed("eta remaining left estimated")
MEMORY = listed("mem memory gb mb gib mib vram ram bytes")
QUALIFIERS = listed("on of at for in to after over during with by from class task fold and label per")
FILLERS = listed(
    "a an the of set over is at in on for with after so far was are now data dataset epoch step iter iteration "
    "current and to from by this final finished average avg mean got info debug result results"
)
PHASES = {
    "train": "train", "training": "train", "trn": "train", "tr": "train",
    "test": "test", "testing": "test", "tst": "test", "ts": "test",
    "val": "val", "valid": "val", "validation": "val", "validate": "val", "dev": "val",
    "eval": "eval", "evaluation": "eval", "evaluate": "eval",
}  # fmt: skip
WORD = re.compile(r"[A-Z]+(?![a-z])\d*|[A-Z]?[a-z]+\d*|\d+")


def words(text: str) -> list[str]:
    """Lower-case words of an identifier or a text: `valAcc_top1` gives val, acc, top1."""
    joined = re.sub(r"learning[ _]rate", "learningrate", text, flags=re.IGNORECASE)
    joined = re.sub(r"cross[ _-]entropy", "crossentropy", joined, flags=re.IGNORECASE)
    return [word.lower() for word in WORD.findall(joined)]


def all_words(texts: Iterable[str]) -> list[str]:
    return [word for text in texts for word in words(text)]


def direction_of(found: Iterable[str]) -> Direction | None:
    """Whether more or less is better, by the last word that says so."""
    listed_words = list(found)
    if {"neg", "negative"}.intersection(listed_words):
        told = direction_of(word for word in listed_words if word not in {"neg", "negative"})
        return "min" if told == "max" else None
    for word in reversed(listed_words):
        if word in LOWER or word in SHORT_TIMES:
            return "min"
        if word in HIGHER or word in SPEEDS:
            return "max"
    return None


def clause(text: str) -> str:
    """The part of a text that names the value after it: from the last separator that has words behind it."""
    pieces = [piece for piece in re.split(r"[,;|\n\t\[\]]|(?<=[.!?]) |(?<![-\w]) - |--|\\[nt]", text) if words(piece)]
    return pieces[-1] if pieces else ""


UNIT = re.compile(
    r"^\s*\(?\s*(?:(?P<speed>[a-z]+\s*(?:/|per )\s*(?:s|sec|second|ms)\b)"
    r"|(?P<time>s|sec|secs|seconds?|ms|minutes?|mins?|hours?)\b)",
    re.IGNORECASE,
)


def unit_after(text: str) -> tuple[str, str]:
    """The unit at the start of the text behind a value: its kind (`speed`, `time` or empty) and its words."""
    match = UNIT.match(text)
    if match is None:
        return "", ""
    return ("speed", match["speed"]) if match["speed"] else ("time", match["time"])
