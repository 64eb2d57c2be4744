"""Whose word counts when a run had several processes."""

from pathlib import Path

from deviate.model.records import Artifact, Flip, Weights
from deviate.records.events import Points, ProcessLog
from deviate.records.merge_processes import (
    artifacts,
    draws,
    environment,
    lowest_rank_facts,
    main_process,
    uncontrolled,
    union_over_processes,
    weights_of_ranks,
)

FINAL, OTHER = (Weights("exit", "torch", digest, 10) for digest in ("aa", "bb"))


def log(
    pid: int,
    *,
    rank: int | None = None,
    n_values: int = 0,
    started: float = 0.0,
    is_whole: bool = True,
    weights: tuple[Weights, ...] = (),
    drawn: dict[str, list[str]] | None = None,
    facts: dict[str, str] | None = None,
    operations: tuple[str, ...] = (),
    attempt: Path = Path("attempt-1"),
) -> ProcessLog:
    return ProcessLog(
        pid=pid,
        rank=rank,
        started=started,
        is_whole=is_whole,
        points={"acc": Points(list(range(n_values)), [0.5] * n_values)},
        weights=list(weights),
        draws=drawn or {},
        environment=facts or {},
        operations=list(operations),
        attempt=attempt,
    )


def test_the_lowest_rank_counts_then_the_process_that_reported_most_then_the_first() -> None:
    launcher, second, first = log(1, n_values=9), log(2, rank=1, n_values=5), log(3, rank=0)
    assert main_process([launcher, second, first]) is first
    assert main_process([log(1), launcher, log(2, n_values=3)]) is launcher
    early = log(7, started=1.0)
    assert main_process([log(5, started=2.0), early]) is early
    assert main_process([]) is None


def test_facts_are_those_of_the_lowest_rank_that_has_them() -> None:
    logs = [log(4, rank=2, weights=(OTHER,)), log(3, rank=1, weights=(FINAL,)), log(2, rank=0), log(1)]
    assert lowest_rank_facts(logs, lambda it: it.weights) == (FINAL,)


def test_weights_of_replicas_are_those_of_one_and_a_change_in_any_rank_changes_those_of_the_run() -> None:
    def of_run(*by_rank: Weights) -> tuple[Weights, ...]:
        logs = [log(9 - rank, rank=rank, weights=(weights,)) for rank, weights in enumerate(by_rank)]
        return weights_of_ranks([*logs, log(1)])

    assert of_run(FINAL, FINAL) == (FINAL,)
    divided = {of_run(FINAL, OTHER), of_run(OTHER, FINAL), of_run(OTHER, OTHER), of_run(FINAL, FINAL)}
    assert (len(divided), {len(weights) for weights in divided}) == (4, {1})


def test_weights_of_ranks_are_joined_within_an_attempt() -> None:
    logs = [log(1, rank=0, weights=(FINAL,)), log(2, rank=1, weights=(FINAL,))]
    logs.append(log(3, rank=0, weights=(OTHER,), attempt=Path("attempt-2")))
    assert weights_of_ranks(logs) == (FINAL, OTHER)


def test_without_ranks_weights_are_those_of_the_process_that_has_them() -> None:
    trainer, worker, launcher = log(2, weights=(FINAL,)), log(3), log(1)
    assert lowest_rank_facts([launcher, trainer, worker], lambda it: it.weights) == (FINAL,)


def test_processes_without_a_rank_tell_all_in_the_order_in_which_they_were_started() -> None:
    late, early = log(9, started=1.0, weights=(OTHER,)), log(8, started=2.0, weights=(FINAL, FINAL))
    assert lowest_rank_facts([late, early], lambda it: it.weights) == (FINAL, OTHER)
    assert lowest_rank_facts([early, log(10, weights=(FINAL,))], lambda it: it.weights) == (FINAL,)


