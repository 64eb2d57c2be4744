"""Does the package still do what it did? The commands of two versions over the same inputs, compared.

    scripts/same_as COMMIT [--only PATTERN] [--tree] [--keep FOLDER] [--corpus FOLDER] [--runs] [--examples]

Each version is installed in an environment of its own. A line is printed for each command whose exit code, output or
files differ, with the beginning of a diff. The exit code is 1 if there is such a command whose difference the file of
expected differences does not name.
"""

import argparse
import hashlib
import os
import queue
import re
import shutil
import subprocess
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, replace
from pathlib import Path

from scripts.sameness.commands import Scene, scenes
from scripts.sameness.environments import ROOT, Side, install, run_git, write_checkout, write_commit
from scripts.sameness.inputs import make_inputs, scripts_of
from scripts.sameness.outcomes import Folder, Outcome, differences
from scripts.sameness.sides import Forked, played

EXPECTED = ROOT / "scripts/same_as_expected.txt"
COMMAND = "command: "
KEPT = ROOT / "build/same_as"
"""Inputs, and the list of fonts that matplotlib takes seconds to make."""
SHOWN = 20
"""Lines of a diff that are printed."""
NAMED = 5
"""Files that differ which are named in the line of their command."""
AT_A_TIME = 2


@dataclass(frozen=True)
class Compared:
    """A command, its two outcomes, and where they differ."""

    name: str
    old: Outcome
    new: Outcome
    diffs: tuple[tuple[str, list[str]], ...]

    def is_expected(self, expected: "Expected") -> bool:
        """Whether the command, or each changed line, was changed on purpose."""
        if any(pattern.search(self.name) for pattern in expected.commands):
            return True
        changed = [line[1:] for _, diff in self.diffs for line in diff if line[:1] in {"-", "+"}]
        return all(any(pattern.search(line) for pattern in expected.lines) for line in changed)


@dataclass(frozen=True)
class Expected:
    """What was changed on purpose: patterns of the names of commands, and of changed lines."""

    commands: tuple[re.Pattern[str], ...]
    lines: tuple[re.Pattern[str], ...]


