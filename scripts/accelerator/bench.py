"""What a check is given: the machine, a folder, programs to run, and ways to run them."""

import json
import os
import re
import shutil
import subprocess
import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from deviate.model.records import Experiment, Run
from deviate.records.experiments import read_variants
from scripts.accelerator.machine import Machine
from scripts.accelerator.results import Result

PROGRAMS = Path(__file__).parent / "programs"
SHOWN_LINES = 40


class CheckError(Exception):
    """A check could not be carried out; the message has what was printed."""


@dataclass(frozen=True, slots=True)
class Bench:
    """The place where one check works.

    Attributes:
        folder: empty, for projects.
        is_rehearsal: whether a CPU stands for the device, so that smaller amounts do.
    """

    machine: Machine
    folder: Path
    is_rehearsal: bool

    def frameworks(self, *names: str) -> list[str]:
        """Those of the frameworks that compute on a device; in a rehearsal, the first that is installed."""
        devices = self.machine.devices
        there = [name for name in names if name in devices and (self.is_rehearsal or devices[name] != "cpu")]
        return there[:1] if self.is_rehearsal else there

    def amount(self, on_device: int, in_rehearsal: int) -> int:
        return in_rehearsal if self.is_rehearsal else on_device

    def project(self, program: str, name: str = "") -> Path:
        """A new project with a program as its `train.py`."""
        folder = self.folder / (name or program)
        folder.mkdir()
        shutil.copyfile(PROGRAMS / f"{program}.py", folder / "train.py")
        return folder

    def run(
        self,
        words: Sequence[str],
        folder: Path,
        environment: Mapping[str, str] | None = None,
        *,
        codes: Sequence[int] = (0,),
    ) -> str:
        """The output of a command.

        Raises:
            CheckError: its exit code is not one of `codes`.
        """
        variables = {**os.environ, "TF_CPP_MIN_LOG_LEVEL": "3", **(environment or {})}
        print("$", " ".join(words), flush=True)
        answer = subprocess.run(
            words, cwd=folder, env=variables, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, check=False
        )
        print(answer.stdout, flush=True)
        if answer.returncode not in codes:
            tail = "\n".join(answer.stdout.splitlines()[-SHOWN_LINES:])
            raise CheckError(f"{' '.join(words)}: exit code {answer.returncode}\n{tail}")
        return answer.stdout

    def deviate(self, folder: Path, verb: str, *words: str, arguments: Sequence[str] = (), **options: str) -> str:
        """The output of `deviate VERB … -- PYTHON train.py ARGUMENTS`; exit code 3 (some runs failed) is an answer."""
        command = (*words, "--", sys.executable, "train.py", *arguments)
        return self.run([sys.executable, "-m", "deviate", verb, *command], folder, options, codes=(0, 3))

    def runs(self, folder: Path, experiment: str = "check") -> dict[str, tuple[Run, ...]]:
        """Runs by variant."""
        return {each.variant: each.runs for each in self.experiments(folder, experiment)}

    def experiments(self, folder: Path, experiment: str = "check") -> tuple[Experiment, ...]:
        return read_variants(folder / ".deviate", experiment)

    def conclude(self, figures: Sequence[str], faults: Sequence[str], evidence: str = "") -> Result:
        """The result of a check that came to its end; a fault is a claim that does not hold."""
        if faults:
            return Result("not as claimed", tuple(figures), "; ".join(faults), evidence)
        if self.is_rehearsal:
            return Result("rehearsed", tuple(figures), "a CPU stood for the device")
        return Result("proved", tuple(figures))


def failures_of(runs: Sequence[Run], name: str) -> list[str]:
    """Runs that did not complete, as faults."""
    return [
        f"{name}: run {run.replicate} {run.status}: {run.reason or ' '.join(run.stderr_tail[-1:])}"
        for run in runs
        if run.status != "completed"
    ]


def printed(run: Run) -> str:
    return (run.folder / "stdout.log").read_text(encoding="utf-8")


def named_values(text: str, word: str) -> dict[str, str]:
    """What a program printed in lines `WORD NAME VALUE`."""
    return dict(re.findall(rf"^{word} (\S+) (\S+)$", text, re.MULTILINE))


def digests_of(runs: Sequence[Run]) -> set[str]:
    """The last weight hashes that deviate recorded; `none` for a run without one."""
    return {run.weights[-1].digest if run.weights else "none" for run in runs}


def read_document(path: Path) -> dict[str, object]:
    document: dict[str, object] = json.loads(path.read_text(encoding="utf-8"))
    return document
