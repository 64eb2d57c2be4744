"""What `deviate.toml` may say is read with its types."""

from pathlib import Path

import pytest

from deviate.errors import InputError
from deviate.model.analysis import Place
from deviate.project.config import VariantConfig, load, parse


def test_the_experiment_and_snapshot_parts_are_read(tmp_path: Path) -> None:
    path = tmp_path / "deviate.toml"
    path.write_text(
        '[experiment]\ntrain = "./train.py"\ncommand = "python train.py"\nthen = ["python eval.py"]\nruns = 10\n'
        'variants = ["algo+impl", "control"]\n[snapshot]\nfresh = ["checkpoints/"]\n',
        encoding="utf-8",
    )
    config = load(path)
    assert (config.command, config.then, config.runs) == ("python train.py", ("python eval.py",), 10)
    assert (config.variants, config.fresh, config.metrics) == (("algo+impl", "control"), ("checkpoints/",), None)
    assert config.is_for("train.py")


def test_variants_of_the_users_own_are_read(tmp_path: Path) -> None:
    text = """
[variants.quiet]
vary = ["init", "shuffle"]
hold = ["impl"]
set = {threads = 1, onednn = "off"}
description = "what I can afford"
[variants.plain]
"""
    assert parse(text, "deviate.toml").definitions == (
        VariantConfig("quiet", ("init", "shuffle"), ("impl",), {"threads": "1", "onednn": "off"}, "what I can afford"),
        VariantConfig("plain"),
    )


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("variants = 1", "variants must be a section"),
        ("[variants]\nx = 1", "[variants]: x must be a section"),
        ("[variants.x]\nvaries = []", "unknown key 'varies' | Did you mean vary?"),
        ("[variants.x]\nvary = 'init'", "vary = 'init' is invalid"),
        ("[variants.x]\nset = 1", "set must be a section"),
        ("[variants.x]\nset = {threads = true}", "threads = True is invalid"),
        ("[variants.x]\nset = {threads = 1.5}", "threads = 1.5 is invalid"),
    ],
)
def test_a_variant_that_is_not_well_formed_is_refused(text: str, told: str) -> None:
    with pytest.raises(InputError) as caught:
        parse(text, "deviate.toml")
    assert told in f"{caught.value.message} | {caught.value.hint}"


def test_what_runs_keep_is_read_as_it_is_written() -> None:
    text = '[capture]\nkeep = ["predictions", "weights"]\nevery = 5\nlimit = "500MB"\ntta = ["flip"]\n'
    outcome = parse(text, "deviate.toml").capture
    assert (outcome.keep, outcome.every, outcome.limit, outcome.tta) == (
        ("predictions", "weights"),
        5,
        "500MB",
        ("flip",),
    )
    assert parse("", "deviate.toml").capture.keep is None


@pytest.mark.parametrize("line", ['keep = "predictions"', "every = 0", "limit = 5", "often = 3"])
def test_what_runs_keep_has_its_types(line: str) -> None:
    with pytest.raises(InputError, match=r"\[capture\]"):
        parse(f"[capture]\n{line}\n", "deviate.toml")


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ('[metrics.a]\nmatch = "acc"\n', r"\[metrics.a\]: match = 'acc' has no {value}"),
        ('[metrics.a]\nmatch = "acc {value}"\nwhere = "train.py:1"\n', "has both match and where"),
        ('[metrics.a]\nmatch = "a {value}"\n[metrics.b]\nmatch = "a {value}"\n', "more than once"),
    ],
)
def test_a_pattern_stands_for_one_number_and_for_itself(text: str, message: str) -> None:
    with pytest.raises(InputError, match=message):
        parse(text, "deviate.toml")


def test_two_metrics_are_not_called_alike() -> None:
    with pytest.raises(InputError, match="calls two metrics 'loss'"):
        parse('[metrics.loss]\n[metrics.test_loss]\ntitle = "loss"\n', "deviate.toml")


def test_places_in_notebooks_are_read_as_they_are_shown() -> None:
    (metric,) = parse('[metrics.a]\nwhere = "n.ipynb cell 7, line 3"\n', "deviate.toml").metrics or ()
    assert metric.where == Place("n.ipynb", 7003)
