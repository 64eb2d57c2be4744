"""Mutants drawn at random over the package, each run against the tests of its room: the quick tier, then the slow.

    python scripts/mutants.py [--count 40] [--seed 0] [--check]

A mutant is the package with one operator, condition, number or returned value changed. It counts as detected when a
test fails. What both tiers detect and the quick tier misses is printed; `--check` fails below nine in ten. The working
tree is changed while a mutant is run and must be clean.
"""

import argparse
import ast
import os
import random
import subprocess
import sys
import time
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).parents[1]
SHARE = 0.9
"""The least share of the mutants detected by both tiers that the quick tier detects alone."""
LIMIT_S = 1200.0
"""A mutant may never end; tests that take longer are stopped and count as failed."""
OPERATORS: dict[type[ast.AST], type[ast.AST]] = {
    ast.Lt: ast.LtE,
    ast.LtE: ast.Lt,
    ast.Gt: ast.GtE,
    ast.GtE: ast.Gt,
    ast.Eq: ast.NotEq,
    ast.NotEq: ast.Eq,
    ast.In: ast.NotIn,
    ast.NotIn: ast.In,
    ast.Is: ast.IsNot,
    ast.IsNot: ast.Is,
    ast.And: ast.Or,
    ast.Or: ast.And,
    ast.Add: ast.Sub,
    ast.Sub: ast.Add,
    ast.Mult: ast.Div,
    ast.Div: ast.Mult,
}


@dataclass(frozen=True)
class Mutant:
    """One change: the text between two offsets of a file is replaced."""

    file: Path
    line: int
    begin: int
    end: int
    before: str
    after: str

    def __str__(self) -> str:
        place = f"{self.file.relative_to(ROOT)}:{self.line}"
        return f"{place}: {' '.join(self.before.split())}  →  {' '.join(self.after.split())}"


def changed(node: ast.AST) -> str | None:
    """The text of the expression with one change; None for what is left as it is."""
    match node:
        case ast.Compare(left, [operator], [right]) if type(operator) in OPERATORS:
            return ast.unparse(ast.Compare(left, [OPERATORS[type(operator)]()], [right]))  # type: ignore[list-item]
        case ast.BoolOp(operator, values):
            return ast.unparse(ast.BoolOp(OPERATORS[type(operator)](), values))  # type: ignore[arg-type]
        case ast.BinOp(left, operator, right) if type(operator) in OPERATORS:
            if any(isinstance(side, ast.JoinedStr) or is_text(side) for side in (left, right)):
                return None
            return ast.unparse(ast.BinOp(left, OPERATORS[type(operator)](), right))  # type: ignore[arg-type]
        case ast.UnaryOp(ast.Not(), operand):
            return f"bool({ast.unparse(operand)})"
        case ast.Constant(bool(value)):
            return str(not value)
        case ast.Constant(int(value)):
            return str(value + 1)
    return None


def is_text(node: ast.AST) -> bool:
    return isinstance(node, ast.Constant) and isinstance(node.value, str)


def expressions(node: ast.AST) -> Iterator[ast.AST]:
    """All nodes that a running program evaluates: annotations and blocks for type checkers are left out."""
    if isinstance(node, ast.If) and ast.unparse(node.test).endswith("TYPE_CHECKING"):
        return
    yield node
    for field, value in ast.iter_fields(node):
        if field in {"annotation", "returns", "type_params"}:
            continue
        for child in value if isinstance(value, list) else [value]:
            # The parts of an f-string have no place of their own in the text before Python 3.12.
            if isinstance(child, ast.AST) and not isinstance(child, ast.JoinedStr):
                yield from expressions(child)


