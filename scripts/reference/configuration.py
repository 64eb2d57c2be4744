"""The page of settings: variables, and the keys that the parser of `deviate.toml` accepts, each with what it means."""

from collections.abc import Iterator, Mapping

from deviate.base.setting_variables import SETTINGS, has_variable, variable_of
from deviate.cli.app import VERBS, load_command
from deviate.model.aggregates import AGGREGATES
from deviate.project.config import CAPTURE_KEYS, EXPERIMENT_KEYS, METRIC_KEYS, SNAPSHOT_KEYS, VARIANT_KEYS

HEAD = """\
# Settings

A setting comes from, in falling order: a flag, its variable `DEVIATE_…`, `deviate.toml`, the default. `deviate show`
prints where each setting of an experiment came from, and `deviate run` prints the variables that it uses.

## Variables

{variables}

Each has the meaning of its option, in all verbs that have the option, for runs on any executor. `deviate VERB
--help-all` names them. An empty variable counts as unset. An option that may be repeated takes several values from
one variable, separated by `;`: `DEVIATE_OPTION="partition=gpu;qos=low"`; a value that contains one needs the flag. A
switch is on at `1` and off at `0`. A variable is ignored where it cannot apply: `DEVIATE_RUNS` beside `--looks` or by a
`check` of recorded experiments, `DEVIATE_OPTION` with the executor `local`. `DEVIATE_JOBS`, `DEVIATE_GPUS`,
`DEVIATE_TIMEOUT` and `DEVIATE_RETRIES` also apply to `deviate resume`, in place of what the experiment has.

Options that act once (`--dry-run`), name a file or an experiment, or declare something about one comparison before its
runs (`--until`, `--looks`, `--paired`) have no variable. A variable whose name is nearly one of these gets a warning.

Runs do not see these variables, so that they change no fingerprint, and a `deviate` in the script is not configured by
that of the run. `--env` passes one on. Runs do see `DEVIATE_RUN_DIR`, `DEVIATE_VARIANT`, `DEVIATE_REPLICATE` and other
names that deviate sets there; these are no settings.

## deviate.toml

`deviate.toml` is beside the script or in a folder above it. `deviate analyze train.py --save` writes the metrics part;
rewriting keeps your comments and order. In the variant `algo+impl` all randomness is free: seeds and kernels. An
unknown key is an error, which names the nearest known key.

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
title = "Top-1 accuracy"
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
    "command": ("text", "The command of `deviate run` without a script."),
    "then": ("list of texts", "Commands after training, in the same files, as `--then`."),
    "runs": ("number", "Runs of each variant, as `--runs`."),
    "variants": ("list of texts", "Variants, as `--variants`."),
    "main_loop": ("`file:line`", "The main loop, if the analysis chooses another one."),
}
METRICS = {
    "where": ("`file:line`", "Where the value is reported or computed."),
    "expression": ("text", "The expression at that line whose value is recorded."),
    "path": (
        "list of `file:line`",
        "The call path to the line, if there are several.",
    ),
    "label": ("text", "The text beside the value in the output, if one line reports several."),
    "match": (
        "text",
        "The text of the value, [`val acc: {value}`](../how-to/metric-not-found.md#only-a-package-prints-it).",
    ),
    "direction": ("`max`, `min`, `none`", "Whether higher or lower is better; `none` if neither."),
    "aggregate": (
        "text",
        f"The [score](numbers.md#from-measurements-to-a-score) of a run: `{'`, `'.join(AGGREGATES)}`. Default: `last`.",
    ),
    "unit": ("text", "Unit of the values. Differences of `%` are given in points."),
    "role": ("text", "What the metric measures, if its name does not say: `quality`, `time` and so on."),
    "primary": ("true, false", "Whether it decides the verdict; one metric at most."),
    "margin": ("number", "Smallest difference that matters, in units of the metric; set before the runs."),
    "target": ("number", "A value; the report gives the time that runs take to reach it."),
    "n_examples": ("number", "Examples of the test set: the report then gives the error from its finite size."),
    "title": (
        "text",
        "What reports call the metric instead of its name: `Top-1 accuracy`. JSON, CSV and options keep the name.",
    ),
}
SNAPSHOT = {
    "fresh": ("list of paths", "Folders that begin empty, and files that are absent, in each run, such as checkpoints.")
}
CAPTURE = {
    "keep": ("list of texts", "`predictions`, `weights`, or both, as `--capture`."),
    "every": ("number", "Steps of the main loop between two captures, as `--capture-every`. Default: only the end."),
    "limit": ("text", "The most that a run keeps, as `--capture-limit`: `500MB`, `1GB`. Default: `1GB`."),
    "tta": ("list of texts", "Augmentations of the test inputs, as `--tta`."),
}
VARIANTS = {
    "vary": ("list of texts", "Streams and factors that differ between runs."),
    "hold": ("list of texts", "Streams and factors that are controlled."),
    "set": ("table", "Factor to level, such as `threads = 1`."),
    "description": ("text", "The purpose of the variant."),
}


def page() -> str:
    """The whole page as Markdown, ending in a newline."""
    parts = [
        *_part("experiment", "What runs.", EXPERIMENT_KEYS, EXPERIMENT),
        *_part(
            "metrics.NAME",
            "One section for each metric; without any, all metrics that are found are recorded.",
            METRIC_KEYS,
            METRICS,
        ),
        *_part("snapshot", "What is frozen.", SNAPSHOT_KEYS, SNAPSHOT),
        *_part(
            "capture",
            "What runs capture in addition to metrics ([how](../how-to/capture-predictions.md)).",
            CAPTURE_KEYS,
            CAPTURE,
        ),
        *_part("variants.NAME", "Variants of your own ([what they mean](variants.md)).", VARIANT_KEYS, VARIANTS),
    ]
    last = "## [statements]\n\n`analyze --save` writes this part: the statement at each place, to find it again later."
    return "\n".join([HEAD.replace("{variables}", "\n".join(_variables())), *parts, last]) + "\n"


def _variables() -> Iterator[str]:
    yield "| variable | option | in |\n|---|---|---|"
    options = {verb: {option.name: option for option in load_command(verb).params} for verb in VERBS}
    for setting in SETTINGS:
        verbs = [verb for verb in VERBS if setting in options[verb] and has_variable(setting, verb)]
        flag = max(options[verbs[0]][setting].opts, key=len)
        names = "every verb" if verbs == list(VERBS) else ", ".join(f"`{verb}`" for verb in verbs)
        yield f"| `{variable_of(setting)}` | `{flag}` | {names} |"


def _part(name: str, what: str, keys: tuple[str, ...], told: Mapping[str, tuple[str, str]]) -> Iterator[str]:
    yield f"## [{name}]\n\n{what}\n\n| key | value | meaning |\n|---|---|---|"
    yield from (f"| `{key}` | {told[key][0]} | {told[key][1]} |" for key in keys)
    yield ""
