"""Taps around callees of sinks and around mappings: arguments are read as they are bound, the script does the call."""

from pathlib import Path

import pytest
from harness import Child, Result


def told(result: Result, site: int = 0) -> list[tuple[str | None, object]]:
    """Labels and numbers of a site, in order."""
    return [(event[5], event[4]) for event in result.of("value") if event[0] == site]


def compared(child: Child) -> Result:
    """The run with taps, after it was found to print what it prints without."""
    on, off = child.run(), child.run(is_tapped=False)
    assert (on.code, on.stdout, on.stderr) == (off.code, off.stdout, off.stderr)
    assert on.of("error") == []
    return on


WRITER = """\
class Writer:
    def __init__(self):
        self.seen = []
    def add_scalar(self, tag, scalar_value, global_step=None, walltime=None):
        self.seen.append((tag, scalar_value, global_step))
        return len(self.seen)
writer = Writer()
"""


def test_a_tag_that_is_built_at_run_time_is_the_label(tmp_path: Path) -> None:
    text = WRITER + "for epoch in range(2):\n    for split in ('train', 'test'):\n"
    text += "        n = writer.add_scalar(f'{split}/loss', epoch / 2, epoch)\nprint(n, writer.seen)\n"
    child = Child(tmp_path, text).tap(
        "«writer.add_scalar»(f'", form="call", fields=("tensorboard.torch_SummaryWriter_add_scalar", "0")
    )
    result = compared(child.loop("range(2)", 10))
    assert told(result) == [("train/loss", 0.0), ("test/loss", 0.0), ("train/loss", 0.5), ("test/loss", 0.5)]
    assert [event[2] for event in result.of("value")] == [[0, 0], [0, 0], [0, 1], [0, 1]]


@pytest.mark.parametrize(
    ("call", "fields", "expected"),
    [
        ("bar.set_postfix(record)", ("progress.set_postfix", "1"), []),
        ("bar.set_postfix(record, x=9)", ("progress.set_postfix", "0"), [("acc", 0.5), ("loss", 0.25)]),
        ("writer.add_scalars('val', nested)", ("tensorboard.add_scalars", "0"), [("val/a.acc", 0.5), ("val/b", 1)]),
        ("«rows.writerow»(record)", ("tables.csv_DictWriter_writerow", "0"), [("acc", 0.5), ("loss", 0.25)]),
    ],
)
def test_every_kind_of_item_is_recorded_with_its_label(
    tmp_path: Path, call: str, fields: tuple[str, ...], expected: list[tuple[str | None, object]]
) -> None:
    text = f"""\
import csv, logging, sys
logging.basicConfig(stream=sys.stdout, level=logging.INFO, format="%(filename)s:%(lineno)d %(message)s")
class Spy:
    def __getattr__(self, name):
        return lambda *args, **kwargs: print(name, *map(list, args), kwargs)
bar = table = writer = Spy()
logger = logging.getLogger()
values, record = [0.5, 0.25], {{"acc": 0.5, "loss": "0.25", "name": "x", "history": [1, 2]}}
nested = {{"a": {{"acc": 0.5, "deeper": {{"acc": 9}}}}, "b": 1, 3: 4}}
rows = csv.DictWriter(sys.stdout, record)
if True:
    {call.replace("«", "").replace("»", "")}
"""
    callee = call if "«" in call else f"«{call.partition('(')[0]}»("
    result = compared(Child(tmp_path, text).tap(f"    {callee}", form="call", fields=fields))
    assert told(result) == expected


def test_arguments_are_evaluated_once_in_order_and_read_before_the_callee_changes_them(tmp_path: Path) -> None:
    text = """\
class Tracker:
    def log(self, data, step=None):
        data["loss"] = None
        raise KeyError(step)
def shown(x):
    print("asked for", x)
    return x
def tracker():
    print("asked for it")
    return Tracker()
try:
    tracker().log(shown({"loss": 0.5}), step=shown(3))
except KeyError as error:
    print(error)
"""
    result = compared(Child(tmp_path, text).tap("tracker().log", form="call", fields=("trackers.wandb_log", "0")))
    assert told(result) == [("loss", 0.5)]


def test_what_is_called_sees_the_script_as_its_caller(tmp_path: Path) -> None:
    text = """\
import inspect, traceback, warnings
class Base:
    def log(self, data):
        frame = inspect.currentframe().f_back
        print(frame.f_code.co_name, frame.f_lineno, sorted(frame.f_locals), len(inspect.stack()))
        warnings.warn("old", stacklevel=2)
        traceback.print_stack()
        if data["loss"] == 0:
            raise StopIteration(7)
class Child(Base):
    def log(self, data):
        return super().log(data)
def report(tracker, data):
    tracker.log(
        data)
report(Base(), {"loss": 1})
Child().log({"loss": 1})
total = [1, Base().log({"loss": 0}) + 1]
"""
    child = Child(tmp_path, text).tap("tracker.log", form="call", fields=("trackers.wandb_log", "0"))
    child.tap("super().log", form="call", fields=("trackers.wandb_log", "0"))
    result = compared(child.tap("«Base().log»({", form="call", fields=("trackers.wandb_log", "0")))
    assert "StopIteration: 7" in result.stderr
    assert [told(result, site) for site in range(3)] == [[("loss", 1)], [("loss", 1)], [("loss", 0)]]