def mutants_of(file: Path) -> Iterator[Mutant]:
    text = file.read_text(encoding="utf-8")
    starts = [0]
    for line in text.splitlines(keepends=True):
        starts.append(starts[-1] + len(line))
    lines = text.splitlines(keepends=True)

    def offset(line: int, column: int) -> int:
        return starts[line - 1] + len(lines[line - 1].encode()[:column].decode())

    for node in expressions(ast.parse(text)):
        after = changed(node)
        if after is None or not isinstance(node, ast.expr) or node.end_lineno is None or node.end_col_offset is None:
            continue
        begin, end = offset(node.lineno, node.col_offset), offset(node.end_lineno, node.end_col_offset)
        yield Mutant(file, node.lineno, begin, end, text[begin:end], f"({after})")


def tests_of(file: Path) -> list[str]:
    """The tests of a file's room; of rooms and files without a folder of tests, those of the commands."""
    room = file.relative_to(ROOT / "deviate").parts[0]
    folder = ROOT / "tests" / room
    if folder.is_dir():
        return [str(folder.relative_to(ROOT))]
    return [str(path.relative_to(ROOT)) for path in sorted((ROOT / "tests").glob("test_*.py"))]


def nearest_tests(file: Path, tests: list[str]) -> list[str]:
    """The tests named as the file or its folder: they are run before the others, since most mutants fail there."""
    folder = file.parent.name if len(file.relative_to(ROOT).parts) > 3 else None
    names = [
        path for name in tests for path in ([ROOT / name] if name.endswith(".py") else (ROOT / name).rglob("test_*.py"))
    ]
    same = [path for path in names if path.stem == f"test_{file.stem}" and folder in {None, path.parent.name}]
    beside = [path for path in names if folder == path.parent.name]
    return [str(path.relative_to(ROOT)) for path in same or beside]


def is_detected(tests: list[str], tier: str) -> bool:
    command = [sys.executable, "-m", "pytest", "-x", "-q", "-n", "auto", "--dist", "loadfile", "-p", "no:cacheprovider"]
    process = subprocess.Popen(
        [*command, "-m", tier, *tests],
        cwd=ROOT,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
        start_new_session=True,
    )
    try:
        return process.wait(LIMIT_S) not in {0, 5}  # 5: the room has no test in this tier
    except subprocess.TimeoutExpired:
        os.killpg(process.pid, 9)
        process.wait()
        return True


def run() -> int:
    """Draw the mutants, run the tests against each, and print what was detected."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--count", type=int, default=40)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--check", action="store_true", help=f"fail below a share of {SHARE}")
    options = parser.parse_args()
    if subprocess.run(["git", "status", "--porcelain"], cwd=ROOT, capture_output=True, text=True, check=True).stdout:
        parser.error("the working tree has changes; commit them first")
    population = [mutant for file in sorted((ROOT / "deviate").rglob("*.py")) for mutant in mutants_of(file)]
    n_quick = n_slow = 0
    for mutant in random.Random(options.seed).sample(population, options.count):
        text = mutant.file.read_text(encoding="utf-8")
        started = time.monotonic()
        try:
            mutant.file.write_text(text[: mutant.begin] + mutant.after + text[mutant.end :], encoding="utf-8")
            tests = tests_of(mutant.file)
            nearest = nearest_tests(mutant.file, tests)
            in_quick = (bool(nearest) and is_detected(nearest, "not slow")) or is_detected(tests, "not slow")
            in_slow = not in_quick and is_detected(tests, "slow")
        finally:
            mutant.file.write_text(text, encoding="utf-8")
        n_quick += in_quick
        n_slow += in_slow
        verdict = "quick" if in_quick else "slow " if in_slow else "none "
        print(f"{verdict}  {time.monotonic() - started:5.0f} s  {mutant}", flush=True)
    n_both = n_quick + n_slow
    print(f"{options.count} of {len(population)} mutants, seed {options.seed}")
    print(f"detected by both tiers {n_both}, by the quick tier alone {n_quick}")
    return int(options.check and n_quick < SHARE * n_both)


if __name__ == "__main__":
    sys.exit(run())
