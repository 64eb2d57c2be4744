"""A whole report: it is written in the form, and has the statistic. The package must be installed."""

import json

import pytest

import deviate
from deviate.report.forms.registry import render
from deviate.report.parts.build import build_report


@pytest.fixture
def report(tmp_path):
    for name, start in (("old", 0.7), ("new", 0.8)):
        lines = [f"{start + index / 100:.2f}\n" for index in range(7)]
        (tmp_path / f"{name}.labbook").write_text("".join(lines), encoding="utf-8")
    return build_report(deviate.compare(tmp_path / "old.labbook", tmp_path / "new.labbook").findings)


def test_a_message_has_the_title_and_the_result(report):
    title, result, *_ = render(report, "chat").splitlines()
    assert title == "*new against old*"
    assert "The difference was +0.1000" in result


def test_the_statistic_is_part_of_the_comparison(report):
    (comparison,) = json.loads(render(report, "json"))["pairs"][0]["comparisons"]
    assert comparison["median_shift"] == pytest.approx(0.1)