def test_calls_of_coroutines_and_calls_within_calls_are_left_as_they_are(tmp_path: Path) -> None:
    text = """\
import asyncio
async def log(data):
    await asyncio.sleep(0)
    return data["loss"]
def get():
    print("got")
    return log
async def main():
    data = {"loss": 0.5}
    print(await (get())(data), await log(data) + 1)
    print(f"{await log({'loss': 2})!r:>5}")
asyncio.run(main())
"""
    child = Child(tmp_path, text).tap("await («get()»)(", form="call", fields=("trackers.wandb_log", "0"))
    child.tap("    «print»(await (", form="call", fields=("tensorboard.torch_SummaryWriter_add_scalar", "0"))
    child.tap("await «log»(data) +", form="call", fields=("trackers.wandb_log", "0"))
    result = compared(child.tap("{await «log»({", form="call", fields=("trackers.wandb_log", "0")))
    assert [told(result, site) for site in range(4)] == [
        [("loss", 0.5)],
        [("0.5", 1.5)],
        [("loss", 0.5)],
        [("loss", 2)],
    ]


def test_a_fault_in_a_tap_is_recorded_and_the_call_goes_on(tmp_path: Path) -> None:
    text = WRITER + "class Odd:\n    def __str__(self): raise RuntimeError('no')\n"
    text += "print(writer.add_scalar(Odd(), 0.5))\nprint(writer.add_scalar('x', 0.5))\n"
    child = Child(tmp_path, text).tap("«writer.add_scalar»(Odd", form="call", fields=("?.?", "0"))
    child.tap("«writer.add_scalar»(Odd", form="call", fields=("tensorboard.torch_SummaryWriter_add_scalar", "0"))
    result = child.tap(
        "«writer.add_scalar»('x", form="call", fields=("tensorboard.torch_SummaryWriter_add_scalar", "0")
    ).run()
    assert (result.code, result.stdout) == (0, "1\n2\n")
    assert result.of("error") == [["site 0", "KeyError: '?.?'"], ["site 1", "RuntimeError: no"]]
    assert told(result, 2) == [("x", 0.5)]


def test_arguments_that_do_not_fit_give_the_error_of_the_callee(tmp_path: Path) -> None:
    text = WRITER + "try:\n    writer.add_scalar()\nexcept TypeError as error:\n    print(error)\n"
    result = compared(
        Child(tmp_path, text).tap("«writer.add_scalar»()", form="call", fields=("trackers.wandb_log", "0"))
    )
    assert told(result) == []


@pytest.mark.parametrize(
    ("mapping", "expected"),
    [
        ("{'loss': 0.5, 'n': 3}", [0.5]),
        ("locals()", [0.25]),
        ("collections.defaultdict(float, n=3)", []),
        ("collections.ChainMap({'loss': '0.5 %'}, {'n': 3})", [0.5]),
        ("Loud(loss=0.5, n=3)", []),
        ("'%s %s' and {'loss': 'high', 'n': 3}", []),
    ],
)
def test_items_that_a_template_takes_by_key_are_recorded_and_asked_for_once(
    tmp_path: Path, mapping: str, expected: list[float]
) -> None:
    text = f"""\
import collections
class Loud(dict):
    def __getitem__(self, key):
        print("asked for", key)
        return dict.__getitem__(self, key)
def report(loss, n):
    values = {mapping}
    print("loss %(loss)s, n %(n)d" % values, len(values) < 9)
report(0.25, 3)
"""
    child = Child(tmp_path, text).tap("«values», len", form="mapping", fields=("loss",))
    result = compared(child.tap("«values», len", form="mapping", fields=("n",)))
    assert result.values(0) == expected
    assert result.values(1) == ([] if "Loud" in mapping else [3])


def test_the_label_variable_of_a_statement_stands_before_the_names_of_items(tmp_path: Path) -> None:
    text = """\
class Meter:
    avg = 0.5
    def update(self, value): pass
m = Meter()
values = {"loss": 0.25}
for split in ("train", "test"):
    print(split, *values.values())
    print(split, values)
    print(split, "{m.avg}".format(m=m))
    print(split, "%(loss)s" % values)
    m.update(split)
"""
    child = Child(tmp_path, text).tap(
        "«print»(split, *", form="call", fields=("tensorboard.torch_SummaryWriter_add_scalar", "0"), label="split"
    )
    child.tap("print(split, «values»)", label="split").tap(
        '"{m.avg}".format', form="format", fields=("m.avg",), label="split"
    )
    child.tap("% «values»)", form="mapping", fields=("loss",), label="split")
    result = compared(child.tap("m.update", form="meter", fields=("avg",), label="split"))
    assert told(result, 0) == [("train: train", 0.25), ("test: test", 0.25)]
    assert told(result, 1) == [("train: loss", 0.25), ("test: loss", 0.25)]
    assert told(result, 2) == told(result, 4) == [("train", 0.5), ("test", 0.5)]
    assert told(result, 3) == [("train", 0.25), ("test", 0.25)]


def test_without_a_run_the_taps_around_callees_only_call(tmp_path: Path) -> None:
    text = WRITER + "print(writer.add_scalar('7', scalar_value=0.5), '%(a)s' % {'a': 1})\n"
    fields = ("tensorboard.torch_SummaryWriter_add_scalar", "0")
    child = Child(tmp_path, text).tap("«writer.add_scalar»('7", form="call", fields=fields, label="writer.seen")
    child.tap("«writer.add_scalar»('7", form="meter", fields=("avg",)).tap("{'a': 1}", form="mapping", fields=("a",))
    names = ("PYTHONPATH", "DEVIATE_RUN_DIR", "DEVIATE_SPEC", "DEVIATE_GUEST", "DEVIATE_WORK", "DEVIATE_ROOT")
    result = child.run(environment=dict.fromkeys(names))
    assert (result.code, result.stdout, result.events) == (0, "1 1\n", [])
    tapped = child.run()
    assert (tapped.stdout, tapped.values(0), tapped.values(1), tapped.values(2)) == ("1 1\n", [0.5], [7], [1])
    assert told(tapped) == [("[]: 7", 0.5)]
