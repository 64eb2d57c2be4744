"""What helps to find a defect of deviate: the text of `deviate doctor --report`, to be pasted into an issue."""

import os
import platform
import shlex
import subprocess
import sys
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from importlib import metadata
from pathlib import Path

from deviate import __version__
from deviate.base.anonymity import anonymize, fenced, find_identity
from deviate.base.git import only_there, project_root
from deviate.base.redaction import redact_words
from deviate.doctor.examine import examine
from deviate.project.command import CONFIG, default_python
from deviate.records.layout import deviate_folder, log_files

HEAD = """\
<!-- Written by `deviate doctor --report`. Secrets, names of persons and machines, addresses and paths were taken out by
rule. Read it before you post it. -->
"""
PACKAGES = ("libcst", "msgspec", "numpy", "scipy", "pandas", "jinja2", "typer", "rich", "tomlkit", "matplotlib")
EXTRAS = ("submitit", "ray")
SHOWN_VARIABLES = (
    "CI", "COLUMNS", "CONDA_PREFIX", "LANG", "LC_ALL", "NO_COLOR", "PYTHON", "TERM", "VIRTUAL_ENV",
    "CUBLAS_", "CUDA_", "DEVIATE_", "FLAX_", "GOTO_", "HIP_", "JAX_", "KMP_", "LIGHTNING_", "MKL_", "MLFLOW_", "NCCL_",
    "NVIDIA_", "OMP_", "OPENBLAS_", "PYTORCH_", "RAY_", "ROCR_", "SLURM_", "TF_", "TORCH", "WANDB_", "XLA_",
)  # fmt: skip
"""Variables whose names are shown, by what they begin with."""
LAST_LINES = 20
Ask = Callable[[], str]


def defect_report(
    python: str | None,
    cwd: Path,
    *,
    timeout_s: float,
    defect: Ask,
    experiment: str | None = None,
    on_change: Callable[[Sequence[str], int], None] = lambda _names, _n_left: None,
) -> str:
    """The report as Markdown. A part that cannot be made says why.

    Args:
        python: the interpreter of scripts; None for the default one.
        timeout_s, on_change: as in `doctor.examine`.
        defect: gives the traceback of the latest defect.
        experiment: its plan and its failed runs are shown, where it is named.
    """
    root = _root(cwd)
    parts: list[tuple[str, Ask]] = [
        ("Versions", _versions),
        ("Interpreter of the script", lambda: _frameworks(python, timeout_s, on_change)),
        ("Plug-ins", _plugins),
        ("deviate.toml", lambda: _settings(root)),
        ("Variables that are set, by name", _variables),
        ("Latest defect", defect),
    ]
    if experiment is not None:
        parts.append(("Experiment", lambda: _experiment(root, experiment)))
    identity = find_identity([cwd, root])
    blocks = [f"### {title}\n\n{fenced(anonymize(_answer(ask), identity))}\n" for title, ask in parts]
    return "\n".join([HEAD, *blocks])


def _root(cwd: Path) -> Path:
    try:
        return project_root(cwd)
    except Exception:  # noqa: BLE001  (a report on what is broken: the folder will do)
        return cwd


def _answer(ask: Ask) -> str:
    """A part, or why there is none: whatever is broken is what the report is about."""
    try:
        return ask() or "none"
    except Exception as error:  # noqa: BLE001
        return f"not available: {type(error).__name__}: {error}"


def _versions() -> str:
    lines = [
        f"deviate {__version__}, {_installation()}",
        f"{platform.python_implementation()} {platform.python_version()}, {platform.platform()}",
        f"encodings: files {sys.getfilesystemencoding()}, output {getattr(sys.stdout, 'encoding', None)}",
        ", ".join(f"{name} {_version(name)}" for name in PACKAGES),
        *(f"{name} {_version(name)}" for name in EXTRAS if _version(name) != "missing"),
        f"git: {_git()}",
    ]
    return "\n".join(lines)


