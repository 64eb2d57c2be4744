"""What tests of PyTorch/XLA have in common: a CPU is the device."""

import os

import pytest


@pytest.fixture(autouse=True)
def device(monkeypatch: pytest.MonkeyPatch) -> None:
    """Processes that a test starts train on the CPU as the device, with one thread."""
    monkeypatch.setenv("PJRT_DEVICE", "CPU")
    monkeypatch.setenv("OMP_NUM_THREADS", "1")
