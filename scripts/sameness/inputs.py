"""Projects over which the commands of both sides run: made once, and copied for each of them."""

import ast
import functools
import json
import os
import shutil
import subprocess
import sys
import textwrap
from collections.abc import Callable, Collection, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

from scripts.sameness.environments import Side

FIXTURES = Path(__file__).parent / "fixtures"
SHIFTS = {"wide.csv": 0.0, "new.csv": 0.4}
EXAMPLES = {
    "digits_torch": "--epochs 2",
    "factors_torch": "--epochs 2",
    "factors_jax": "--epochs 2",
    "digits_keras": "--epochs 1",
    "fgsm_digits": "--epochs 1",
}
"""Examples that need a framework, with arguments that make them short."""
RECORDED: dict[str, tuple[str, ...]] = {
    "runs": (
        "run train.py --runs 6 --name base --variants algo+impl,algo,impl,control",
        "run train.py --runs 6 --name fast --variants algo+impl,control -- --rate 0.3",
        "run train.py --runs 6 --name third -- --rate 0.02",
        "run train.py --runs 8 --name failing -- --fails",
        "run train.py --runs 5 --name swept --sweep --batch-size=2,8,20",
        "run train.py --runs 6 --name looks --looks 5,6",
        "diverge part.py --name apart -- part",
        "diverge part.py --name same",
        "run tiny.py --runs 3 --name tiny -- --epochs 3",
    ),
    "networks": (
        "run net.py --runs 5 --name net --variants algo+impl,one-bit --capture predictions,weights --capture-every 1",
        "run net.py --runs 5 --name shuffled --variants shuffle --capture predictions",
        "diverge noisy.py --name noisy --variant as-is",
    ),
    "trained": tuple(f"run {name}/train.py --runs 2 --name {name} -- {words}" for name, words in EXAMPLES.items()),
    "costs": ("overhead costly.py --runs 5 --profiled-runs 3 --name costly",),
}
"""Commands of the old side that leave records, by project; a project is recorded from top to bottom."""


def make_inputs(
    place: Path, wanted: Collection[str], old: Side, environment: dict[str, str], corpus: Path | None
) -> None:
    """Make the projects that are wanted under a folder; what is there already is kept."""
    tree = old.source
    makers: dict[str, Callable[[Path], object]] = {
        "records": lambda folder: _records(tree, folder),
        "files": lambda folder: _files(tree, folder),
        "fresh": lambda folder: _fresh(tree, folder),
        "examples": lambda folder: shutil.copytree(tree / "examples", folder, dirs_exist_ok=True),
        "snippets": lambda folder: _snippets(tree, folder),
        "package": lambda folder: _package(tree, folder),
        **({"corpus": lambda folder: _scripts(corpus, folder)} if corpus else {}),
        **{name: functools.partial(_record, RECORDED[name], old, environment) for name in RECORDED},
    }
    missing = [name for name in makers if name in wanted and not (place / name).exists()]

    def make(name: str) -> None:
        # Under another name until it is whole: what is interrupted is made anew.
        folder = place / f"{name}.making"
        shutil.rmtree(folder, ignore_errors=True)
        folder.mkdir(parents=True)
        makers[name](folder)
        folder.rename(place / name)

    with ThreadPoolExecutor(2) as pool:
        list(pool.map(make, sorted(missing, key=lambda name: name not in RECORDED)))


def _record(lines: Sequence[str], old: Side, environment: dict[str, str], folder: Path) -> None:
    """Record experiments with the old side. A run may fail, as some are made to; a command that is refused may not."""
    shutil.copytree(FIXTURES, folder, dirs_exist_ok=True)
    shutil.copy(old.source / "examples/tiny.py", folder)
    for name in EXAMPLES:
        shutil.copytree(old.source / "examples" / name, folder / name)
    for line in lines:
        verb, *words = line.split()
        flags = ["--quiet"] if verb == "diverge" else ["--quiet", "--jobs", "1"]
        command = [str(old.deviate), verb, *flags, *words]
        done = subprocess.run(command, cwd=folder, env=environment, capture_output=True, text=True, check=False)
        if done.returncode not in {0, 3}:
            raise RuntimeError(f"deviate {line} ended with {done.returncode}:\n{done.stdout}{done.stderr}")


def _records(tree: Path, folder: Path) -> None:
    """The stored sample."""
    shutil.copytree(tree / "tests/records/samples/base", folder / ".deviate/experiments/base")


