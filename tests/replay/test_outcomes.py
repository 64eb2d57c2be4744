"""How a run ended, told from its exit."""

from collections.abc import Callable
from pathlib import Path

import pytest
from planned import execute

from deviate.replay.outcomes import Ending, exception_line, explain, has_reported, judge, silence

from .conftest import Frozen

BUT = "does not have a deterministic implementation, but"
TORCH = "you set 'torch.use_deterministic_algorithms(True)'. You can turn off determinism just for this operation"
HELD = {"kernels": "deterministic", "autotune": "off"}
CRASHED = Ending("crashed", 1, None, "exit code 1")


def named(said: str) -> str | None:
    """The operation that the reason names, when a run with deterministic kernels said this at its end."""
    operation, phrase, _ = explain(CRASHED, said, HELD).reason.partition(" has no deterministic version")
    return operation if phrase else None


@pytest.mark.parametrize(
    ("code", "reported", "status", "exit_code", "signal"),
    [
        (0, True, "completed", 0, None),
        (1, True, "crashed", 1, None),
        (-11, True, "crashed", None, "SIGSEGV"),
        (-6, True, "crashed", None, "SIGABRT"),
        (-9, True, "lost", None, "SIGKILL"),
        (-15, False, "lost", None, "SIGTERM"),
        (137, True, "lost", 137, "SIGKILL"),
        (139, True, "crashed", 139, None),
        (0, False, "silent", 0, None),
        (127, False, "silent", 127, None),
    ],
)
def test_the_exit_tells_the_status(
    code: int, status: str, exit_code: int | None, signal: str | None, *, reported: bool
) -> None:
    ending = judge(code, stopped=None, has_reported=reported)
    assert (ending.status, ending.exit_code, ending.signal) == (status, exit_code, signal)


def test_what_we_ended_ourselves_is_no_crash_and_not_lost() -> None:
    assert judge(-15, stopped="timeout", has_reported=True, patience_s=1.5).reason == "took longer than 1.5 s"
    assert judge(-9, stopped="cancel", has_reported=False).status == "cancelled"


SENDING = """
import os, signal, subprocess, time

def pass_on(number, frame):
    signal.signal(number, signal.SIG_DFL)
    os.kill(os.getpid(), number)

case = os.environ["DEVIATE_REPLICATE"]
if case == "0":
    os.kill(os.getpid(), signal.SIGTERM)
if case == "1":
    signal.raise_signal(signal.SIGTERM)
if case == "2":
    os.killpg(0, signal.SIGTERM)
signal.signal(signal.SIGTERM, pass_on)
subprocess.run(["kill", str(os.getpid())])
time.sleep(60)
"""


def test_a_signal_that_a_script_sends_to_itself_is_a_crash_and_one_that_it_passes_on_is_not(
    frozen: Callable[[str], Frozen],
) -> None:
    project = frozen(SENDING)
    outcomes = execute(project.specs(4), project.snapshot, project.folder, jobs=2, retries=0)
    assert [outcome.status for outcome in outcomes] == ["crashed", "crashed", "crashed", "lost"]
    line = 1 + (project.root / "train.py").read_text().splitlines().index("    os.kill(os.getpid(), signal.SIGTERM)")
    assert outcomes[0].reason == f"sent SIGTERM to itself at train.py:{line}"


@pytest.mark.parametrize(
    ("text", "expected"),
    [('["start", 1, {}]\n', True), ('["start",1,{}]\n', True), ("", False), ("{}\n", False), ('["sta', False)],
)
def test_the_guest_was_there_when_a_file_begins_with_its_start(tmp_path: Path, text: str, *, expected: bool) -> None:
    (tmp_path / "events-1-1.jsonl").write_text(text)
    assert has_reported(tmp_path) is expected


