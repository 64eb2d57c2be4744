"""Determines how a run ended, from its exit code, its events, and whether it was stopped."""

import dataclasses
import itertools
import os
import re
import signal
import textwrap
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from types import MappingProxyType
from typing import BinaryIO, Literal

from deviate.errors import RunError
from deviate.eventlog import EndEntry, decode
from deviate.model.places import place_text
from deviate.model.records import Status
from deviate.records.events import events_in
from deviate.records.layout import event_files, log_files
from deviate.records.read import stderr_tail
from deviate.records.schema import Cause

FROM_OUTSIDE = (signal.SIGKILL, signal.SIGTERM, signal.SIGHUP, signal.SIGINT)
"""Signals by which a user, the system or a scheduler ends a run, so that it is run again, unless it sent them to
itself."""
SETTLED: tuple[Status, ...] = ("completed", "crashed", "timed_out")
"""Outcomes that are never run again: a failure of the training is a result."""

OPERATION = r"\b(?P<operation>\w+(?:(?:::|\.|\x20)\w+){0,7})"
MISSING = (
    OPERATION + r" does not have a deterministic implementation, but you set \W*torch\.\w+\(True\)",
    "HLO instruction " + OPERATION + " does not have a deterministic implementation, but run-to-run determinism is",
    r"Determinism is not yet supported (?:in GPU implementation of|for) (?P<operation>[^.\n]+)\.",
    r"Deterministic GPU implementation of (?P<operation>[^.\n]+?),? (?:is )?not (?:currently )?available",
    "GPU implementation of " + OPERATION + " that would have been executed is not deterministic",
    OPERATION + " ops do not yet have a deterministic XLA implementation",
    OPERATION + '"? cannot be called when determinism is enabled',
)
"""Messages with which frameworks end a program for an operation that has no deterministic version.

Source: PyTorch, aten/src/ATen/Context.cpp, Context::alertNotDeterministic; XLA, xla/service/gpu/thunk_emitter.cc,
AssertNonDeterminismIsOkay; TensorFlow, the uses of OpDeterminismRequired in tensorflow/core/kernels and
tensorflow/compiler/tf2xla/kernels, and of is_op_determinism_enabled in tensorflow/python/ops.
"""
ABLE_TO_WARN = MISSING[0]
"""The message of PyTorch, the only framework with a mode that warns instead."""

WITHOUT_WORKSPACE = re.compile(
    r"RuntimeError:\s+Deterministic\s+behavior\s+was\s+enabled.{1,400}?because\s+it\s+uses\s+CuBLAS", re.DOTALL
)
"""Message with which PyTorch ends a program that has deterministic algorithms on and no CUBLAS_WORKSPACE_CONFIG.

Source: PyTorch, aten/src/ATen/Context.cpp, Context::alertCuBLASConfigNotDeterministic.
"""

OUT_OF_MEMORY = re.compile(
    r"^(?:\[rank\d+\]:\s*)?(?:\w+\.)*"
    r"(?:OutOfMemoryError|MemoryError|ResourceExhaustedError|(?:Xla|Jax)RuntimeError: RESOURCE_EXHAUSTED)\b"
    r"|(?:CUDA|HIP|XPU|MPS backend) out of memory|(?:CUDA|HIP)(?: driver| runtime)? error: out of memory"
    r"|CUDA_ERROR_OUT_OF_MEMORY|cudaErrorMemoryAllocation|(?:CUBLAS|CUDNN|HIPBLAS|CUSOLVER)_STATUS_ALLOC_FAILED"
    r"|DefaultCPUAllocator: (?:can't allocate|not enough) memory|Dst tensor is not initialized"
    r"|insufficient shared memory \(shm\)",
    re.MULTILINE,
)
"""Messages with which frameworks and Python end a program that ran out of memory.

Source: torch.OutOfMemoryError, c10/cuda/CUDACachingAllocator.cpp and c10/xpu/XPUCachingAllocator.cpp;
c10/core/impl/alloc_cpu.cpp; torch/csrc/DataLoader.cpp, a bus error of a worker; tf.errors.ResourceExhaustedError;
TensorFlow, gpu_util.cc, where a copy finds that its target was not allocated; absl status codes in XLA, whose exception
is JaxRuntimeError in newer releases of JAX; the Python reference, MemoryError.
"""

CHILD_KILLED = re.compile(
    r"DataLoader worker \(pid \d+\) is killed by signal: Killed"
    r"|DataLoader worker \(pid\(s\) [\d, ]+\) exited unexpectedly"
    r"|A process in the process pool was terminated abruptly|A worker process managed by the executor was unexpectedly"
)
"""Messages for a process of the run that somebody killed.

Source: PyTorch, torch/csrc/DataLoader.cpp and torch/utils/data/dataloader.py; concurrent.futures.process,
BrokenProcessPool; joblib, TerminatedWorkerError.
"""

