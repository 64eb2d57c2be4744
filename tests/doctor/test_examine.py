import contextlib
import importlib.metadata
import importlib.util
import json
import os
import signal
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from deviate.doctor.examine import examine, to_document
from deviate.doctor.judge import FACTORS
from deviate.errors import InputError
from deviate.model.diagnosis import Control, Diagnosis, Framework

KILLED = "import os, signal\nos.kill(os.getpid(), signal.SIGSEGV)\n"


def framework(diagnosis: Diagnosis, name: str) -> Framework:
    return next(item for item in diagnosis.frameworks if item.name == name)


def control(diagnosis: Diagnosis, name: str, factor: str) -> Control:
    return next(item for item in framework(diagnosis, name).controls if item.factor == factor)


@pytest.fixture(scope="module")
def here(tmp_path_factory: pytest.TempPathFactory) -> Diagnosis:
    """The interpreter of the tests, with the real frameworks."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("XDG_CACHE_HOME", str(tmp_path_factory.mktemp("cache")))
        return examine(sys.executable, timeout_s=600)


# ------------------------------------------------------------ the real frameworks


@pytest.mark.slow
def test_every_installed_framework_works_and_no_other(here: Diagnosis) -> None:
    names = {item.name for item in here.frameworks}
    installed = {name for name in names if importlib.util.find_spec(name) is not None} | {"python"}

    assert {item.name for item in here.frameworks if item.state == "works"} == installed
    assert {item.name for item in here.frameworks if item.state == "absent"} == names - installed
    assert [item.fault for item in here.frameworks if item.fault] == []


@pytest.mark.slow
def test_versions_are_those_of_the_packages(here: Diagnosis, require: Callable[[str], None]) -> None:
    for name, package in (("torch", "torch"), ("jax", "jax"), ("sklearn", "scikit-learn"), ("haiku", "dm-haiku")):
        require(name)
        assert framework(here, name).version == importlib.metadata.version(package)


@pytest.mark.slow
def test_torch_is_noisy_by_default_and_repeatable_when_held(here: Diagnosis, require: Callable[[str], None]) -> None:
    require("torch")
    tried = " ".join(framework(here, "torch").tried)

    assert "two processes computed different gradients; with deterministic algorithms, equal ones" in tried
    assert "an operation without a deterministic version was rejected" in tried
    assert control(here, "torch", "kernels").answer == "yes"


@pytest.mark.slow
def test_tensorflow_refuses_what_has_no_seed_once_op_determinism_is_on(
    here: Diagnosis, require: Callable[[str], None]
) -> None:
    require("tensorflow")
    assert "a random operation without a seed was rejected" in " ".join(framework(here, "tensorflow").tried)
    assert control(here, "tensorflow", "kernels").answer == "yes"


@pytest.mark.slow
def test_xla_takes_the_flag_that_deviate_adds(here: Diagnosis, require: Callable[[str], None]) -> None:
    require("jax")
    assert framework(here, "jax").tried == ("XLA_FLAGS=--xla_gpu_deterministic_ops=true: was accepted by this build",)


@pytest.mark.slow
def test_streams_of_raw_keys_cannot_be_told_apart_but_those_with_names_can(
    here: Diagnosis, require: Callable[[str], None]
) -> None:
    require("flax")
    assert control(here, "jax", "augment").answer == "partly"
    assert control(here, "jax", "dropout").answer == "partly"
    assert "flax" in control(here, "jax", "dropout").advice
    assert control(here, "flax", "dropout").answer == "yes"


@pytest.mark.slow
def test_the_hash_seed_and_the_guest_reach_this_interpreter(here: Diagnosis) -> None:
    assert control(here, "python", "hash").answer == "yes"
    assert not any("sitecustomize" in hazard.what for hazard in here.hazards)


@pytest.mark.slow
def test_each_no_says_why_and_what_to_do(here: Diagnosis) -> None:
    for item in here.frameworks:
        for answer in item.controls:
            assert answer.answer == "yes" or answer.why, (item.name, answer)
            assert answer.answer in {"yes", "nothing"} or answer.advice, (item.name, answer)
        assert all(limit.why and limit.advice for limit in item.limits)


@pytest.mark.slow
def test_all_factors_are_judged_in_each_framework_of_its_own(here: Diagnosis) -> None:
    for item in here.frameworks:
        if item.state == "works" and not item.rests_on:
            assert tuple(answer.factor for answer in item.controls) == FACTORS


@pytest.mark.slow
def test_the_document_is_json_with_a_schema_number(here: Diagnosis) -> None:
    document: Any = json.loads(json.dumps(to_document(here), allow_nan=False))

    assert document["schema"] == 1
    assert document["interpreter"]["executable"] == here.interpreter.executable
    by_name = {item["name"]: item for item in document["frameworks"]}
    assert by_name["python"]["controls"]["hash"] == {"answer": "yes", "why": "", "advice": ""}


# ------------------------------------------------------------ an interpreter with no frameworks


def test_without_frameworks_only_python_is_judged(bare: str) -> None:
    diagnosis = examine(bare)

    assert [item.name for item in diagnosis.frameworks if item.state != "absent"] == ["python"]
    assert control(diagnosis, "python", "shuffle").answer == "yes"
    assert diagnosis.machine is not None


@pytest.mark.parametrize("version", ["3.8", "3.13"])
def test_the_oldest_and_the_newest_python_answer(version: str, interpreters: Callable[[str], Path]) -> None:
    diagnosis = examine(str(interpreters(version)))

    assert diagnosis.interpreter.version.startswith(f"{version}.")
    assert framework(diagnosis, "python").state == "works"
    assert control(diagnosis, "python", "hash").answer == "yes"


@pytest.mark.parametrize("version", ["2.7", "3.7"])
def test_a_python_too_old_for_the_guest_is_told_so(version: str, interpreters: Callable[..., Path]) -> None:
    diagnosis = examine(str(interpreters(version, optional=True)))

    assert diagnosis.frameworks == ()
    (hazard,) = diagnosis.hazards
    assert "too old" in hazard.why
    assert hazard.advice


def test_without_site_the_guest_cannot_be_loaded(bare: str) -> None:
    hazard = next(item for item in examine(bare).hazards if "sitecustomize" in item.what)
    assert "-S" in hazard.why
    assert hazard.advice


def test_an_isolated_python_ignores_the_hash_seed(wrapped: Callable[..., str]) -> None:
    diagnosis = examine(wrapped("-I", "-S"))

    answer = control(diagnosis, "python", "hash")
    assert answer.answer == "no"
    assert "-I" in answer.why
    assert any("sitecustomize" in hazard.what for hazard in diagnosis.hazards)


@pytest.mark.parametrize("name", ["no-such-python", "./no/such/python"])
def test_an_interpreter_that_is_not_there_is_an_error(name: str) -> None:
    with pytest.raises(InputError, match="no such program"):
        examine(name)


def test_a_program_that_is_no_python_is_an_error(tmp_path: Path) -> None:
    program = tmp_path / "python"
    program.write_text("#!/bin/sh\necho hello\n")
    program.chmod(0o755)

    with pytest.raises(InputError, match="does not answer as a Python interpreter does"):
        examine(str(program))


def test_a_program_that_the_system_refuses_is_an_error(tmp_path: Path) -> None:
    program = tmp_path / "python"
    program.write_bytes(b"\x7fELF, but not really")
    program.chmod(0o755)

    with pytest.raises(InputError, match="cannot start"):
        examine(str(program))


# ------------------------------------------------------------ broken frameworks


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("raise ImportError('libcudart.so.12: cannot open shared object file')", "ImportError: libcudart.so.12"),
        ("raise SystemExit('no licence')", "SystemExit: no licence"),
        (KILLED, "SIGSEGV ended the process while importing it"),
        ("import os\nos._exit(0)", "exit code 0 while importing it"),
        ("import os\nos.write(2, b'Check failed: driver')\nos.abort()", "SIGABRT ended the process"),
    ],
    ids=["raises", "exits", "crashes", "ends quietly", "aborts"],
)
def test_a_broken_framework_takes_no_other_with_it(
    text: str, told: str, bare: str, fake: Callable[[str, str], None]
) -> None:
    fake("torch", text)
    fake("accelerate", "__version__ = '1.2.3'")

    diagnosis = examine(bare)

    broken = framework(diagnosis, "torch")
    assert broken.state == "broken"
    assert told in broken.fault
    assert f"{bare} -c 'import torch'" in broken.advice
    assert broken.controls == ()
    assert framework(diagnosis, "accelerate").version == "1.2.3"
    assert framework(diagnosis, "python").state == "works"


def test_a_framework_that_hangs_is_ended_and_no_other(bare: str, fake: Callable[[str, str], None]) -> None:
    fake("jax", "import time\ntime.sleep(600)")
    fake("optax", "__version__ = '0.1'\napply_updates = print")

    began = time.monotonic()
    for patience in (3, 15, 75):  # on a busy machine the first questions, or optax, may take longer than the shortest
        with contextlib.suppress(InputError):
            diagnosis = examine(bare, timeout_s=patience)
            if framework(diagnosis, "optax").state == "works":
                break

    assert f"no answer within {patience} s, while importing it" in framework(diagnosis, "jax").fault
    assert framework(diagnosis, "optax").state == "works"
    assert time.monotonic() - began < 600


def test_what_was_found_before_a_crash_is_kept(bare: str, fake: Callable[[str, str], None]) -> None:
    crash = f"def __getattr__(name):\n    import os\n    os.kill(os.getpid(), {signal.SIGKILL:d})\n"
    fake("tensorflow", f"__version__ = '9.9'\n{crash}")

    broken = framework(examine(bare), "tensorflow")

    assert (broken.state, broken.version) == ("broken", "9.9")
    assert "SIGKILL" in broken.fault


def test_what_a_framework_prints_is_no_answer(bare: str, fake: Callable[[str, str], None]) -> None:
    fake("accelerate", 'print(\'{"fact": "version", "value": "0"}\')\n__version__ = \'1.2.3\'')
    assert framework(examine(bare), "accelerate").version == "1.2.3"


def test_a_version_without_a_place_for_the_guest_is_not_controlled(bare: str, fake: Callable[[str, str], None]) -> None:
    fake("haiku", "__version__ = '0.0.1'\ndef transform(): ...\n")

    diagnosis = examine(bare)

    assert control(diagnosis, "haiku", "init").answer == "yes"
    answer = control(diagnosis, "haiku", "dropout")
    assert answer.answer == "no"
    assert "haiku.next_rng_key" in answer.why


def test_devices_of_xla_that_do_not_start_leave_the_framework_and_say_why(
    bare: str, fake: Callable[[str, str], None]
) -> None:
    """As on a machine whose TPU another process uses."""
    fake(
        "torch_xla",
        "from types import SimpleNamespace\n__version__ = '2.9'\ndef _start():\n    raise RuntimeError('in use')\n"
        "_XLAC = SimpleNamespace(_xla_get_rng_seed=1, _xla_real_devices=_start)\n",
    )
    (Path(os.environ["PYTHONPATH"]) / "torch_xla/runtime.py").write_text("device_type = lambda: 'TPU'\n")

    diagnosis = examine(bare)

    xla = framework(diagnosis, "torch_xla")
    assert (xla.state, xla.devices) == ("works", ("TPU: RuntimeError: in use",))
    assert control(diagnosis, "torch_xla", "dropout").answer == "no"
    assert "torch_xla._XLAC._xla_set_rng_seed" in control(diagnosis, "torch_xla", "dropout").why


def test_a_flag_that_xla_does_not_know_costs_the_kernels_alone(bare: str, fake: Callable[[str, str], None]) -> None:
    fake(
        "jax",
        "import os\n__version__ = '0.1'\nfrom types import SimpleNamespace as S\n"
        "random = S(PRNGKey=0, key=0)\nconfig = S(update=lambda *_: None, jax_default_matmul_precision='highest')\n"
        "default_backend = lambda: 'gpu'\ndevices = lambda: [S(platform='gpu', device_kind='B9000')]\n"
        "def jit(function):\n"
        "    if 'deterministic' in os.environ.get('XLA_FLAGS', ''): os.abort()\n    return function\n",
    )

    diagnosis = examine(bare)

    assert framework(diagnosis, "jax").devices == ("CPU", "gpu B9000")
    assert control(diagnosis, "jax", "kernels").answer == "no"
    assert control(diagnosis, "jax", "precision").answer == "yes"


def test_a_folder_that_only_has_the_name_is_no_framework(
    bare: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "tensorflow").mkdir()
    monkeypatch.setenv("PYTHONPATH", str(tmp_path))
    assert framework(examine(bare), "tensorflow").state == "absent"


def test_nothing_is_left_behind(bare: str, project: Path, fake: Callable[[str, str], None]) -> None:
    fake("torch", KILLED)
    examine(bare)
    assert list(project.iterdir()) == []


def test_flags_of_xla_for_gpus_hold_no_kernels_of_a_tpu(bare: str, fake: Callable[[str, str], None]) -> None:
    fake(
        "jax",
        "__version__ = '0.1'\nfrom types import SimpleNamespace as S\nrandom = S(PRNGKey=0, key=0)\n"
        "config = S(update=lambda *_: None, jax_default_matmul_precision='highest')\n"
        "default_backend = lambda: 'tpu'\ndevices = lambda: [S(platform='tpu', device_kind='v5e')]\n"
        "jit = lambda function: function\n",
    )

    answer = control(examine(bare), "jax", "kernels")

    assert (answer.answer, answer.why) == ("no", "the flags of XLA for GPUs do not reach tpu")
