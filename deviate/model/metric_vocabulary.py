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
    "iou miou dice bleu rouge psnr ssim reward rewards rew return returns score scores r2 correct corrects ndcg mrr "
    "hit hits likelihood sensitivity specificity specificities kappa mcc jaccard inception em sharpe explained win "
    "wins agreement elbo hr hitrate recalls precisions pck oks pesq stoi chrf meteor cider spice rank1 rank5 lddt "
    "matthews pearson pearsonr spearman spearmanr genauigkeit trefferquote gini auprg lift silhouette ari nmi ami "
    "purity modularity homogeneity completeness concordance cindex plcc srcc exactitude exactitud rappel"
)
LOWER = word_set(
    "loss losses error errors err perplexity ppl xent crossentropy nll mse rmse mae mape divergence cost bpc bpd "
    "bits fid wer cer ter distance residual regret hinge bce ce eer objective penalty misclassified wrong criterion "
    "forgetting forget lpips ade fde epe mpjpe fpr fnr hausdorff chamfer emd costs distances perplexities residuals "
    "verlust fehler fehlerrate perte "
    "rmsle msle logloss mlogloss merror smape brier distortion ece mce kid hter deviance"
)
BOUNDED = word_set(
    "acc accs accuracy accuracies top1 top5 prec1 prec5 acc1 acc5 f1 fscore auc auroc auprc precision recall map iou "
    "miou dice ndcg mrr sensitivity specificity kappa mcc jaccard hitrate recalls precisions pck genauigkeit "
    "trefferquote exactitude purity homogeneity completeness wer cer eer ter fpr fnr hter"
)
"""Measures that end at 1, or at 100 in percent."""
PLAIN_SCORES = word_set("score scores error errors err r2 fehlerrate")
"""Words of measures that often end at 1."""
VAGUE = word_set("score scores return returns")
"""Words that another one of the same name outweighs: a Brier score is a score, and lower is better."""
PLAIN = word_set(
    "test val valid validation train training dev eval evaluation best final last mean average avg max min total cv "
    "overall episode episodic cumulative discounted running ep"
)
"""Words beside which a vague word alone tells: of a "spoof score" nobody knows."""
NEUTRAL = word_set(
    "norm gnorm gradnorm entropy kl metric metrics result results variance clipfrac fraction advantage value_loss gap "
    "margin improve improvement"
)
QUALITY = HIGHER | LOWER | NEUTRAL
ACCURACY = word_set("acc accs accuracy accuracies top1 top5 acc1 acc5 prec1 prec5 rank1 rank5 correct")
"""Words for the proportion of correct examples."""
ERROR_RATE = word_set("err error errors misclassified wrong")
NO_SHARE = word_set("balanced macro squared absolute relative loss")
"""Words in names of metrics that are not proportions of examples, although they say accuracy or error."""
WHOLES = word_set("metric metrics result results")
"""Words for measurements that do not say what is measured."""
SHORT_TIMES = word_set(
    "time times elapsed duration durations seconds secs sec minutes mins hours runtime ms msec us ns took latency "
    "latencies tottime cumtime percall wall walltime wallclock uptime timing timings timestamp timestamps"
)
SPEEDS = word_set("throughput speed fps sps ips mfu persec it/s persecond")
RATES = word_set("lr lrs learningrate")
COUNTERS = word_set(
    "epoch epochs step steps iter iters iteration iterations batch batches idx index episode episodes round rounds "
    "generation generations fold count counter cnt num number total seen timestep timesteps update updates rank"
)
AMOUNTS = word_set(
    "tokens samples images imgs nimg kimg frames examples sequences sentences transitions candidates params parameters "
    "documents interactions"
)
"""What programs count. A number of them is no measurement, whatever it is divided by to be shown in thousands."""
TUNED = word_set(
    "momentum decay beta beta1 beta2 betas alpha gamma tau epsilon eps temperature temp dropout weight weights coef "
    "coeff coefficient lambda threshold patience seed warmup schedule scale scaling size sizes width depth capacity "
    "params parameters progress percent importance"
)
"""What papers and command lines call what is chosen, not measured."""
ESTIMATES = word_set("eta remain remains remaining rest left estimated")
MEMORY = word_set("mem memory gb mb gib mib kb kib vram ram bytes rss vms swap heap cpu load util utilization")
"""What a machine is asked for while it trains: its memory, and how busy it is."""
WORD = re.compile(r"[A-Z]+(?![^\W\d_A-Z])\d*|[A-Z]?[^\W\d_A-Z]+\d*|\d+")


def split_identifier(text: str) -> list[str]:
    """Lower-case words of an identifier or a text: `valAcc_top1` gives val, acc, top1."""
    return list(_words(text))


OTHER_SENSE = re.compile(
    r"(?<![a-z])(label|feature|attention|attn|heat|color|class|classes|idx|index|tree|key|name|id|device|token|char|word"
    r"|saliency|depth|state|weight|param|type|seg|density|activation|texture|score)[ _.-]+(maps?)(?![a-z])"
    r"|(?<![a-z])(?:(mixed|numerical|float\d*|matmul|inference|amp|autocast|compute)[ _-]+(precision))(?![a-z])",
    re.IGNORECASE,
)
"""Words that name no measurement together: a label map is not the mean average precision."""


@lru_cache(maxsize=4096)
def _words(text: str) -> tuple[str, ...]:
    joined = re.sub(r"learning[ _]rate", "learningrate", text, flags=re.IGNORECASE)
    joined = re.sub(r"cross[ _-]entropy", "crossentropy", joined, flags=re.IGNORECASE)
    joined = joined.replace("IoU", "Iou")
    if "map" in joined or "recision" in joined:
        joined = OTHER_SENSE.sub(lambda match: "".join(filter(None, match.groups())), joined)
    return tuple(word.lower() for word in WORD.findall(joined))


def direction_of(name_words: Iterable[str]) -> Direction | None:
    """Whether higher or lower is better, by the last word that determines it; vague words tell only if none else does.

    >>> [direction_of(split_identifier(name)) for name in ("brier_score", "test_acc", "spoof_score", "best score")]
    ['min', 'max', None, 'max']
    """
    words = list(name_words)
    if {"neg", "negative"}.intersection(words):
        direction = direction_of(word for word in words if word not in {"neg", "negative"})
        return "min" if direction == "max" else None
    telling = [word for word in words if word not in VAGUE]
    if not any(word in LOWER | HIGHER | SHORT_TIMES | SPEEDS for word in telling):
        telling = words if set(words) <= VAGUE | PLAIN else []
    for word in reversed(telling):
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


# Items of what a site reports whole: a mapping, a row, values under names that are built at run time.


def item_traits(
    label: str, role: Role = "quality", direction: Direction | None = None
) -> tuple[Role, Direction | None]:
    """Role and direction of an item of a whole that has these: what its own words say, or those of the whole."""
    own_role = role_of(split_identifier(label)) or role
    return own_role, None if own_role == "other" else direction_of(split_identifier(label)) or direction


def snake(label: str) -> str:
    """`train/Top-1 acc` as train_top_1_acc, `valAcc` as val_acc; a sign that no name can hold is left out."""
    spaced = re.sub(r"(?<=[a-z])(?=[A-Z][a-z])", "_", label)
    return re.sub(r"\W+", "_", spaced).strip("_").lower() or "item"
