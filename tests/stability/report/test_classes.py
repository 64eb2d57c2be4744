"""What the report says of classes and sub-groups of captured evaluation sets."""

import dataclasses

import pytest
from stabilities import everything, one_set, with_stability

from deviate.model.estimates import Unavailable
from deviate.model.findings import Findings
from deviate.model.phrases import Reason
from deviate.model.stability import SetStability, StabilityFindings
from deviate.report.document import Absent, Section
from deviate.report.forms.registry import render
from deviate.report.parts.build import build_report
from deviate.stability.report.sections import brief_lines, class_section

LABELS = ("small", "wide")


def _view(*sets: SetStability) -> Section:
    return class_section(_findings(*sets), LABELS)


def _findings(*sets: SetStability) -> Findings:
    sides = [it.experiment for it in everything().experiments]
    return with_stability(sides, StabilityFindings(sets=sets))


def _lines(*sets: SetStability) -> tuple[str, ...]:
    return brief_lines(_findings(*sets), LABELS)


def _classes(it: SetStability) -> Section:
    return _view(it).parts[0]


def test_a_class_that_is_no_wider_than_chance_makes_one_says_so() -> None:
    it = dataclasses.replace(one_set(0, "test", 8), expected_largest_sd=0.05)
    assert _classes(it).of(str)[1].endswith("a range of about 2.7 points. Class 3 has no more.")
    assert _lines(it)[1].endswith("60 examples, no more than expected by chance.")
    assert "chance" not in _lines(one_set(0, "test", 8))[1]


def test_classes_that_no_run_changes_have_no_least_steady_one() -> None:
    it = one_set(0, "test", 8)
    still = tuple(dataclasses.replace(one, accuracies=(0.5,) * 8, sd=0.0) for one in it.classes)
    steady = dataclasses.replace(it, classes=still)
    assert _classes(steady).of(str) == ("The accuracy of each class is the same in all 8 runs.",)
    assert not any("least steady" in line for line in _lines(dataclasses.replace(steady, groups=())))


def test_a_class_without_spread_says_why() -> None:
    it = one_set(0, "test", 8)
    plain = dataclasses.replace(it.classes[0], sd=Unavailable(Reason.SINGLE_RUN), ratio=Unavailable(Reason.NO_SPREAD))
    part = _classes(dataclasses.replace(it, classes=(plain,)))
    assert part.of(str)[0] == "No class has a spread: 1 run: spread unknown."
    assert [isinstance(cell, Absent) for cell in part.tables[0].rows[0].cells] == [
        False,
        False,
        True,
        False,
        False,
        True,
        False,
    ]


def test_more_than_two_classes_have_no_columns_for_false_positives() -> None:
    it, why = one_set(0, "test", 8), Unavailable("needs two classes")
    groups = tuple(
        dataclasses.replace(one, n_positive=None, n_negative=None, false_positive_rate=why, false_negative_rate=why)
        for one in it.groups
    )
    (part,) = [one for one in _view(dataclasses.replace(it, groups=groups)).parts if one.key.startswith("groups")]
    assert part.tables[0].columns == ("Sub-group", "examples", "share", "accuracy (%)", "SD", "SD relative to all")
    assert {len(row.cells) for row in part.tables[0].rows} == {5}
    assert part.footnotes[0] == "False positive and false negative rates need two classes."


def test_without_groups_and_classes_there_is_nothing() -> None:
    bare = dataclasses.replace(one_set(0, "test", 8), groups=(), classes=())
    assert (_view(bare).parts, _view(bare).reasons) == ((), ())


@pytest.mark.parametrize("n_runs", [1, 2, 4])
def test_few_runs_make_a_page(n_runs: int) -> None:
    page = render(build_report(everything(n_runs)), "html")
    assert '<details id="stability"' in page
