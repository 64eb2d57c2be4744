"""Starts the user's interpreter, asks for facts about it and each framework, and combines the answers.

Nothing from the user's environment is imported here: a framework that crashes or hangs only affects its own child
process.
"""

import dataclasses
import json
import os
import shutil
import tempfile
import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path

from deviate.doctor.children import ChildResult, Facts, Question, ask, describe_death, read_facts
from deviate.doctor.hazards import hazards
from deviate.doctor.judge import DETERMINISTIC_OPS, judge
from deviate.errors import InputError
from deviate.model.diagnosis import Concern, Control, Diagnosis, Framework, Interpreter, Machine

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
answer = [list(sys.version_info[:3]), sys.executable, hash("deviate"), "{MARK}" in sys.modules, flags]
sys.stdout.write("\\n" + json.dumps(answer) + "\\n")
"""
HASH_SEEDS = {"first": "1", "same": "1", "other": "2"}
COST_ORDER = ("tensorflow", "lightning", "keras", "torch_xla", "torch", "accelerate")
"""Slow imports, which start first."""
GENTLE = {"XLA_PYTHON_CLIENT_PREALLOCATE": "false", "TF_FORCE_GPU_ALLOW_GROWTH": "true"}
"""Variables that keep a child from reserving GPU memory."""


@dataclass(frozen=True, slots=True)
class _FirstAnswer:
    """Facts of a Python before any module of the standard library is imported."""

    version: tuple[int, ...]
    executable: str
    hash: int
    loads_sitecustomize: bool
    flags: tuple[str, ...]


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
        first, works = asker.begin()
        version = ".".join(map(str, first.version))
        interpreter = Interpreter(python, first.executable, version)
        if first.version[:2] < OLDEST:
            old = Concern(
                f"Python {version}", "too old: deviate needs Python 3.8 or newer", "run the script with a newer Python"
            )
            return Diagnosis(interpreter, None, (), (old,), time.monotonic() - began)
        diagnosed = asker.look(first, is_hash_seed_obeyed=works)
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

    def begin(self) -> tuple[_FirstAnswer, bool]:
        """Ask for the interpreter's identity, and whether the hash seed works.

        Raises:
            InputError: it cannot be started, or is no Python.
        """
        marked = self.folder / "marked"
        marked.mkdir()
        (marked / "sitecustomize.py").write_text(f"import sys\nsys.modules[{MARK!r}] = sys\n", encoding="utf-8")
        path = os.pathsep.join(filter(None, [str(marked), os.environ.get("PYTHONPATH", "")]))
        command = (self.python, "-c", FIRST_QUESTION)
        ended = self._ask(
            Question(name, command, {"PYTHONPATH": path, "PYTHONHASHSEED": seed}) for name, seed in HASH_SEEDS.items()
        )
        answers = {name: self._first(ended[name]) for name in HASH_SEEDS}
        is_obeyed = answers["first"].hash == answers["same"].hash != answers["other"].hash
        return answers["first"], is_obeyed

    def _first(self, result: ChildResult) -> _FirstAnswer:
        try:
            version, executable, number, is_marked, flags = json.loads(result.stdout.strip().splitlines()[-1])
            return _FirstAnswer(tuple(map(int, version)), str(executable), int(number), bool(is_marked), tuple(flags))
        except (ValueError, IndexError, TypeError) as error:
            last = result.stderr.strip().splitlines()[-1:] or [f"exit code {result.code}"]
            why = last[0][:80] if result.code is not None else f"no answer within {self.timeout_s:g} s"
            raise InputError(
                f"{self.python} does not answer as a Python interpreter does ({why})",
                "name the interpreter that runs the script: deviate doctor --python PATH",
            ) from error

    def look(
        self, first: _FirstAnswer, *, is_hash_seed_obeyed: bool
    ) -> tuple[Machine, tuple[Framework, ...], tuple[Concern, ...]]:
        """Ask for facts about the machine and each installed framework, and list hazards."""
        result = self._ask([self._question("python")])["python"]
        python_facts = self._facts("python")
        fault = describe_death(result, python_facts, self.timeout_s)
        if fault and "installed" not in python_facts.values:
            raise InputError(
                f"cannot examine {self.python}: {fault}", "name another interpreter: deviate doctor --python PATH"
            )
        first_facts = {
            "hash_seed_works": is_hash_seed_obeyed,
            "loads_sitecustomize": first.loads_sitecustomize,
            "flags": list(first.flags),
        }
        python_facts = dataclasses.replace(python_facts, values={**python_facts.values, **first_facts})
        names = python_facts.texts("installed")
        questions = [self._question(name) for name in sorted(names, key=_cost)]
        if "torch" in names:
            questions.append(self._question("torch", "again"))
        if "torch_xla" in names:
            questions.append(self._question("torch_xla", "devices"))
        if "jax" in names:
            flags = f"{os.environ.get('XLA_FLAGS', '')} {DETERMINISTIC_OPS}".strip()
            questions.append(self._question("jax", "accepts", {"XLA_FLAGS": flags}))
        has_tpu = any(device.startswith("TPU") for device in python_facts.texts("accelerators"))
        answers = self._ask(questions, jobs=1 if has_tpu else JOBS)
        facts = {question.name: self._facts(question.name) for question in questions}
        python = judge("python", python_facts, "", facts, self.python)
        judged = [
            judge(name, facts[name], describe_death(answers[name], facts[name], self.timeout_s), facts, self.python)
            for name in names
        ]
        absent = [Framework(name, "absent") for name in python_facts.texts("known") if name not in names]
        frameworks = (python, *judged, *absent)
        machine = _machine(python_facts)
        unheard = (
            (Concern("the machine could not be examined", fault, "check its drivers, for example with nvidia-smi"),)
            if fault
            else ()
        )
        return machine, frameworks, (*unheard, *hazards(python_facts, machine, frameworks))

    def _question(self, name: str, question: str = "", environment: Mapping[str, str] | None = None) -> Question:
        full = f"{name}.{question}" if question else name
        command = (self.python, str(PROBE), str(self.folder / f"{full}.facts"), name, *filter(None, [question]))
        return Question(full, command, {**GENTLE, **(environment or {})})

    def _ask(self, questions: Iterable[Question], *, jobs: int = JOBS) -> dict[str, ChildResult]:
        """Ask the questions; one at a time where a chip serves one process."""
        try:
            return ask(list(questions), self.folder, jobs=jobs, timeout_s=self.timeout_s, on_change=self.on_change)
        except OSError as error:
            raise InputError(
                f"cannot start {self.python}: {error.strerror or error}",
                "name another interpreter: deviate doctor --python PATH",
            ) from error

    def _facts(self, name: str) -> Facts:
        return read_facts(self.folder / f"{name}.facts")


def _cost(name: str) -> tuple[int, str]:
    return (COST_ORDER.index(name) if name in COST_ORDER else len(COST_ORDER), name)


def _machine(facts: Facts) -> Machine:
    return Machine(
        system=facts.text("system"),
        processor=str(facts.table("cpu").get("name", "")),
        instructions=facts.texts("instructions"),
        n_cpus=facts.count("n_cpus"),
        n_cpus_allowed=facts.count("n_cpus_allowed"),
        quota=facts.number("quota"),
        accelerators=facts.texts("accelerators"),
        container=facts.text("container"),
    )


SCHEMA = 2
# 2026-11-21  1  first format.
# 2026-11-27  2  device_types of frameworks.


def to_document(diagnosis: Diagnosis) -> dict[str, object]:
    """Output of `deviate doctor --format json`, for `json.dumps`: the factors of a framework by name."""
    frameworks = [
        {
            **asdict(framework),
            "controls": _by_factor(framework.controls),
            "device_types": [
                {**asdict(kind), "controls": _by_factor(kind.controls)} for kind in framework.device_types
            ],
        }
        for framework in diagnosis.frameworks
    ]
    return {"schema": SCHEMA, **asdict(diagnosis), "frameworks": frameworks}


def _by_factor(controls: Sequence[Control]) -> dict[str, dict[str, str]]:
    return {item.factor: {"answer": item.answer, "why": item.why, "advice": item.advice} for item in controls}
