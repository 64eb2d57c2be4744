"""Meters that print themselves: the values are those that are fed to them, at the call that feeds."""

from collections.abc import Callable

from deviate.model.analysis import Analysis

Analyse = Callable[[str], Analysis]

METERS = """
from collections import defaultdict
class Average:
    def __init__(self, name=""):
        self.name, self.total, self.count = name, 0.0, 0
    def update(self, value, n=1):
        self.total += value * n
        self.count += n
    @property
    def avg(self):
        return self.total / self.count
    def __str__(self):
        return f"{self.name} {self.avg:.3f}"
class Meters:
    def __init__(self, *meters):
        self.meters = meters
    def display(self):
        print("  ".join(["#"] + [str(meter) for meter in self.meters]))
class Table:
    def __init__(self, delimiter="  "):
        self.meters = defaultdict(Average)
        self.delimiter = delimiter
    def update(self, **values):
        for key, value in values.items():
            self.meters[key].update(value)
    def __str__(self):
        return self.delimiter.join(f"{key}: {meter}" for key, meter in self.meters.items())
    def log_every(self, data, header):
        template = self.delimiter.join([header, "[{0}]", "{meters}"])
        for number, item in enumerate(data):
            yield item
            print(template.format(number, meters=str(self)))
"""


def metrics(analyse: Analyse, text: str) -> list[str]:
    return [metric.expression for metric in analyse(METERS + text).metrics]


def test_meters_in_a_list_are_printed_with_what_they_were_fed(analyse: Analyse) -> None:
    text = """
losses, top1 = Average("Loss"), Average("Acc@1")
progress = Meters(losses, top1)
for epoch in range(3):
    loss.backward()
    losses.update(loss.item(), 8)
    top1.update(accuracy(output, target)[0], 8)
    progress.display()
"""
    assert metrics(analyse, text) == ["loss.item()", "accuracy(output, target)[0]"]
    meters = [metric for metric in analyse(METERS + text).metrics if metric.sink == "print"]
    assert [analyse(METERS + text).sites[metric.site or 0].form for metric in meters] == ["meter", "meter"]


def test_an_object_that_functions_hand_on_in_many_ways_is_followed_once(analyse: Analyse) -> None:
    n_functions = 30
    handing = "\n".join(
        f"def step_{number}(meter, loss):\n    meter.update(loss)\n"
        + "\n".join(f"    step_{other}(meter, loss)" for other in range(n_functions))
        for number in range(n_functions)
    )
    analysis = analyse(
        f"{METERS}\n{handing}\nlosses = Average('loss')\nfor epoch in range(9):\n    loss = step()\n    "
        "loss.backward()\n    step_0(losses, loss)\n    print(losses)"
    )
    assert len(analysis.metrics) >= 1
