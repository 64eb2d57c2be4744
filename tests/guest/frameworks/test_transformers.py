"""Hugging Face Trainer: what it logs is recorded by name, at its epochs, and it prints what it always prints."""

import json
import re
from collections.abc import Callable
from pathlib import Path

import pytest
from harness import Child, Result

SCRIPT = """\
import numpy as np
import torch
from transformers import Trainer, TrainerCallback, TrainingArguments

class Net(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.layer = torch.nn.Linear(4, 2)
    def forward(self, x, labels=None):
        logits = self.layer(x)
        return {"loss": torch.nn.functional.cross_entropy(logits, labels), "logits": logits}

class Loud(TrainerCallback):
    def on_train_begin(self, args, state, control, **kwargs):
        print(-1.0)
    def on_epoch_begin(self, args, state, control, **kwargs):
        print(state.epoch / 1)

def accuracy(prediction):
    return {"accuracy": float(np.mean(prediction.predictions.argmax(-1) == prediction.label_ids))}

def data():
    x = torch.randn(16, 4, generator=torch.Generator().manual_seed(0))
    return [{"x": row, "labels": int(row[0] > 0)} for row in x]

def main():
    arguments = TrainingArguments(
        "out", num_train_epochs=2, per_device_train_batch_size=4, logging_steps=2, eval_strategy="epoch",
        report_to=[], use_cpu=True, save_strategy="no", disable_tqdm=True, seed=3,
    )
    torch.manual_seed(3)
    trainer = Trainer(
        Net(), arguments, train_dataset=data(), eval_dataset=data(), compute_metrics=accuracy, callbacks=[Loud()]
    )
    print([type(callback).__name__ for callback in trainer.callback_handler.callbacks])
    trainer.train()
    metrics = trainer.evaluate()
    trainer.save_state()
    metrics["eval_samples"] = 16
    trainer.save_metrics("eval", metrics)
    trainer.save_metrics("all", metrics)
    trainer.predict(data())

main()
"""
CLOCK = r"(_runtime|er_second)': [^,}]+"


@pytest.fixture(autouse=True)
def _needs_transformers(require) -> None:  # type: ignore[no-untyped-def]
    require("transformers")
    require("accelerate")


def logged(result: Result) -> list[list]:
    """Names and values in the log that the Trainer saved."""
    state = json.loads((result.work / "out" / "trainer_state.json").read_text())
    return [[key, value] for entry in state["log_history"] for key, value in entry.items() if key != "step"]


def test_what_a_trainer_logs_is_recorded_once_at_its_epoch(tmp_path: Path, plainly: Callable[[Child], Result]) -> None:
    child = Child(tmp_path, SCRIPT).loop("trainer.train()", 36, "managed").tap("-1.0").tap("state.epoch / 1")
    on = child.run()
    assert (on.code, on.of("error")) == (0, []), on.stderr
    named = on.of("named")
    assert sorted(event[0::4] for event in named[:-6]) == sorted(logged(on))
    speeds = ["test_runtime", "test_samples_per_second", "test_steps_per_second"]
    assert [event[0] for event in named[-6:]] == ["eval_samples", "test_loss", "test_accuracy", *speeds]
    steps = {key: [event[2] for event in named if event[0] == key] for key in ("loss", "eval_accuracy", "train_loss")}
    assert steps["loss"] == [[0, 0], [0, 0], [0, 1], [0, 1]]
    assert steps["eval_accuracy"] == [[0, 0], [0, 1], []]
    assert steps["train_loss"] == [[0, 1]]
    assert dict(on.of("path"))[named[0][1]] == [["train.py", 44], ["train.py", 36]]
    assert [event[:2] for event in on.of("step")] == [[0, 0], [0, 1]]
    assert [(event[2], event[4]) for event in on.of("value")] == [([], -1.0), ([0, 0], 0.0), ([0, 1], 1.0)]
    off = plainly(child)
    assert re.sub(CLOCK, "#", on.stdout) == re.sub(CLOCK, "#", off.stdout)
    assert on.stderr == off.stderr


def test_a_trainer_that_the_analysis_did_not_see_is_recorded(tmp_path: Path) -> None:
    result = Child(tmp_path, SCRIPT).run()
    assert [event[2] for event in result.of("named") if event[0] == "eval_loss"] == [[-1, 0], [-1, 1], []]
