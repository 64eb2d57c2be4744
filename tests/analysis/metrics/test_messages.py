"""Messages are taken apart in every style, and each value is found where its expression stands."""

import textwrap
from collections.abc import Callable

import pytest

from deviate.model.analysis import Analysis

Analyse = Callable[[str], Analysis]

HEAD = """\
import datetime, json, logging, pandas, sys, time, wandb
{}
for epoch in range(10):
    loss, acc = train_step(epoch)
    loss.backward()
{}
"""
FORMAT_TIME = """
def format_time(seconds):
    minutes = int(seconds / 60)
    text = ""
    if minutes > 0:
        text += str(minutes) + "m"
    return text + str(int(seconds) - 60 * minutes) + "s"
def hms(seconds):
    return seconds // 3600, seconds // 60 % 60, seconds % 60
def show(values, width=8):
    def cell(value):
        return str(value).ljust(width)[:width]
    print("|".join([cell(value) for value in values]))
"""
PROGRESS = """
def progress(current, total, message=None):
    parts = ["%d" % current]
    if message:
        parts.append(" | " + message)
    message = "".join(parts)
    sys.stdout.write(message)
"""


def metrics(analyse: Analyse, statement: str, before: str = "") -> list[tuple[str, int]]:
    """Expression and line of each metric, items aside; lines count from that of the statement."""
    text = HEAD.format(before, textwrap.indent(statement, "    "))
    first = text.count("\n") - statement.count("\n")
    return [(metric.expression, metric.line - first) for metric in analyse(text).metrics]


@pytest.mark.parametrize(
    ("statement", "found"),
    [
        ("print(*[loss, acc])", [("loss", 0), ("acc", 0)]),
        ("row = [epoch, loss, acc]\nprint(*row)", [("loss", 0), ("acc", 0)]),
        ("scores = evaluate()\nprint('scores %f %f' % tuple(scores))", [("scores", 1)]),
        ("print(str.format('loss {:.3f}', loss))", [("loss", 0)]),
        ('print(f"epoch {epoch}" + (f" acc {acc:.3f}" if acc else ""))', [("acc", 0)]),
        ("print('\\t'.join(map(str, [epoch, loss])))", [("loss", 0)]),
        ("text = 'epoch'\ntext += f' loss {loss:.3f}'\nprint(text)", [("loss", 1)]),
        ("lines = []\nlines.append('loss %.3f' % loss)\nsys.stdout.write(''.join(lines))", [("loss", 1)]),
        ("stats = {'epoch': epoch, 'loss': loss}\nprint(json.dumps(stats))", [("loss", 0)]),
        ("print(', '.join(f'{k} {v:.2f}' for k, v in evaluate().items()))", [("v", 0)]),
        ("wandb.run.summary[f'best_{epoch}'] = stats[3][epoch]", [("stats[3][epoch]", 0)]),
        ("json.dump(dict(epoch=epoch, **losses), file)", [("losses", 0)]),
    ],
)
def test_values_are_found_where_they_stand(analyse: Analyse, statement: str, found: list[tuple[str, int]]) -> None:
    assert metrics(analyse, statement) == found


@pytest.mark.parametrize(
    ("statement", "expression"),
    [
        ("print('took %s' % format_time(time.time() - begin))", "format_time(time.time() - begin)"),
        ("took = time.time() - begin\nprint('took %d:%02d:%02d' % (hms(took)))", "hms(took)"),
        (
            "print('took', str(datetime.timedelta(seconds=time.time() - begin)))",
            "datetime.timedelta(seconds=time.time() - begin)",
        ),
    ],
)
def test_what_a_function_formats_is_its_call_and_its_argument_is_read(
    analyse: Analyse, statement: str, expression: str
) -> None:
    text = HEAD.format(FORMAT_TIME, textwrap.indent(f"begin = time.time()\n{statement}", "    "))
    analysis = analyse(text)
    assert [(metric.expression, metric.role) for metric in analysis.metrics] == [(expression, "time")]
    span = analysis.sites[analysis.metrics[0].site or 0].span
    assert text.split("\n")[span.line - 1][span.column : span.end_column] in ("time.time() - begin", "took")


def test_a_parameter_that_is_made_longer_is_still_what_the_call_gives(analyse: Analyse) -> None:
    found = metrics(analyse, "progress(epoch, 10, 'Loss: %.3f' % loss)\nprogress(epoch, 10)", PROGRESS)
    assert found == [("loss", 0)]


