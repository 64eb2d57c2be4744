"""What is told of the devices of a machine."""

import os
from pathlib import Path

import pytest
from smi import write_smi

from deviate.replay.machine import examine_machine

LOADED = "NVIDIA driver, but nvidia-smi lists no device"


@pytest.mark.parametrize(
    ("machine", "devices"),
    [
        (
            "two-kinds",
            ["NVIDIA GeForce GTX 1080 Ti (driver 525.147.05)", "NVIDIA GeForce RTX 3090 (driver 525.147.05)"],
        ),
        (
            "a100-with-mig",
            [*["NVIDIA A100-SXM4-80GB (driver 535.129.03)"] * 2, "2 MIG instances"],
        ),
        ("old-board", ["GeForce GT 640M (driver 340.108)"]),
        ("mismatch", [f"{LOADED} (Failed to initialize NVML: Driver/library version mismatch)"]),
        ("no-devices", [f"{LOADED} (No devices were found)"]),
    ],
)
def test_gpus_are_told_with_their_driver_or_the_answer_of_the_driver(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, machine: str, devices: list[str]
) -> None:
    write_smi(tmp_path / "bin/nvidia-smi", machine)
    monkeypatch.setenv("PATH", str(tmp_path / "bin"), prepend=os.pathsep)
    (tmp_path / "proc/driver/nvidia").mkdir(parents=True)
    (tmp_path / "proc/driver/nvidia/version").touch()
    assert examine_machine(tmp_path).accelerators == tuple(devices)


def test_a_program_without_a_loaded_driver_is_no_device(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    write_smi(tmp_path / "bin/nvidia-smi", "no-driver")
    monkeypatch.setenv("PATH", str(tmp_path / "bin"), prepend=os.pathsep)
    assert examine_machine(tmp_path).accelerators == ()
