"""What the analysis finds in each way of reporting is recorded when the script runs: value, once, at its loop step."""

import textwrap
from collections.abc import Callable
from pathlib import Path

import pytest
from harness import Child, Result

from deviate.analysis.analyze import analyze
from deviate.model.analysis import Analysis

LOOP = """\
import json, sys
{}
def train_step():
    pass
for epoch in range(3):
    train_step()
    loss, acc = 1 / (epoch + 1), epoch / 4
{}
"""

Recorded = list[tuple[object, object]]


@pytest.fixture
def record(tmp_path: Path) -> Callable[[str], tuple[Analysis, Result]]:
    """Analyse a script, run it with the taps of the analysis, and see that it prints what it prints without them."""

    def run(text: str) -> tuple[Analysis, Result]:
        script = tmp_path / "train.py"
        script.write_text(text, encoding="utf-8")
        analysis = analyze(script, tmp_path)
        child = Child(tmp_path / "on", text)
        child.sites, child.loops = list(analysis.sites), list(analysis.loops)
        on, off = child.run(), Child(tmp_path / "off", text).run(is_tapped=False)
        assert (on.code, on.stdout, on.stderr) == (0, off.stdout, off.stderr)
        assert on.of("error") == []
        return analysis, on

    return run


def recorded(analysis: Analysis, result: Result) -> dict[str, list[tuple[int, float]]]:
    """(main-loop step, value) of each metric, by its expression and the label beside it."""
    assert analysis.main_loop is not None
    found: dict[str, list[tuple[int, float]]] = {}
    expressions = {metric.site: metric.expression for metric in analysis.metrics}
    for site, _, around, _, value, label in result.of("value"):
        if site in expressions:
            steps = dict(zip(around[::2], around[1::2], strict=True))
            name = expressions[site] if label is None else f"{expressions[site]}: {label}"
            found.setdefault(name, []).append((steps[analysis.main_loop.id], value))
    return found


LOSSES = [(0, 1.0), (1, 0.5), (2, 1 / 3)]
ACCS = [(0, 0.0), (1, 0.25), (2, 0.5)]

FORMAT_TIME = """
def format_time(seconds):
    minutes = int(seconds / 60)
    text = str(minutes) + "m" if minutes else ""
    return text + str(int(seconds - 60 * minutes)) + "s"
def hms(seconds):
    return seconds // 3600, seconds // 60, seconds % 60
import time
class Clock:
    now = 0.0
    def time(self):
        self.now += 90.0
        return self.now
time.time = Clock().time
"""
LOGGERS = """
class Logger:
    def __init__(self):
        self.rows = {}
    def store(self, **values):
        for key, value in values.items():
            self.rows.setdefault(key, []).append(value)
    def log_tabular(self, key, value=None):
        self.rows[key] = value
    def dump(self):
        for key in self.rows:
            print(key, self.rows[key])
logger = Logger()
def report(metrics):
    for key, value in metrics.items():
        print(f"{key}: {value:.3f}")
def evaluate(loss, acc):
    return dict([("loss", loss), ("acc", acc)])
class Writer:
    def add_scalar(self, tag, value, step):
        print(tag, value, step)
    def log(self, values):
        print(json.dumps(values))
writer = Writer()
class Bar:
    def set_postfix(self, ordered_dict=None, **values):
        print(ordered_dict, values)
bar = Bar()
"""


@pytest.mark.parametrize(
    ("before", "statement", "values"),
    [
        ("", "row = (loss, acc)\nprint('row', *row)", {"loss": LOSSES, "acc": ACCS}),
        (
            "",
            "print('loss %.3f acc %.3f' % (*[loss, acc],))",
            {"[loss, acc]: 0": LOSSES, "[loss, acc]: 1": ACCS},
        ),
        ("", "scores = loss, acc\nprint('scores %.3f %.3f' % scores)", {"scores: 0": LOSSES, "scores: 1": ACCS}),
        ("", "print('loss %(loss).3f' % locals())", {"loss": LOSSES}),
        ("", "print('\\t'.join(map(str, [epoch, loss, acc])))", {"loss": LOSSES, "acc": ACCS}),
        ("", "text = f'epoch {epoch}'\ntext += f' loss {loss:.3f}'\nprint(text)", {"loss": LOSSES}),
        ("", "stats = {'loss': loss, 'acc': acc}\nprint(json.dumps(stats))", {"loss": LOSSES, "acc": ACCS}),
        (
            FORMAT_TIME,
            "begin = time.time()\nprint('took %s' % format_time(time.time() - begin))",
            {"format_time(time.time() - begin)": [(0, 90.0), (1, 90.0), (2, 90.0)]},
        ),
        (
            FORMAT_TIME,
            "begin = time.time()\nspent = time.time() - begin\nprint('took %d:%02d:%02d' % hms(spent))",
            {"hms(spent)": [(0, 90.0), (1, 90.0), (2, 90.0)]},
        ),
        (
            "import datetime" + FORMAT_TIME,
            "begin = time.time()\nprint('time', datetime.timedelta(seconds=time.time() - begin))",
            {"datetime.timedelta(seconds=time.time() - begin)": [(0, 90.0), (1, 90.0), (2, 90.0)]},
        ),
        (
            LOGGERS,
            "logger.log_tabular('Loss', loss)\nlogger.dump()",
            {"loss": LOSSES, "self.rows[key]: Loss": LOSSES},
        ),
        (LOGGERS, "report({'loss': loss, 'acc': acc})", {"value: loss": LOSSES, "value: acc": ACCS}),
        (LOGGERS, "report(evaluate(loss, acc))", {"value: loss": LOSSES, "value: acc": ACCS}),
        (
            LOGGERS,
            "for k, v in evaluate(loss, acc).items():\n    writer.add_scalar(f'val/{k}', v, epoch)",
            {"v: loss": LOSSES, "v: acc": ACCS},
        ),
        (
            LOGGERS,
            "for k, v in {'loss': loss, 'acc': acc}.items():\n    writer.add_scalar(f'val/{k}', v, epoch)",
            {"v: loss": LOSSES, "v: acc": ACCS},
        ),
        (
            LOGGERS,
            "print(', '.join(f'{k} {v:.2f}' for k, v in sorted(evaluate(loss, acc).items())))",
            {"v: loss": LOSSES, "v: acc": ACCS},
        ),
        (LOGGERS, "writer.log({f'val_{k}': v for k, v in evaluate(loss, acc).items()})", None),
        (LOGGERS, "bar.set_postfix({'loss': f'{loss:.3f}'})", {"loss": LOSSES}),
        (
            "",
            "sys.stdout.write('loss %.3f\\n'\n                 'acc %.3f\\n' % (loss, acc))",
            {"loss": LOSSES, "acc": ACCS},
        ),
        ("", "rows = []\nrows.append(f'loss {loss:.3f}')\nprint(', '.join(rows))", {"loss": LOSSES}),
    ],
)
def test_each_way_of_reporting_is_recorded_once_in_each_step(
    record: Callable[[str], tuple[Analysis, Result]],
    before: str,
    statement: str,
    values: dict[str, list[tuple[int, float]]] | None,
) -> None:
    analysis, result = record(LOOP.format(before, textwrap.indent(statement, "    ")))
    found = recorded(analysis, result)
    if values is None:  # a mapping that is reported whole: its keys are those of the run
        assert sorted(name.rpartition(": ")[2].rpartition("_")[2] for name in found) == ["acc", "loss"]
        assert sorted(found.values()) == sorted([LOSSES, ACCS])
    else:
        assert found == values
