"""Starts the user's interpreter, asks for facts about it and each framework, and combines the answers.

Nothing from the user's environment is imported here: a framework that crashes or hangs only affects its own child
process.
"""

import contextlib
import dataclasses
import json
import os
import shutil
import tempfile
import time
from collections.abc import Callable, Iterable, Sequence
from dataclasses import asdict
from itertools import chain
from pathlib import Path
from typing import Any

from deviate.base.digests import document_digest
from deviate.base.kept import cache_folder, keep, read_kept
from deviate.doctor.children import ChildFacts, ChildQuestion, ChildResult, ask, describe_death, read_facts
from deviate.doctor.hazards import hazards
from deviate.doctor.judge import DETERMINISTIC_OPS, judge
from deviate.errors import InputError
from deviate.model.diagnosis import Concern, Control, Diagnosis, Framework, Interpreter, Machine
from deviate.replay.machine import examine_machine

PROBE = Path(__file__).with_name("probe.py")
OLDEST = (3, 8)
TIMEOUT_S = 60.0
JOBS = 4
"""Simultaneous child processes, also on few CPUs, as imports wait for files; each may use a gigabyte of memory."""
MARK = "deviate_doctor_mark"
# In syntax that every Python version supports, and in one process with the standard library only.
FIRST_QUESTION = f"""
import json, sys
names = [("-I", "isolated"), ("-E", "ignore_environment"), ("-S", "no_site")]
flags = [flag for flag, name in names if getattr(sys.flags, name, 0)]
answer = [("version_info", list(sys.version_info[:3])), ("executable", sys.executable), ("flags", flags)]
answer += [("hash", hash("deviate")), ("loads_sitecustomize", "{MARK}" in sys.modules)]
sys.stdout.write("\\n" + json.dumps(dict(answer)) + "\\n")
"""
HASH_SEEDS = {"first": "1", "same": "1", "other": "2"}
LINES = (
    ("torch", "accelerate", "transformers", "lightning"),
    ("tensorflow", "keras"),
    ("torch.again",),
    ("numpy", "sklearn", "lightgbm", "xgboost", "catboost", "gymnasium"),
    ("jax", "flax", "optax", "haiku"),
    ("jax.accepts",),
    ("torch_xla",),
    ("torch_xla.devices",),
)
"""Questions that one process answers in turn, as they import the same; the slow ones first."""
READ = (
    "CUDA", "DYLD_", "FLAX_", "HIP_", "JAX_", "KERAS_", "KMP_", "LD_", "MKL_", "NVIDIA_", "OMP_", "OPENBLAS_", "PJRT_",
    "PYTHON", "PYTORCH_", "ROCR_", "TF_", "TORCH", "TPU_", "XLA_", "ZE_",
)  # fmt: skip
"""What the names of variables begin with that decide what a framework finds."""
SETTINGS = ("/etc/ld.so.cache", "~/.keras/keras.json")
"""Files that decide it as well: the libraries that the system finds, and the backend of Keras."""
GENTLE = {"XLA_PYTHON_CLIENT_PREALLOCATE": "false", "TF_FORCE_GPU_ALLOW_GROWTH": "true"}
"""Variables that keep a child from reserving GPU memory."""


def examine(
    python: str,
    *,
    timeout_s: float = TIMEOUT_S,
    on_change: Callable[[Sequence[str], int], None] = lambda _names, _n_left: None,
) -> Diagnosis:
    """Examine which frameworks an interpreter has, and what deviate can control in them on this machine.

    Args:
        python: a path, or the name of a program on PATH.
        timeout_s: time limit of each child process.
        on_change: called with the frameworks under test and the number of remaining ones.

    Raises:
        InputError: it cannot be started, or is no Python.
    """
    began = time.monotonic()
    with tempfile.TemporaryDirectory(prefix="deviate-doctor-") as name:
        asker = _Asker(_find_interpreter(python), Path(name), timeout_s, on_change)
        first = asker.begin()
        version = ".".join(first.texts("version_info"))
        interpreter = Interpreter(python, first.text("executable"), version)
        if tuple(map(int, first.texts("version_info")[:2])) < OLDEST:
            old = Concern(
                f"Python {version}", "too old: deviate needs Python 3.8 or newer", "run the script with a newer Python"
            )
            return Diagnosis(interpreter, None, (), (old,), time.monotonic() - began)
        diagnosed = asker.look(first)
    return Diagnosis(interpreter, *diagnosed, time.monotonic() - began)


