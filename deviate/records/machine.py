"""Identifies the machine of a process, as far as needed to decide whether a process number refers to the same process.

Different machines or containers can have the same name and process numbers, so the name, the boot id of the kernel and
the namespace of process numbers are compared.
"""

import contextlib
import functools
import hashlib
import os
import socket
from dataclasses import dataclass
from pathlib import Path

BOOT = Path("/proc/sys/kernel/random/boot_id")
SELF = Path("/proc/self")


@dataclass(frozen=True, slots=True)
class ProcessRange:
    """A range of process numbers: a machine, its boot, and a namespace.

    Attributes:
        boot: an id of the boot of the kernel, empty where the system has none.
        namespace: of process numbers, empty where the system has none.
    """

    host: str
    boot: str
    namespace: str


@functools.cache
def this_machine() -> ProcessRange:
    """The machine of this process.

    Source: random(4), boot_id; pid_namespaces(7). Where /proc shows the processes of another namespace, as after
    `unshare --pid` without `--mount-proc`, no number can be looked up: the namespace is then one that nobody else has.
    """
    boot = namespace = ""
    with contextlib.suppress(OSError):
        boot = BOOT.read_text(encoding="ascii").strip()
    with contextlib.suppress(OSError):
        namespace = os.readlink(SELF / "ns/pid")  # noqa: PTH115
        if os.readlink(SELF) != str(os.getpid()):  # noqa: PTH115
            namespace = f"{namespace} {os.urandom(8).hex()}"
    return ProcessRange(socket.gethostname(), boot, namespace)


def writer_name() -> str:
    """A unique writer name for this process: machine, dash, process number."""
    return f"{machine_name()}-{os.getpid()}"


def machine_name() -> str:
    machine = this_machine()
    digest = hashlib.sha256(f"{machine.boot} {machine.namespace}".encode()).hexdigest()[:8]
    return f"{machine.host}+{digest}"
