"""The published JSON Schemas say what a report and a check as JSON are, all of it and no more."""

import dataclasses
import functools
import json
import math
import os
from pathlib import Path
from typing import Any

import pytest
from degenerate import CASES
from experiments import scored
from hostile import KINDS as HOSTILE
from hostile import hostile_findings
from jsonschema import Draft202012Validator
from kinds import KINDS
from schemas import properties, schema_flaws, used, validator
from studies import noisy_run, study, variant

from deviate.model.analysis import LoopCounter
from deviate.model.findings import Findings
from deviate.model.records import InjectedCode, PastComparison, Revision
from deviate.report.data.published import CHECK_SCHEMA, SCHEMA
from deviate.report.data.schema import DIALECT, schema_of
from deviate.report.forms.registry import render
from deviate.report.parts.build import build_report
from deviate.stats.judge import judge
from deviate.stats.options import AnalysisOptions

COPIES = Path(__file__).parents[3] / "docs" / "reference" / "schemas"
LARGE = "large"
"""Nothing but more of the same."""


@functools.cache
def _documents() -> dict[str, str]:
    found = {name: made() for name, made in KINDS.items() if name != LARGE}
    found |= {f"hostile {kind}": hostile_findings(kind) for kind in HOSTILE}
    found |= {"told": _told(), "broken": _broken(), "paired": _paired()}
    return {name: render(build_report(it), "json") for name, it in found.items()}


def _told() -> Findings:
    """What git and the taps say of an experiment."""
    revision = Revision("4e5f" * 10, "main", is_dirty=True, n_untracked=2, diff="-a\n+b\n", file="project.diff")
    injected = InjectedCode(
        "train.py",
        2,
        ("-print(a)", "+print(f(a))"),
        is_cut=False,
        original="originals/train.py",
        instrumented="tree/train.py",
    )
    plain = scored("a", CASES["eight"])
    past = (PastComparison("b", "algo+impl", 0.0, "acc", 0.01), PastComparison("c", "algo+impl", 0.0))
    return judge(
        [
            dataclasses.replace(
                plain,
                revision=revision,
                injected=(injected,),
                past_comparisons=past,
                siblings=("another",),
                counter=LoopCounter("epoch", 1, 1),
            )
        ]
    )


def _broken() -> Findings:
    """A control variant whose runs are not equal, from a step at which one of them was NaN."""
    runs = [noisy_run(0, (50.0, 93.0), "a"), noisy_run(1, (math.nan, 93.5), "b")]
    return study(variant("control", runs), variant("algo", [noisy_run(i, (50.0, 93.0 + i), f"c{i}") for i in range(4)]))


def _paired() -> Findings:
    sides = [scored("a", CASES["eight"]), scored("b", CASES["eight with ties"])]
    return judge(sides, AnalysisOptions(is_paired=True, margin=0.1, spread_ratio=1.5))


def test_they_are_schemas_of_the_newest_draft() -> None:
    for schema, name in ((schema_of("report"), f"report:{SCHEMA}"), (schema_of("check"), f"check:{CHECK_SCHEMA}")):
        Draft202012Validator.check_schema(schema)
        assert (schema["$schema"], schema["$id"]) == (DIALECT, f"urn:deviate:{name}")


@pytest.mark.parametrize("name", [*(it for it in KINDS if it != LARGE), "told", "broken", "paired"])
def test_documents_are_as_it_says(name: str) -> None:
    assert list(schema_flaws(_documents()[name])) == []


@pytest.mark.parametrize("kind", HOSTILE)
def test_hostile_documents_are_as_it_says(kind: str) -> None:
    assert list(schema_flaws(_documents()[f"hostile {kind}"])) == []


def test_it_says_nothing_that_no_document_has() -> None:
    schema: Any = schema_of("report")
    found = set().union(*(used(schema, json.loads(text)) for text in _documents().values()))
    assert properties(schema) - found == set()


@pytest.mark.parametrize(
    ("place", "value"),
    [
        (("more",), 1),
        (("experiments", 0, "more"), 1),
        (("confidence",), "95%"),
        (("experiments", 0, "metrics", 0, "sd"), None),
        (("experiments", 0, "metrics", 0, "sd"), "nan"),
        (("experiments", 0, "metrics", 0, "sd"), {"unavailable": ""}),
        (("experiments", 0, "runs", 0, "status"), "fine"),
        (("experiments", 0, "runs", 0, "replicate"), 0.5),
        (("pairs", 0, "comparisons", 0, "verdict"), "significant"),
    ],
)
def test_what_is_not_as_it_says_is_found(place: tuple[str | int, ...], value: object) -> None:
    document: Any = json.loads(_documents()["two_undecided"])
    inner = document
    for key in place[:-1]:
        inner = inner[key]
    inner[place[-1]] = value
    assert len(list(validator().iter_errors(document))) == 1


def test_nothing_may_be_left_out() -> None:
    document: Any = json.loads(_documents()["two_undecided"])
    del document["experiments"][0]["metrics"][0]["n"], document["evaluation"]
    told = sorted(it.message for it in validator().iter_errors(document))
    assert told == ["'evaluation' is a required property", "'n' is a required property"]


def test_docstrings_say_what_the_members_are() -> None:
    schema: Any = schema_of("report")
    interval = schema["$defs"]["Interval"]["properties"]
    assert interval["method"]["description"] == 'How it was computed, e.g. "Student t".'
    assert schema["$defs"]["Parting"]["properties"]["step"]["description"] == "Of the main loop; null outside it."
    assert schema["$defs"]["Absorption"]["properties"]["n_flipped"]["description"] == "Those with a flip on record."


@pytest.mark.parametrize(("name", "number"), [("report", SCHEMA), ("check", CHECK_SCHEMA)])
def test_the_published_copy_is_the_schema(name: str, number: int) -> None:
    """`DEVIATE_GOLDEN=write` writes it."""
    copy = COPIES / f"{name}-{number}.schema.json"
    text = json.dumps(schema_of(name), indent=1, ensure_ascii=False) + "\n"
    if os.environ.get("DEVIATE_GOLDEN") == "write":
        copy.write_text(text, encoding="utf-8")
    assert copy.read_text(encoding="utf-8") == text
    assert [it.name for it in COPIES.glob(f"{name}-*")] == [copy.name]
    assert f"(schemas/{copy.name})" in (COPIES.parent / "json.md").read_text(encoding="utf-8")
