"""JAX: what compiled functions print is recorded when they run, and the compiled program stays what it is."""

import re
from collections.abc import Callable
from pathlib import Path

import pytest
from harness import Child, Result

SCRIPT = """\
import threading
import jax
import jax.numpy as jnp
from jax.experimental import io_callback

def show(value):
    print("%.9g" % value, threading.current_thread() is threading.main_thread())

@jax.jit
def step(w, x):
    loss = jnp.mean((w - x) ** 2)
    jax.debug.print("loss {l:.9g} {:.9g} {l}", jnp.abs(w).max(), l=loss)
    jax.debug.print("half {h:.9g}", h=loss / 2)
    jax.debug.print("half {h:.9g}",
                    h=loss / 4)
    jax.debug.print(ordered=False)("whole {0} {1[0]:.9g}", w, [loss])
    jax.debug.callback(show, loss * 3)
    io_callback(show, None, loss * 5)
    return w - 0.25 * (w - x)

mesh = jax.sharding.Mesh(jax.devices(), "d")
w = jax.device_put(jnp.arange(4.0), jax.sharding.NamedSharding(mesh, jax.sharding.PartitionSpec("d")))
for epoch in range(2):
    for batch in range(3):
        w = step(w, 1.0)
    jax.block_until_ready(w)
    jax.effects_barrier()
jax.debug.print("end {x:.9g}", x=w[0])
print(step.lower(w, 1.0).as_text(debug_info=True))
print(jax.make_jaxpr(step)(w, 1.0))
"""
TWO_DEVICES = "--xla_force_host_platform_device_count=2"
"""With several devices JAX calls back from threads of its own."""
CLOCK = r"[\d:.]+ +\d+ "
"""Time and process in the warnings of XLA."""


@pytest.fixture(autouse=True)
def _needs_jax(require, monkeypatch: pytest.MonkeyPatch) -> None:  # type: ignore[no-untyped-def]
    require("jax")
    monkeypatch.setenv("XLA_FLAGS", TWO_DEVICES)
    monkeypatch.setenv("JAX_PLATFORMS", "cpu")


@pytest.mark.requires("jax>=0.10")  # its script prints by a function that `jax.debug.print` returns
def test_compiled_prints_are_recorded_at_their_step(tmp_path: Path, plainly: Callable[[Child], Result]) -> None:
    child = Child(tmp_path, SCRIPT).loop("in «range(2)»:", 27).tap('"%.9g" % «value»').tap("x=«w[0]»")
    on = child.run()
    assert (on.code, on.of("error")) == (0, []), on.stderr
    printed = [line.split(" ") for line in on.stdout.splitlines()]
    losses = [float(words[1]) for words in printed if words[0] == "loss"]
    assert len(losses) == 6
    values: dict[str, list[float]] = {}
    for name, _, loops, _, value in on.of("named"):
        values.setdefault(name, []).append(value)
        assert loops == [0, 0 if len(values[name]) <= 3 else 1]
    as_printed = [float(f"{loss:.9g}") for loss in values["train.py:12:l"]]
    assert as_printed == losses
    assert values["train.py:12:0"] == [3.0, 2.5, 2.125, 1.84375, 1.6328125, 1.474609375]
    assert values["train.py:13:h"] == [loss / 2 for loss in values["train.py:12:l"]]
    assert values["train.py:14:h"] == [loss / 4 for loss in values["train.py:12:l"]]
    assert values["train.py:16:1[0]"] == values["train.py:12:l"]
    assert len(values) == 5, "an array is no number"
    off = plainly(child)
    assert sorted(on.stdout.splitlines()) == sorted(off.stdout.splitlines())
    assert re.sub(CLOCK, "#", on.stderr) == re.sub(CLOCK, "#", off.stderr)


@pytest.mark.requires("jax>=0.10")  # the same script
def test_functions_called_back_are_in_the_step_of_the_script(tmp_path: Path) -> None:
    child = Child(tmp_path, SCRIPT).loop("in «range(2)»:", 27).tap('"%.9g" % «value»').tap("x=«w[0]»")
    on = child.run()
    assert " False\n" in on.stdout, "no other thread called back"
    steps = [event[2] for event in on.of("value") if event[0] == 0]
    assert steps == [[0, 0]] * 6 + [[0, 1]] * 6
    assert len(on.values(1)) == 1, "outside of compiled functions the tap at the call records, and alone"


def test_a_template_that_does_not_fit_fails_as_ever(tmp_path: Path, plainly: Callable[[Child], Result]) -> None:
    text = """\
import jax
@jax.jit
def step(x):
    jax.debug.print("loss {y}", x=x)
    return x
try:
    step(1.0)
except KeyError as error:
    print(error)
jax.jit(lambda x: jax.debug.print("{x.real}", x=x))(2.0)
"""
    child = Child(tmp_path, text)
    on, off = child.run(), plainly(child)
    assert (on.code, on.stdout, on.stderr) == (0, off.stdout, off.stderr)
    assert [event[0] for event in on.of("named")] == ["train.py:10:x.real"]