BROKEN_DEVICE = re.compile(
    r"uncorrectable ECC error encountered|CUDA_ERROR_ECC_UNCORRECTABLE|GPU is lost"
    r"|CUDA-capable device(?:s are|\(s\) is/are) busy or unavailable"
)
"""Messages for a GPU that failed, or that another process holds for itself: no failure of the training.

Source: CUDA Runtime API, cudaError: cudaErrorECCUncorrectable and cudaErrorDevicesUnavailable; HIP has the same words.
"""
OTHER_BUILD = re.compile(
    r"no kernel image is available for execution on the device|CUDA_ERROR_NO_BINARY_FOR_GPU"
    r"|hipErrorNoBinaryForGpu|(?:CUDA|HIP) error: invalid device function"
)
"""Messages for a framework that has no code for the kind of GPU.

Source: CUDA Runtime API and HIP API, cudaErrorNoKernelImageForDevice, hipErrorInvalidDeviceFunction.
"""
LATE_ERROR = re.compile(
    r"(?P<api>CUDA|HIP) error: (?P<error>device-side assert triggered|an illegal memory access was encountered"
    r"|unspecified launch failure|misaligned address)"
)
"""Errors of a kernel, which PyTorch raises at a later call. Source: CUDA Runtime API, cudaError."""
BLOCKING = {"CUDA": "CUDA_LAUNCH_BLOCKING=1", "HIP": "AMD_SERIALIZE_KERNEL=3"}
"""Variables with which each kernel ends before the next call. Source: c10/cuda/CUDAMiscFunctions.cpp."""

OUT_OF_SPACE = re.compile(r"No space left on device|Disk quota exceeded|\[Errno 27\] File too large")
"""Messages of the system for a full disk, an exhausted quota, or a file that is too large.

Source: errno(3), ENOSPC, EDQUOT and EFBIG, in the words of strerror(3).
"""

OF_LAUNCHERS = ("ChildFailedError", "CalledProcessError", "ProcessExitedException", "ProcessRaisedException")
"""Exceptions that a launcher raises when one of its processes failed.

Source: torch.distributed.elastic.multiprocessing.errors; torch.multiprocessing.spawn; subprocess.
"""
SYNTAX_ERROR = re.compile(r"^(?:SyntaxError|IndentationError|TabError): .+$", re.MULTILINE)
"""How Python ends that cannot read its script; there is no traceback."""
USAGE_ERROR = re.compile(r"^\S+: error: .+$", re.MULTILINE)
"""The message with which argparse ends a program. Source: the Python reference, argparse.ArgumentParser.error."""

UNPRINTABLE = re.compile(r"\x1b\[[0-9;?]*[ -/]*[@-~]|[\x00-\x08\x0b-\x1f\x7f-\x9f]")
"""Colours and other terminal codes in messages."""

CONTAINERS = ("docker", "podman", "apptainer", "singularity", "enroot", "srun")


LAST_LINES = 5
"""Lines of a log that an error shows."""
END_BYTES = 200
"""Maximum length of an end event."""
LAST_EVENTS_BYTES = 4096
"""Bytes that are searched for the last events: after a signal, other threads may still record for a moment."""
MOST_CHARACTERS = 2000
"""Maximum length of the message of an exception."""

Stop = Literal["timeout", "stall", "cancel"]
"""Why deviate ended a run."""


@dataclass(frozen=True, slots=True)
class Ending:
    """The status of a run with its reason."""

    status: Status
    exit_code: int | None
    signal: str | None
    reason: str
    cause: Cause = ""


CANCELLED = Ending("cancelled", None, None, "stopped before it ended", "cancel")


def judge(
    code: int,
    *,
    stopped: Stop | None,
    has_reported: bool,
    patience_s: float = 0.0,
    was_out_of_memory: bool = False,
    ignored_codes: Collection[int] = (),
    sent_itself: Mapping[int, str] = MappingProxyType({}),
) -> Ending:
    """Determine the ending of a command.

    Args:
        code: its exit code, negative for the signal that killed it.
        stopped: why we ended it, None when we did not.
        patience_s: after how many seconds, or seconds without a sign of life, we did.
        was_out_of_memory: the kernel killed a process of this machine, or of our control group, meanwhile.
        ignored_codes: exit codes that count as success.
        sent_itself: signals that the run sent to itself, each with its place in the script.
    """
    number = -code if code < 0 else code - 128 if code - 128 in FROM_OUTSIDE else None  # a shell adds 128
    name = signal.Signals(number).name if number in set(signal.Signals) else None
    exit_code = code if code >= 0 else None
    if stopped == "timeout":
        return Ending("timed_out", exit_code, name, f"took longer than {patience_s:g} s", "time")
    if stopped == "stall":
        return Ending("timed_out", exit_code, name, f"no values and no output for {patience_s:g} s", "stall")
    if stopped == "cancel":
        return dataclasses.replace(CANCELLED, exit_code=exit_code, signal=name)
    if code in ignored_codes:
        number = None
    if number == signal.SIGKILL and was_out_of_memory:
        return Ending("lost", exit_code, name, "killed by the system, which ran out of memory", "memory")
    if number in sent_itself and number in FROM_OUTSIDE:
        return Ending("crashed", exit_code, name, f"sent {name} to itself{sent_itself[number]}", "signal")
    if number in FROM_OUTSIDE:
        likely = " (often: out of memory)" if number == signal.SIGKILL else ""
        return Ending("lost", exit_code, name, f"killed from outside by {name}{likely}", "signal")
    if not has_reported:
        return Ending("silent", exit_code, name, f"the guest never reported; {_exit_text(code, name)}", "silent")
    if code and code not in ignored_codes:
        return Ending("crashed", exit_code, name, _exit_text(code, name), "signal" if code < 0 else "exit")
    return Ending("completed", code, None, "")


