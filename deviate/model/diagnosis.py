"""What `deviate doctor` finds: an interpreter, its machine, its frameworks, and what can be controlled with them."""

from dataclasses import dataclass
from typing import Literal

Answer = Literal["yes", "partly", "no", "nothing"]
"""Whether deviate can control a factor; `nothing`: there is nothing to control."""
State = Literal["works", "broken", "absent"]


@dataclass(frozen=True, slots=True)
class Control:
    """Whether deviate can control one factor in one framework.

    Attributes:
        factor: a `Stream`, a `Factor`, `one-bit` (a bit of a weight can be flipped before training) or `weights` (the
            final weights can be hashed).
        why: what the answer rests on; never empty for `partly`, `no` and `nothing`.
        advice: what to do, an imperative sentence; never empty for `partly` and `no`.
    """

    factor: str
    answer: Answer
    why: str = ""
    advice: str = ""


@dataclass(frozen=True, slots=True)
class Concern:
    """What limits the control, of a framework or of the whole machine.

    Attributes:
        what: a variable with its value, an API, a device.
        advice: what to do, an imperative sentence; empty where nothing has to be done.
    """

    what: str
    why: str
    advice: str = ""


@dataclass(frozen=True, slots=True)
class Framework:
    """One framework in the interpreter that would run the script; `python` is the first of them.

    Attributes:
        build: what tells one build of a version from another.
        devices: as the framework names them, the CPU with its vector instructions first.
        threads: how many it works with, in words.
        wall_time_s: what importing it took, beside other imports.
        rests_on: the framework through which it draws and computes; what holds there holds here.
        tried: what was tried, as sentences.
        fault: why it is broken; empty otherwise.
        advice: what to do about the fault.
    """

    name: str
    state: State
    version: str = ""
    build: str = ""
    path: str = ""
    devices: tuple[str, ...] = ()
    threads: str = ""
    wall_time_s: float | None = None
    rests_on: str = ""
    controls: tuple[Control, ...] = ()
    limits: tuple[Concern, ...] = ()
    tried: tuple[str, ...] = ()
    fault: str = ""
    advice: str = ""


@dataclass(frozen=True, slots=True)
class Machine:
    """Where the interpreter runs.

    Attributes:
        instructions: sets of vector instructions of the processor, the widest last.
        n_cpus: of the machine; `n_cpus_allowed`: those the process may use; None where the system does not tell.
        quota: CPUs' worth of time that the container may use, from 0; None for no limit.
        accelerators: devices that the system knows, each with its driver, whether or not a framework can use them.
        container: its kind; empty outside of containers.
    """

    system: str
    processor: str
    instructions: tuple[str, ...] = ()
    n_cpus: int | None = None
    n_cpus_allowed: int | None = None
    quota: float | None = None
    accelerators: tuple[str, ...] = ()
    container: str = ""


@dataclass(frozen=True, slots=True)
class Interpreter:
    """The Python that would run the script.

    Attributes:
        command: as it was asked for or found on PATH.
        executable: what Python says it is.
    """

    command: str
    executable: str
    version: str


@dataclass(frozen=True, slots=True)
class Diagnosis:
    """All of it.

    Attributes:
        machine: None where the interpreter is too old to be asked.
        wall_time_s: what the whole examination took.
    """

    interpreter: Interpreter
    machine: Machine | None
    frameworks: tuple[Framework, ...]
    hazards: tuple[Concern, ...]
    wall_time_s: float