@pytest.mark.parametrize(
    ("command", "cause"),
    [
        (("python3", "-I", "train.py"), "remove -I"),
        (("/usr/bin/python3.11", "-sE", "train.py"), "remove -I"),
        (("env", "-i", "PATH=/bin", "python", "train.py"), "env -i"),
        (("docker", "run", "image", "python", "train.py"), "docker hides"),
        (("./run.sh", "-I"), "no Python 3.8"),
        (("python", "train.py", "--Silent"), "no Python 3.8"),
        (("python", "train.py", "-S"), "no Python 3.8"),
        (("python", "-m", "ISE"), "no Python 3.8"),
    ],
)
def test_the_cause_of_silence_is_read_from_the_command(tmp_path: Path, command: tuple[str, ...], cause: str) -> None:
    assert cause in silence(command, tmp_path).hint


@pytest.mark.parametrize(
    ("said", "operation"),
    [
        (f"RuntimeError: max_unpooling2d_forward_out {BUT} {TORCH}", "max_unpooling2d_forward_out"),
        (f"RuntimeError: median CUDA with indices output {BUT} {TORCH}", "median CUDA with indices output"),
        (f'got RuntimeError("put_ {BUT} {TORCH}")\nfrom user code:\n  File "t.py", line 7, in f', "put_"),
        (("RuntimeError: put_ does not have a deterministic implementation, but you set \n"
         "'torch.use_deterministic_algorithms(True)'. You can"), "put_"),
        ((f"XlaRuntimeError: UNIMPLEMENTED: HLO instruction scatter.3 {BUT} run-to-run determinism is required by "
         "--xla_gpu_deterministic_ops."), "scatter.3"),
        (("UnimplementedError: Determinism is not yet supported in GPU implementation of "
         "FakeQuantWithMinMaxVarsGradient."), "FakeQuantWithMinMaxVarsGradient"),
        ("Determinism is not yet supported for SVD. [Op:Svd]", "SVD"),
        (("UnimplementedError: {{function_node __wrapped__AdjustContrastv2_device_/job:localhost/replica:0/task:0/"
         "device:GPU:0}} A deterministic GPU implementation of AdjustContrastv2 is not currently available. "
         "[Op:AdjustContrastv2]"), "AdjustContrastv2"),
        (("A deterministic GPU implementation of fused batch-norm backprop, when training is disabled, is not "
         "currently available."), "fused batch-norm backprop, when training is disabled"),
        ("Deterministic GPU implementation of unsorted segment reduction op not available.",
         "unsorted segment reduction op"),
        (("The GPU implementation of SoftmaxCrossEntropyWithLogits that would have been executed is not deterministic. "
         "Note that"), "SoftmaxCrossEntropyWithLogits"),
        (("<stack traces unavailable>\nGPU MaxPool gradient ops do not yet have a deterministic XLA implementation.\n"
         "\t [[{{node MaxPoolGrad}}]]"), "GPU MaxPool gradient"),
        (("with iterator: Iterator::Root::Map::BatchV2::Map: Timestamp cannot be called when determinism is enabled\n"
         "\t [[{{node Timestamp}}]]"), "Timestamp"),
        ('RuntimeError: "from_non_deterministic_state" cannot be called when determinism is enabled.',
         "from_non_deterministic_state"),
    ],
)  # fmt: skip
def test_the_error_of_a_framework_names_the_operation(said: str, operation: str) -> None:
    assert named(said) == operation


@pytest.mark.parametrize(
    "said",
    [
        "",
        "RuntimeError: mat1 and mat2 shapes cannot be multiplied",
        f"UserWarning: put_ {BUT} you set 'torch.use_deterministic_algorithms(True, warn_only=True)'. You can file",
        "RuntimeError: Random ops require a seed to be set when determinism is enabled.",
    ],
)
def test_other_errors_and_warnings_name_none(said: str) -> None:
    assert named(said) is None


