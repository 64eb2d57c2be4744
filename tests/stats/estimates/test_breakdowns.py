"""Which metrics are classes by their names, and how their spread is told."""

import dataclasses
import json
from pathlib import Path

import numpy as np
import pytest
from experiments import experiment, run, selected, single

from deviate.model import Breakdown, Experiment, Unavailable
from deviate.stats import judge, mean_largest_sd
from deviate.stats.estimates.breakdowns import class_names

LABELS = Path(__file__).parents[3] / "benchmarks" / "labels"
SCORES = {
    "f1": [0.80, 0.81, 0.79, 0.80, 0.82],
    "f1_cat": [0.7, 0.8, 0.6, 0.9, 0.7],
    "f1_dog": [0.80, 0.82, 0.81, 0.83, 0.80],
    "f1_bird": [0.9, 0.9, 0.9, 0.9, 0.9],
}


def of(scores: dict[str, list[float]], **changes: object) -> Experiment:
    n = len(next(iter(scores.values())))
    runs = [run(i, {name: single(values[i]) for name, values in scores.items()}) for i in range(n)]
    return experiment("classes", runs, [selected(name, **changes) for name in scores])  # type: ignore[arg-type]


def found(scores: dict[str, list[float]]) -> Breakdown:
    (breakdown,) = judge([of(scores)]).breakdowns
    return breakdown


@pytest.mark.parametrize(
    ("names", "pattern", "parts", "whole"),
    [
        (["val/f1_cat", "val/f1_dog", "val/f1_golden_retriever", "val/f1"], "val/f1_*", "cat dog golden_retriever", 3),
        (["acc/class_0", "acc/class_1", "acc/class_2", "acc"], "acc/class_*", "0 1 2", 3),
        (["test_acc[0]", "test_acc[1]", "test_acc[2]", "test_acc"], "test_acc[*]", "0 1 2", 3),
        (["class0_acc", "class1_acc", "class2_acc", "overall_acc"], "class*_acc", "0 1 2", 3),
        (["cat_f1", "dog_f1", "bird_f1", "macro_f1"], "*_f1", "cat dog bird", 3),
        (["acc_en", "acc_de", "acc_fr", "acc_avg"], "acc_*", "en de fr", 3),
        (["f1_score_cat", "f1_score_dog", "f1_score_fox", "f1_score"], "f1_score_*", "cat dog fox", 3),
        (["head_acc", "med_acc", "tail_acc"], "*_acc", "head med tail", None),
        (["loss_class_0", "loss_class_1", "loss_class_2"], "loss_class_*", "0 1 2", None),
        (["dice_wt", "loss", "dice_tc", "dice_et"], "dice_*", "wt tc et", None),
    ],
)
def test_names_that_differ_in_a_class_belong_together(
    names: list[str], pattern: str, parts: str, whole: int | None
) -> None:
    (group,) = class_names(names)
    assert group.pattern == pattern
    assert [part for _, part in group.parts] == parts.split()
    assert group.whole == (None if whole is None else names[whole])


@pytest.mark.parametrize(
    "names",
    [
        ["train/loss", "train/acc", "train/f1"],
        ["train_acc", "val_acc", "test_acc"],
        ["best_val_acc", "best_test_acc", "best_train_acc"],
        ["acc_1", "acc_5", "acc_10"],
        ["bleu_1", "bleu_2", "bleu_3", "bleu_4"],
        ["recall_at_1", "recall_at_5", "recall_at_10"],
        ["top1_acc", "top5_acc", "top10_acc"],
        ["f1_macro", "f1_micro", "f1_weighted"],
        ["rouge1_f1", "rouge2_f1", "rougeL_f1"],
        ["fold_0_acc", "fold_1_acc", "fold_2_acc"],
        ["layer_0_acc", "layer_1_acc", "layer_2_acc"],
        ["epoch_0_acc", "epoch_1_acc", "epoch_2_acc"],
        ["loss_cls", "loss_box", "loss_obj"],
        ["cls_acc", "cls_f1", "cls_precision"],
        ["reward_0", "reward_1", "reward_2"],
        ["ap50", "ap75", "ap90"],
        ["acc_cat", "acc_dog"],
        ["", "a", "_", "__"],
        [],
    ],
)
def test_names_of_splits_measures_and_stages_do_not(names: list[str]) -> None:
    assert class_names(names) == ()