def test_what_happened_in_any_process_is_told_once() -> None:
    logs = [log(2, rank=1, operations=("put_", "histc")), log(1, rank=0, operations=("put_",))]
    assert union_over_processes(logs, lambda it: it.operations) == ("put_", "histc")


def test_a_launcher_without_a_place_for_the_bit_is_told_of_only_if_no_process_had_one() -> None:
    launcher, trainer = log(1), log(2, rank=0)
    launcher.uncontrolled = ["no weight matrix for one-bit", "cuBLAS"]
    assert uncontrolled([launcher, trainer]) == ("no weight matrix for one-bit", "cuBLAS")
    trainer.flips = [Flip("torch", "w", (0, 0), 0.5, 0.6)]
    assert uncontrolled([launcher, trainer]) == ("cuBLAS",)


def test_flips_of_equal_numbers_in_two_places_are_two() -> None:
    flips = [Flip("torch", "w", (0, 0), 0.5, 0.6), Flip("torch", "w", (0, 1), 0.5, 0.6)]
    it = ProcessLog(flips=flips)
    assert lowest_rank_facts([it], lambda it: it.flips) == tuple(flips)


def test_draws_are_those_of_all_processes_in_the_order_of_the_streams() -> None:
    main = log(1, n_values=1, drawn={"torch": ["shuffle", "init"], "numpy": []})
    worker = log(2, drawn={"torch": ["augment"], "random": ["other"]})
    assert draws([main, worker]) == {"numpy": (), "random": ("other",), "torch": ("init", "shuffle", "augment")}
    assert list(draws([main, worker])) == ["numpy", "random", "torch"]


def test_draws_are_unknown_when_the_process_that_counts_was_cut_off() -> None:
    cut_off, worker = log(1, n_values=3, is_whole=False), log(2, drawn={"torch": ["augment"]})
    assert draws([cut_off, worker]) == {}
    assert draws([]) == {}


def test_draws_of_children_count_when_the_main_process_has_no_library_that_draws() -> None:
    assert draws([log(1, n_values=1), log(2, drawn={"torch": ["init"]})]) == {"torch": ("init",)}


def test_the_process_that_counts_tells_the_environment_and_helpers_add_to_it() -> None:
    main = log(1, n_values=2, facts={"threads of torch": "8"})
    worker = log(2, started=5.0, facts={"threads of torch": "1", "pillow": "11"})
    assert environment([main, worker]) == {"threads of torch": "8", "pillow": "11"}


def artifact(name: str, step: int | None, file: str) -> Artifact:
    return Artifact("predictions", name, step, "torch", Path(file), 3)


def test_artifacts_lie_in_the_attempt_that_kept_them_and_their_steps_count_on() -> None:
    first, second = Path("run/attempt-1"), Path("run/attempt-2")
    lost = log(1, started=1.0, attempt=first)
    resumed = log(2, n_values=3, started=9.0, rank=0, attempt=second)
    for step in (0, 1):
        lost.points["acc"].add(step, 0.5, 0.1)
    lost.artifacts = [artifact("test", 0, "a.npz"), artifact("test", 1, "b.npz")]
    resumed.artifacts = [artifact("test", 0, "c.npz"), artifact("test", None, "d.npz")]
    assert [(it.step, it.path, it.rank) for it in artifacts([lost, resumed])] == [
        (0, first / "artifacts/a.npz", None),
        (1, first / "artifacts/b.npz", None),
        (2, second / "artifacts/c.npz", 0),
        (None, second / "artifacts/d.npz", 0),
    ]


def test_artifacts_of_processes_that_follow_one_another_stand_in_order_of_time() -> None:
    evaluation, training = log(1, started=9.0), log(7, started=1.0)
    evaluation.artifacts, training.artifacts = [artifact("test", None, "late.npz")], [artifact("test", 4, "early.npz")]
    found = artifacts([evaluation, training])
    assert [it.path.name for it in found] == ["early.npz", "late.npz"]