def _files(tree: Path, folder: Path) -> None:
    """Results from elsewhere: files of the importers' tests, tables, JSON, and what trackers write."""
    shutil.copytree(tree / "tests/records/importers/data", folder, dirs_exist_ok=True)
    for name, shift in SHIFTS.items():
        rows = [f"{seed},{_score(seed, shift)},{_score(seed + 7, -shift / 10)}" for seed in range(8)]
        (folder / name).write_text("seed,acc,loss\n" + "\n".join(rows) + "\n", encoding="utf-8")
    rows = [
        f"{method},{seed},{epoch},{_score(seed + epoch, shift + epoch)}"
        for method, shift in (("sgd", 0.0), ("adam", 0.5), ("adamw", 1.0))
        for seed in range(5)
        for epoch in range(4)
    ]
    (folder / "long.csv").write_text("experiment,seed,step,acc\n" + "\n".join(rows) + "\n", encoding="utf-8")
    heads = ["experiment", "seed", "cifar/acc", "svhn/acc", "mnist/acc"]
    rows = [
        ",".join([method, str(seed), *(str(_score(seed + 3 * task, shift)) for task in range(3))])
        for method, shift in (("sgd", 0.0), ("adam", 0.5), ("adamw", 1.0))
        for seed in range(5)
    ]
    (folder / "tasks.csv").write_text(",".join(heads) + "\n" + "\n".join(rows) + "\n", encoding="utf-8")
    documents: dict[str, object] = {
        "list.json": [_score(seed, 0) for seed in range(6)],
        "lists.json": {"base": {"acc": [1.0, 2.0, 2.5]}, "mine": {"acc": [3.0, 3.5, 2.75]}},
        "records.json": {"results": [{"seed": seed, "test": {"acc": _score(seed, 0)}} for seed in range(4)]},
        "history.json": {"log_history": [{"loss": 1 / step, "step": step} for step in range(1, 9)], "global_step": 9},
    }
    for name, document in documents.items():
        (folder / name).write_text(json.dumps(document), encoding="utf-8")
    (folder / "broken.json").write_text('{"acc": [1, 2', encoding="utf-8")
    (folder / "empty.csv").write_text("", encoding="utf-8")
    shutil.copy(FIXTURES / "train.py", folder)
    # Trackers say much on both streams, and not all of them may be installed.
    subprocess.run([sys.executable, FIXTURES / "trackers.py"], cwd=folder, capture_output=True, check=False)


def _score(seed: int, shift: float) -> float:
    """A number that looks random and is the same everywhere."""
    return round(90 + shift + (seed * 7919 % 101) / 60, 4)


def _fresh(tree: Path, folder: Path) -> None:
    """A project without records, for what is frozen, planned and saved."""
    shutil.copytree(FIXTURES, folder, dirs_exist_ok=True)
    shutil.copy(tree / "examples/tiny.py", folder)


def _snippets(tree: Path, folder: Path) -> None:
    """Every text of three lines or more in a test that is a script of Python, as a file of its own."""
    texts: dict[str, None] = {}
    for path in sorted((tree / "tests").rglob("*.py")):
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if isinstance(node, ast.Constant) and isinstance(node.value, str) and node.value.count("\n") > 1:
                text = textwrap.dedent(node.value)
                if _is_script(text):
                    texts[text] = None
    for index, text in enumerate(texts):
        (folder / f"snippet_{index:04}.py").write_text(text, encoding="utf-8")


def _is_script(text: str) -> bool:
    try:
        tree = ast.parse(text)
    except (SyntaxError, ValueError):
        return False
    # Prose of one word in each line is a script, too, but not one that does anything.
    return any(isinstance(node, ast.Call | ast.For | ast.While) for node in ast.walk(tree))


def _package(tree: Path, folder: Path) -> None:
    """The largest project at hand: benchmarks, and scripts that tests run."""
    shutil.copytree(tree / "benchmarks", folder / "benchmarks")
    shutil.copytree(tree / "tests/support", folder / "support")


def _scripts(corpus: Path, folder: Path) -> None:
    """The Python files of a corpus, in their folders."""
    for path in _python_files(corpus):
        (folder / path.relative_to(corpus)).parent.mkdir(parents=True, exist_ok=True)
        shutil.copy(path, folder / path.relative_to(corpus))


def _python_files(root: Path) -> Iterator[Path]:
    for name, folders, files in os.walk(root):
        folders[:] = sorted(inner for inner in folders if not inner.startswith(".") and inner != "__pycache__")
        yield from (Path(name, file) for file in sorted(files) if file.endswith(".py"))


def scripts_of(project: Path) -> list[str]:
    """Paths of the Python files of a project, from its root."""
    return [str(path.relative_to(project)) for path in _python_files(project)]
