"""Which checkpoints of two runs are equal, and what a later run finds that begins at one."""

from dataclasses import replace
from pathlib import Path

from traced import a_trace

from deviate.diverge.checkpoints import KeptCheckpoints, compare_checkpoints
from deviate.diverge.findings import Checkpoint, Trace


def wrote(*weights: str | None, contents: tuple[int, ...] = ()) -> Trace:
    files = tuple(
        Checkpoint(100 * number, "last.pt", digest, contents[number - 1] if contents else number)
        for number, digest in enumerate(weights, 1)
    )
    return replace(a_trace([]), checkpoints=files)


def test_the_first_difference_of_weights_lies_between_two_checkpoints() -> None:
    bracket = compare_checkpoints([wrote("a", "b", "c", "d")], [wrote("a", "b", "x", "d")])
    assert [checkpoint.step for checkpoint in bracket.equal] == [100, 200]
    assert bracket.different is not None
    assert bracket.different.step == 300


def test_contents_count_where_no_weights_are_known() -> None:
    bracket = compare_checkpoints([wrote("a", None, contents=(1, 5))], [wrote("a", None, contents=(2, 6))])
    assert [checkpoint.step for checkpoint in bracket.equal] == [100], "the weights are equal, a time may differ"
    assert bracket.different is not None
    assert bracket.different.step == 200


def test_a_difference_before_a_checkpoint_leaves_only_earlier_ones() -> None:
    bracket = compare_checkpoints([wrote("a", "b")], [wrote("a", "b")])
    last = bracket.last_equal(150)
    assert last is not None
    assert last.step == 100
    assert bracket.last_equal(None) == bracket.equal[-1]
    assert bracket.last_equal(50) is None


def test_a_start_has_all_files_as_they_were_after_its_update(tmp_path: Path) -> None:
    attempt, experiment = tmp_path / "attempt-1", tmp_path / "experiments" / "train-diverge"
    for name, text in {
        "500/out/checkpoint-500/model.pt": "model 500",
        "500/out/latest": "500",
        "1000/out/checkpoint-1000/model.pt": "model 1000",
        "1000/out/checkpoint-1000/rng.pt": "rng",
        "1000/out/latest": "1000",
        "1500/out/latest": "1500",
    }.items():
        path = attempt / "artifacts" / "checkpoints" / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
    kept = KeptCheckpoints(attempt, [], experiment)
    checkpoint = Checkpoint(1000, "out/checkpoint-1000/model.pt", "w", 1)
    start = kept.start_from(checkpoint, cwd="src", template="--resume={checkpoint} --more")
    assert start.words == ("--resume=../out/checkpoint-1000", "--more")
    planted = experiment.parent / start.folder
    assert {name: (planted / name).read_text() for name in start.files} == {
        "out/checkpoint-500/model.pt": "model 500",
        "out/checkpoint-1000/model.pt": "model 1000",
        "out/checkpoint-1000/rng.pt": "rng",
        "out/latest": "1000",
    }
    kept.remove()
    assert not planted.exists()
