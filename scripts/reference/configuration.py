"""The page of `deviate.toml`: the keys that the parser accepts, each with what it means."""

from collections.abc import Iterator, Mapping

from deviate.project.config import CAPTURE_KEYS, EXPERIMENT_KEYS, METRIC_KEYS, SNAPSHOT_KEYS, VARIANT_KEYS

HEAD = """\
# deviate.toml

What may stand in `deviate.toml`, beside the script or in a folder above it. `deviate analyze train.py --save` writes
the metrics part; comments and order of your own are kept when it is written again. A flag counts more than the file,
and the file more than the default. A key that is not known is an error, which names the nearest one that is.

Written from the parser by `python -m scripts.reference`.

```toml
[experiment]
train = "train.py"
command = "python train.py --epochs 10"
then = ["python eval.py"]
runs = 10
variants = ["algo+impl", "control"]

[metrics.test_acc]
where = "train.py:61"
expression = "correct / total"
direction = "max"
unit = "%"
aggregate = "last"
primary = true
margin = 0.2

[snapshot]
fresh = ["checkpoints/"]

[capture]
keep = ["predictions", "weights"]
every = 5
limit = "500MB"

[variants.data]
vary = ["shuffle", "augment"]
description = "what the data loader draws"
```
"""

EXPERIMENT = {
    "train": ("text", "The training script that the file is about, relative to it."),
    "command": ("text", "What `deviate run` runs where no script is named."),
    "then": ("list of texts", "Commands after training, in the same files, as `--then`."),
    "runs": ("number", "Runs of each variant where `--runs` does not say."),
    "variants": ("list of texts", "Variants where `--variants` does not say."),
    "main_loop": ("`file:line`", "The loop that is the main loop, where the analysis took another one."),
}
METRICS = {
    "where": ("`file:line`", "Where the value is reported or computed."),
    "expression": ("text", "The expression at that line whose value is recorded."),
    "path": (
        "list of `file:line`",
        "The calls through which the line is reached, where it is reached by several ways.",
    ),
    "label": ("text", "The text beside the value in what is printed, where one line reports several."),
    "match": (
        "text",
        "The text of the value, [`val acc: {value}`](../how-to/metric-not-found.md#a-package-prints-it-and-no-line-of-the-project-does).",
    ),
    "direction": ("`max`, `min`, `none`", "Whether more or less is better; `none` where neither is."),
    "aggregate": (
        "text",
        "What makes one score of a run: `last`, `best`, `mean`, `median`, `min`, `max`, `at:K`. Default: `last`.",
    ),
    "unit": ("text", "Unit of the values. Differences of `%` are told in points."),
    "role": ("text", "What the metric is about, where its name does not tell: `quality`, `time` and so on."),
    "primary": ("true, false", "Whether it decides the verdict; one metric at most."),
    "margin": ("number", "Smallest difference that matters, in units of the metric; given before the runs."),
    "target": ("number", "A value; the report tells how long runs take to reach it."),
    "n_examples": ("number", "Examples of the test set: then the error from its finite size is told."),
}
SNAPSHOT = {"fresh": ("list of folders", "Folders that begin empty in each run, such as those of checkpoints.")}
CAPTURE = {
    "keep": ("list of texts", "`predictions`, `weights`, or both, as `--capture`."),
    "every": ("number", "Steps of the main loop between two captures, as `--capture-every`; without it the end alone."),
    "limit": ("text", "The most that a run keeps, as `--capture-limit`: `500MB`, `1GB`. Default: `1GB`."),
    "tta": ("list of texts", "Augmentations of the test inputs, as `--tta`."),
}
VARIANTS = {
    "vary": ("list of texts", "Streams and factors that differ between runs."),
    "hold": ("list of texts", "Streams and factors that are held."),
    "set": ("table", "Factor to level, such as `threads = 1`."),
    "description": ("text", "What the variant is for, in your words."),
}


def page() -> str:
    """The whole page as Markdown, ending in a newline."""
    parts = [
        *_part("experiment", "What is run.", EXPERIMENT_KEYS, EXPERIMENT),
        *_part(
            "metrics.NAME", "A metric each; without this part all that were found are recorded.", METRIC_KEYS, METRICS
        ),
        *_part("snapshot", "What is frozen.", SNAPSHOT_KEYS, SNAPSHOT),
        *_part(
            "capture",
            "What runs keep beside their metrics ([how](../how-to/capture-predictions.md)).",
            CAPTURE_KEYS,
            CAPTURE,
        ),
        *_part("variants.NAME", "Variants of your own ([what they mean](variants.md)).", VARIANT_KEYS, VARIANTS),
    ]
    last = (
        "## [statements]\n\nWritten by `analyze --save`: the statement at each place, by which it is found again later."
    )
    return "\n".join([HEAD, *parts, last]) + "\n"


def _part(name: str, what: str, keys: tuple[str, ...], told: Mapping[str, tuple[str, str]]) -> Iterator[str]:
    yield f"## [{name}]\n\n{what}\n\n| key | value | meaning |\n|---|---|---|"
    yield from (f"| `{key}` | {told[key][0]} | {told[key][1]} |" for key in keys)
    yield ""
