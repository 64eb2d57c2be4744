"""Facts about the machine."""

import os
from pathlib import Path

from deviate.replay.machine import machine_facts


def write(root: Path, name: str, text: str) -> None:
    (root / name).parent.mkdir(parents=True, exist_ok=True)
    (root / name).write_text(text)


def test_processor_memory_and_limits_are_those_that_the_system_tells(tmp_path: Path) -> None:
    write(tmp_path, "proc/cpuinfo", "processor : 0\nmodel name\t: AMD EPYC 7763\n\nprocessor : 1\n")
    write(tmp_path, "proc/meminfo", "MemTotal:       16384000 kB\n")
    write(tmp_path, "proc/self/cgroup", "0::/job/1\n")
    write(tmp_path, "sys/fs/cgroup/job/1/cpu.max", "150000 100000\n")
    write(tmp_path, "sys/fs/cgroup/job/1/memory.max", "max\n")
    write(tmp_path, "sys/fs/cgroup/memory.max", f"{1 << 30}\n")
    facts = machine_facts(tmp_path)
    assert facts["CPU"].startswith("AMD EPYC 7763 (")
    assert facts["memory MiB"] == "16000"
    assert facts["cores of the control group"] == "1.5"
    assert facts["memory MiB of the control group"] == "1024"


def test_limits_of_the_first_version_of_control_groups_are_read(tmp_path: Path) -> None:
    write(tmp_path, "sys/fs/cgroup/cpu/cpu.cfs_quota_us", "-1\n")
    write(tmp_path, "sys/fs/cgroup/cpu/cpu.cfs_period_us", "100000\n")
    write(tmp_path, "sys/fs/cgroup/memory/memory.limit_in_bytes", f"{512 << 20}\n")
    facts = machine_facts(tmp_path)
    assert "cores of the control group" not in facts
    assert facts["memory MiB of the control group"] == "512"


def test_cores_are_those_that_a_process_may_use() -> None:
    facts = machine_facts()
    if hasattr(os, "sched_getaffinity"):
        assert facts["cores"] == str(len(os.sched_getaffinity(0)))
    assert facts["kernel"].endswith(os.uname().release)
    assert all(facts.values())
