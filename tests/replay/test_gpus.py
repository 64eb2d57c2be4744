"""GPUs: which devices runs are given, and what is told of them, on machines whose drivers answer differently."""

import os
from collections.abc import Callable
from pathlib import Path

import pytest
from smi import write_smi

from deviate.errors import InputError
from deviate.model.plan import Settings
from deviate.replay.gpus import find_gpus, has_devices, kind_of_devices, show_only, why_none
from deviate.replay.machine import machine_facts
from deviate.replay.slots import choose_gpus, slots

VARIABLES = (
    "CUDA_VISIBLE_DEVICES", "CUDA_DEVICE_ORDER", "HIP_VISIBLE_DEVICES", "ROCR_VISIBLE_DEVICES", "ZE_AFFINITY_MASK",
)  # fmt: skip
MI210 = "cpu_cores_count 0\nsimd_count 416\ngfx_target_version 90010\n"
CPU = "cpu_cores_count 64\nsimd_count 0\ngfx_target_version 0\n"


@pytest.fixture
def on(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Callable[[str], None]:
    """`on("h100")` puts the nvidia-smi of that machine first on PATH."""
    for name in VARIABLES:
        monkeypatch.delenv(name, raising=False)

    def make(machine: str) -> None:
        write_smi(tmp_path / "bin" / "nvidia-smi", machine)
        monkeypatch.setenv("PATH", str(tmp_path / "bin"), prepend=os.pathsep)

    return make


def rocm(root: Path, *nodes: str) -> Path:
    """A machine with these nodes of amdkfd."""
    (root / "dev").mkdir(parents=True)
    (root / "dev/kfd").touch()
    for number, properties in enumerate(nodes):
        folder = root / "sys/class/kfd/kfd/topology/nodes" / str(number)
        folder.mkdir(parents=True)
        (folder / "properties").write_text(properties)
    return root


@pytest.mark.parametrize(
    ("machine", "devices"),
    [
        ("v100", ("0",)),
        ("two-a100", ("0", "1")),
        ("two-kinds", ("0", "1")),
        ("memory-of-the-cpu", ("0",)),
        ("old-board", ("0",)),
        ("one-of-two-lost", ("0",)),
        (
            "a100-with-mig",
            (
                "MIG-11111111-3333-5a5b-8c6d-0123456789ab", "MIG-22222222-3333-5a5b-8c6d-0123456789ab",
                "GPU-4d5e6f70-3333-4a5b-8c6d-0123456789ab",
            ),
        ),
        (
            "mig-of-driver-450",
            (
                "MIG-GPU-5e6f7081-4444-4a5b-8c6d-0123456789ab/2/0", "MIG-GPU-5e6f7081-4444-4a5b-8c6d-0123456789ab/3/0",
            ),
        ),
    ],
)  # fmt: skip
def test_auto_offers_every_device_that_a_process_can_open(
    on: Callable[[str], None], machine: str, devices: tuple[str, ...]
) -> None:
    on(machine)
    assert choose_gpus("auto") == devices
    visible = [dict(slot.variables)["CUDA_VISIBLE_DEVICES"] for slot in slots(Settings(jobs=9, gpus=devices))]
    assert tuple(visible) == devices


@pytest.mark.parametrize(
    ("machine", "answer"),
    [
        ("mismatch", "nvidia-smi says: Failed to initialize NVML: Driver/library version mismatch"),
        ("no-devices", "nvidia-smi says: No devices were found"),
        ("no-driver", "nvidia-smi says: NVIDIA-SMI has failed because it couldn't communicate"),
    ],
)
def test_auto_repeats_why_the_driver_lists_no_gpu(on: Callable[[str], None], machine: str, answer: str) -> None:
    on(machine)
    with pytest.raises(InputError, match="found no GPU") as refused:
        choose_gpus("auto")
    assert answer in refused.value.message
    assert "GPU" not in machine_facts()


@pytest.mark.parametrize(
    ("machine", "facts"),
    [
        ("v100", ("Tesla V100-SXM2-16GB", "0: Tesla V100-SXM2-16GB, 16130 MiB", "418.87.00", "10.1")),
        ("h100", ("NVIDIA H100 80GB HBM3", "0: NVIDIA H100 80GB HBM3, 81559 MiB", "570.124.06", "12.8")),
        ("memory-of-the-cpu", ("NVIDIA GB10", "0: NVIDIA GB10", "580.95.05", "13.0")),
        ("old-board", ("GeForce GT 640M", "0: GeForce GT 640M", "340.108", None)),
        (
            "two-a100",
            (
                "NVIDIA A100-SXM4-40GB",
                "0: NVIDIA A100-SXM4-40GB, 40960 MiB; 1: NVIDIA A100-SXM4-40GB, 40960 MiB", "550.54.15", "12.4",
            ),
        ),
        (
            "two-kinds",
            (
                "NVIDIA GeForce GTX 1080 Ti, NVIDIA GeForce RTX 3090",
                "0: NVIDIA GeForce GTX 1080 Ti, 11264 MiB; 1: NVIDIA GeForce RTX 3090, 24576 MiB", "525.147.05", "12.0",
            ),
        ),
        (
            "a100-with-mig",
            (
                "NVIDIA A100-SXM4-80GB, MIG 1g.10gb, 3g.40gb",
                "0: NVIDIA A100-SXM4-80GB, 81920 MiB; 1: NVIDIA A100-SXM4-80GB, 81920 MiB", "535.129.03", "12.2",
            ),
        ),
    ],
)  # fmt: skip
def test_names_drivers_and_instances_of_gpus_are_recorded(
    on: Callable[[str], None], tmp_path: Path, machine: str, facts: tuple[str | None, ...]
) -> None:
    on(machine)
    recorded = machine_facts(tmp_path)
    assert tuple(recorded.get(name) for name in ("GPU", "GPUs", "NVIDIA driver", "CUDA of the driver")) == facts


def test_a_gpu_of_the_windows_subsystem_is_found_though_path_lacks_its_program(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    write_smi(tmp_path / "usr/lib/wsl/lib/nvidia-smi", "h100")
    monkeypatch.setenv("PATH", "/usr/bin:/bin")
    assert find_gpus({}, tmp_path) == ("0",)
    assert machine_facts(tmp_path)["NVIDIA driver"] == "570.124.06"
    assert has_devices(tmp_path)


def test_numbers_are_refused_where_gpus_are_divided(on: Callable[[str], None]) -> None:
    on("a100-with-mig")
    with pytest.raises(InputError, match="divided into MIG instances") as refused:
        choose_gpus("0,1")
    assert refused.value.hint is not None
    assert "--gpus MIG-11111111" in refused.value.hint
    named = ("MIG-11111111-3333-5a5b-8c6d-0123456789ab", "MIG-22222222-3333-5a5b-8c6d-0123456789ab")
    assert choose_gpus(",".join(named)) == named
    with pytest.raises(InputError, match="CUDA opens one"):
        slots(Settings(gpus=named, gpus_per_run=2))


@pytest.mark.parametrize(
    ("variable", "devices"),
    [
        ("2,3", ("2", "3")),
        (" 2 , 3", ("2", "3")),
        ("GPU-8932f937,GPU-46abccd6", ("GPU-8932f937", "GPU-46abccd6")),
        ("MIG-GPU-5e6f7081/2/0", ("MIG-GPU-5e6f7081/2/0",)),
        ("", ()),
        ("-1", ()),
        ("0,-1,1", ("0",)),
        ("0,1,0", ()),
        ("NoDevFiles", ()),
    ],
)
def test_a_limit_that_the_user_set_is_read_as_cuda_reads_it(
    on: Callable[[str], None], variable: str, devices: tuple[str, ...]
) -> None:
    on("two-a100")
    assert find_gpus({"CUDA_VISIBLE_DEVICES": variable}) == devices
    assert devices or why_none({"CUDA_VISIBLE_DEVICES": variable}) == f"CUDA_VISIBLE_DEVICES is {variable!r}"


@pytest.mark.parametrize(
    ("base", "order"),
    [
        ({}, {"CUDA_DEVICE_ORDER": "PCI_BUS_ID"}),
        ({"CUDA_VISIBLE_DEVICES": "1,0"}, {}),
        ({"CUDA_DEVICE_ORDER": "FASTEST_FIRST"}, {}),
    ],
)
def test_numbers_count_as_nvidia_smi_does_unless_the_user_chose_an_order(
    tmp_path: Path, base: dict[str, str], order: dict[str, str]
) -> None:
    assert show_only(("1",), base, tmp_path) == ("GPU 1", {"CUDA_VISIBLE_DEVICES": "1", **order})
    assert show_only(("GPU-8932f937",), base, tmp_path)[0] == "GPU-8932f937"


@pytest.mark.parametrize(
    ("base", "devices"),
    [
        ({}, ("0", "1")),
        ({"HIP_VISIBLE_DEVICES": "1"}, ("1",)),
        ({"ROCR_VISIBLE_DEVICES": "4,6"}, ("0", "1")),
        ({"ROCR_VISIBLE_DEVICES": "4,6", "HIP_VISIBLE_DEVICES": "1"}, ("1",)),
        ({"ROCR_VISIBLE_DEVICES": "4,6", "CUDA_VISIBLE_DEVICES": "4,6"}, ("0", "1")),
        ({"CUDA_VISIBLE_DEVICES": "1"}, ("1",)),
    ],
)
def test_on_rocm_numbers_count_within_what_the_runtime_shows(
    tmp_path: Path, base: dict[str, str], devices: tuple[str, ...]
) -> None:
    root = rocm(tmp_path / "root", CPU, MI210, MI210)
    assert find_gpus(base, root) == devices
    assert show_only(devices[:1], base, root) == (f"GPU {devices[0]}", {"HIP_VISIBLE_DEVICES": devices[0]})


def test_amd_gpus_are_recorded_and_a_node_that_a_container_may_not_read_is_none(tmp_path: Path) -> None:
    root = rocm(tmp_path / "root", CPU, MI210, MI210.replace("90010", "110000"), "")
    properties = root / "sys/class/kfd/kfd/topology/nodes/3/properties"
    properties.unlink()
    properties.mkdir()  # reading it fails, for root too
    (root / "sys/module/amdgpu").mkdir(parents=True)
    (root / "sys/module/amdgpu/version").write_text("6.8.5\n")
    facts = machine_facts(root)
    assert (facts["GPU"], facts["GPUs"]) == ("gfx1100, gfx90a", "0: gfx90a; 1: gfx1100")
    assert facts["AMD driver"] == "6.8.5"
    assert find_gpus({}, root) == ("0", "1")


def test_intel_gpus_are_those_that_the_user_names(tmp_path: Path) -> None:
    base = {"ZE_AFFINITY_MASK": "0.0,0.1"}
    assert kind_of_devices(base, tmp_path) == "xpu"
    assert find_gpus(base, tmp_path) == ("0.0", "0.1")
    assert show_only(("0.1",), base, tmp_path) == ("GPU 0.1", {"ZE_AFFINITY_MASK": "0.1"})


@pytest.mark.parametrize(("vendor", "device", "n_chips"), [("0x1ae0", "0x0063", 1), ("0x1ae0", "0x0042", 0)])
def test_a_tpu_without_a_device_file_is_told_by_its_pci_numbers(
    tmp_path: Path, vendor: str, device: str, n_chips: int
) -> None:
    folder = tmp_path / "sys/bus/pci/devices/0000:00:04.0"
    folder.mkdir(parents=True)
    (folder / "vendor").write_text(f"{vendor}\n")
    (folder / "device").write_text(f"{device}\n")
    assert len(find_gpus({"CUDA_VISIBLE_DEVICES": ""}, tmp_path)) == n_chips
    assert has_devices(tmp_path) is bool(n_chips)
