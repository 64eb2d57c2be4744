"""JAX: flags are appended where a GPU may be found, precision is held, and the script's own settings are told."""

from pathlib import Path

import pytest
from harness import Child, Result

HELD = {"kernels": "deterministic", "autotune": "off", "precision": "full"}
FREE = dict.fromkeys(HELD, "default")
SCRIPT = """\
import os
os.environ["XLA_FLAGS"] = "--xla_gpu_deterministic_ops={own} --xla_cpu_enable_fast_math=false"
import jax
import jax.numpy as jnp
from jax import config, default_matmul_precision as precise
os.environ["XLA_FLAGS"] += " --xla_gpu_autotune_level=2"
config.update("jax_default_matmul_precision", "bfloat16")
config.update("jax_debug_infs", True)
with precise("tensorfloat32"):
    print(str(jax.make_jaxpr(lambda a: a @ a)(jnp.ones((2, 2)))).count("HIGHEST") > 0)
with precise("float32"):
    print(str(jax.make_jaxpr(lambda a: a @ a)(jnp.ones((2, 2)))).count("HIGHEST") > 0)
print(config.jax_default_matmul_precision, config.jax_debug_infs)
print(os.environ["XLA_FLAGS"])
"""


@pytest.fixture(autouse=True)
def _needs_jax(require, monkeypatch: pytest.MonkeyPatch) -> None:  # type: ignore[no-untyped-def]
    require("jax")
    monkeypatch.setenv("JAX_PLATFORMS", "cpu")


def run(folder: Path, controls: dict[str, str], *, own: str = "false", has_plugin: bool = True) -> Result:
    plugins = folder / "site"
    if has_plugin:
        (plugins / "jax_plugins" / "xla_cuda99").mkdir(parents=True)
        (plugins / "jax_plugins" / "xla_cuda99" / "__init__.py").write_text("def initialize():\n    pass\n")
    path = f"{folder / 'guest'}:{plugins}"
    result = Child(folder, SCRIPT.format(own=own)).run(
        seeds={"other": 1}, controls=controls, environment={"PYTHONPATH": path}
    )
    assert (result.code, result.of("error"), result.of("uncontrolled")) == (0, [], []), result.stderr
    return result


def test_held_factors_win_over_the_script_wherever_it_sets_them(tmp_path: Path) -> None:
    result = run(tmp_path, HELD)
    assert result.stdout.splitlines() == [
        "True",
        "True",
        "highest True",
        "--xla_cpu_enable_fast_math=false --xla_gpu_deterministic_ops=true --xla_gpu_autotune_level=0",
    ]
    assert sorted(result.of("control")) == [
        ["autotune", "XLA_FLAGS", "--xla_gpu_autotune_level=0", "", 0, "set"],
        ["autotune", "XLA_FLAGS", "--xla_gpu_autotune_level=2", "", 0, "overridden"],
        ["kernels", "XLA_FLAGS", "--xla_gpu_deterministic_ops=false", "", 0, "overridden"],
        ["kernels", "XLA_FLAGS", "--xla_gpu_deterministic_ops=true", "", 0, "set"],
        ["precision", "jax.config.update", "bfloat16", "train.py", 7, "overridden"],
        ["precision", "jax.config.update", "jax_default_matmul_precision=highest", "", 0, "set"],
        ["precision", "jax.default_matmul_precision", "tensorfloat32", "train.py", 9, "overridden"],
    ]


def test_free_kernels_are_free_of_the_flags_that_hold_them(tmp_path: Path) -> None:
    result = run(tmp_path, FREE, own="true")
    assert result.stdout.splitlines() == [
        "False",
        "True",
        "bfloat16 True",
        "--xla_cpu_enable_fast_math=false --xla_gpu_autotune_level=2",
    ]
    assert result.of("control") == [["kernels", "XLA_FLAGS", "--xla_gpu_deterministic_ops=true", "", 0, "overridden"]]


@pytest.mark.parametrize(("controls", "has_plugin"), [({}, True), ({"kernels": "deterministic"}, False)])
def test_flags_are_left_alone(tmp_path: Path, controls: dict[str, str], *, has_plugin: bool) -> None:
    result = run(tmp_path, controls, has_plugin=has_plugin)
    assert result.stdout.splitlines()[3].startswith("--xla_gpu_deterministic_ops=false --xla_cpu")
    assert result.of("control") == []


def test_facts_are_told_without_starting_a_backend(tmp_path: Path) -> None:
    idle, busy = (
        Child(tmp_path / str(n), f"import jax\n{line}\n").run() for n, line in enumerate(("", "jax.numpy.ones(3) + 1"))
    )
    facts = [{key: value for [told] in run.of("environment") for key, value in told.items()} for run in (idle, busy)]
    assert facts[0].keys() < facts[1].keys()
    assert {key: facts[1][key] for key in facts[1].keys() - facts[0].keys()} == {
        "backend of jax": "cpu",
        "devices of jax": "1 cpu",
        "version of the backend of jax": "cpu",
    }
    assert facts[0].items() >= {"generator of jax": "threefry2x32"}.items()
    assert facts[0].keys() >= {"jax", "jaxlib"}