def test_each_split_has_its_own_classes() -> None:
    groups = class_names([f"{split}_acc_{it}" for split in ("train", "val") for it in ("cat", "dog", "fox")])
    assert [group.pattern for group in groups] == ["train_acc_*", "val_acc_*"]


def test_no_metric_of_the_labelled_scripts_is_taken_for_a_class() -> None:
    """They have none: a person went through all of them."""
    projects = [it for path in sorted(LABELS.glob("*.json")) for it in json.loads(path.read_text(encoding="utf-8"))]
    assert len(projects) > 50
    for project in projects:
        names = list(dict.fromkeys(it["name"] for it in project["metrics"] if it.get("name")))
        assert class_names(names) == (), project["id"]


def test_the_widest_comes_first_with_its_ratio_to_the_whole() -> None:
    breakdown = found(SCORES)
    assert [part.part for part in breakdown.parts] == ["cat", "dog", "bird"]
    cat = breakdown.parts[0]
    assert cat.n == 5
    assert cat.sd == pytest.approx(np.std(SCORES["f1_cat"], ddof=1))
    assert cat.ratio == pytest.approx(np.std(SCORES["f1_cat"], ddof=1) / np.std(SCORES["f1"], ddof=1))
    assert cat.scores == tuple(SCORES["f1_cat"])
    assert breakdown.whole == "f1"


def test_a_class_without_spread_keeps_a_reason() -> None:
    bird = found(SCORES).parts[-1]
    assert isinstance(bird.sd_interval, Unavailable)
    assert isinstance(bird.ratio, Unavailable)


def test_without_a_whole_there_is_no_ratio() -> None:
    breakdown = found({name: values for name, values in SCORES.items() if name != "f1"})
    assert breakdown.whole is None
    assert all(isinstance(part.ratio, Unavailable) for part in breakdown.parts)


def test_metrics_that_are_not_read_alike_are_no_classes_of_one_measure() -> None:
    classes = of({name: values for name, values in SCORES.items() if name != "f1"})
    metrics = list(classes.metrics)
    metrics[0] = selected("f1_cat", direction="min")
    other = experiment("classes", classes.runs, metrics)
    assert judge([other]).breakdowns == ()


def test_tasks_are_no_classes() -> None:
    metrics = {"acc_cola": [0.5, 0.61, 0.73], "acc_mnli": [0.62, 0.5, 0.71], "acc_qqp": [0.7, 0.53, 0.64]}
    assert len(judge([of(metrics), of(metrics)]).breakdowns) == 2
    named = dataclasses.replace(of(metrics), tasks=tuple(metrics))
    assert judge([named]).breakdowns == ()


@pytest.mark.parametrize(("n_parts", "n"), [(1, 5), (10, 5), (100, 10), (3, 2)])
def test_the_largest_of_equal_sds_is_as_large_as_simulated(n_parts: int, n: int) -> None:
    drawn = np.random.default_rng(0).normal(size=(2_000_000 // (n_parts * n), n_parts, n))
    simulated = drawn.std(axis=2, ddof=1).max(axis=1)
    error = simulated.std() / np.sqrt(len(simulated))
    assert mean_largest_sd([1.0] * n_parts, n) == pytest.approx(simulated.mean(), abs=4 * error)


@pytest.mark.parametrize(
    ("n_parts", "n", "expected"),
    [(2, 3, 1.1457967822477659), (3, 2, 1.3263867552786095), (8, 10, 1.3163048948133821), (10, 3, 1.6757239275625611)],
)
def test_the_largest_of_equal_sds_is_exact(n_parts: int, n: int, expected: float) -> None:
    """Expected: integral of 1 - P(df / 2, df x^2 / 2)^n_parts by mpmath with 20 digits."""
    assert mean_largest_sd([1.0] * n_parts, n) == pytest.approx(expected, rel=1e-10)
