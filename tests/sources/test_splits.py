"""Snippets with and without seeds that are missing or too late."""

from collections.abc import Callable

import pytest

from deviate.model.analysis import Analysis

Analyse = Callable[[str], Analysis]
IMPORTS = """\
import numpy as np, torch, keras
from sklearn.model_selection import *
from sklearn.model_selection import KFold, ShuffleSplit, StratifiedKFold, cross_val_score, train_test_split
from torch.utils.data import random_split
from transformers import AutoModel, AutoModelForSequenceClassification, BertForMaskedLM, Trainer, set_seed
"""


def lines(analysis: Analysis, name: str) -> list[int]:
    return [hazard.line - IMPORTS.count("\n") for hazard in analysis.hazards if hazard.name == name]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("a, b = train_test_split(x)", [1]),
        ("a, b = train_test_split(x, random_state=None)", [1]),
        ("folds = KFold(5, shuffle=True)\nscores = cross_val_score(model, x, y, cv=folds)", [1]),
        ("scores = cross_val_score(model, x, y, cv=StratifiedKFold(shuffle=True))", [1]),
        ("for train, test in ShuffleSplit().split(x):\n    fit(train)", [1]),
        ("a, b = random_split(data, [8, 2])", [1]),
        ("torch.manual_seed(1)\na, b = train_test_split(x)", [2]),  # another generator
        ("a, b = train_test_split(x, random_state=1)", []),
        ("a, b = train_test_split(x, shuffle=False)", []),
        ("a, b = train_test_split(x, **options)", []),
        ("np.random.seed(1)\na, b = train_test_split(x)", []),
        ("set_seed(1)\na, b = train_test_split(x)\nc, d = random_split(data, [8, 2])", []),
        ("folds = KFold(5)", []),
        ("folds = StratifiedKFold(5, shuffle=True, random_state=3)", []),
        ("scores = cross_val_score(model, x, y, cv=5)", []),
        ("torch.manual_seed(1)\na, b = random_split(data, [8, 2])", []),
        ("a, b = random_split(data, [8, 2], generator=g)", []),
    ],
)
def test_divisions_without_a_seed_are_found(analyse: Analyse, text: str, expected: list[int]) -> None:
    assert lines(analyse(f"{IMPORTS}{text}\n"), "unseeded-split") == expected


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("net = torch.nn.Linear(2, 1)\ntorch.manual_seed(0)", [1]),
        ("net = torch.nn.Sequential(torch.nn.Linear(2, 1))\ndef main():\n    torch.manual_seed(0)\nmain()", [1]),
        ("class Net(torch.nn.Module):\n    pass\nnet = Net()\ntorch.manual_seed(0)", [3]),
        ("def make():\n    return torch.nn.Linear(2, 1)\nnet = make()\ntorch.manual_seed(0)", [2]),
        ("model = keras.Sequential()\nkeras.utils.set_random_seed(1)", [1]),
        ("model = BertForMaskedLM(config)\ntrainer = Trainer(model, args)", [1]),
        ("model = AutoModelForSequenceClassification.from_pretrained('x')\nset_seed(1)", [1]),
        ("model = AutoModel.from_pretrained('x')\nset_seed(1)", []),
        ("set_seed(1)\nmodel = BertForMaskedLM(config)\ntrainer = Trainer(model, args)", []),
        ("torch.manual_seed(0)\nnet = torch.nn.Linear(2, 1)", []),
        ("def make():\n    return torch.nn.Linear(2, 1)\ntorch.manual_seed(0)\nnet = make()", []),
        ("net = torch.nn.Linear(2, 1)", []),  # no seed at all is another source
        ("net = torch.nn.Linear(2, 1)\nnp.random.seed(0)", []),
        ("def seed():\n    torch.manual_seed(0)\nseed()\nnet = torch.nn.Linear(2, 1)\nseed()", []),
    ],
)
def test_a_model_that_is_made_before_the_seed_is_found(analyse: Analyse, text: str, expected: list[int]) -> None:
    assert lines(analyse(f"{IMPORTS}{text}\n"), "seed-after-model") == expected
