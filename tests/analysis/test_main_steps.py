"""The main loop of the analysis is the one whose steps a run counts, in whatever file it stands."""

import textwrap
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from deviate.records.read import read_experiment

FILES = {
    "train.py": """
        from engine.trainer import Trainer
        if __name__ == "__main__":
            Trainer(epochs=3).train()
    """,
    "engine/__init__.py": "",
    "engine/base.py": """
        class BaseTrainer:
            def __init__(self, epochs):
                self.epochs = epochs
            def train(self):
                epoch = 0
                while epoch < self.epochs:
                    self.train_epoch(epoch)
                    epoch += 1
                self.report(0.75)
    """,
    "engine/trainer.py": """
        from .base import BaseTrainer
        class Trainer(BaseTrainer):
            def train_epoch(self, epoch):
                for batch in range(2):
                    loss = 1 / (1 + 2 * epoch + batch)
                    self.backward()
                    print(f"batch loss {loss:.4f}")
                self.report(epoch / 4)
            def report(self, accuracy):
                print(f"accuracy {accuracy:.3f}")
            def backward(self):
                pass
    """,
}


@pytest.mark.parametrize("header", ["while epoch < self.epochs:", "for epoch in range(self.epochs):"])
def test_steps_of_a_loop_in_another_file_are_counted(
    project: Path, deviate_in: Callable[[Path], Any], header: str
) -> None:
    base = FILES["engine/base.py"].replace("while epoch < self.epochs:", header)
    if header.startswith("for"):
        base = base.replace("                    epoch += 1\n", "")
    for name, text in {**FILES, "engine/base.py": base}.items():
        (project / name).parent.mkdir(exist_ok=True)
        (project / name).write_text(textwrap.dedent(text))
    assert deviate_in(project)("run", "train.py", "-r", "2", "-q", "--name", "steps").code == 0
    (experiment,) = read_experiment(project / ".deviate" / "experiments" / "steps")
    assert len(experiment.runs) == 2
    for run in experiment.runs:
        loss, accuracy = (run.series[name] for name in ("batch_loss", "accuracy"))
        assert (loss.steps, loss.values[1::2]) == ((0, 0, 1, 1, 2, 2), (1 / 2, 1 / 4, 1 / 6))
        assert (accuracy.steps, accuracy.values) == ((0, 1, 2), (0.0, 0.25, 0.5))
        assert run.series["accuracy_after_training"].values == (0.75,)
