"""Counts names that say nothing of what they hold, and functions that are named by a bare participle.

    python scripts/vague_names.py [FOLDER] [--list] [--at-most SHARE]

Every bound name of the package counts: assignments, loops, comprehensions, `:=`, `with`, `except` and parameters. The
figures that `--at-most` compares with are those of 2026-11-25, before names were looked at; 0.1 asks for a tenth.
"""

import argparse
import ast
import sys
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

ROOT = Path(__file__).parents[1]
VAGUE = {
    "it",
    "found",
    "told",
    "known",
    "given",
    "made",
    "own",
    "taken",
    "shown",
    "asked",
    "named",
    "kept",
    "held",
    "said",
    "put",
    "gone",
    "left",
    "what",
    "here",
    "there",
    "others",
    "thing",
    "things",
    "stuff",
}
"""Pronouns, participles and fillers. `others` and `left` are vague as values: of what?"""
IRREGULAR = {
    "begun",
    "bound",
    "brought",
    "built",
    "chosen",
    "done",
    "drawn",
    "driven",
    "felt",
    "found",
    "given",
    "gone",
    "grown",
    "held",
    "hidden",
    "kept",
    "known",
    "laid",
    "left",
    "lost",
    "made",
    "meant",
    "met",
    "paid",
    "put",
    "said",
    "seen",
    "sent",
    "shown",
    "sought",
    "spent",
    "spread",
    "taken",
    "told",
    "torn",
    "understood",
    "won",
    "written",
}
NO_PARTICIPLES = {"seed", "feed", "need", "speed", "embed", "shed", "bed", "red", "exceed", "proceed", "succeed"}
BEFORE = {"names": 3824, "functions": 547}
"""At commit 38890f5."""


def bound_names(tree: ast.AST) -> Iterator[tuple[int, str]]:
    """Lines and names that are bound anywhere in a file, functions, classes and imports aside."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store):
            yield node.lineno, node.id
        elif isinstance(node, ast.arg):
            yield node.lineno, node.arg
        elif isinstance(node, ast.ExceptHandler) and node.name:
            yield node.lineno, node.name


def is_participle(name: str) -> bool:
    """Whether a function is named by one word that is a past participle: `taken`, `named`, `_shown`."""
    word = name.strip("_")
    if "_" in word or word in NO_PARTICIPLES:
        return False
    return word in IRREGULAR or (word.endswith("ed") and len(word) > 3)


def participles(tree: ast.AST) -> Iterator[tuple[int, str]]:
    """Lines and names of functions that a participle names; properties and attributes describe a value, and may."""
    for node in ast.walk(tree):
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef) and is_participle(node.name):
            decorators = {ast.unparse(decorator) for decorator in node.decorator_list}
            if not decorators & {"property", "functools.cached_property", "cached_property"}:
                yield node.lineno, node.name


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", nargs="?", type=Path, default=ROOT / "deviate")
    parser.add_argument("--list", action="store_true", help="every place, not only the counts")
    parser.add_argument("--at-most", type=float, metavar="SHARE", help="exit 1 above this share of the earlier count")
    arguments = parser.parse_args()
    counts: dict[str, Counter[str]] = {"names": Counter(), "functions": Counter()}
    for path in sorted(arguments.folder.rglob("*.py")):
        tree = ast.parse(path.read_text(encoding="utf-8"))
        vague = [(line, name) for line, name in bound_names(tree) if name in VAGUE]
        for kind, places in (("names", vague), ("functions", list(participles(tree)))):
            counts[kind].update(name for _, name in places)
            if arguments.list:
                print(*(f"{path}:{line}: {name}" for line, name in places), sep="\n", end="\n" if places else "")
    for kind, counter in counts.items():
        most = ", ".join(f"{name} {number}" for name, number in counter.most_common(8))
        print(f"{kind}: {counter.total()} of {BEFORE[kind]} ({most})")
    limit = arguments.at_most
    return int(limit is not None and any(counts[kind].total() > limit * BEFORE[kind] for kind in counts))


if __name__ == "__main__":
    sys.exit(main())
