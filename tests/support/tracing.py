"""Runs a script without a trace and with one; it trains some times in a row, and does something else in one update."""

import json
from dataclasses import dataclass
from pathlib import Path

from harness import Child, Result

from deviate.diverge.traces import MARKS

STEPS = 5
"""Updates of each part of the script."""
TOUCHED = 3
"""The one of them in which a part does something else than the one that it is compared with."""
Record = tuple[int, str, str, int, str]
"""Step, kind, name, digest, form."""


@dataclass(frozen=True)
class Traced:
    """A run without a trace and one with it.

    Attributes:
        parts: what the parts of the script are called, in order.
    """

    plain: Result
    traced: Result
    lines: list[list]
    records: list[Record]
    parts: tuple[str, ...]

    def first(self, part: str, *, beside: str) -> tuple[int, str, str] | None:
        """Step within a part of the script, kind and name of its first record that another part does not have there.

        The first step of each is passed over: what is known once a function has been called is told differently there.
        """
        one, other = (self._of(each) for each in (beside, part))
        difference = next((b[:3] for a, b in zip(one, other, strict=False) if a != b), None)
        assert one
        assert difference is not None or len(one) == len(other)
        return difference

    def _of(self, part: str) -> list[Record]:
        begin = STEPS * self.parts.index(part)
        return [(it[0] - begin, *it[1:]) for it in self.records if begin < it[0] < begin + STEPS]

    def names(self, kind: str, step: int = 0) -> list[str]:
        return [name for at, of, name, *_ in self.records if (at, of) == (step, kind)]


def traced(folder: Path, script: str, parts: tuple[str, ...], level: int = 3, **environment: str) -> Traced:
    def run(name: str, capture: dict[str, str]) -> Result:
        result = Child(folder / name, script).run(capture=capture, environment=environment)  # type: ignore[arg-type]
        assert (result.code, result.of("error")) == (0, []), (result.stderr, result.of("error"))
        return result

    plain, other = run("plain", {}), run("traced", {"trace": str(level)})
    (path,) = (folder / "traced" / "attempt-1" / "artifacts").glob("trace-*.jsonl")
    lines = [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]
    return Traced(plain, other, lines, _records(lines), parts)


def _records(lines: list[list]) -> list[Record]:
    found: list[Record] = []
    step = 0
    for line in lines:
        if line[0] == "step":
            step = line[1]
        elif line[0] not in MARKS:
            found.append((step, *line[:4]))
    return found


def nothing_changed(runs: Traced) -> bool:
    """Whether the traced run printed what the plain one did, weights and next random numbers, and wrote the same."""
    return runs.traced.stdout == runs.plain.stdout != "" and _written(runs.traced) == _written(runs.plain)


def _written(run: Result) -> dict[str, bytes]:
    return {str(path.relative_to(run.work)): path.read_bytes() for path in run.work.rglob("*.npy")}
