"""`--rows` chooses the rows of the table of results and their order, alike in all forms."""

import re

import pytest
from kinds import eight_metrics

from deviate.cli.options.results import Documents
from deviate.errors import InputError
from deviate.report.forms.registry import render
from deviate.report.parts.build import build_report

ROW = {
    "latex": re.compile(r"^ +([a-z\\_]+)(?: \(.*\))? & \$", re.MULTILINE),
    "markdown": re.compile(r"^\| ([a-z_]+)(?: \(%\))? \| \d", re.MULTILINE),
    "terminal": re.compile(r"^([a-z_]+)(?: \(%\))?  +\d\S* (?:±|  )", re.MULTILINE),
    "html": re.compile(r'<th scope="row"[^>]*>(?:<[^>]*>)*\s*([a-z_]+)'),
}


@pytest.mark.parametrize(
    ("asked", "shown"),
    [
        (("lr", "val_loss", "test_acc"), ("lr", "val_loss", "test_acc")),
        (("val_loss", "lr"), ("test_acc", "val_loss", "lr")),
    ],
)
@pytest.mark.parametrize("form", ROW)
def test_rows_are_the_metrics_that_were_asked_for_in_their_order(
    form: str, asked: tuple[str, ...], shown: tuple[str, ...]
) -> None:
    text = render(build_report(eight_metrics(), asked), form, width=200)
    names = [name.replace("\\", "") for name in ROW[form].findall(text)]
    # The answer of a terminal is the primary metric, which its table of other metrics leaves out.
    assert names == [name for name in shown if form != "terminal" or name != "test_acc"]


def test_an_unknown_row_is_refused_with_the_names_that_there_are() -> None:
    with pytest.raises(InputError, match=r"no metric 'tets_acc' in any experiment \(--rows\)") as refused:
        build_report(eight_metrics(), ("tets_acc",))
    assert refused.value.hint.startswith("Did you mean test_acc? Its metrics are: test_acc, test_top5")


def test_rows_are_names_between_commas() -> None:
    assert Documents(rows="lr, top-5,").row_names == ("lr", "top-5")
    with pytest.raises(InputError, match="--rows names no metric"):
        Documents(rows=" ,")
