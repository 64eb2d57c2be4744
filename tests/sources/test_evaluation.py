"""Snippets with and without evaluation that draws, or that chooses on the data that it reports."""

from collections.abc import Callable

import pytest

from deviate.model.analysis import Analysis

Analyse = Callable[[str], Analysis]
IMPORTS = """\
import numpy as np, torch, keras
import torch.nn as nn
import torch.nn.functional as F
from torch.utils.data import DataLoader
from keras.callbacks import EarlyStopping
"""
NET = "class Net(nn.Module):\n    def forward(self, x):\n        return {}\nnet = Net()\n"


def lines(analysis: Analysis, name: str) -> list[int]:
    return [hazard.line - IMPORTS.count("\n") for hazard in analysis.hazards if hazard.name == name]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        (NET.format("F.dropout(x, 0.5)"), [3]),
        (NET.format("F.dropout(x, 0.5, True)"), [3]),
        ("def evaluate(model):\n    return model(x, training=True)\nevaluate(m)", [2]),
        ("net = nn.Sequential(nn.Dropout())\nwith torch.no_grad():\n    print(net(x))", [2]),
        (NET.format("F.dropout(x, 0.5, self.training)"), []),
        (NET.format("F.dropout(x, 0.5) if self.training else x"), []),
        (NET.format("F.dropout(x, training=self.training)"), []),
        ("def train_step(model):\n    return model(x, training=True)\ntrain_step(m)", []),
        ("def evaluate(model):\n    return model(x, training=False)\nevaluate(m)", []),
        ("net = nn.Sequential(nn.Dropout())\nnet.eval()\nwith torch.no_grad():\n    print(net(x))", []),
        ("net = nn.Linear(2, 1)\nwith torch.no_grad():\n    print(net(x))", []),
    ],
)
def test_dropout_in_the_evaluation_is_found(analyse: Analyse, text: str, expected: list[int]) -> None:
    assert lines(analyse(f"{IMPORTS}{text}\n"), "active-dropout") == expected


FIT = "model.fit(x, y, validation_data=({0}, y_{0}), callbacks=[EarlyStopping()])\nmodel.evaluate({1})"


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("for epoch in range(3):\n    if test_acc > best_acc:\n        best_acc = test_acc", [2]),
        ("best = max(best, test_acc)", [1]),
        ("def run():\n    if best_loss > test_loss:\n        save()\nrun()", [2]),
        (FIT.format("x_test", "x_test"), [1]),
        ("for epoch in range(3):\n    if val_acc > best_acc:\n        best_acc = val_acc", []),
        ("best = max(best, val_acc)", []),
        ("best = max(scores)", []),
        ("if test_acc > 0.5:\n    print(test_acc)", []),
        (FIT.format("x_val", "x_test"), []),
        ("model.fit(x, y, validation_data=(x_test, y_test))\nmodel.evaluate(x_test)", []),
    ],
)
def test_a_choice_on_the_data_that_is_reported_is_found(analyse: Analyse, text: str, expected: list[int]) -> None:
    assert lines(analyse(f"{IMPORTS}{text}\n"), "chosen-on-test") == expected


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("val_loader = DataLoader(data, 8, shuffle=True)", [1]),
        ("def validate(model):\n    return model(np.random.rand(3))\nvalidate(m)", [2]),
        ("def evaluate(model):\n    return model(torch.randn(3))\nevaluate(m)", [2]),
        ("train_loader = DataLoader(data, 8, shuffle=True)", []),
        ("val_loader = DataLoader(data, 8)", []),
        ("val_loader = DataLoader(data, 8, shuffle=True, generator=g)", []),
        ("def train(model):\n    return model(torch.randn(3))\ntrain(m)", []),
        ("def test():\n    return net(torch.randn(3))\ntest()", []),
        ("def evaluate(model):\n    rng = np.random.default_rng(0)\n    return model(rng.normal())\nevaluate(m)", []),
    ],
)
def test_a_validation_that_draws_from_the_generator_of_training_is_found(
    analyse: Analyse, text: str, expected: list[int]
) -> None:
    assert lines(analyse(f"{IMPORTS}{text}\n"), "validation-draws") == expected
