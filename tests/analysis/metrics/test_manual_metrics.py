from collections.abc import Callable

import pytest

from deviate.analysis.metrics.manual_metrics import add_site
from deviate.errors import InputError
from deviate.model.analysis import Analysis, Span

Analyse = Callable[[str], Analysis]

TEXT = """for epoch in range(3):
    train_step()
    for batch in loader:
        total = combine(first(batch), second)
        print(f"{thing = }", other)
"""


def test_an_expression_inside_a_statement_gets_a_site_and_the_loops_around_it(analyse: Analyse) -> None:
    analysis, site = add_site(analyse(TEXT), "train.py", 4, "first( batch )")
    assert (site.span, site.form, site.line) == (Span(4, 24, 4, 36), "value", 4)
    assert site.id not in [other.id for other in analysis.sites[:-1]]
    assert [loop.line for loop in analysis.loops] == [1, 3]
    assert len({loop.id for loop in analysis.loops}) == 2


def test_a_field_that_shows_its_own_text_keeps_that_form(analyse: Analyse) -> None:
    _, site = add_site(analyse(TEXT), "train.py", 5, "thing")
    assert site.form == "shown"


@pytest.mark.parametrize(
    ("line", "expression", "word"),
    [
        (4, "firts(batch)", "first(batch)"),
        (4, "total", "no expression"),
        (5, "second", "train.py:4"),
        (9, "x.y", "beyond the end"),
        (5, "x.y", "it holds"),
    ],
)
def test_what_is_not_found_is_answered_with_what_is_near(
    analyse: Analyse, line: int, expression: str, word: str
) -> None:
    with pytest.raises(InputError) as caught:
        add_site(analyse(TEXT), "train.py", line, expression)
    assert word in caught.value.message + caught.value.hint


def test_another_file_is_refused_by_name(analyse: Analyse) -> None:
    with pytest.raises(InputError, match=r"other\.py"):
        add_site(analyse(TEXT), "other.py", 1, "x")
