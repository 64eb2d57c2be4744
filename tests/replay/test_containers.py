"""A command in a container gets the folders and variables of its run, wherever the container's program stands."""

import os
from pathlib import Path

import pytest

from deviate.replay.commands import wrap_command

FOLDERS = (Path("/data/experiment"), Path("/tmp/deviate-x"))
ENVIRONMENT = {"PYTHONPATH": "/guest", "SECRET": "s", "OTHER": "o"}
ME = f"{os.getuid()}:{os.getgid()}"


def inside(*wrap: str) -> tuple[tuple[str, ...], dict[str, str]]:
    return wrap_command(
        wrap, ("python", "train.py"), ENVIRONMENT,
        folders=FOLDERS, names=["PYTHONPATH", "SECRET", "ABSENT"], cwd=Path("/data/experiment/work"),
    )  # fmt: skip


def test_without_a_container_nothing_changes() -> None:
    assert inside() == (("python", "train.py"), ENVIRONMENT)


@pytest.mark.parametrize("before", [(), ("nice",), ("/usr/bin/env", "A=1")])
def test_docker_gets_folders_variables_and_the_user_before_the_image(before: tuple[str, ...]) -> None:
    words, variables = inside(*before, "/usr/bin/docker", "run", "--rm", "image")
    assert words == (
        *before, "/usr/bin/docker", "run",
        "-v", "/data/experiment:/data/experiment", "-v", "/tmp/deviate-x:/tmp/deviate-x",
        "-w", "/data/experiment/work", "-e", "PYTHONPATH", "-e", "SECRET", "-u", ME,
        "--rm", "image", "python", "train.py",
    )  # fmt: skip
    assert variables == ENVIRONMENT
    assert "s" not in words, "no value stands where others can read it"


def test_a_user_that_is_named_stays() -> None:
    words, _ = inside("docker", "run", "--user=7", "image")
    assert "-u" not in words


def test_root_in_podman_is_the_user() -> None:
    words, _ = inside("podman", "run", "image")
    assert words[words.index("-u") + 1] == ("0:0" if os.getuid() else ME)


def test_apptainer_gets_variables_in_any_mode() -> None:
    words, variables = inside("apptainer", "exec", "--nv", "image.sif")
    assert words == (
        "apptainer", "exec", "--bind", "/data/experiment,/tmp/deviate-x", "--pwd", "/data/experiment/work",
        "--nv", "image.sif", "python", "train.py",
    )  # fmt: skip
    assert variables == ENVIRONMENT | {"APPTAINERENV_PYTHONPATH": "/guest", "APPTAINERENV_SECRET": "s"}


def test_another_program_gets_the_command_as_it_is() -> None:
    assert inside("srun", "-n1")[0] == ("srun", "-n1", "python", "train.py")
