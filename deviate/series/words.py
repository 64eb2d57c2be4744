"""Words of the field: what they measure, of which data, and which of them are no results."""

import re
from itertools import pairwise
from typing import Literal

from deviate.model.metric_vocabulary import (
    AMOUNTS,
    ESTIMATES,
    HIGHER,
    LOWER,
    MEMORY,
    NEUTRAL,
    RATES,
    SHORT_TIMES,
    SPEEDS,
    split_identifier,
    word_set,
)

Data = Literal["test", "validation", "training", ""]
Kind = Literal["result", "loss", "time", "setting", "none"]
"""What a series is: a measure of merit or of a word that is not known; a loss; times, speeds and memory; a setting, a
counter or a size, which is recorded and is no result; nothing that is kept."""

TEST_WORDS = word_set("test tst testing heldout holdout unseen testdaten testset outofsample dtest")
HELD_OUT = re.compile(r"\b(held|hold)[- ]out\b|\bout[- ]of[- ]sample\b", re.IGNORECASE)
NO_DATA = re.compile(
    r"\bcross[- _]?val(?:idat\w+)?|\b(?:before|after|during|end[ _]of|start[ _]of)[ _](?:the[ _])?training\b",
    re.IGNORECASE,
)
"""Cross-validation tests on all data in turn; "after training" says when."""
VALIDATION_WORDS = word_set("val valid validation eval evaluation dev valset validierung dval dvalid")
TRAINING_WORDS = word_set("train training trn tr trainset trainingsdaten dtrain")
DATA_WORDS = TEST_WORDS | VALIDATION_WORDS | TRAINING_WORDS
COUNTERS = word_set(
    "epoch epochs ep step steps iter iters iteration iterations batch batches episode episodes eps round rounds "
    "generation generations gen timestep timesteps update updates it epoche époque epoca época"
)
TRAININGS = word_set(
    "fold folds split splits run runs seed seeds repeat repeats repetition repetitions rep trial trials restart"
)
"""What counts trainings: each step of such a loop trains a model anew."""
PARTS = word_set(
    "class label digit env head task layer client group cluster topic category speaker user level agent worker rank "
    "domain site subject fold"
)
"""What an integer behind such a word tells apart."""
SPREADS = word_set("std stdev stddev sd deviation stderr sem")
WHOLES = word_set("mean overall macro cv avg average total all micro weighted global")
MERITS = (HIGHER - word_set("total")) | word_set(
    "wer cer ter rmse mae mape eer error err errors fid kid lpips misclassified mpjpe epe rmsle smape brier ece hter "
    "fpr fnr mse"
)
LOSSES = word_set(
    "loss losses logloss mlogloss nll cost criterion objective xent crossentropy hinge penalty elbo verlust perte"
)
LANGUAGE = word_set("ppl perplexity bpb bpc bpd token tokens")
MEASURES = HIGHER | LOWER | NEUTRAL | MERITS | LOSSES | LANGUAGE
SETTINGS = RATES | word_set(
    "epsilon eps momentum decay beta beta1 beta2 betas alpha gamma tau temperature temp dropout lambda threshold "
    "patience warmup coef coefficient lr learningrate seed size dim hidden width depth layers weight exploration "
    "schedule intercept importance params parameters param parameter"
)
NOTES = word_set("improved improves decreased increased saved saving loading restoring early stopping patience")
"""Words of notes on how training goes, which repeat a number that is reported elsewhere."""
LOADED = word_set("checkpoint ckpt epoch step iteration weights")
"""What was loaded, in a note; `AUC of the loaded model` is a result."""
LISTINGS = word_set(
    "coefficient coefficients coefs importance importances ranking weights parameters hyperparameters config "
    "configuration settings arguments options thresholds args"
)
"""Headings of what a model or a run is made of: no number below is a result."""
EXAMPLES = word_set(
    "input inputs expected actual predicted prediction predictions target targets truth got output outputs"
)
"""Words of an example, of what it should give and of what a model gave: `expected output: 1.0, got: 0.93`."""
COUNTED = (
    COUNTERS
    | TRAININGS
    | AMOUNTS
    | word_set("support count counter num number n total seen idx index rank size flos flops")
)
STOP = word_set(
    "the of on set data for in a an is at to are was were our my over under with by and der die das auf im mit von "
    "info debug warning root critical dataset so far after np numpy float64 float32"
)
SCOPE = re.compile(
    r"\b(?:over|across|after|of|in|from|for|last|past)\s+(?:the\s+)?(?:last\s+|past\s+)?\d+\s+[a-z]\w*", re.IGNORECASE
)
"""How much a number was computed over: `Evaluation over 20 episodes: 6.78`."""
PER_TIME = re.compile(r"[ _]per[ _](?:s|sec|seconds?|minute|hour)\b", re.IGNORECASE)
TOOK = re.compile(r"\b(finished|done|completed?|took|takes|trained|fitted|ran|built|loaded)\b.*\bin\W*$", re.IGNORECASE)
"""Words before a time that has no unit: `Finished squared error in: 0.54`."""


