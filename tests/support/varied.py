"""Runs a script in which single streams vary, and tells which of the hashes that it prints do."""

import ast
import threading
from collections.abc import Iterable, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path

from harness import Child, Result

STREAMS = ("init", "shuffle", "augment", "dropout", "split", "other")


PARSER = threading.Lock()
"""Two threads that parse at a time are more than the parser of Python 3.11 can bear."""


@dataclass(frozen=True)
class Script:
    """A script that prints `name hash` in each line.

    Attributes:
        main_loop: what its main loop goes over, as it is written; "" where there is none.
    """

    text: str
    main_loop: str = "range(2)"

    def child(self, folder: Path) -> Child:
        child = Child(folder, self.text)
        with PARSER:
            loops = [node for node in ast.walk(ast.parse(self.text)) if isinstance(node, ast.For)]
        for loop in loops:
            if ast.unparse(loop.iter) == self.main_loop:
                child.loop(f"in «{self.main_loop}»:", loop.end_lineno or 0)
        return child

    def run(
        self,
        folder: Path,
        seeds: dict[str, int] | None,
        *,
        varied: Sequence[str] = (),
        is_cold: bool = False,
        **controls: str,
    ) -> Result:
        child = self.child(folder)
        result = child.run(seeds=seeds, controls=controls, varied=varied, is_cold=is_cold)
        assert (result.code, result.of("error")) == (0, []), result.stderr
        return result


def seeds(**varied: int) -> dict[str, int]:
    """A seed set in which the named streams have other seeds."""
    return {stream: 100 + number for number, stream in enumerate(STREAMS)} | varied


def replicates(folder: Path, script: Script, n: int, streams: Iterable[str] = STREAMS) -> dict[str, list[Result]]:
    """Runs by the stream that varies in them; under "" it is none."""
    planned = [(stream, k) for stream in ("", *streams) for k in range(n)]

    def run(plan: tuple[str, int]) -> Result:
        stream, k = plan
        varied = {stream: k} if stream else {}
        return script.run(folder / f"{stream or 'none'}-{k}", seeds(**varied), varied=tuple(varied))

    with ThreadPoolExecutor(2) as pool:
        results = list(pool.map(run, planned))
    return {stream: [result for plan, result in zip(planned, results, strict=True) if plan[0] == stream]
            for stream in ("", *streams)}  # fmt: skip


def hashes(result: Result) -> dict[str, str]:
    """The hashes that a run printed, and those of its weights and examples that the guest told."""
    printed = dict(line.split(" ", 1) for line in result.stdout.splitlines())
    told = {"weights": str([event[2] for event in result.of("weights")])} if result.of("weights") else {}
    return printed | told


def moved(runs: dict[str, list[Result]]) -> dict[str, set[str]]:
    """For each stream the hashes that change when it varies.

    Fails where a hash is neither the same in all runs nor, if there are several, another one in each.
    """
    [held, *_] = [hashes(result) for result in runs[""]]
    table: dict[str, set[str]] = {}
    for stream, results in runs.items():
        told = [hashes(result) for result in results]
        table[stream] = set()
        for name in held:
            found = [digests[name] for digests in told]
            if found != [held[name]] * len(found):
                assert len({*found, held[name]}) == len(found) + 1, (stream, name, found, held[name])
                table[stream].add(name)
    return table
