"""Reports of libraries and of home-made loggers: the candidate stands where the program hands its value over."""

import textwrap
from collections.abc import Callable

import pytest

from deviate.model.analysis import Analysis

Analyse = Callable[[str], Analysis]

HEAD = """\
import csv, json, mlflow, neptune, numpy as np, pandas as pd, visdom, wandb
from prettytable import PrettyTable
from rich.table import Table
from torch.utils.tensorboard import SummaryWriter
from tqdm import tqdm
{}
for epoch in range(10):
    loss, acc = train_step(epoch)
    loss.backward()
{}
"""
LOGGERS = """
class Keeper:
    def __init__(self):
        self.rows = {}
    def log_tabular(self, key, value=None):
        self.rows[key] = value
    def store(self, **values):
        for key, value in values.items():
            self.rows.setdefault(key, []).append(value)
    def dump(self):
        print(self.rows)
def logkv(key, value):
    current().log_tabular(key, value)
def current():
    return Keeper()
class Board:
    def __init__(self):
        self.writer = SummaryWriter()
        self.server = visdom.Visdom()
    def add(self, tag, total, count, step):
        self.writer.add_scalar(tag, total / count, step)
    def plot(self, name, value):
        self.server.line(Y=np.array([value]), X=np.array([0]), win=name)
class Lines:
    def __init__(self):
        self.file = open("log.txt", "w")
    def append(self, numbers):
        for number in numbers:
            self.file.write("{0:.6f}".format(number))
    def write(self, epoch, loss):
        self.file.write(f"{epoch},{loss}")
logger, board, lines = Keeper(), Board(), Lines()
"""


@pytest.mark.parametrize(
    ("statement", "found"),
    [
        ("bar = tqdm(range(3))\nbar.set_postfix({'loss': f'{loss:.3f}'})", ["loss"]),
        ("bar = tqdm(range(3))\nbar.set_postfix(**evaluate())", ["evaluate()"]),
        ("bar = tqdm(range(3))\nbar.desc = f'loss {loss:.3f}'", ["loss"]),
        ("wandb.log({'train': {'loss': loss}, 'lr': lr})", ["loss"]),
        (
            "wandb.log({f'val/{k}': v for k, v in evaluate().items()})",
            ["{f'val/{k}': v for k, v in evaluate().items()}"],
        ),
        ("log = {}\nlog['loss'] = loss\nwandb.log(log)", ["log"]),
        ("wandb.run.summary['best_acc'] = acc", ["acc"]),
        ("run = neptune.init_run()\nrun['train/loss'].append(loss)\nrun['best/acc'] = acc", ["loss", "acc"]),
        ("rows = []\nrows.append({'epoch': epoch, 'loss': loss})\npd.DataFrame(rows).to_csv('a.csv')", ["loss"]),
        ("df = pd.DataFrame()\ndf.loc[len(df)] = [epoch, loss]", ["loss"]),
        ("df = pd.concat([df, pd.DataFrame([{'loss': loss}])])", ["loss"]),
        ("pd.DataFrame(read_rows())", []),
        ("history = []\nhistory.append([epoch, loss])\nnp.savetxt('x.csv', np.array(history))", ["loss"]),
        ("table = PrettyTable()\ntable.add_row([epoch, loss])\nprint(table)", ["loss"]),
        ("table = Table()\ntable.add_row(str(epoch), f'{loss:.3f}')", ["loss"]),
        ("with open('log.json', 'w') as f:\n    json.dump({'loss': loss}, f)", ["loss"]),
        ("logger.log_tabular('Loss', loss)\nlogger.dump()", ["loss"]),
        ("logger.store(Loss=loss, Epoch=epoch)\nlogger.dump()", ["loss"]),
        ("logkv('loss', loss)", ["loss"]),
        ("lines.write(epoch, loss)", ["loss"]),
    ],
)
def test_reports_are_found(analyse: Analyse, statement: str, found: list[str]) -> None:
    analysis = analyse(HEAD.format(LOGGERS, textwrap.indent(statement, "    ")))
    assert [metric.expression for metric in analysis.metrics] == found


def test_what_a_function_takes_by_a_constant_key_is_reported_inside_it(analyse: Analyse) -> None:
    text = """
        def show(writer, info, step, stage):
            writer.add_scalar(f"loss/{stage}", info["loss"], step)
        for epoch in range(3):
            loss = model.step()
            loss.backward()
            info = {"loss": loss.item(), "rate": 0.1}
            show(writer, info, epoch, "train")
        """
    assert [metric.expression for metric in analyse(text).metrics] == ['info["loss"]']


def test_what_every_call_names_as_the_function_does_is_reported_in_the_function(analyse: Analyse) -> None:
    text = """
        import json
        def save(metrics, path):
            with open(path, "w") as file:
                json.dump(dict(metrics), file)
        for epoch in range(3):
            metrics = train_step()
            metrics.loss.backward()
            save(metrics, "last.json")
        """
    assert [(metric.expression, metric.line) for metric in analyse(text).metrics] == [("metrics", 5)]


def test_a_text_that_functions_only_hand_on_is_reported_where_it_is_built(analyse: Analyse) -> None:
    before = """
class Reporters:
    def __init__(self):
        self.members = [Reporter()]
    def info(self, msg):
        for member in self.members:
            member.info(msg)
class Reporter:
    def info(self, msg):
        print(msg)
reporters = Reporters()
"""
    analysis = analyse(HEAD.format(before, "    reporters.info(f'Average loss: {loss:.3f}')"))
    assert [metric.expression for metric in analysis.metrics] == ["loss"]


@pytest.mark.parametrize(
    ("arguments", "found"),
    [
        ("f'average {value:.3f}'", ["value"]),
        ("'average %.3f', value", ["value"]),
        ("value", []),
        ("f'{value}'", []),
        ("f'{value:.3f}'", []),
    ],
)
def test_an_unknown_object_that_is_given_a_number_among_words_reports_it(
    analyse: Analyse, arguments: str, found: list[str]
) -> None:
    analysis = analyse(HEAD.format("", f"    value = load(epoch)\n    options['reporters'].report({arguments})"))
    assert [metric.expression for metric in analysis.metrics] == found
