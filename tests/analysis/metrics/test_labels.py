"""Values that a variable names: which label they have, and what is recorded whole where no variable holds the key."""

from collections.abc import Callable
from pathlib import Path

from deviate.analysis import analyze
from deviate.model import Analysis

Analyse = Callable[[str], Analysis]

HEAD = """\
{}
for epoch in range(10):
    loss, acc = train_step(epoch)
    loss.backward()
{}
"""


def test_a_text_that_grows_by_loops_over_names_has_a_label_in_each_loop_and_none_before_them(analyse: Analyse) -> None:
    text = """
    text = "loss: {:.4f}".format(logs["loss"])
    for name in model.metrics:
        text += " - " + name + ": {:.4f}".format(logs[name])
    for name in model.metrics:
        text += " - val_" + name + ": {:.4f}".format(logs["val_" + name])
    print(text)
"""
    analysis = analyse(HEAD.format("", text))
    found = [(metric.name, analysis.sites[metric.site or 0].label) for metric in analysis.metrics]
    assert found == [("loss", None), ("logs", "name"), ("val_logs", "name")]


def test_a_value_that_only_its_label_names_is_judged_named_and_directed_by_each_text_of_it(analyse: Analyse) -> None:
    text = """
    text = ""
    for name in ("auc", "crossentropy"):
        text += " - " + name + ": {:.4f}".format(logs[name])
    print(text)
"""
    metrics = analyse(HEAD.format("", text)).metrics
    assert [(metric.name, metric.direction) for metric in metrics] == [("auc", "max"), ("crossentropy", "min")]


def test_cells_without_their_keys_are_those_of_their_mapping_by_key(analyse: Analyse) -> None:
    text = """
    cells = [f"{value:10.4f}" if isinstance(value, float) else "" for value in history[-1].values()]
    print("  ".join(cells))
"""
    assert [metric.expression for metric in analyse(HEAD.format("", text)).metrics] == ["history[-1]"]


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


def test_cells_of_a_table_of_texts_are_labelled_by_the_key_that_a_function_takes_one_by(tmp_path: Path) -> None:
    (tmp_path / "log.py").write_text(TABLE)
    (tmp_path / "train.py").write_text(
        HEAD.format("import log", "    print(f'{loss:.3f}')\n    fit(callbacks=[load()])")
    )
    analysis = analyze(tmp_path / "train.py", tmp_path, is_whole=True)
    (site,) = (site for site in analysis.sites if site.file == "log.py")
    assert (site.expression, site.label) == ("value", "key")
    assert [metric.site for metric in analysis.unreached] == [site.id]