def _find_interpreter(python: str) -> str:
    path = shutil.which(python)
    if path is None:
        raise InputError(
            f"no interpreter {python}: no such program, or it is not executable",
            "name another one: deviate doctor --python PATH",
        )
    return os.path.abspath(path)  # noqa: PTH100  a link is kept: a virtual environment is known by it


class _Asker:
    """Asks one interpreter, with a folder for its answers."""

    def __init__(
        self, python: str, folder: Path, timeout_s: float, on_change: Callable[[Sequence[str], int], None]
    ) -> None:
        self.python, self.folder, self.timeout_s, self.on_change = python, folder, timeout_s, on_change

    def begin(self) -> ChildFacts:
        """Ask what the interpreter is, before any module of the standard library, and whether the hash seed works.

        Raises:
            InputError: it cannot be started, or is no Python.
        """
        marked = self.folder / "marked"
        marked.mkdir()
        (marked / "sitecustomize.py").write_text(f"import sys\nsys.modules[{MARK!r}] = sys\n", encoding="utf-8")
        path = os.pathsep.join(filter(None, [str(marked), os.environ.get("PYTHONPATH", "")]))
        command = (self.python, "-c", FIRST_QUESTION)
        ended = self._ask(
            ChildQuestion(name, command, {"PYTHONPATH": path, "PYTHONHASHSEED": seed})
            for name, seed in HASH_SEEDS.items()
        )
        answers = {name: self._first(ended[name]) for name in HASH_SEEDS}
        is_obeyed = answers["first"]["hash"] == answers["same"]["hash"] != answers["other"]["hash"]
        return ChildFacts({**answers["first"], "hash_seed_works": is_obeyed})

    def _first(self, result: ChildResult) -> dict[str, Any]:
        try:
            answer = json.loads(result.stdout.strip().splitlines()[-1])
            return {**answer, "version_info": list(map(int, answer["version_info"])), "hash": int(answer["hash"])}
        except (ValueError, IndexError, TypeError, KeyError) as error:
            last = result.stderr.strip().splitlines()[-1:] or [f"exit code {result.code}"]
            why = last[0][:80] if result.code is not None else f"no answer within {self.timeout_s:g} s"
            raise InputError(
                f"{self.python} does not answer as a Python interpreter does ({why})",
                "name the interpreter that runs the script: deviate doctor --python PATH",
            ) from error

    def look(self, first: ChildFacts) -> tuple[Machine, tuple[Framework, ...], tuple[Concern, ...]]:
        """Ask for facts about the machine and each installed framework, and list hazards."""
        result = self._ask([self._question(["python"])])["python"]
        python_facts = self._facts("python")
        fault = describe_death(result, python_facts, self.timeout_s)
        if fault:
            raise InputError(
                f"cannot examine {self.python}: {fault}", "name another interpreter: deviate doctor --python PATH"
            )
        python_facts = dataclasses.replace(python_facts, values={**python_facts.values, **first.values})
        names = python_facts.texts("installed")
        machine = examine_machine()
        has_tpu = any(device.startswith("TPU") for device in machine.accelerators)
        wanted = [question for question in chain(*LINES) if question.partition(".")[0] in names]
        facts, faults = self._ask_kept(wanted, _state(python_facts, machine), jobs=1 if has_tpu else JOBS)
        python = judge("python", python_facts, "", facts, self.python)
        judged = [judge(name, facts[name], faults.get(name, ""), facts, self.python) for name in names]
        absent = [Framework(name, "absent") for name in python_facts.texts("known") if name not in names]
        frameworks = (python, *judged, *absent)
        return machine, frameworks, hazards(python_facts, machine, frameworks)

    def _ask_kept(
        self, wanted: Sequence[str], state: str, *, jobs: int
    ) -> tuple[dict[str, ChildFacts], dict[str, str]]:
        """The answers to questions, and what ended those without one; whole answers are kept for the same state."""
        path = cache_folder() / f"doctor-{document_digest({'python': self.python})[:16]}.json"
        kept = read_kept(path).get(state, {})
        kept_facts = {name: ChildFacts(kept[name]) for name in wanted if name in kept}
        asked, faults = self._ask_frameworks([name for name in wanted if name not in kept_facts], jobs)
        facts = {**kept_facts, **asked}
        if state and asked:
            whole = {name: one.values for name, one in facts.items() if not one.faults and not faults.get(name)}
            keep(path, {state: whole})
        return facts, faults

    def _ask_frameworks(self, wanted: Sequence[str], jobs: int) -> tuple[dict[str, ChildFacts], dict[str, str]]:
        """Ask each line of questions in one process. What has no answer is asked alone, unless it came first."""
        facts, faults = dict[str, ChildFacts](), dict[str, str]()
        lines = [line for family in LINES if (line := [name for name in family if name in wanted])]
        while lines:
            results = self._ask([self._question(line) for line in lines], jobs=jobs)
            for line in lines:
                for name in line:
                    facts[name] = self._facts(name)
                    faults[name] = describe_death(results[line[0]], facts[name], self.timeout_s)
            lines = [[name] for line in lines for name in line[1:] if faults[name]]
        return facts, faults

    def _question(self, names: Sequence[str]) -> ChildQuestion:
        command = (self.python, str(PROBE), str(self.folder), *names)
        flags = f"{os.environ.get('XLA_FLAGS', '')} {DETERMINISTIC_OPS}".strip()
        return ChildQuestion(
            names[0], command, {**GENTLE, **({"XLA_FLAGS": flags} if names[0] == "jax.accepts" else {})}
        )

    def _ask(self, questions: Iterable[ChildQuestion], *, jobs: int = JOBS) -> dict[str, ChildResult]:
        """Ask the questions; one at a time where a chip serves one process."""
        try:
            return ask(list(questions), self.folder, jobs=jobs, timeout_s=self.timeout_s, on_change=self.on_change)
        except OSError as error:
            raise InputError(
                f"cannot start {self.python}: {error.strerror or error}",
                "name another interpreter: deviate doctor --python PATH",
            ) from error

    def _facts(self, name: str) -> ChildFacts:
        return read_facts(self.folder / f"{name}.facts")


