"""Values that a variable names: which label they have, and what is recorded whole where no variable holds the key."""

from collections.abc import Callable

from deviate.model.analysis import Analysis

Analyse = Callable[[str], Analysis]

HEAD = """\
{}
for epoch in range(10):
    loss, acc = train_step(epoch)
    loss.backward()
{}
"""


TABLE = """
from tabulate import tabulate

class PrintLog:
    def __init__(self, sink=print):
        self.sink = sink
    def show(self, text):
        self.sink(text)
    def cell(self, row, key):
        value = row[key]
        template = "{}" if float(value).is_integer() else "{:" + self.format + "}"
        return template.format(value)
    def cells(self, row):
        for key in sorted(row):
            yield key, self.cell(row, key)
    def table(self, row):
        cells = []
        for key, cell in self.cells(row):
            cells.append(cell)
        return tabulate([cells], floatfmt=self.format)
    def on_epoch_end(self, net):
        text = self.table(net.history[-1])
        self.show(text.rsplit("\\n", 1)[-1])
"""