def name_words(text: str) -> list[str]:
    """The words of a text that stay in a name: `Accuracy on the test set` gives accuracy, test.

    >>> name_words("Accuracy on the test set"), name_words("val_IoU"), name_words("Hit@1")
    (['accuracy', 'test'], ['val', 'iou'], ['hit', '1'])
    """
    words = [word for word in re.split(r"[\W_]+", text) if word]
    pairs = pairwise([*words, ""])
    kept = [
        word
        for word, following in pairs
        if word.lower() not in STOP
        or word == "A"  # "Model A"
        or (word.lower(), following.lower()) == ("after", "training")
    ]
    return [word.lower() for word in kept or words]


def data_of(text: str) -> Data:
    """The data that a text names; the most telling of several. "Dev" is a split only where it, or "split", comes first.

    >>> data_of("loss on the test set"), data_of("val_acc"), data_of("MSE Dev"), data_of("dev loss")
    ('test', 'validation', '', 'validation')
    """
    text = NO_DATA.sub("", text)
    ordered = [word for word in split_identifier(text) if word != "split"]
    words = words_of(text) - ({"dev"} if ordered[:1] != ["dev"] else set())
    if words & TEST_WORDS or HELD_OUT.search(text):
        return "test"
    if words & VALIDATION_WORDS:
        return "validation"
    return "training" if words & TRAINING_WORDS else ""


def words_of(text: str) -> frozenset[str]:
    """The words of a text in lower case, with and without the digits at their ends."""
    found = [*split_identifier(text), *re.split(r"[\W_]+", text.lower())]
    return frozenset([*found, *filter(None, (word.rstrip("0123456789") for word in found))]) - {""}


def is_count(column: str, row: str = "") -> bool:
    """Whether a column of a table holds counts, whatever its rows are called (the support of an accuracy), or a row."""
    words = words_of(column)
    return (bool(words) and words <= COUNTED) or row.lower() in ("count", "support")


def kind_of(text: str, unit: str = "", *, is_whole: bool = False) -> Kind:
    """What a series is, by the words around its values, their unit, and whether all are whole numbers."""
    if not is_whole:
        text = SCOPE.sub(" ", text)
    words = words_of(text)
    ordered = split_identifier(text)
    if TOOK.search(text) or (unit and unit not in ("%", "dB")):
        return "time"
    measures = words & (MEASURES - NEUTRAL)
    is_time = PER_TIME.search(text) or words & (SHORT_TIMES | SPEEDS | MEMORY | ESTIMATES)
    if is_time and not measures - word_set("return returns score"):
        return "time"
    if ordered and (ordered[-1] in RATES or (not measures and (words & RATES or ordered[-1] in SETTINGS))):
        return "setting"
    is_of_data = not is_whole and words <= DATA_WORDS  # `Val: 0.81`
    if words <= STOP or (words <= COUNTERS | TRAININGS | DATA_WORDS and not is_of_data):
        return "none"
    if words & NOTES or ("loaded" in words and words & LOADED) or (words <= EXAMPLES and words != {"output"}):
        return "setting"
    if not measures and (is_whole or (ordered and ordered[-1] in COUNTED - MEASURES)):
        return "setting"
    if words & LOSSES and not words & (MERITS - LOSSES - {"score", "scores"}):
        return "loss"
    if words & MERITS or words & MEASURES or any(char.isalpha() for char in text):
        return "result"
    return "none"
