import dataclasses
import re

import kinds
import pytest
from experiments import scored
from stabilities import values_set

from deviate.model.findings import Findings
from deviate.model.stability import StabilityFindings
from deviate.report.forms.html import source
from deviate.report.paper.bibliography import FILE, cited_keys, entry_key, references_source
from deviate.report.parts.build import build_report
from deviate.stats.judge import judge
from deviate.stats.options import AnalysisOptions

EIGHT = (93.1, 93.4, 93.9, 93.2, 93.6, 93.0, 93.3, 93.5)
OF_A_COMPARISON = {
    *("deviate2021", "student1908", "welch1947", "janssen1997", "chung2013", "mann1947", "smirnov1939"),
    *("vargha2000", "brunner2000", "cliff1993", "hedges1981", "glass1976", "efron1979"),
}
"""What the tables of a metric show of eight runs against eight; the bootstrap is that of medians."""


def _keys(findings: Findings) -> frozenset[str]:
    return cited_keys(findings, build_report(findings))


def _entries() -> list[str]:
    """Entries of publications in the packaged file, behind its head and the software."""
    return source(FILE).split("\n\n")[2:]


def _eight(shift: float = 0.0, name: str = "base"):  # type: ignore[no-untyped-def]
    return scored(name, [it + shift for it in EIGHT])


def test_two_experiments_cite_what_their_tables_show() -> None:
    assert _keys(judge([_eight(), _eight(0.2, "new")])) == OF_A_COMPARISON


def test_pairs_and_a_margin_bring_their_tests_with_them() -> None:
    findings = judge([_eight(), scored("new", EIGHT[::-1])], AnalysisOptions(is_paired=True, margin=0.5))
    assert _keys(findings) == OF_A_COMPARISON | {"schuirmann1987", "fisher1935", "wilcoxon1945"}


def test_four_candidates_on_tasks_cite_families_ranks_and_resampling() -> None:
    more = {"agarwal2021", "hesterberg2015", "friedman1937", "demsar2006"}
    many = {"welch1951", "fisher1925", "kruskal1952", "dunnett1955", "holm1979"}
    assert _keys(kinds.tasks()) == OF_A_COMPARISON | more | many


def test_a_noise_study_cites_its_variants_and_no_test() -> None:
    variants = {"zhuang2022", "summers2021", "pham2020"}
    assert _keys(kinds.noise_study()) == variants | {
        *("deviate2021", "student1908", "efron1987", "efron1979", "ting1990", "fieller1954")
    }


def test_failures_and_targets_cite_rates_and_times() -> None:
    found = _keys(kinds.failures())
    assert {"clopper1934", "boschloo1970", "lachin1999", "kaplan1958", "brookmeyer1982", "mantel1966"} <= found
    assert not {"clopper1934", "boschloo1970", "lachin1999"} & _keys(kinds.declared_looks())


def test_predictions_and_weights_cite_their_measures() -> None:
    of_measures = {"milanifard2016", "kornblith2019", "guo2017", "tukey1958"}
    of_studies = {"summers2021", "zhuang2022", "pham2020"}
    found = _keys(kinds.captured())
    assert of_measures | of_studies <= found
    bare = dataclasses.replace(kinds.captured(), stability=StabilityFindings())
    assert not (of_measures | of_studies) & _keys(bare)
    few = dataclasses.replace(bare, stability=StabilityFindings(sets=(values_set(0, "val", 3),)))
    assert (of_measures | of_studies) & _keys(few) == {"kornblith2019"}


def test_nothing_is_cited_for_what_there_was_no_figure_of() -> None:
    assert _keys(judge([scored("base", [93.1])])) == set()
    assert _keys(judge([scored("base", [93.1, 93.4])])) == {"deviate2021", "student1908"}
    assert "holm1979" not in _keys(kinds.degenerate())


@pytest.mark.parametrize(("spending", "key"), [("pocock", "pocock1977"), ("obrien-fleming", "obrien1979")])
def test_looks_cite_how_they_share_the_error(spending: str, key: str) -> None:
    sides = (dataclasses.replace(it, looks=(8, 16), spending=spending) for it in (_eight(), _eight(0.2, "new")))  # type: ignore[arg-type]
    found = _keys(judge(list(sides)))
    assert found & {"pocock1977", "obrien1979"} == {key}
    assert {"lan1983", "jennison1984"} <= found


def test_each_work_is_cited_by_some_report_and_nothing_is_cited_that_has_no_entry() -> None:
    makers = [kinds.two_with_a_verdict, kinds.tasks, kinds.noise_study, kinds.failures, kinds.declared_looks]
    cited = frozenset().union(*(_keys(make()) for make in [*makers, kinds.captured]))
    assert {entry_key(entry) for entry in _entries()} ^ cited == {"pocock1977"}


def test_a_key_ends_in_the_year_and_begins_with_the_first_author_or_the_tool() -> None:
    for entry in _entries():
        author, year = (re.search(rf"  {field} = {{(.*)}},", entry) for field in ("author", "year"))
        assert author is not None
        assert year is not None
        first = re.sub(r"[^a-z]", "", re.sub(r"\\v", "", author[1]).split(",")[0].split(" and ")[0].lower())
        assert entry_key(entry) in {f"{first}{year[1]}", f"deviate{year[1]}"}


def test_an_entry_says_what_of_the_work_was_used() -> None:
    text = references_source(judge([_eight(), _eight(0.2, "new")]), build_report(judge([_eight(), _eight(0.2, "new")])))
    assert "  year = {1947},\n}\n% differences of means without assuming equal spread\n" in text
