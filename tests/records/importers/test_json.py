"""JSON: lists, lists by metric, and records; numbers keep all bits."""

import json
from pathlib import Path
from typing import Any

import pytest

from deviate.errors import InputError
from deviate.records.importers import Imported
from deviate.records.importing import read_files

THIRD = 0.1 + 0.2


def read(folder: Path, document: Any, name: str = "results.json") -> tuple[Imported, ...]:
    path = folder / name
    path.write_text(document if isinstance(document, str) else json.dumps(document))
    return read_files([path])


def scores(imported: Imported) -> list[dict[str, float]]:
    return [{name: series.values[-1] for name, series in run.series.items()} for run in imported.runs]


@pytest.mark.parametrize(
    ("document", "expected"),
    [
        ([THIRD, 5e-324], [{"value": THIRD}, {"value": 5e-324}]),
        ({"acc": [THIRD, 1], "loss": [2]}, [{"acc": THIRD, "loss": 2}, {"acc": 1}]),
        ([{"seed": 0, "test": {"acc": THIRD}}, {"seed": 1, "test": {"acc": 1}}], [{"acc": THIRD}, {"acc": 1}]),
        ({"results": [{"seed": 0, "acc": 0.5}]}, [{"acc": 0.5}]),
        ({"acc": 0.5, "note": "x"}, [{"acc": 0.5}]),
        ('{"seed": 0, "acc": 0.5}\n{"seed": 1, "acc": 0.25}\n', [{"acc": 0.5}, {"acc": 0.25}]),
    ],
)
def test_scores_are_read_in_every_form_in_which_people_write_them(
    tmp_path: Path, document: Any, expected: list[dict[str, float]]
) -> None:
    (imported,) = read(tmp_path, document)
    assert scores(imported) == expected
    assert imported.notes


def test_mappings_of_lists_are_experiments(tmp_path: Path) -> None:
    base, mine = read(tmp_path, {"base": {"acc": [1, 2]}, "mine": {"acc": [3]}})
    assert (base.name, mine.name, scores(base), scores(mine)) == (
        "base", "mine", [{"acc": 1}, {"acc": 2}], [{"acc": 3}],
    )  # fmt: skip


def test_records_with_steps_are_the_curve_of_one_run(tmp_path: Path) -> None:
    log = [{"loss": 0.5, "step": 10}, {"eval_loss": 0.4, "step": 10}, {"loss": 0.3, "step": 20}]
    (imported,) = read(tmp_path, {"log_history": log, "global_step": 20})
    (run,) = imported.runs
    assert (tuple(run.series["loss"].steps), tuple(run.series["loss"].values)) == ((10, 20), (0.5, 0.3))


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ('{"a":', "is not valid JSON"),
        ("[" * 100_000, "is not valid JSON"),
        ('{"a": "b"}', "holds no scores"),
        ("[]", "holds no scores"),
        ('[{"a": "b"}]', "no column holds scores"),
        ('{"deviate": "1", "experiments": [{"name": "x"}]}', "is a report of deviate"),
        ("", "is empty"),
    ],
)
def test_what_holds_no_scores_is_refused(tmp_path: Path, text: str, told: str) -> None:
    with pytest.raises(InputError, match=told) as caught:
        read(tmp_path, text)
    assert caught.value.hint


def test_an_evaluation_that_has_a_mean_and_a_spread_at_every_step_is_a_curve(tmp_path: Path) -> None:
    (imported,) = read(tmp_path, [{"itr": step, "IS_mean": 2.8, "IS_std": 0.1, "FID": 173.7} for step in (1, 2)])
    assert [tuple(series.steps) for series in imported.runs[0].series.values()] == [(1, 2)] * 3
