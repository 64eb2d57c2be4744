"""Runs a script with a trace, and reads the inputs that the guest recorded."""

import json
from pathlib import Path
from typing import NamedTuple

from harness import Child


class Input(NamedTuple):
    source: str
    call: str
    digest: int | None
    shown: str
    line: int


def inputs_of(child: Child, *arguments: str, trace: str = "1", **options: object) -> list[Input]:
    """The inputs of a run that ends well and without faults of the guest; `trace` is the level."""
    result = child.run(*arguments, capture={"trace": trace} if trace else {}, **options)  # type: ignore[arg-type]
    assert (result.code, result.of("error")) == (0, []), result.stderr
    inputs, lines = [], {}
    for path in (child.folder / "attempt-1" / "artifacts").glob("trace-*.jsonl"):
        for item in map(json.loads, path.read_text().splitlines()):
            if item[0] == "place":
                lines[item[1]] = item[3]
            elif item[0] == "input":
                inputs.append(Input(*item[1:5], lines[item[5]]))
    return inputs


def script(folder: Path, text: str) -> Child:
    folder.mkdir(exist_ok=True)
    return Child(folder, text)
