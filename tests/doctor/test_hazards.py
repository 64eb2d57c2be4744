import pytest

from deviate.doctor.children import ChildFacts
from deviate.doctor.hazards import hazards
from deviate.model.diagnosis import Concern, Framework, Machine

MACHINE = Machine("Linux x86_64", "some", n_cpus=8, n_cpus_allowed=8)
TORCH = Framework("torch", "works", build="CPU build", devices=("CPU AVX2",), threads="8, inter-op 8")


def found(
    variables: dict[str, str] | None = None, machine: Machine = MACHINE, framework: Framework = TORCH
) -> tuple[Concern, ...]:
    return hazards(ChildFacts({"loads_sitecustomize": True, "variables": variables or {}}), machine, [framework])


def test_a_machine_without_hazards_has_none() -> None:
    assert found() == ()


@pytest.mark.parametrize(
    ("name", "value", "told", "advice"),
    [
        ("PYTHONHASHSEED", "7", "every other variant sets its own value", "use the same value"),
        ("MKL_CBWR", "AVX2", "selects the code path", "use the same value"),
        ("TF_DETERMINISTIC_OPS", "1", "removes it", ""),
        ("CUBLAS_WORKSPACE_CONFIG", ":4096:8", "removes it", ""),
        ("NVIDIA_TF32_OVERRIDE", "1", "TF32", "unset"),
        ("PYTORCH_TUNABLEOP_ENABLED", "1", "removes it", ""),
        ("ROCR_VISIBLE_DEVICES", "1", "only these devices", ""),
        ("XLA_FLAGS", "--xla_gpu_deterministic_ops=false", "disables", "unset"),
        ("OMP_DYNAMIC", "true", "work of each thread", "unset"),
        ("OMP_SCHEDULE", "dynamic,4", "work of each thread", "unset"),
    ],
)
def test_a_variable_that_matters_is_told(name: str, value: str, told: str, advice: str) -> None:
    (hazard,) = found({name: value})
    assert name in hazard.what
    assert value in hazard.what
    assert told in hazard.why
    assert hazard.advice.startswith(advice)


@pytest.mark.parametrize(
    ("name", "value"), [("TF_DETERMINISTIC_OPS", "0"), ("OMP_DYNAMIC", "false"), ("OMP_SCHEDULE", "static")]
)
def test_a_variable_that_changes_nothing_is_not_told(name: str, value: str) -> None:
    assert found({name: value}) == ()


def test_flags_of_xla_that_take_nothing_back_need_no_advice() -> None:
    (hazard,) = found({"XLA_FLAGS": "--xla_cpu_use_onednn=true"})
    assert "unchanged in all variants" in hazard.why
    assert hazard.advice == ""


def test_more_threads_than_the_container_has_time_for_are_told_with_the_number_to_set() -> None:
    machine = Machine("Linux x86_64", "some", n_cpus=8, n_cpus_allowed=8, quota=2.5)
    (hazard,) = found(machine=machine)
    assert hazard.what == "torch uses 8 threads on 2.5 CPUs"
    assert hazard.advice == "export OMP_NUM_THREADS=2"


def test_fewer_cpus_than_the_machine_has_are_told() -> None:
    machine = Machine("Linux x86_64", "some", n_cpus=64, n_cpus_allowed=8)
    (hazard,) = found(machine=machine)
    assert hazard.what == "8 of 64 CPUs are allowed"


def test_a_gpu_that_a_build_for_the_cpu_cannot_use_is_told() -> None:
    machine = Machine("Linux x86_64", "some", accelerators=("NVIDIA L4 (driver 570)",))
    (hazard,) = found(machine=machine)
    assert hazard.what == "torch can use the CPU only"
    assert "NVIDIA L4" in hazard.why


def test_a_gpu_that_a_framework_uses_is_no_hazard() -> None:
    machine = Machine("Linux x86_64", "some", accelerators=("NVIDIA L4 (driver 570)",))
    assert found(machine=machine, framework=Framework("torch", "works", devices=("CPU", "CUDA NVIDIA L4"))) == ()


def test_devices_that_the_user_hid_are_told_and_nothing_is_to_be_installed() -> None:
    machine = Machine("Linux x86_64", "some", accelerators=("NVIDIA L4 (driver 570)",))
    (hazard,) = found({"CUDA_VISIBLE_DEVICES": ""}, machine)
    assert hazard.what == "CUDA_VISIBLE_DEVICES="
