"""Items of mappings that are reported whole are metrics before a run, where the source names their keys."""

from collections.abc import Callable

import pytest

from deviate.model import Analysis

Analyse = Callable[[str], Analysis]

HEAD = """
import json, wandb
def evaluate(split):
    return {f"{split}_acc": model(split).mean(), "model": "resnet", "losses": [1.0, 2.0]}
class Meter:
    def __init__(self):
        self.values = []
    def update(self, value):
        self.values.append(value)
    def __str__(self):
        return str(sum(self.values))
class Meters:
    def __init__(self):
        self.meters = {}
    def update(self, **values):
        for key, value in values.items():
            self.meters.setdefault(key, Meter()).update(value)
    def __str__(self):
        return " ".join(str(meter) for meter in self.meters.values())
def train():
    meters = Meters()
    for batch in data:
        meters.update(loss=model(batch).item(), lr=optimizer.lr)
        meters.meters["acc1"].update(model(batch).item())
    return {key: meter.mean for key, meter in meters.meters.items()}
def test():
    meters = Meters()
    meters.meters["acc5"].update(model(data).item())
    print(meters)
def named(values, prefix=""):
    return {prefix + key: value for key, value in values.items()}
for epoch in range(9):
    loss = step()
    loss.backward()
"""
TWO_STAGES = """train_stats, val_stats = train(), evaluate("c")
    log = {
        **{f"train_{k}": value for k, value in train_stats.items()},
        **{f"val_{k}": value for k, value in val_stats.items()},
        "epoch": epoch,
    }
    open("log").write(json.dumps(log))
"""


@pytest.mark.parametrize(
    ("text", "names"),
    [
        ("stats = evaluate('val')\n    wandb.log(stats)", "val_acc"),
        ("stats = train()\n    wandb.log(stats)", "loss acc1"),
        (TWO_STAGES, "train_loss train_acc1 val_c_acc"),
        ("log = named(evaluate('val'), prefix='best/')\n    wandb.log(log)", "best_val_acc"),
        (
            "logs = {'loss': loss}\n    logs['eval_return'] = play()\n    wandb.log({'a': 1, **logs})",
            "loss eval_return",
        ),
        ("info = score()\n    if info['acc'] > best:\n        keep()\n    wandb.log(info)", "acc"),
        (
            "log = {}\n    for k in ('acc', 'f1'):\n        log[f'val_{k}'] = score(k)\n    wandb.log(log)",
            "val_acc val_f1",
        ),
        ("log = train()\n    for k in log.keys():\n        wandb.log({k: log[k]})", "loss acc1"),
        ("log = evaluate('a')\n    wandb.log(log)\n    log = evaluate('b')\n    wandb.log(log)", "a_acc b_acc"),
        ("m = evaluate('val')\n    m.pop('val_acc')\n    wandb.log(m)", ""),
        ("wandb.log({k: v for k, v in unknown().items()})", ""),
    ],
)
def test_items_whose_keys_the_source_names_are_metrics(analyse: Analyse, text: str, names: str) -> None:
    found = analyse(f"{HEAD}    {text}\n")
    assert [metric.name for metric in found.metrics if metric.is_item] == names.split()
    assert all(metric.site is not None and not metric.path for metric in found.metrics if metric.is_item)


def test_a_mapping_stays_a_metric_for_the_items_that_only_a_run_shows(analyse: Analyse) -> None:
    metrics = analyse(f"{HEAD}    results = evaluate('val')\n    wandb.log(results)\n").metrics
    assert [(metric.name, metric.label, metric.direction) for metric in metrics] == [
        ("results", None, None),
        ("val_acc", "val_acc", "max"),
    ]
    assert len({metric.site for metric in metrics}) == 1
