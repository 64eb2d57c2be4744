"""Interprets the user's command: its project, working folder, and the script to analyse."""

import itertools
import os
import shlex
import shutil
import sys
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from deviate.base.decisions import log_decision
from deviate.base.git import allowed_root, project_root
from deviate.base.redaction import redact_words
from deviate.errors import InputError
from deviate.model.places import is_notebook

CONFIG = "deviate.toml"
TRAIN_KEY = '[experiment] train = "train.py"'
COMMAND_KEY = '[experiment] command = "python train.py"'
SCRIPTS = (".py", ".ipynb")
JUPYTER = ("jupyter", "ipython", "papermill")
"""Programs that run a notebook in a kernel, where deviate records nothing; deviate runs notebooks as scripts."""
SHELLS = frozenset({"sh", "bash", "dash", "zsh"})
SHELL_FLAGS = frozenset({"-c", "-lc", "-ec", "-xc"})


@dataclass(frozen=True, slots=True)
class Target:
    """A command in its project.

    Attributes:
        root: git top level of the working folder, else the working folder itself.
        cwd: the working folder, relative to root.
        script: the entry script, absolute.
        then: following commands in the same working copy.
        later_scripts: further Python scripts of a run, absolute: those of following commands, or of a shell script.
    """

    root: Path
    cwd: str
    script: Path
    command: tuple[str, ...]
    then: tuple[tuple[str, ...], ...] = ()
    later_scripts: tuple[Path, ...] = ()


def locate(
    words: Sequence[str],
    folder: Path,
    python: str | None = None,
    *,
    default: str | None = None,
    then: Sequence[Sequence[str]] = (),
    train: str | None = None,
) -> Target:
    """Interpret a command line: `train.py --epochs 5`, `python -m pkg.train`, `torchrun train.py`.

    Args:
        words: a script with its arguments, or a whole command.
        folder: working folder of the user.
        python: interpreter for a script, if the user named one.
        default: default interpreter; None for the one on PATH.
        then: following commands, of the same form; they need not run Python.
        train: the training script relative to the project root, for a command that names none, such as `make train`.

    Raises:
        InputError: there is no script, it does not exist, or the project would be a home folder. A script that is
            outside the project of the folder makes their common folder the project.
    """
    if not words:
        raise InputError(
            "no script or command", f"name a script: deviate run train.py; or a command in {CONFIG}: {COMMAND_KEY}"
        )
    root = project_root(folder)
    script = _script_of(words, folder, root, train)
    if not script.is_relative_to(root):  # as in `deviate run ../train.py`
        root = allowed_root(Path(os.path.commonpath((root, script.parent))))
    interpreter = python or default or default_python()
    log_decision("project", "interpreter of a script: %s, %s", interpreter, "as named" if python else "by default")
    command = with_interpreter(words, interpreter)
    if python is not None and command == tuple(words):
        raise InputError("--python applies to scripts, not to commands", "name the interpreter in the command")
    following, scripts = [], list(_scripts_of_shell_words(words, folder))
    for later_words in then:
        following.append(with_interpreter(later_words, interpreter))
        later_script = next(_scripts(later_words, folder), None)
        scripts += [later_script] if later_script is not None else []
    scripts = [other for other in scripts if other.is_relative_to(root) and other != script]
    cwd = folder.relative_to(root).as_posix()
    return Target(root, cwd, script, command, tuple(following), tuple(dict.fromkeys(scripts)))


def refuse_unknown_program(words: Sequence[str], folder: Path, flag: str = "") -> None:
    """Raise InputError if a command names a missing program; a path is relative to the folder, as for the shell.

    Args:
        flag: which option the command is from, for the message.
    """
    program = words[0]
    if "/" not in program and shutil.which(program) is None:
        where = "on PATH"
    elif "/" in program and not os.access(folder / program, os.X_OK):
        where = f"that can be executed in {folder}"
    else:
        return
    raise InputError(
        f"{flag}{shlex.join(redact_words(words))}: there is no program {program!r} {where}",
        "check the command, and what is installed",
    )


def refuse_missing_script(words: Sequence[str], folder: Path, flag: str) -> None:
    """Raise InputError if a command names a Python script that does not exist; `flag` is the option it is from."""
    try:
        next(_scripts(words, folder), None)
    except InputError as error:
        raise InputError(f"{flag}{shlex.join(redact_words(words))}: {error.message}", error.hint) from None


