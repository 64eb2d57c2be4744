"""Runs commands in containers, with the folders and variables that a run needs.

Source: docker-run(1) and podman-run(1), options -v, -w, -e and -u; the user guides of Apptainer and Singularity,
options --bind and --pwd, and variables APPTAINERENV_* and SINGULARITYENV_*, which reach a container in any mode.
"""

import os
from collections.abc import Mapping, Sequence
from pathlib import Path

SECRETS = "DEVIATE_SECRETS"
"""Names of variables that the user hands to the runs and that no record tells of, with commas."""
RUNNERS = ("docker", "podman", "nerdctl")
"""Programs that hand nothing in by themselves."""
SHELLS = {"apptainer": "APPTAINERENV_", "singularity": "SINGULARITYENV_"}
"""Programs that hand the environment in unless asked not to, and the prefix of variables that always go in."""


def wrap_command(
    wrap: Sequence[str],
    command: Sequence[str],
    environment: Mapping[str, str],
    *,
    folders: Sequence[Path],
    names: Sequence[str],
    cwd: Path,
) -> tuple[tuple[str, ...], dict[str, str]]:
    """The command inside its container, and the variables to start it with.

    Args:
        wrap: how the container is started, up to its image, such as `docker run --gpus all IMAGE`.
        folders: what the run reads and writes, under the same paths inside.
        names: variables that the run needs inside.
        cwd: the working folder of the command.
    """
    if not wrap:
        return tuple(command), dict(environment)
    words, variables = list(wrap), dict(environment)
    bare = [os.path.basename(word) for word in words]  # noqa: PTH119  (words of a command, such as `sudo docker`)
    program = next((word for word in bare if word in RUNNERS or word in SHELLS), "")
    set_names = [name for name in names if name in environment]
    if program in RUNNERS and "run" in words:
        options = [word for folder in folders for word in ("-v", f"{folder}:{folder}")]
        options += ["-w", str(cwd), *(word for name in set_names for word in ("-e", name))]
        if not any(word in {"-u", "--user"} or word.startswith("--user=") for word in words):
            options += ["-u", _owner(program)]
        at = words.index("run") + 1
        words[at:at] = options
    elif program in SHELLS:
        at = next((index + 1 for index, word in enumerate(words) if word in {"exec", "run"}), len(words))
        words[at:at] = ["--bind", ",".join(map(str, folders)), "--pwd", str(cwd)]
        variables |= {f"{SHELLS[program]}{name}": environment[name] for name in set_names}
    return (*words, *command), variables


def _owner(program: str) -> str:
    """User options of the container, so that files belong to the user: in rootless Podman, root maps to the user.

    Source: podman-run(1), Rootless containers.
    """
    return "0:0" if program == "podman" and os.getuid() else f"{os.getuid()}:{os.getgid()}"
