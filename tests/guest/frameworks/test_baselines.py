"""Stable-Baselines3: what its loggers show is recorded by name, and nothing that they do not show."""

from pathlib import Path

import pytest
from harness import Child

from deviate.guest.frameworks.baselines import NO_METRICS

SCRIPT = """\
import csv, sys
from stable_baselines3 import A2C
from stable_baselines3.common.logger import configure
model = A2C("MlpPolicy", "CartPole-v1", seed=0, device="cpu")
model.set_logger(configure("out", sys.argv[1:]))
model.learn(30, log_interval=2)
"""


@pytest.fixture(autouse=True)
def _needs_baselines(require) -> None:  # type: ignore[no-untyped-def]
    require("stable_baselines3")
    require("torch")


@pytest.mark.slow
def test_what_a_logger_shows_is_recorded_at_its_steps(tmp_path: Path) -> None:
    result = Child(tmp_path, SCRIPT).loop("model.learn(30, log_interval=2)", 6, "managed").run("csv")
    assert (result.code, result.of("error")) == (0, []), result.stderr
    header, *rows = (result.work / "out" / "progress.csv").read_text().splitlines()
    shown = [
        (name, step, float(text))
        for step, row in enumerate(rows)
        for name, text in zip(header.split(","), row.split(","), strict=True)
        if text and name not in NO_METRICS
    ]
    recorded = [(event[0], event[2][1], event[4]) for event in result.of("named")]
    assert sorted(recorded) == sorted(shown)
    assert {name for name, *_ in recorded} >= {"train/value_loss", "time/fps"}
    assert [event[:2] for event in result.of("step")] == [[0, 0], [0, 1], [0, 2]]


@pytest.mark.slow
def test_what_a_logger_does_not_show_is_not_recorded(tmp_path: Path) -> None:
    result = Child(tmp_path, SCRIPT).run()
    assert (result.code, result.of("named")) == (0, []), result.stderr