def test_of_several_operations_the_last_one_ended_the_run() -> None:
    said = "".join(f"RuntimeError: {name} {BUT} {TORCH}\n" for name in ("put_", "histc"))
    assert named(f"{said}Timestamp cannot be called when determinism is\n") == "histc"


def test_a_log_without_blanks_is_searched_in_no_time() -> None:
    assert named("_" * 16_384) is None


MISSING = f"RuntimeError: put_ {BUT} {TORCH}"


def test_a_crash_for_want_of_a_deterministic_version_says_what_to_do() -> None:
    assert explain(CRASHED, MISSING, HELD) == Ending(
        "crashed", 1, None,
        "put_ has no deterministic version: continue with --warn-only (the operation is then listed), or leave this "
        "variant out",
    )  # fmt: skip


@pytest.mark.parametrize(
    ("said", "controls"),
    [
        (MISSING, {**HELD, "on-missing": "warn"}),
        ("Determinism is not yet supported for SVD.", HELD),
        (f"HLO instruction scatter {BUT} run-to-run determinism is required", HELD),
    ],
)
def test_where_a_warning_cannot_do_only_leaving_out_helps(said: str, controls: dict[str, str]) -> None:
    assert "deterministic version: leave this variant out" in explain(CRASHED, said, controls).reason


@pytest.mark.parametrize("controls", [{}, {"kernels": "default"}])
def test_a_crash_that_the_script_asked_for_itself_keeps_its_reason(controls: dict[str, str]) -> None:
    assert explain(CRASHED, MISSING, controls) == CRASHED


def test_only_crashes_are_explained() -> None:
    for ending in (Ending("completed", 0, None, ""), Ending("timed_out", None, "SIGTERM", "took longer than 1 s")):
        assert explain(ending, MISSING, HELD) == ending
    assert explain(CRASHED, "KeyError: 'x'", HELD) == CRASHED


UNPOOL = """
import torch
pooled, indices = torch.nn.MaxPool2d(2, return_indices=True)(torch.ones(1, 1, 4, 4))
torch.nn.MaxUnpool2d(2)(pooled, indices)
"""
STAMP = """
import tensorflow as tf
list(tf.data.Dataset.range(4).map(lambda number: tf.timestamp()))
"""


@pytest.mark.parametrize(
    ("framework", "script", "operation"),
    [
        ("torch", UNPOOL, "max_unpooling2d_forward_out"),
        pytest.param("tensorflow", STAMP, "Timestamp", marks=pytest.mark.slow),
    ],
)
def test_a_control_run_that_a_framework_ends_names_the_operation(
    frozen: Callable[[str], Frozen], require: Callable[[str], None], framework: str, script: str, operation: str
) -> None:
    require(framework)
    it = frozen(script)
    specs = [*it.specs(1), *it.specs(1, variant="control")]
    as_is, control = execute(specs, it.snapshot, it.folder, jobs=2)
    assert (as_is.status, control.status) == ("completed", "crashed")
    assert control.reason.startswith(f"{operation} has no deterministic version: ")


WORKSPACE = (
    "RuntimeError: Deterministic behavior was enabled with either `torch.use_deterministic_algorithms(True)` or "
    "`at::Context::setDeterministicAlgorithms(true)`, but this operation is not deterministic because it uses CuBLAS "
    "and you have CUDA >= 10.2. To enable deterministic behavior in this case, you must set an environment variable"
)


def test_a_process_without_the_workspace_variable_is_told_of_it() -> None:
    assert "CUBLAS_WORKSPACE_CONFIG=:4096:8" in explain(CRASHED, WORKSPACE, HELD).reason
    assert explain(CRASHED, WORKSPACE, {}) == CRASHED


