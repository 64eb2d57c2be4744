"""Collects the environment of runs, once, and writes it beside each run without delaying runs."""

import json
import os
import re
import shutil
import subprocess
from collections.abc import Mapping, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from pathlib import Path

import deviate
from deviate.base.redaction import known_secrets, redact_variables
from deviate.model.plan import Spec
from deviate.model.records import Revision
from deviate.records.environment import Platform, RunEnvironment, write_environment, write_platform
from deviate.records.events import events_in
from deviate.records.layout import event_files
from deviate.records.schema import Manifest
from deviate.replay.machine import machine_facts
from deviate.replay.workcopy import import_path

# ---------------------------------------------------------------- the interpreter of a command

PYTHON = re.compile(r"(?:python|pypy)(?:\d+(?:\.\d+)*)?")
SHEBANG = re.compile(rb"#!\s*(/\S+)(?:[ \t]+(\S+))?")
LONG_SHEBANG = re.compile(rb"""#!/bin/sh\n'''exec' "?([^"\n]+?)"? "\$0" "\$@\"""")
"""First lines that installers write where a path is too long, or has blanks. Source: distlib, scripts.py."""
CHOOSERS = frozenset((
    "uv", "uvx", "conda", "mamba", "micromamba", "poetry", "pipenv", "pdm", "hatch", "pixi", "rye", "tox", "nox",
    "sh", "bash", "zsh", "dash", "ksh", "fish", "make", "just",
))  # fmt: skip
CONTAINERS = frozenset(("docker", "podman", "apptainer", "singularity", "enroot", "ssh"))
PROBE_S = 60.0
MARK = "deviate-probe:"

PROBE = r"""
import sys
if sys.path[:1] == [""]:
    del sys.path[0]
import json, os, platform
if sys.version_info < (3, 8):
    raise SystemExit("older than Python 3.8")
packages = {}
for folder in sys.path:
    try:
        names = sorted(os.listdir(folder))
    except OSError:
        continue
    for name in names:
        stem, kind = os.path.splitext(name)
        at = os.path.join(folder, name)
        if stem.startswith("~") or kind not in (".dist-info", ".egg-info"):
            continue
        name, _, version = stem.partition("-")
        files = ("METADATA",) if kind == ".dist-info" else ("PKG-INFO", "")
        try:
            paths = [os.path.join(at, file) if file else at for file in files]
            metadata = [path for path in paths if os.path.isfile(path)][0]
            if kind == ".egg-info":
                with open(metadata, encoding="utf-8", errors="replace") as lines:
                    fields = dict(line.rstrip("\n").partition(": ")[::2] for line in lines if ": " in line)
                name, version = fields["Name"], fields["Version"]
        except (OSError, LookupError):
            continue
        packages.setdefault(name.lower().replace("_", "-").replace(".", "-"), version)
print("\n" + sys.argv[1] + json.dumps({
    "path": sys.executable, "version": platform.python_version(),
    "implementation": platform.python_implementation(), "build": " ".join(sys.version.split()), "packages": packages,
}))
"""
"""Distributions are identified by the names of their folders, as `importlib.metadata` does, without the second that it
takes to read hundreds of files. Modules of the working folder are excluded: one may be called `json`.

Source: the packaging specifications, Recording installed projects."""


def find_interpreter(
    command: Sequence[str], cwd: Path, environment: Mapping[str, str], *, wrap: Sequence[str] = ()
) -> tuple[Path | None, str]:
    """Find the interpreter of a command, or the reason why it is unknown.

    The first word that is a program decides, prefixes aside: it is a Python, or a script with one in its shebang line.
    """
    words = [*wrap, *command]
    program = os.path.basename(words[0]) if words else ""  # noqa: PTH119  a word may be no path
    if wrap or program in CONTAINERS:
        return None, f"`{program}` has its own interpreter"
    for word in words:
        name = os.path.basename(word)  # noqa: PTH119
        if name in CHOOSERS:
            return None, f"`{name}` chooses the interpreter"
        path = _program(word, cwd, environment)
        if path is not None and name not in PREFIXES:
            interpreter = path if PYTHON.fullmatch(name) else _python_of_script(path, cwd, environment)
            return interpreter, "" if interpreter else f"`{name}` is not Python and is not known to start it"
    return None, "no word of the command is a Python interpreter or script"


PREFIXES = frozenset((
    "env", "nice", "ionice", "time", "timeout", "nohup", "stdbuf", "numactl", "taskset", "setsid", "chrt", "xvfb-run",
    "srun", "mpirun", "mpiexec", "nsys", "ncu", "strace", "perf", "catchsegv", "caffeinate", "exec", "sudo",
))  # fmt: skip
"""Programs that start the command that follows them."""