def signals_to_itself(attempt: Path) -> dict[int, str]:
    """Signals that a process of the run sent to itself as its last action: number to ` at FILE:LINE`."""
    events = (pair for path in event_files(attempt) for pair in events_in(path, "signal", end_bytes=LAST_EVENTS_BYTES))
    return {int(it.number): f" at {place_text(it.file, it.line)}" if it.file else "" for _, it in events}


def explain(
    ending: Ending,
    stderr_text: str,
    controls: Mapping[str, str],
    n_sharing: int = 0,
    *,
    is_disk_full: bool = False,
    was_out_of_memory: bool = False,
) -> Ending:
    """The ending with the cause of a crash, where its output shows it: memory, disk, the device, or a missing kernel.

    Args:
        stderr_text: the end of what the command wrote to stderr.
        controls: of the spec: without deterministic kernels asked for, the script's own wish ended it.
        n_sharing: other runs that shared the device: then the want of memory is theirs, and the run is lost.
        is_disk_full: then it may not even have been able to say so.
        was_out_of_memory: as in `judge`; a process that the run started may have been killed, and the run failed by it.
    """
    if ending.status == "silent" and is_disk_full:
        return dataclasses.replace(ending, status="lost", reason="the disk is full", cause="disk")
    if ending.status != "crashed":
        return ending
    if ending.cause == "exit" and (error := exception_line(stderr_text)):
        ending = dataclasses.replace(ending, reason=error)
    room = _last(OUT_OF_SPACE, stderr_text)
    if is_disk_full or room is not None:
        reason = "the disk is full" if room is None else f"no disk space: {room[0]}"
        return dataclasses.replace(ending, status="lost", reason=reason, cause="disk")
    if was_out_of_memory and (killed := _last(CHILD_KILLED, stderr_text)):
        reason = f"the system ran out of memory and killed a process of the run: {killed[0]}"
        return dataclasses.replace(ending, status="lost", reason=reason, cause="memory")
    memory = _last(OUT_OF_MEMORY, stderr_text)
    if memory is not None:
        if n_sharing:
            reason = f"out of memory while {n_sharing} other run{'s' * (n_sharing > 1)} shared the device: use fewer"
            return dataclasses.replace(ending, status="lost", reason=reason, cause="memory")
        return dataclasses.replace(ending, reason=f"out of memory: {memory[0]}", cause="memory")
    return _explain_device(ending, stderr_text) or _explain_kernels(ending, stderr_text, controls)


def _explain_device(ending: Ending, stderr_text: str) -> Ending | None:
    if device := _last(BROKEN_DEVICE, stderr_text):
        return dataclasses.replace(ending, status="lost", reason=f"the device failed: {device[0]}", cause="node")
    if build := _last(OTHER_BUILD, stderr_text):
        reason = f"the framework has no code for this GPU ({build[0]}): install a build for it (see deviate doctor)"
        return dataclasses.replace(ending, reason=reason)
    if late := _last(LATE_ERROR, stderr_text):
        often = ", often an index or label out of range" if "assert" in late["error"] else ""
        reason = f"{late[0]}{often}: run once with --env {BLOCKING[late['api']]} for its line"
        return dataclasses.replace(ending, reason=reason)
    return None