@pytest.mark.parametrize(
    "said",
    [
        "torch.OutOfMemoryError: CUDA out of memory. Tried to allocate 20.00 GiB. GPU 0 has a total capacity of",
        "[rank1]: torch.OutOfMemoryError: HIP out of memory. Tried to allocate 2.00 GiB",
        "torch.OutOfMemoryError: XPU out of memory. Tried to allocate 192.00 MiB.",
        "RuntimeError: MPS backend out of memory (MPS allocated: 17.21 GiB, max allowed: 20.13 GiB)",
        "torch.AcceleratorError: CUDA error: out of memory\nCUDA kernel errors might be asynchronously reported",
        "RuntimeError: CUDA error: CUBLAS_STATUS_ALLOC_FAILED when calling `cublasCreate(handle)`",
        "RuntimeError: [enforce fail at alloc_cpu.cpp:117] err == 0. DefaultCPUAllocator: can't allocate memory: you",
        "jaxlib.xla_extension.XlaRuntimeError: RESOURCE_EXHAUSTED: Out of memory while trying to allocate 4294967296",
        "jax.errors.JaxRuntimeError: RESOURCE_EXHAUSTED: Out of memory while trying to allocate 19.59GiB.",
        "jax.errors.JaxRuntimeError: RESOURCE_EXHAUSTED: Failed to load in-memory CUBIN\n  CUDA_ERROR_OUT_OF_MEMORY",
        "tensorflow.python.framework.errors_impl.ResourceExhaustedError: {{function_node __wrapped__Conv2D}} OOM when",
        "InternalError: Failed copying input tensor in order to run Equal: Dst tensor is not initialized. [Op:Equal]",
        "xgboost.core.XGBoostError: Memory allocation error on worker 0: bad_alloc: cudaErrorMemoryAllocation: out of",
    ],
)
def test_a_lack_of_memory_is_told_by_each_framework_in_words_of_its_own(said: str) -> None:
    assert explain(CRASHED, said, HELD).cause == "memory"
    shared = explain(CRASHED, said, HELD, n_sharing=1)
    assert (shared.status, shared.cause) == ("lost", "memory")


def test_a_run_that_the_system_killed_for_lack_of_memory_is_told_from_one_that_somebody_killed() -> None:
    certain = judge(-9, stopped=None, has_reported=True, was_out_of_memory=True)
    assert (certain.status, certain.cause) == ("lost", "memory")
    assert certain.reason == "killed by the system, which ran out of memory"
    likely = judge(137, stopped=None, has_reported=True)
    assert (likely.status, likely.cause) == ("lost", "signal")
    assert "often: out of memory" in likely.reason
    other = judge(-15, stopped=None, has_reported=True, was_out_of_memory=True)
    assert (other.cause, "memory" in other.reason) == ("signal", False)


@pytest.mark.parametrize(
    "said",
    [
        "RuntimeError: DataLoader worker (pid 4711) is killed by signal: Killed. ",
        "RuntimeError: DataLoader worker (pid(s) 4711, 4712) exited unexpectedly",
        "concurrent.futures.process.BrokenProcessPool: A process in the process pool was terminated abruptly while",
        "TerminatedWorkerError: A worker process managed by the executor was unexpectedly terminated. This could be",
    ],
)
def test_a_run_of_which_the_system_killed_a_process_ran_out_of_memory(said: str) -> None:
    killed = explain(CRASHED, said, HELD, was_out_of_memory=True)
    assert (killed.status, killed.cause) == ("lost", "memory")
    assert killed.reason.startswith("the system ran out of memory and killed a process of the run: ")
    assert explain(CRASHED, said, HELD).cause != "memory"