def parsed(arguments: list[str]) -> argparse.Namespace:
    parser = argparse.ArgumentParser(
        prog="scripts/same_as", description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("commit", metavar="COMMIT", help="what the working tree is compared with")
    parser.add_argument("--tree", action="store_true", help="compare the checkout as it is, not its last commit")
    parser.add_argument("--only", metavar="PATTERN", default="", help="commands whose name has this regular expression")
    parser.add_argument("--corpus", metavar="FOLDER", type=Path, help="further scripts to analyse, in any folders")
    parser.add_argument("--runs", action="store_true", help="also train, resume and diagnose on both sides")
    parser.add_argument("--examples", action="store_true", help="also record and report the examples with a framework")
    parser.add_argument("--fresh", action="store_true", help="install the dependencies of each side, too")
    parser.add_argument("--inputs", metavar="FOLDER", type=Path, help="keep recorded inputs there, and use them again")
    parser.add_argument("--keep", metavar="FOLDER", type=Path, help="keep both outputs of commands that differ")
    parser.add_argument("--expect", metavar="FILE", type=Path, default=EXPECTED, help="expected changes of words")
    return parser.parse_args(arguments)


def read_expected(path: Path) -> Expected:
    """Regular expressions, one a line: of a command after `command: `, else of a line. `#` begins a comment."""
    text = path.read_text(encoding="utf-8") if path.exists() else ""
    patterns = [line for line in text.splitlines() if line.strip() and not line.startswith("#")]
    commands = [line.removeprefix(COMMAND) for line in patterns if line.startswith(COMMAND)]
    lines = [line for line in patterns if not line.startswith(COMMAND)]
    return Expected(tuple(map(re.compile, commands)), tuple(map(re.compile, lines)))


def environment_of(scratch: Path) -> dict[str, str]:
    """Variables of all commands: nothing of the caller's but his interpreter, and nothing that differs by the hour."""
    for folder in (scratch / "home", scratch / "temporary", KEPT / "matplotlib"):
        folder.mkdir(parents=True, exist_ok=True)
    return {
        "PATH": os.pathsep.join([str(Path(sys.executable).parent), "/usr/local/bin", "/usr/bin", "/bin"]),
        "HOME": str(scratch / "home"),
        "TMPDIR": str(scratch / "temporary"),
        "LANG": "C.UTF-8",
        "TZ": "UTC",
        "COLUMNS": "120",
        "NO_COLOR": "1",
        "MPLBACKEND": "agg",
        "MPLCONFIGDIR": str(KEPT / "matplotlib"),
        "PYTHONHASHSEED": "0",
        "PYTHONNOUSERSITE": "1",
        "OMP_NUM_THREADS": "1",
        "OPENBLAS_NUM_THREADS": "1",
        "CUDA_VISIBLE_DEVICES": "",
        "TF_CPP_MIN_LOG_LEVEL": "3",
        "SOURCE_DATE_EPOCH": "1700000000",
    }


def both_sides(options: argparse.Namespace, scratch: Path) -> tuple[Side, Side]:
    write_commit(options.commit, scratch / "sources/old")
    if options.tree:
        write_checkout(scratch / "sources/new")
    else:
        write_commit("HEAD", scratch / "sources/new")
    with ThreadPoolExecutor(2) as pool:
        sides = pool.map(
            lambda name: install(name, scratch / "sources" / name, scratch, is_fresh=options.fresh), ("old", "new")
        )
        old, new = sides
    return old, new


def kept_inputs(commit: str) -> Path:
    """Where inputs of a commit are kept: recorded once, they are used until what records them changes."""
    digest = hashlib.sha256(run_git("rev-parse", f"{commit}^{{commit}}"))
    for path in sorted(Path(__file__).parent.rglob("*.py")):
        if path.name == "inputs.py" or path.parent.name == "fixtures":
            digest.update(path.read_bytes())
    return KEPT / digest.hexdigest()[:12]


def chosen_scenes(
    options: argparse.Namespace, inputs: Path, old: Side, environment: dict[str, str], corpus: Path | None
) -> Iterator[Scene]:
    """Scenes with a command that the pattern of `--only` names; of a batch, which shares no state, those commands alone."""
    listed = ["records", "examples", "package", "snippets", *(["corpus"] if corpus else [])]
    if corpus:  # another folder than last time, or other scripts in it
        shutil.rmtree(inputs / "corpus", ignore_errors=True)
    make_inputs(inputs, listed, old, environment, corpus)
    samples = sorted(path.name for path in (inputs / "records/.deviate/experiments").iterdir())
    scripts = {name: scripts_of(inputs / name) for name in listed[1:]}
    for scene in scenes(scripts, samples, with_runs=options.runs, with_examples=options.examples):
        lines = tuple(line for line in scene.lines if re.search(options.only, scene.named(line)))
        if lines:
            yield replace(scene, lines=lines) if scene.is_batch else scene


def compared(chosen: list[Scene], inputs: Path, scratch: Path, sides: tuple[Side, Side], environment: dict[str, str]
             ) -> Iterator[Compared]:  # fmt: skip
    """Both outcomes of every command, in the order of the scenes."""
    moment = float(int(time.time()))
    pairs: queue.SimpleQueue[tuple[Path, tuple[Forked, Forked]]] = queue.SimpleQueue()
    everyone: list[Forked] = []
    folders: dict[tuple[Path, str], Folder] = {}
    for index in range(min(AT_A_TIME, len(chosen))):
        pair = (Forked(sides[0], environment, moment), Forked(sides[1], environment, moment))
        everyone += pair
        pairs.put((scratch / f"place-{index}", pair))

    def play(scene: Scene) -> list[Compared]:
        place, pair = pairs.get()
        try:
            folder = folders.get((place, scene.project))
            if folder is None:
                folder = folders[place, scene.project] = Folder(inputs / scene.project, place / scene.project)
            outcomes = played(scene, folder, pair)
        finally:
            pairs.put((place, pair))
        return [
            Compared(scene.named(line), old, new, tuple(differences(old, new)))
            for line, (old, new) in zip(scene.lines, outcomes, strict=True)
        ]

    with ThreadPoolExecutor(AT_A_TIME) as pool:
        for commands in pool.map(play, chosen):
            yield from commands
    for process in everyone:
        process.end()


def show(command: Compared, *, is_expected: bool) -> None:
    what = "differs as expected" if is_expected else "differs"
    names = [name for name, _ in command.diffs]
    more = [f"{len(names) - NAMED} more"] if len(names) > NAMED else []
    print(f"{what}: {command.name}  ({', '.join([*names[:NAMED], *more])})")
    lines = [line for name, diff in command.diffs for line in (f"--- {name}", *diff)]
    for line in lines[:SHOWN]:
        print(f"    {line[:200]}")
    if len(lines) > SHOWN:
        print(f"    … {len(lines) - SHOWN} more lines")
    sys.stdout.flush()


def keep(command: Compared, folder: Path) -> None:
    """Write both outputs of a command to a folder."""
    (folder / "old").mkdir(parents=True)
    (folder / "command.txt").write_text(command.name + "\n", encoding="utf-8")
    for side, left in (("old", command.old), ("new", command.new)):
        for name, data in left.raw.items():
            path = folder / side / name.replace(" ", "-")
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_bytes(data)


def main(arguments: list[str]) -> int:
    """Exit code 1 where a command differs in a way that is not expected."""
    options = parsed(arguments)
    expected = read_expected(options.expect)
    begun = time.monotonic()
    n_equal = n_expected = n_different = n_files = 0
    codes: Counter[str] = Counter()
    # The resolved path: commands print that one, too.
    with tempfile.TemporaryDirectory(prefix="same_as-") as name:
        scratch = Path(name).resolve()
        try:
            sides = both_sides(options, scratch)
        except subprocess.CalledProcessError as error:
            print(f"{error}", file=sys.stderr)
            return 2
        environment = environment_of(scratch)
        inputs = (options.inputs or kept_inputs(options.commit)).resolve()
        corpus = options.corpus.resolve() if options.corpus else None
        chosen = list(chosen_scenes(options, inputs, sides[0], environment, corpus))
        if not chosen:
            print(f"no command has {options.only!r} in its name", file=sys.stderr)
            return 2
        make_inputs(inputs, {scene.project for scene in chosen}, sides[0], environment, corpus)
        print(f"Environments and inputs are made, after {time.monotonic() - begun:.0f} s", flush=True)
        if options.keep:
            shutil.rmtree(options.keep, ignore_errors=True)
        for command in compared(chosen, inputs, scratch, sides, environment):
            n_files += command.old.n_files
            codes.update(command.old.parts["exit code"])
            if not command.diffs:
                n_equal += 1
                continue
            is_expected = command.is_expected(expected)
            n_expected += is_expected
            n_different += not is_expected
            show(command, is_expected=is_expected)
            if options.keep:
                keep(command, options.keep / f"{n_expected + n_different:03}")
    also = f", {n_expected} as expected" if n_expected else ""
    ended = ", ".join(f"{code} of {n}" for code, n in sorted(codes.items()))
    print(f"{n_files} files compared, in {time.monotonic() - begun:.0f} s; exit codes: {ended}")
    print(f"{n_equal} commands equal, {n_different} differ{also}")
    if not codes.get("0"):
        print("no command succeeded: deviate cannot be used in these environments", file=sys.stderr)
        return 2
    return int(n_different > 0)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