def test_a_template_that_has_several_forms_is_read_where_one_holds_the_others(analyse: Analyse) -> None:
    longer = "if short:\n    form = '{} loss {:.3f}'\nelse:\n    form = '{} loss {:.3f} acc {:.3f}'\n"
    assert metrics(analyse, f"{longer}print(form.format(epoch, loss, acc))") == [("loss", 4), ("acc", 4)]


def test_a_function_that_names_what_it_writes_out_is_looked_into(analyse: Analyse) -> None:
    before = "def summary(value):\n    return f'loss {value:.3f}'"
    analysis = analyse(HEAD.format(before, "    print(summary(loss))"))
    assert [metric.expression for metric in analysis.metrics] == ["loss"]


def test_a_table_made_as_text_and_cut_is_taken_apart(analyse: Analyse) -> None:
    text = (
        "import tabulate\nvalues = [epoch, loss, acc]\ntable = tabulate.tabulate([values], ['ep', 'loss', 'acc'])\n"
        "if epoch:\n    table = table.split('\\n')[2]\nprint(table)"
    )
    assert metrics(analyse, text) == [("loss", 1), ("acc", 1)]


def test_a_message_of_more_pieces_than_may_be_nested_is_read_to_its_end(analyse: Analyse) -> None:
    pieces = "".join(f'    f"part {number} {{epoch}} "\n' for number in range(20))
    assert [name for name, _ in metrics(analyse, f'print(\n{pieces}    f"acc {{acc:.3f}}"\n)')] == ["acc"]
    sums = " + ".join(["'part ' + str(epoch)"] * 10)
    assert [name for name, _ in metrics(analyse, f"print({sums} + ' acc ' + str(acc))")] == ["acc"]


def test_a_text_that_is_made_of_itself_ends(analyse: Callable[[str], Analysis]) -> None:
    analysis = analyse(
        """
        line = "loss {}"
        line = line + " done"
        for epoch in range(3):
            loss.backward()
            print(line.format(loss))
        """
    )
    assert analysis.main_loop is not None


@pytest.mark.parametrize(
    ("statement", "found"),
    [
        ("spent = time.time() - spent\nprint('reset took', spent)", ["spent"]),
        ("spent = time.time() - spent\nprint({'throughput': n_tokens / spent})", ["n_tokens / spent"]),
        ("logger.log('entropy', something(), epoch)", ["something()"]),
        ("logger.log('INFO', something())", []),
        ("logger.error(f'the loss is nan: {loss}')", ["loss"]),
        ("open('x.py', 'w').write(', '.join(f'{k}={repr(v)}' for k, v in anything.items()))", []),
        ("json.dump(training_checkpoint, open('state.json', 'w'))", []),
    ],
)
def test_values_by_what_the_message_is_for(analyse: Analyse, statement: str, found: list[str]) -> None:
    before = "import json\nfrom elsewhere import logger, queue, anything\nspent = time.time()\n"
    before += "training_checkpoint = {'loss': evaluate()}"
    assert [expression for expression, _ in metrics(analyse, statement, before)] == found


def test_what_is_fed_under_a_name_is_found(analyse: Analyse) -> None:
    before = """
from collections import defaultdict
class Meter:
    total = 0
    def update(self, value):
        self.total += value

class Monitor:
    def __init__(self):
        self.meters = defaultdict(Meter)
    def update(self, name, value):
        self.meters[name].update(value)
    def __str__(self):
        return " ".join(f"{name}: {meter.total:.3f}" for name, meter in self.meters.items())

monitor = Monitor()
"""
    statement = "monitor.update('Loss', loss)\nprint(f'epoch {epoch} {monitor}')"
    assert [expression for expression, _ in metrics(analyse, statement, before)] == ["loss"]


def test_a_logger_of_an_unknown_package_is_taken_by_its_spelling(analyse: Callable[[str], Analysis]) -> None:
    analysis = analyse(
        """
        from elsewhere.utils import LOGGER, colored
        for epoch in range(3):
            loss.backward()
            LOGGER.info(f"loss {loss:.4f}")
            colored(f"accuracy {accuracy:.4f}")
        """
    )
    assert [metric.expression for metric in analysis.metrics] == ["loss"]
