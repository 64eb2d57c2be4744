"""A guest does no harm: each example leaves the same bytes in `as-is`, with taps, as in a plain run.

That says as well that the seed of an example fixes what it does. Where seeds are replaced there is no plain run to
compare with: there the smallest example leaves the same bytes with taps on and off.
"""

import dataclasses
import re
import shutil
import sys
from dataclasses import dataclass
from pathlib import Path

import pytest
from clock import mask_clock
from replayed import Left, Replayed
from tiers import slow_but


@dataclass(frozen=True)
class Example:
    """An example, the module it needs, its arguments, and the files that it leaves besides what lay there."""

    script: str
    module: str
    arguments: tuple[str, ...]
    files: tuple[str, ...]


EXAMPLES = [
    Example("tiny.py", "sys", ("--epochs", "5"), ()),
    Example("digits_torch/train.py", "torch", ("--epochs", "2"), ("best.pt",)),
    Example("digits_keras/train.py", "tensorflow", ("--epochs", "2"), ("digits.weights.h5",)),
    Example("factors_jax/train.py", "jax", ("--epochs", "2"), ()),
]


def masked(left: Left) -> Left:
    """What a run left, without its clock readings, and without those and the process in TensorFlow's own log lines."""
    stderr = re.sub(rb"(?m)^([IWEF])\d{4} [\d:.]+ +\d+ ", rb"\1 ", left.stderr)
    return dataclasses.replace(left, stdout=mask_clock(left.stdout.decode()).encode(), stderr=stderr)


@pytest.mark.parametrize("example", slow_but(EXAMPLES, EXAMPLES[:1]), ids=lambda example: example.script)
def test_runs_leave_the_same_with_taps_on_and_off_and_as_is_as_plain_runs(
    example: Example, tmp_path: Path, examples: Path, require
) -> None:  # type: ignore[no-untyped-def]
    require(example.module)
    root = tmp_path / "parent" / "root"
    shutil.copytree(examples, root, ignore=shutil.ignore_patterns("__pycache__", ".deviate"))
    script = Path(example.script)
    project = Replayed(root, example.script, (sys.executable, script.name, *example.arguments), str(script.parent))
    for variant in ("algo+impl", "control") if example.module == "sys" else ():
        off = project.run(is_tapped=False, variant=variant)
        on = project.run(variant=variant)
        assert masked(on.left) == masked(off.left), f"taps change what a run in {variant} leaves"
        assert on.values
    on = project.run()
    assert on.values
    assert on.left.exit_code == 0, on.stderr
    plain = project.run_plainly()
    assert masked(on.left) == masked(plain), "a run in as-is is not the plain run"
    before = {path.relative_to(root).as_posix() for path in root.rglob("*") if path.is_file()}
    assert sorted(set(plain.files) - before) == [str(script.parent / name) for name in example.files]
    n_epochs = int(example.arguments[example.arguments.index("--epochs") + 1])
    assert plain.stdout.count(b"\n") >= n_epochs
