"""Quantities of a report are explained where they stand, and a term in a sentence is found."""

import re

import pytest
from kinds import failures, two_with_a_verdict

from deviate.model.findings import Findings
from deviate.report.document import DocumentTable, Fold
from deviate.report.forms.html import explain
from deviate.report.forms.registry import render
from deviate.report.meanings import MEANINGS, explained
from deviate.report.parts.build import build_report


@pytest.fixture(scope="module", params=[two_with_a_verdict, failures], ids=lambda kind: kind.__name__)
def findings(request: pytest.FixtureRequest) -> Findings:
    made: Findings = request.param()
    return made


def test_every_quantity_of_a_metric_has_a_meaning(findings: Findings) -> None:
    metric = build_report(findings).metrics[0]
    blocks = [*metric.quantities.blocks, *(block for fold in metric.quantities.of(Fold) for block in fold.blocks)]
    tables = [block for block in blocks if isinstance(block, DocumentTable)]
    assert len(tables) == 3
    names = [*tables[0].columns[1:], *(row.label for table in tables[1:] for row in table.rows)]
    assert [name for name in names if not any(meaning for _, meaning in explained(name))] == []


def test_the_keyboard_stops_once_at_each_meaning_and_the_pointer_finds_it_everywhere(findings: Findings) -> None:
    page = render(build_report(findings), "html")
    everywhere = re.findall(r'<abbr[^>]*title="([^"]*)"', page)
    stops = re.findall(r'<abbr tabindex="0" title="([^"]*)"', page)
    assert sorted(stops) == sorted(set(everywhere))
    assert len(everywhere) > len(stops) > 20


@pytest.mark.parametrize(
    ("text", "terms"),
    [
        ("[95% CI 1.28 … 2.13]", ["95% CI"]),
        ("permutation p = .001 (exact)", ["permutation", "p", "exact"]),
        ("U = 92.50, p = .001 (permutation, 9999 resamples)", ["U", "p"]),
        ("test_acc (mean ± SD)", ["mean ± SD"]),
        ("n_SD, CV_loss and algo+implant", []),
        ("95% simultaneous CI", ["95% simultaneous CI"]),
    ],
)
def test_terms_are_found_as_whole_words(text: str, terms: list[str]) -> None:
    pieces = list(explained(text))
    assert "".join(piece for piece, _ in pieces) == text
    assert [piece for piece, meaning in pieces if meaning] == terms


def test_only_an_interval_of_a_difference_is_called_one_and_a_range_has_no_scores() -> None:
    texts = ["interval of the mean", "interval of the SD", "interval of the median", "interval of the difference"]
    meant = [next(meaning for _, meaning in explained(text) if meaning) for text in texts]
    assert ["difference" in meaning for meaning in meant] == [False, False, False, True]
    assert "score" not in dict(explained("seconds, range"))["range"]


def test_what_is_explained_is_escaped() -> None:
    assert explain("<b>SD") == f'&lt;b&gt;<abbr tabindex="0" title="{MEANINGS["SD"]}">SD</abbr>'