def _explain_kernels(ending: Ending, stderr_text: str, controls: Mapping[str, str]) -> Ending:
    if controls.get("kernels") != "deterministic":
        return ending
    if _last(WITHOUT_WORKSPACE, stderr_text):
        reason = "cuBLAS is not deterministic without CUBLAS_WORKSPACE_CONFIG=:4096:8, which deviate set and the"
        return dataclasses.replace(ending, reason=f"{reason} process did not have: pass it on, or do not change it")
    errors = [
        (match, pattern)
        for pattern in MISSING  # whoever prints an error may break its lines
        for match in re.finditer(pattern.replace(" ", r"\s+"), stderr_text, re.IGNORECASE)
    ]
    if not errors:
        return ending
    last, pattern = max(errors, key=lambda error: error[0].start())
    cure = "leave this variant out; --warn-only has no effect here"
    if pattern is ABLE_TO_WARN and controls.get("on-missing") != "warn":
        cure = "continue with --warn-only (the operation is then listed), or leave this variant out"
    return dataclasses.replace(ending, reason=f"{last['operation']} has no deterministic version: {cure}")


def _last(pattern: re.Pattern[str], stderr_text: str) -> re.Match[str] | None:
    """The last match, unless another exception followed it."""
    match = max(pattern.finditer(stderr_text), key=re.Match.start, default=None)
    return match if match is not None and "Traceback" not in stderr_text[match.end() :] else None


def exception_line(stderr_text: str) -> str:
    """The line in which the last traceback states its exception, or Python or an argument parser its error; else empty.

    The error that a launcher raises because one of its processes failed is less informative than that process's
    traceback.
    """
    errors = []
    for traceback in stderr_text.split("Traceback (most recent call last):")[1:]:
        frames_and_error = traceback.lstrip("\n").splitlines()
        errors += [next((line for line in frames_and_error if line and not line[0].isspace()), "")]
    messages = [error for error in errors if error] or SYNTAX_ERROR.findall(stderr_text)[-1:]
    messages = messages or USAGE_ERROR.findall(stderr_text)[-1:]
    script_messages = [error for error in messages if not error.partition(":")[0].endswith(OF_LAUNCHERS)] or messages
    return (
        textwrap.shorten(UNPRINTABLE.sub("", script_messages[-1]), MOST_CHARACTERS, placeholder=" …")
        if script_messages
        else ""
    )


def has_reported(attempt: Path) -> bool:
    """Whether the guest was active: its event files begin with a start event."""
    for path in event_files(attempt):
        with path.open("rb") as file:
            if file.read(16).replace(b" ", b"").startswith(b'["start",'):
                return True
    return False


def is_whole(path: Path) -> bool:
    """Whether a file is as long as its writer stated at its end; a writer that stated nothing was interrupted."""
    with path.open("rb") as file:
        size, last = os.fstat(file.fileno()).st_size, _last_line(file)
    try:
        event = decode(last)
    except ValueError:
        return False
    return not isinstance(event, EndEntry) or event.n_bytes is None or int(event.n_bytes) == size - len(last) - 1


def _last_line(file: BinaryIO) -> bytes:
    size, length = os.fstat(file.fileno()).st_size, END_BYTES
    while True:  # who became another program leaves a start event as its last line, which is longer
        file.seek(max(0, size - length))
        _, newline, last = file.read().removesuffix(b"\n").rpartition(b"\n")
        if newline or length >= size:
            return last
        length *= 8


def last_lines(log: Path) -> str:
    """The last lines of a log, to end a sentence; empty where there are none."""
    lines = stderr_tail(log)[-LAST_LINES:]
    return "\n".join(["; its last lines:", *(f"  {line}" for line in lines)]) if lines else ""


def silence(command: Sequence[str], attempt: Path, reason: str = "") -> RunError:
    """The error for a first run in which the guest never reported, with likely cause and remedy.

    Args:
        reason: of the ending of the run; empty while it goes on.
    """
    ended = f" ({reason.rpartition('; ')[2]})" if reason else ""
    problem = f"no Python process of the first run reported{ended}{last_lines(log_files(attempt)[1])}"
    return RunError(problem, f"{_cause(command)} (log: {attempt})")


def _cause(command: Sequence[str]) -> str:
    words = [word.rpartition("/")[2] for word in command]
    for index, word in enumerate(words):
        flags = list(
            itertools.takewhile(lambda word: word.startswith("-") and word[1:2] not in "-cm", command[index + 1 :])
        )
        if word.startswith("python") and any(set(flag[1:]) & set("ISE") for flag in flags if flag[1] not in "XW"):
            return f"python is called with {' '.join(flags)}, which ignores PYTHONPATH: remove -I, -S and -E"
        if word == "env" and {"-i", "-", "--ignore-environment"} & set(command[index + 1 : index + 3]):
            return "`env -i` clears the variables that the run needs: pass PYTHONPATH and DEVIATE_*"
        if word in CONTAINERS:
            return f"{word} hides folders and variables: pass PYTHONPATH and DEVIATE_*, and mount the experiment"
    return (
        "the command starts no Python 3.8 or newer, clears its environment, or ends before Python starts: "
        "let it pass PYTHONPATH and DEVIATE_*"
    )


def _exit_text(code: int, name: str | None) -> str:
    return f"killed by {name}" if code < 0 else f"exit code {code}"
