"""Where environments of runs differ: what is worth a warning, and what is not."""

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest
from recorded import start

from deviate.model.records import Run, Status
from deviate.records.environment import (
    Platform,
    RunEnvironment,
    differences,
    environment_changed,
    environment_misfits,
    write_environment,
    write_platform,
)
from deviate.records.read import read_experiment

PLATFORM = Platform(
    {"path": "/usr/bin/python", "version": "3.11.7", "implementation": "CPython", "build": "3.11.7 (main) [GCC 12]"},
    {"numpy": "2.1.0", "torch": "2.13.0"},
    {"CPU": "EPYC (x86_64)", "cores": "8", "memory MiB": "1000", "GPU": "A100", "NVIDIA driver": "550.1"},
    {"XLA_FLAGS": "--a", "CUDA_VISIBLE_DEVICES": "0"},
)


def run(replicate: int, facts: dict[str, str], *, controls: dict[str, str] | None = None, status: Status) -> Run:
    return Run(
        str(replicate), replicate, "x", status, 0, 0.0, 1.0, Path(), {}, environment=facts, controls=controls or {}
    )


def completed(*facts: dict[str, str]) -> list[Run]:
    return [run(replicate, found, status="completed") for replicate, found in enumerate(facts)]


def record(
    attempt: Path,
    platform: Platform = PLATFORM,
    *,
    threads: dict[str, str] | None = None,
    frameworks: dict[str, str] | None = None,
) -> None:
    digest = write_platform(attempt.parents[2], platform)
    environment = RunEnvironment(digest, threads or {}, frameworks or {}, "", {"HOSTNAME": attempt.parent.name})
    write_environment(attempt, environment)


def test_equal_environments_are_not_worth_a_word() -> None:
    assert differences(completed({"torch": "2.13.0"}, {"torch": "2.13.0"})) == []
    assert differences([]) == []


def test_runs_that_differ_in_a_fact_are_warned_of_with_the_values_of_each() -> None:
    runs = completed({"torch": "2.13.0", "jax": "0.10"}, {"torch": "2.12.1", "jax": "0.10"}, {"torch": "2.13.0"})
    (warning,) = differences(runs)
    assert "the runs differ in torch (2.13.0 in replicate 0, 2; 2.12.1 in replicate 1)" in warning


def test_a_run_that_failed_before_it_told_differs_from_none() -> None:
    told, silent = completed({"python": "3.11", "torch": "2.13.0"}, {"python": "3.11"})
    assert differences([told, silent]) == []


@pytest.mark.parametrize("status", ["lost", "cancelled"])
def test_a_run_that_will_be_run_again_is_not_compared(status: Status) -> None:
    assert differences([*completed({"torch": "2.13.0"}), run(1, {"torch": "2.12.1"}, status=status)]) == []


def test_what_the_variant_sets_to_several_levels_is_meant_to_differ() -> None:
    levels = [("1", "8"), ("8", "8"), ("1", "9")]
    runs = [
        run(
            replicate,
            {"threads of torch": threads, "driver": driver},
            controls={"threads": threads},
            status="completed",
        )
        for replicate, (threads, driver) in enumerate(levels)
    ]
    assert [warning.partition(" (")[0] for warning in differences(runs)] == ["the runs differ in driver"]


def test_a_level_that_is_the_same_in_all_runs_excuses_no_difference() -> None:
    runs = [run(k, {"threads of torch": str(k)}, controls={"threads": "1"}, status="completed") for k in range(2)]
    assert len(differences(runs)) == 1


def test_names_of_hosts_sizes_paths_and_devices_may_differ(experiment: Path, add_run: Callable[..., Path]) -> None:
    other = replace(
        PLATFORM,
        interpreter={**PLATFORM.interpreter, "path": "/opt/python"},
        machine={**PLATFORM.machine, "memory MiB": "1001"},
        shell={**PLATFORM.shell, "CUDA_VISIBLE_DEVICES": "1"},
    )
    record(add_run(0, start()))
    record(add_run(1, start()), other)
    (read,) = read_experiment(experiment)
    assert read.warnings == ()
    assert read.runs[0].environment["NVIDIA driver"] == "550.1"
    assert environment_misfits(experiment) == ()
    assert environment_changed(experiment, other) == ()