def ask(interpreter: Path, cwd: Path, environment: Mapping[str, str]) -> tuple[dict[str, str], dict[str, str] | None]:
    """Facts and packages of an interpreter; `unknown` and None if it does not answer.

    Args:
        environment: the command's variables; ours are left out, so that the guest stays away.
    """
    guest = environment.get("DEVIATE_GUEST")
    variables = {name: value for name, value in environment.items() if not name.startswith("DEVIATE_")}
    variables.pop("TMPDIR", None)  # ended together with the run
    paths = [path for path in variables.pop("PYTHONPATH", "").split(os.pathsep) if path and path != guest]
    if paths:
        variables["PYTHONPATH"] = os.pathsep.join(paths)
    place = Path(os.path.realpath(interpreter.parent), interpreter.name)  # not specific to the copy of one run
    try:
        answered = subprocess.run(
            [place, "-B", "-c", PROBE, MARK], cwd=cwd, env=variables, stdin=subprocess.DEVNULL, capture_output=True,
            check=False, timeout=PROBE_S, start_new_session=True,
        )  # fmt: skip
        line = answered.stdout.rpartition(b"\n" + MARK.encode())[2]
        answer = json.loads(line)
        packages = answer.pop("packages")
    except (OSError, subprocess.TimeoutExpired) as error:
        return {"path": str(place), "unknown": f"it cannot be started: {error}"}, None
    except (ValueError, LookupError, AttributeError):
        error_lines = answered.stderr.decode("utf-8", "replace").strip().splitlines()
        return {
            "path": str(place),
            "unknown": f"it did not answer: {error_lines[-1] if error_lines else answered.returncode}",
        }, None
    executable = Path(answer["path"] or place)
    answer["path"] = str(Path(os.path.realpath(executable.parent), executable.name))
    return answer, packages


def _program(word: str, cwd: Path, environment: Mapping[str, str]) -> Path | None:
    if word.startswith("-") or "=" in word:
        return None
    if os.sep in word:
        path = cwd / word
        return path if path.is_file() and os.access(path, os.X_OK) else None
    program = shutil.which(word, path=environment.get("PATH", os.defpath))
    return Path(program) if program else None


def _python_of_script(path: Path, cwd: Path, environment: Mapping[str, str]) -> Path | None:
    """The Python in the shebang line of a script."""
    try:
        with path.open("rb") as file:
            head = file.read(1024)
    except OSError:
        return None
    if match := LONG_SHEBANG.match(head):
        program = os.fsdecode(match[1])
    elif match := SHEBANG.match(head):
        program = os.fsdecode(match[1])
        if os.path.basename(program) == "env" and match[2]:  # noqa: PTH119
            program = os.fsdecode(match[2])
    else:
        return None
    is_python = PYTHON.fullmatch(os.path.basename(program))  # noqa: PTH119
    return _program(program, cwd, environment) if is_python else None


# ---------------------------------------------------------------- environments

MATTER = (
    "CUDA_", "CUDNN_", "CUBLAS_", "NVIDIA_", "HIP_", "ROCR_", "HSA_", "MIOPEN_", "OMP_", "MKL_", "KMP_", "GOMP_",
    "OPENBLAS_", "BLIS_", "NUMEXPR_", "VECLIB_", "TF_", "XLA_", "JAX_", "LIBTPU_", "TPU_", "TORCH_", "TORCHINDUCTOR_",
    "PYTORCH_", "NCCL_", "GLOO_", "KERAS_", "PYTHON", "LD_LIBRARY_PATH", "LD_PRELOAD", "DYLD_", "MALLOC_", "ATEN_",
)  # fmt: skip
"""Prefixes of variables that change what a framework computes."""
OF_TERRAFORM = ("TF_CLI_", "TF_VAR_", "TF_TOKEN_")
"""Prefixes of variables of Terraform, which look like TensorFlow's."""
THREADS = (
    "OMP_NUM_THREADS", "MKL_NUM_THREADS", "OPENBLAS_NUM_THREADS", "NUMEXPR_NUM_THREADS", "VECLIB_MAXIMUM_THREADS",
    "BLIS_NUM_THREADS", "TF_NUM_INTRAOP_THREADS", "TF_NUM_INTEROP_THREADS",
)  # fmt: skip