def _installation() -> str:
    """How deviate is installed, as installers write it down. Source: PEP 376, INSTALLER; PEP 610, direct_url.json."""
    distribution = metadata.distribution("deviate")
    installer = (distribution.read_text("INSTALLER") or "unknown").strip()
    is_editable = '"editable": true' in (distribution.read_text("direct_url.json") or "")
    return f"installed by {installer}{' in editable mode' if is_editable else ''}"


def _version(package: str) -> str:
    try:
        return metadata.version(package)
    except metadata.PackageNotFoundError:
        return "missing"


def _git() -> str:
    try:
        answer = subprocess.run(["git", "--version"], env=only_there(), capture_output=True, text=True, check=False)
    except OSError as error:
        return f"cannot be started: {error.strerror}"
    return answer.stdout.strip() or f"exit code {answer.returncode}"


def _frameworks(python: str | None, timeout_s: float, on_change: Callable[[Sequence[str], int], None]) -> str:
    diagnosis = examine(python or default_python(), timeout_s=timeout_s, on_change=on_change)
    lines = [f"Python {diagnosis.interpreter.version} at {diagnosis.interpreter.executable}"]
    if machine := diagnosis.machine:
        lines.append(f"{machine.system}, {machine.processor} ({' '.join(machine.instructions)})")
        limit = "none" if machine.quota is None else f"{machine.quota:g} CPUs"
        lines.append(f"{machine.n_cpus_allowed} of {machine.n_cpus} CPUs allowed, limit {limit}")
        lines.append(f"container: {machine.container or 'none'}; devices: {', '.join(machine.accelerators) or 'none'}")
    for framework in diagnosis.frameworks:
        if framework.state != "absent":
            texts = (framework.version, framework.build, framework.state, *framework.devices, framework.fault)
            lines.append(f"{framework.name}: {', '.join(filter(None, texts))}")
    lines += [f"hazard: {hazard.what.partition('=')[0]}" for hazard in diagnosis.hazards]
    return "\n".join(lines)


def _plugins() -> str:
    """The plug-ins of other packages, with the reason where one is left out."""
    from deviate.doctor.plugins import inspect_plugins  # imports them

    states = [(state.plugin, state.problem) for state in inspect_plugins()]
    return "\n".join(
        f"{one.group}: {one.name} ({one.module}) of {one.package} {one.version}{f': {problem}' if problem else ''}"
        for one, problem in states
    )


def _settings(root: Path) -> str:
    path = root / CONFIG
    return path.read_text(encoding="utf-8-sig", errors="replace") if path.exists() else "no file"


def _variables() -> str:
    return "\n".join(name for name in sorted(os.environ) if name.startswith(SHOWN_VARIABLES))


def _experiment(root: Path, name: str) -> str:
    """The plan of an experiment, how its runs ended, and the last lines of the first that failed."""
    from deviate.records.plans import find_experiment, read_plan  # what reads records may be what is broken
    from deviate.replay.states import run_states

    folder = find_experiment(deviate_folder(root), name)
    plan = read_plan(folder)
    states = run_states(folder, plan)
    counts = Counter(f"{state.variant} {state.state}" for state in states)
    lines = [
        f"command: {shlex.join(redact_words(plan.command))}",
        f"variants: {', '.join(f'{variant.name}, {variant.n_runs} runs' for variant in plan.variants)}",
        f"settings: {plan.settings}",
        f"metrics: {', '.join(f'{metric.name} ({metric.aggregate})' for metric in plan.selection.metrics) or 'none'}",
        *(f"{n} {state}" for state, n in counts.items()),
    ]
    for state in states:
        if state.state in {"failed", "lost"} and state.folder is not None:
            return "\n".join([*lines, *_last_lines(state.folder, state.reason)])
    return "\n".join(lines)


def _last_lines(attempt: Path, reason: str) -> Iterator[str]:
    from deviate.records.read import stderr_tail

    yield f"first run that did not complete: {reason}"
    yield from stderr_tail(log_files(attempt)[1])[-LAST_LINES:]