@pytest.mark.parametrize(
    ("other", "told"),
    [
        (
            replace(PLATFORM, interpreter={**PLATFORM.interpreter, "build": "3.12.1 (main) [GCC 12]"}),
            "interpreter (3.11.7 (main) [GCC 12] in replicate 0; 3.12.1 (main) [GCC 12] in replicate 1)",
        ),
        (
            replace(PLATFORM, packages={"numpy": "2.2.0", "jax": "0.5"}),
            (
                "3 packages: jax (absent in replicate 0; 0.5 in replicate 1), numpy (2.1.0 in replicate 0; "
                "2.2.0 in replicate 1), torch (2.13.0 in replicate 0; absent in replicate 1)"
            ),
        ),
        (
            replace(PLATFORM, machine={**PLATFORM.machine, "NVIDIA driver": "560.2"}),
            "NVIDIA driver (550.1 in replicate 0; 560.2 in replicate 1)",
        ),
        (replace(PLATFORM, shell={}), "variable XLA_FLAGS (--a in replicate 0; absent in replicate 1)"),
    ],
)
def test_what_has_to_be_the_same_and_is_not_is_one_warning(
    experiment: Path, add_run: Callable[..., Path], other: Platform, told: str
) -> None:
    record(add_run(0, start()))
    record(add_run(1, start()), other)
    (read,) = read_experiment(experiment)
    (warning,) = read.warnings
    assert warning.startswith(f"the runs differ in {told}; run all replicates in one")
    (misfit,) = environment_misfits(experiment)
    assert misfit == told.replace("replicate ", "as-is ")


def test_of_many_packages_a_handful_is_named(experiment: Path, add_run: Callable[..., Path]) -> None:
    record(add_run(0, start()), replace(PLATFORM, packages={f"p{number}": "1" for number in range(40)}))
    record(add_run(1, start()), replace(PLATFORM, packages={f"p{number}": "2" for number in range(40)}))
    (read,) = read_experiment(experiment)
    (warning,) = read.warnings
    assert warning.startswith("the runs differ in 40 packages: p0 (1 in replicate 0; 2 in replicate 1), p1 (")
    assert "and 35 more;" in warning
    assert len(warning) < 400


def test_many_replicates_are_told_as_ranges() -> None:
    runs = completed(*[{"torch": "2.12" if number == 3 else "2.13"} for number in range(8)])
    (warning,) = differences(runs)
    assert "torch (2.13 in replicate 0–2, 4–7; 2.12 in replicate 3)" in warning


def test_limits_of_threads_differ_unless_threads_are_what_the_variant_varies(
    experiment: Path, add_run: Callable[..., Path]
) -> None:
    record(add_run(0, start()), threads={"OMP_NUM_THREADS": "2"})
    record(add_run(1, start()))
    (read,) = read_experiment(experiment)
    (warning,) = read.warnings
    assert "variable OMP_NUM_THREADS (2 in replicate 0; absent in replicate 1)" in warning
    varied = [replace(run, controls={"threads": str(run.replicate)}) for run in read.runs]
    assert differences(varied) == []


def test_flags_that_the_guest_told_are_misfits_within_a_variant(experiment: Path, add_run: Callable[..., Path]) -> None:
    record(add_run(0, start()), frameworks={"torch TF32 in matmul": "on"})
    record(add_run(1, start()), frameworks={"torch TF32 in matmul": "off"})
    assert environment_misfits(experiment) == ("torch TF32 in matmul (on in as-is 0; off in as-is 1)",)


def test_a_run_that_will_be_run_again_is_no_misfit(experiment: Path, add_run: Callable[..., Path]) -> None:
    record(add_run(0, start()))
    record(add_run(1, start(), "lost"), replace(PLATFORM, packages={}))
    assert environment_misfits(experiment) == ()


def test_runs_without_a_record_of_their_environment_are_read_and_compared_with_none(
    experiment: Path, add_run: Callable[..., Path]
) -> None:
    record(add_run(0, start()))
    damaged = add_run(1, start())
    (damaged / "environment.json").write_text("{")
    (read,) = read_experiment(experiment)
    assert read.warnings == ()
    assert environment_misfits(experiment) == ()


def test_what_changed_since_is_told_before_runs_are_added(experiment: Path, add_run: Callable[..., Path]) -> None:
    assert environment_changed(experiment, PLATFORM) == ()
    record(add_run(0, start()))
    now = replace(
        PLATFORM,
        interpreter={**PLATFORM.interpreter, "build": "3.12.1"},
        packages={"numpy": "2.2.0", "torch": "2.13.0"},
        shell={"CUDA_VISIBLE_DEVICES": "0"},
    )
    assert environment_changed(experiment, now) == (
        "interpreter was 3.11.7 (main) [GCC 12], is 3.12.1 now",
        "variable XLA_FLAGS was --a, is absent now",
        "1 package: numpy was 2.1.0, is 2.2.0 now",
    )
    elsewhere = replace(PLATFORM, machine={"CPU": "another", "cores": "2"}, shell={})
    assert environment_changed(experiment, elsewhere, has_machine=False) == ()


def test_what_cannot_be_told_now_has_not_changed(experiment: Path, add_run: Callable[..., Path]) -> None:
    record(add_run(0, start()))
    unknown = replace(PLATFORM, interpreter={"unknown": "`bash` chooses the interpreter"}, packages=None)
    assert environment_changed(experiment, unknown) == ()


def test_equal_platforms_are_stored_once(experiment: Path, add_run: Callable[..., Path]) -> None:
    for replicate in range(2):
        record(add_run(replicate, start()))
    assert len(list((experiment / "environments").iterdir())) == 1