def _script_of(words: Sequence[str], folder: Path, root: Path, train: str | None) -> Path:
    """The Python script of a command: a file among its words, the module after `-m`, or that of a shell script."""
    if _is_bare_shell_script(words, folder):
        raise InputError(f"{words[0]} is a shell script", f"name its shell: deviate run -- bash {shlex.join(words)}")
    first_script = next(_scripts(words, folder), None)
    if first_script is not None:
        return first_script
    if len(words) == 1 and len(words[0].split()) > 1 and not (folder / words[0]).exists():
        raise InputError(f"{words[0]!r} is one quoted word", f"write a command after --: deviate run -- {words[0]}")
    shell = words[1] if len(words) > 1 and Path(words[0]).name in SHELLS else ""
    if shell.endswith((".sh", ".bash")) and not (folder / shell).is_file():
        raise InputError(f"no script {shell} in {folder}", _near(folder / shell, "*.sh"))
    if train is not None and (shutil.which(words[0]) or (folder / words[0]).is_file()):
        if not (root / train).is_file():
            raise InputError(f"{CONFIG} names the script {train}, which does not exist", _near(root / train))
        return (root / train).resolve()
    if len(words) == 1 and (folder / words[0]).is_dir():
        raise InputError(f"{words[0]} is a folder", "name the training script in it")
    if len(words) == 1 and (folder / words[0]).is_file() and not shutil.which(words[0]):
        raise InputError(f"{words[0]} is no Python script, notebook or program", _near(folder / words[0]))
    if len(words) == 1 and not shutil.which(words[0]):
        raise InputError(f"no script {words[0]} in {folder}", _near(folder / words[0]))
    raise InputError(
        f"no Python script in the command {shlex.join(words)}",
        f"name the script that it runs in {CONFIG}: {TRAIN_KEY}; or in the command: deviate run -- python train.py",
    )


def _is_bare_shell_script(words: Sequence[str], folder: Path) -> bool:
    """Whether a command begins with a shell script that the system cannot execute by itself."""
    word = words[0]
    if not word.endswith((".sh", ".bash")) or not (folder / word).is_file():
        return False
    return not os.access(folder / word, os.X_OK) if "/" in word else shutil.which(word) is None


def _scripts(words: Sequence[str], folder: Path) -> Iterator[Path]:
    """Every Python script that a command names, in order.

    Raises:
        InputError: a script is named that does not exist, or a notebook that another program is to run.
    """
    for index, word in enumerate(words):
        if _is_shell_text(words, index):
            yield from _scripts_of_shell(word, folder)
        elif word == "-m" and index + 1 < len(words) and index > 0:
            module_file = _module(words[index + 1], folder)
            if module_file is not None:
                yield module_file
        elif word.endswith(SCRIPTS) and (len(words) > 1 or len(word.split()) == 1 or (folder / word).is_file()):
            path = folder / word
            if is_notebook(word) and Path(words[0]).name.startswith(JUPYTER):
                raise InputError(f"{words[0]} is no Python", f"deviate runs the notebook itself: deviate run {word}")
            if not path.is_file():
                kind = "notebook" if is_notebook(word) else "script"
                raise InputError(f"no {kind} {word} in {folder}", _near(path, f"*{path.suffix}"))
            yield path.resolve()
        else:
            yield from _scripts_of_shell_words((word,), folder)


def _scripts_of_shell_words(words: Sequence[str], folder: Path) -> Iterator[Path]:
    """Python scripts of all shell scripts and inline shell code in a command."""
    for index, word in enumerate(words):
        if _is_shell_text(words, index):
            yield from _scripts_of_shell(word, folder)
        elif word.endswith((".sh", ".bash")) and (folder / word).is_file():
            yield from _scripts_of_shell((folder / word).read_text(encoding="utf-8", errors="replace"), folder)


def _is_shell_text(words: Sequence[str], index: int) -> bool:
    return index > 0 and words[index - 1] in SHELL_FLAGS and Path(words[0]).name in SHELLS


def _scripts_of_shell(text: str, folder: Path) -> Iterator[Path]:
    """Python scripts that a shell script runs in the folder, if its lines name them literally."""
    for line in text.replace("\\\n", " ").splitlines():
        lexer = shlex.shlex(line, posix=True, punctuation_chars=True)
        lexer.whitespace_split = True
        try:
            tokens = list(lexer)
        except ValueError:  # a quotation over several lines
            continue
        for is_end, words in itertools.groupby(tokens, lambda token: set(token) <= set("();<>|&")):
            plain = [] if is_end else [word for word in words if not word.endswith((".sh", ".bash"))]
            try:
                yield from _scripts(plain, folder)
            except InputError:  # a name that only the shell can expand
                continue


def _module(name: str, folder: Path) -> Path | None:
    """The file that `-m` runs, if Python would find it, or if it is in `src` of an installed project."""
    places = [Path(place) for place in os.environ.get("PYTHONPATH", "").split(os.pathsep) if place]
    for place in (Path(), *places, Path("src")):
        module = folder.joinpath(place, *name.split("."))
        for path in (module.parent / f"{module.name}.py", module / "__main__.py"):
            if path.is_file():
                return path.resolve()
    return None


def _near(path: Path, pattern: str = "*.py") -> str:
    neighbours = sorted(neighbour.name for neighbour in path.parent.glob(pattern))[:8] if path.parent.is_dir() else []
    return f"scripts there: {', '.join(neighbours)}" if neighbours else "check the path"


def with_interpreter(words: Sequence[str], python: str) -> tuple[str, ...]:
    """The command, with the interpreter inserted before a bare script."""
    return (python, *words) if words[0].endswith(SCRIPTS) else tuple(words)


def default_python(*, has_container: bool = False) -> str:
    """The default interpreter for a script: the one on PATH that would have run it.

    Args:
        has_container: whether the script runs in a container, where paths of this machine do not exist.
    """
    if has_container:
        return "python"
    return shutil.which("python") or shutil.which("python3") or sys.executable
