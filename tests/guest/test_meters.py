"""Taps around the methods that update meters: what the meter will print, read when it has been updated."""

from pathlib import Path

import pytest
from harness import Child, Result

METERS = """\
import collections
class Average:
    def __init__(self):
        self.val = self.sum = self.count = self.avg = 0
    def update(self, val, n=1):
        self.val = val
        self.sum += val * n
        self.count += n
        self.avg = self.sum / self.count
        return self
class Smoothed:
    def __init__(self):
        self.deque, self.total, self.count = collections.deque(maxlen=2), 0.0, 0
    def update(self, value, n=1):
        self.deque.append(value)
        self.total += value * n
        self.count += n
    @property
    def median(self):
        return sorted(self.deque)[len(self.deque) // 2]
    @property
    def global_avg(self):
        return self.total / self.count
class Slotted:
    __slots__ = ("avg", "unset")
    best = 0.75
    def update(self, value):
        self.avg = value
    @property
    def broken(self):
        raise ZeroDivisionError
    def method(self):
        print("never")
    def __getattr__(self, name):
        print("asked for", name)
        return 9
"""


def compared(child: Child) -> Result:
    """The run with taps, after it was found to print what it prints without."""
    on, off = child.run(), child.run(is_tapped=False)
    assert (on.code, on.stdout, on.stderr) == (off.code, off.stdout, off.stderr)
    assert on.of("error") == []
    return on


@pytest.mark.parametrize(
    ("meter", "fields", "expected"),
    [
        ("Average", ("avg", "val"), [0.0, 0.5, 1.0]),
        ("Average", ("value", "val"), [0, 1, 2]),
        ("Smoothed", ("global_avg",), [0.0, 0.5, 1.0]),
        ("Smoothed", ("median",), [0, 1, 2]),
        ("Smoothed", ("deque",), [0, 1, 2]),
        ("Slotted", ("unset", "avg"), [0, 1, 2]),
        ("Slotted", ("broken", "method", "nowhere", "best"), [0.75] * 3),
        ("Slotted", ("nowhere",), [0, 1, 2]),
    ],
)
def test_the_first_attribute_that_holds_a_number_is_recorded_after_each_update(
    tmp_path: Path, meter: str, fields: tuple[str, ...], expected: list[float]
) -> None:
    text = f"{METERS}meter = {meter}()\nfor step in range(3):\n    meter.update(step)\n"
    child = Child(tmp_path, text).tap("«meter.update»(step", form="meter", fields=fields).loop("range(3)", 99)
    result = compared(child)
    assert result.values() == expected
    assert [event[2] for event in result.of("value")] == [[0, 0], [0, 1], [0, 2]]


def test_the_result_the_arguments_and_the_caller_are_as_without_a_tap(tmp_path: Path) -> None:
    text = (
        METERS
        + """\
import inspect
class Looking(Average):
    def update(self, val, n=1):
        print(inspect.currentframe().f_back.f_lineno, len(inspect.stack()))
        if n == 0:
            raise StopIteration(val)
        return super().update(val, n=n)
meter = Looking()
print(meter.update(n=3, val=0.5).count)
try:
    meter.update(0.25,
                 n=0)
except StopIteration as error:
    print(error.value)
[0.0, meter.update(1, 0)]
"""
    )
    child = Child(tmp_path, text).tap("print(«meter.update»(", form="meter", fields=("avg",))
    child.tap("«super().update»(", form="meter", fields=("sum",))
    child.tap("«meter.update»(0.25", form="meter", fields=("avg",))
    result = compared(child.tap("[0.0, «meter.update»(1", form="meter", fields=("avg",)))
    assert "StopIteration: 1" in result.stderr
    assert [result.values(site) for site in range(4)] == [[0.5], [1.5], [], []]


def test_a_meter_that_is_called_is_read_itself_and_one_that_a_coroutine_updates_is_not(tmp_path: Path) -> None:
    text = (
        METERS
        + """\
import asyncio
class Called(Average):
    __call__ = Average.update
    async def later(self, value):
        return self.update(value)
meter = Called()
meter(0.5)
print(asyncio.run(meter.later(1.0)).avg)
"""
    )
    child = Child(tmp_path, text).tap("«meter»(0.5", form="meter", fields=("avg",))
    result = compared(child.tap("meter.later", form="meter", fields=("avg",)))
    assert (result.values(0), result.values(1)) == ([0.5], [])


def test_numbers_in_tensors_are_read_and_compiled_code_has_no_taps(tmp_path: Path, require) -> None:  # type: ignore[no-untyped-def]
    require("torch")
    text = (
        METERS
        + """\
import torch
meter, smoothed = Average(), Smoothed()
def step(x):
    y = x.sum()
    meter.update(y)
    return y * 2
compiled = torch.compile(step, fullgraph=True, backend="eager")
print(compiled(torch.ones(2)))
print(step(torch.ones(3)))
smoothed.update(torch.tensor(0.25))
class Metric(torch.nn.Module):
    value = None
    def update(self, x):
        self.value = x.mean()
metric = Metric()
metric.update(torch.ones(4))
@torch.compile(backend="eager")
def tell(x):
    print("x", *x.shape, sep="=")
    return x + 1
print(tell(torch.ones(3)))
"""
    )
    child = Child(tmp_path, text).tap("«meter.update»(y", form="meter", fields=("avg",))
    child.tap("smoothed.update", form="meter", fields=("global_avg",))
    child.tap("metric.update", form="meter", fields=("value",))
    result = compared(child.tap('«print»("x"', form="call", fields=("tensorboard.torch_SummaryWriter_add_scalar", "0")))
    assert [result.values(site) for site in range(3)] == [[2.5], [0.25], [1.0]]
