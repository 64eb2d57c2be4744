"""Two environments made in the same way: one holds deviate as of a commit, the other as of the working tree."""

import os
import shutil
import subprocess
import sys
import sysconfig
import venv
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).parents[2]


@dataclass(frozen=True)
class Side:
    """One of the two versions.

    Attributes:
        name: `old` or `new`: both are equally long, so that lines with a path in them are wrapped alike.
        source: the tree that was installed. prefix: the environment that it was installed to.
    """

    name: str
    source: Path
    prefix: Path

    @property
    def python(self) -> Path:
        return self.prefix / "bin/python"

    @property
    def deviate(self) -> Path:
        return self.prefix / "bin/deviate"


def run_git(*words: str) -> bytes:
    """What git prints.

    Raises:
        subprocess.CalledProcessError: git refuses.
    """
    return subprocess.run(["git", *words], cwd=ROOT, stdout=subprocess.PIPE, check=True).stdout


def write_commit(commit: str, folder: Path) -> None:
    """The files of a commit.

    Raises:
        subprocess.CalledProcessError: git has no such commit.
    """
    folder.mkdir(parents=True)
    subprocess.run(["tar", "-x"], cwd=folder, input=run_git("archive", commit), check=True)


def write_checkout(folder: Path) -> None:
    """The files of the checkout as they are: what git ignores is left out."""
    names = run_git("ls-files", "-z", "--cached", "--others", "--exclude-standard").decode()
    for name in filter(None, names.split("\0")):
        path = ROOT / name
        if path.is_file():  # a file that was removed and not committed is still listed
            (folder / name).parent.mkdir(parents=True, exist_ok=True)
            shutil.copy(path, folder / name)


def install(name: str, source: Path, scratch: Path, *, is_fresh: bool) -> Side:
    """Install a tree in an environment of its own.

    Unless it is to be fresh, the packages of the present environment are shown after its own. They are named by a path
    alone: files that end in `.pth` are not read there, so that an editable install of deviate does not count.
    """
    side = Side(name, source, scratch / "environments" / name)
    venv.create(side.prefix, symlinks=True, with_pip=False)
    quiet = ["--quiet", "--no-input", "--disable-pip-version-check"]
    pip = [sys.executable, "-m", "pip"]
    into = [*pip, "--python", str(side.python), "install", *quiet]
    if is_fresh:
        subprocess.run([*into, str(source)], check=True)
        check_origin(side)
        return side
    # Built by the hatchling of the present environment: nothing is fetched.
    wheels = scratch / "wheels" / name
    build = [*pip, "wheel", *quiet, "--no-deps", "--no-build-isolation", "--wheel-dir", str(wheels), str(source)]
    subprocess.run(build, check=True)
    subprocess.run([*into, "--no-deps", "--no-index", *map(str, wheels.iterdir())], check=True)
    variables = {"base": str(side.prefix), "platbase": str(side.prefix)}
    lines = dict.fromkeys([sysconfig.get_path("purelib"), sysconfig.get_path("platlib")])
    packages = Path(sysconfig.get_path("purelib", vars=variables))
    (packages / "shown_after.pth").write_text("\n".join(lines) + "\n", encoding="utf-8")
    check_origin(side)
    return side


def check_origin(side: Side) -> None:
    """Raises RuntimeError where the environment would run another deviate than its own."""
    question = "import deviate; print(deviate.__file__)"
    command = [str(side.python), "-c", question]
    environment = {"PATH": os.environ["PATH"]}  # neither a PYTHONPATH nor the folder of the caller counts
    done = subprocess.run(command, cwd=side.prefix, env=environment, stdout=subprocess.PIPE, text=True, check=True)
    answer = done.stdout.strip()
    if not Path(answer).is_relative_to(side.prefix):
        raise RuntimeError(f"the environment {side.prefix} runs the deviate of {answer}")