def _state(python: ChildFacts, machine: Machine) -> str:
    """A digest of all that answers depend on: the interpreter with its packages, machine, variables, settings.

    Empty where the packages are not known.
    """
    variables = {name: value for name, value in os.environ.items() if name.startswith(READ)}
    settings = {}
    for path in SETTINGS:
        with contextlib.suppress(OSError, RuntimeError):  # RuntimeError: a user without a home
            settings[path] = Path(path).expanduser().stat().st_mtime_ns
    is_known = "packages" in python.values
    document = {"python": python.values, "machine": asdict(machine), "variables": variables, "settings": settings}
    return document_digest(document) if is_known else ""


SCHEMA = 1


def to_document(diagnosis: Diagnosis) -> dict[str, object]:
    """Output of `deviate doctor --format json`, for `json.dumps`: the factors of a framework by name."""
    frameworks = [
        {
            **asdict(framework),
            "controls": _by_factor(framework.controls),
        }
        for framework in diagnosis.frameworks
    ]
    return {"schema": SCHEMA, **asdict(diagnosis), "frameworks": frameworks}


def _by_factor(controls: Sequence[Control]) -> dict[str, dict[str, str]]:
    return {item.factor: {"answer": item.answer, "why": item.why, "advice": item.advice} for item in controls}
