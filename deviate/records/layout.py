"""Layout of records on disk: the folders of an experiment, its runs and their attempts.

.deviate/experiments/<name>/experiment.json
                            snapshot/
                            runs/<run id>/spec.json
                                          attempt-<k>/claim.json  events-*.jsonl  stdout.log  stderr.log
                                                      result.json  work/<parent>/<root>/  artifacts/*.npz
"""

from pathlib import Path

from deviate.base.git import project_root

WORK = "work"
"""The folder of an attempt in which its command ran; its content belongs to the script and is not recorded."""


def deviate_folder(root: Path) -> Path:
    """The one folder of a project that deviate writes to."""
    return root / ".deviate"


def records_folder(folder: Path) -> Path:
    """The `.deviate/` folder of the project that contains a folder."""
    return deviate_folder(project_root(folder))


def experiments_folder(deviate: Path) -> Path:
    return deviate / "experiments"


def experiment_file(experiment: Path) -> Path:
    return experiment / "experiment.json"


def snapshot_folder(experiment: Path) -> Path:
    return experiment / "snapshot"


def manifest_file(snapshot: Path) -> Path:
    return snapshot / "manifest.json"


def runs_folder(experiment: Path) -> Path:
    return experiment / "runs"


def spec_file(run: Path) -> Path:
    return run / "spec.json"


def attempt_folder(run: Path, number: int) -> Path:
    return run / f"attempt-{number}"


def attempts(run: Path) -> tuple[Path, ...]:
    """The attempts of a run by number; the highest is the latest."""
    numbered = [(number, path) for path in run.glob("attempt-*") if (number := attempt_number(path)) is not None]
    return tuple(path for _, path in sorted(numbered))


def attempt_number(attempt: Path) -> int | None:
    text = attempt.name.removeprefix("attempt-")
    return int(text) if text.isdecimal() else None


def claim_file(attempt: Path) -> Path:
    return attempt / "claim.json"


def result_file(attempt: Path) -> Path:
    return attempt / "result.json"


def event_files(attempt: Path) -> tuple[Path, ...]:
    return tuple(sorted(attempt.glob("events-*.jsonl")))


def artifacts_folder(attempt: Path) -> Path:
    """The folder with captured outputs and weights of a run."""
    return attempt / "artifacts"


def log_files(attempt: Path) -> tuple[Path, Path]:
    """The files with standard output and standard error of the commands."""
    return attempt / "stdout.log", attempt / "stderr.log"