class Environments:
    """Collects environments for one process that starts runs.

    Each interpreter is queried once, in a thread beside the first run that it executes.
    """

    def __init__(self, base: Mapping[str, str] = os.environ) -> None:
        self._base = base
        self._answers: dict[tuple[str, str], Future[Platform]] = {}
        self._pool = ThreadPoolExecutor()

    def begin(self, spec: Spec, cwd: Path, environment: Mapping[str, str]) -> None:
        """A run has started; returns immediately.

        Args:
            cwd: working folder of its command, which has to last until the interpreter has answered or the run ends.
            environment: all variables of its command.
        """
        self._ask(spec, cwd, environment)

    def write(self, attempt: Path, spec: Spec, manifest: Manifest, cwd: Path, environment: Mapping[str, str]) -> None:
        """Write `environment.json` of an attempt that has ended, before its result; waits for the first answer only.

        Args:
            cwd, environment: as for `begin`.

        Raises:
            RecordError: the disk does not take it.
        """
        executable, frameworks = _facts_of_guest(attempt)
        platform = self._ask(spec, cwd, environment, executable).result()
        digest = write_platform(attempt.parents[2], platform)
        secrets = (*known_secrets(self._base), *known_secrets(environment))
        ours = {name: value for name, value in environment.items() if self._base.get(name) != value}
        variables = dict(sorted(redact_variables({**_that_matter(environment), **ours}, secrets).items()))
        of_the_spec = dict(spec.environment)
        threads = {name: environment[name] for name in THREADS if name in environment and name not in of_the_spec}
        git = _in_words(manifest.git)
        version = deviate.__version__
        write_environment(attempt, RunEnvironment(digest, threads, frameworks, git, variables, version))

    def _ask(self, spec: Spec, cwd: Path, environment: Mapping[str, str], executable: str = "") -> "Future[Platform]":
        """The answer of the interpreter that the command names, else of the guest's, unless that is in a container."""
        interpreter, why = find_interpreter(spec.command, cwd, environment, wrap=spec.wrap)
        is_elsewhere = spec.wrap or any(Path(word).name in CONTAINERS for word in spec.command[:1])
        if interpreter is None and not is_elsewhere and os.access(executable, os.X_OK):
            interpreter = Path(executable)
        # Of the copy of one run, the folder alone has a path of its own.
        place = os.path.join(os.path.realpath(interpreter.parent), interpreter.name) if interpreter else why  # noqa: PTH118
        key = place, import_path(self._base, spec)
        if key not in self._answers:
            self._answers[key] = self._pool.submit(_platform, interpreter, why, cwd, dict(environment), self._base)
        return self._answers[key]


def _platform(
    interpreter: Path | None, why: str, cwd: Path, environment: Mapping[str, str], base: Mapping[str, str]
) -> Platform:
    facts, packages = ask(interpreter, cwd, environment) if interpreter else ({"unknown": why}, None)
    return Platform(facts, packages, machine_facts(), shell_variables(base))


def current_platform(
    command: Sequence[str], cwd: Path, base: Mapping[str, str] = os.environ, *, wrap: Sequence[str] = ()
) -> Platform:
    """What a command would be started in now, to be compared with what is on record; takes some tens of milliseconds.

    Args:
        cwd: where the command would run: the user's own folder will do.
    """
    interpreter, why = find_interpreter(command, cwd, base, wrap=wrap)
    return _platform(interpreter, why, cwd, base, base)


def shell_variables(base: Mapping[str, str]) -> dict[str, str]:
    """Relevant variables of the user's shell, without secrets, sorted by name."""
    return dict(sorted(redact_variables(_that_matter(base), known_secrets(base)).items()))


def _that_matter(variables: Mapping[str, str]) -> dict[str, str]:
    return {
        name: value
        for name, value in variables.items()
        if name.startswith(MATTER) and not name.startswith(OF_TERRAFORM)
    }


def _in_words(git: Revision | None) -> str:
    if git is None:
        return ""
    parts = [git.commit[:12] if git.commit else "no commit", f"on {git.branch}" if git.branch else "on no branch"]
    changes = ["uncommitted changes"] if git.is_dirty else []
    changes += [f"{git.n_untracked} untracked file{'s' * (git.n_untracked > 1)}"] if git.n_untracked else []
    return " ".join(parts) + (f", with {' and '.join(changes)}" if changes else "")


def _facts_of_guest(attempt: Path) -> tuple[str, dict[str, str]]:
    """The interpreter of the first process that reported, and framework facts, of which later ones count."""
    executable, facts = "", dict[str, str]()
    for path in sorted(event_files(attempt), key=_start):
        for kind, event in events_in(path, "start", "environment"):
            if kind == "environment":
                facts |= {str(name): str(value) for name, value in event.facts.items()}
            else:
                executable = executable or str(event.facts.get("executable", ""))
    return executable, facts


def _start(path: Path) -> str:
    """Start time from the name of an event file, `events-<process>-<time>`, in hexadecimal digits."""
    time = path.stem.removesuffix("-cut").rpartition("-")[2]
    return time.rjust(20, "0")