@pytest.mark.parametrize(
    ("said", "status", "reason"),
    [
        ("torch.AcceleratorError: CUDA error: uncorrectable ECC error encountered", "lost", "the device failed"),
        ("RuntimeError: CUDA error: all CUDA-capable devices are busy or unavailable", "lost", "busy"),
        ("torch.AcceleratorError: CUDA error: CUDA-capable device(s) is/are busy or unavailable", "lost", "busy"),
        ("InternalError: CUDA_ERROR_ECC_UNCORRECTABLE: unknown", "lost", "the device failed"),
        ("RuntimeError: CUDA error: no kernel image is available for execution on the device", "crashed", "a build"),
        ("RuntimeError: HIP error: invalid device function", "crashed", "install a build"),
        ('"hipErrorNoBinaryForGpu: Unable to find code object for all current devices!"', "crashed", "a build"),
        ("torch.AcceleratorError: CUDA error: device-side assert triggered", "crashed", "index or label out of range"),
        ("RuntimeError: CUDA error: an illegal memory access was encountered", "crashed", "CUDA_LAUNCH_BLOCKING=1"),
        ("RuntimeError: HIP error: unspecified launch failure", "crashed", "AMD_SERIALIZE_KERNEL=3"),
    ],
)
def test_an_error_of_a_device_tells_whose_it_is_and_what_to_do(said: str, status: str, reason: str) -> None:
    ending = explain(CRASHED, f"Traceback (most recent call last):\n  …\n{said}\n", {})
    assert ending.status == status
    assert reason in ending.reason
    assert explain(CRASHED, f"{said}\nTraceback (most recent call last):\n  …\nKeyError: 1\n", {}) == CRASHED


FRAME = "Traceback (most recent call last):\n  File 'train.py', line 3, in <module>\n    fit()\n    ^^^^^\n"
OF_TORCHRUN = "torch.distributed.elastic.multiprocessing.errors.ChildFailedError:\n"
OF_LOADING = "RuntimeError: Error(s) in loading state_dict:"
OF_MAKE = "subprocess.CalledProcessError: Command 'make' failed"
OF_ARGUMENTS = "train.py: error: unrecognized arguments: --foo"


@pytest.mark.parametrize(
    ("said", "line"),
    [
        (f"{FRAME}KeyError: 'x'\n", "KeyError: 'x'"),
        (f"{FRAME}KeyError: 'x'\n\nDuring handling of …:\n\n{FRAME}ValueError: no\n", "ValueError: no"),
        (f"{FRAME}{OF_LOADING}\n\tMissing key\n", OF_LOADING),
        (f"{FRAME}KeyboardInterrupt\nwandb: synced\n", "KeyboardInterrupt"),
        (f"{FRAME}ZeroDivisionError: division by zero\n{FRAME}{OF_TORCHRUN}", "ZeroDivisionError: division by zero"),
        (f"{FRAME}{OF_MAKE}\n", OF_MAKE),
        (f"usage: train.py [-h]\n{OF_ARGUMENTS}\n", OF_ARGUMENTS),
        ("killed\n", ""),
        ("", ""),
    ],
)
def test_the_reason_of_a_crash_is_the_line_that_names_the_exception(said: str, line: str) -> None:
    assert exception_line(said) == line
    reason = explain(Ending("crashed", 1, None, "exit code 1", "exit"), said, {}).reason
    assert reason == (line or "exit code 1")


@pytest.mark.parametrize("said", [
    "Traceback (most recent call last):\nOSError: [Errno 28] No space left on device: 'best.pt'\n",
    "OSError: [Errno 122] Disk quota exceeded\n",
    "RuntimeError: PytorchStreamWriter failed writing file data/3\nNo space left on device\n",
])  # fmt: skip
def test_a_script_that_found_no_room_to_write_is_lost_and_has_not_failed(said: str) -> None:
    ending = explain(CRASHED, said, {})
    assert (ending.status, ending.cause) == ("lost", "disk")


def test_room_that_was_wanted_before_another_error_is_not_its_reason() -> None:
    said = "OSError: [Errno 28] No space left on device\nTraceback (most recent call last):\nKeyError: 'x'\n"
    assert explain(CRASHED, said, {}) == CRASHED


def test_a_crash_that_a_full_disk_leaves_speechless_is_lost() -> None:
    assert explain(CRASHED, "", {}, is_disk_full=True).cause == "disk"
