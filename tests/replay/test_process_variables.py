"""Variables that libraries read when they are loaded: what a run's process has before its first line."""

import json
from collections.abc import Callable
from pathlib import Path

import pytest
from planned import execute

from .conftest import Frozen

SHELL = {
    "CUBLAS_WORKSPACE_CONFIG": ":16:8",
    "NVIDIA_TF32_OVERRIDE": "1",
    "TF_DETERMINISTIC_OPS": "1",
    "TF_CUDNN_DETERMINISTIC": "1",
    "TORCHINDUCTOR_DETERMINISTIC": "1",
    "TORCHINDUCTOR_MAX_AUTOTUNE": "1",
    "PYTORCH_TUNABLEOP_ENABLED": "1",
    "XLA_FLAGS": "--xla_gpu_deterministic_ops=true --xla_dump_to=/x",
    "PYTORCH_CUDA_ALLOC_CONF": "expandable_segments:True",
}
NAMES = (*SHELL, "PYTHONHASHSEED")
SCRIPT = f"import json, os\nprint(json.dumps({{name: os.environ.get(name) for name in {NAMES}}}))\n"


@pytest.fixture
def variables_of(
    frozen: Callable[..., Frozen], monkeypatch: pytest.MonkeyPatch
) -> Callable[..., dict[str, dict[str, str | None]]]:
    """`variables_of("control", …)` has what a run of each variant found, with SHELL in the user's shell."""
    for name, value in SHELL.items():
        monkeypatch.setenv(name, value)

    def run(*variants: str) -> dict[str, dict[str, str | None]]:
        project = frozen(SCRIPT)
        specs = [project.specs(1, variant=name)[0] for name in variants]
        outcomes = execute(specs, project.snapshot, project.folder, jobs=2)
        assert {outcome.status for outcome in outcomes} == {"completed"}
        return {outcome.spec.variant: _printed(outcome.folder) for outcome in outcomes}

    return run


def _printed(attempt: Path) -> dict[str, str | None]:
    variables: dict[str, str | None] = json.loads((attempt / "stdout.log").read_text().splitlines()[-1])
    return variables


def test_a_process_begins_with_what_its_variant_holds_and_without_what_it_frees(
    variables_of: Callable[..., dict[str, dict[str, str | None]]],
) -> None:
    variables = variables_of("as-is", "control", "impl", "init+kernels")
    assert variables["as-is"] == {**SHELL, "PYTHONHASHSEED": None}
    assert variables["control"].pop("PYTHONHASHSEED") == variables["impl"].pop("PYTHONHASHSEED")
    free = {**SHELL, "XLA_FLAGS": "--xla_dump_to=/x"} | dict.fromkeys(
        (
            "CUBLAS_WORKSPACE_CONFIG", "TF_DETERMINISTIC_OPS", "TF_CUDNN_DETERMINISTIC", "TORCHINDUCTOR_DETERMINISTIC",
        )
    )  # fmt: skip
    unmeasured = {"TORCHINDUCTOR_MAX_AUTOTUNE": None, "PYTORCH_TUNABLEOP_ENABLED": None}
    held = {"CUBLAS_WORKSPACE_CONFIG": ":4096:8", "NVIDIA_TF32_OVERRIDE": "0"}
    assert variables["control"] == {**SHELL, **held, **unmeasured}
    assert variables["impl"] == free
    del variables["init+kernels"]["PYTHONHASHSEED"]
    assert variables["init+kernels"] == {**free, "NVIDIA_TF32_OVERRIDE": "0", **unmeasured}
