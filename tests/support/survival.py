"""An experiment under fire: processes killed at random moments, files truncated, and proof of what survived."""

import atexit
import contextlib
import functools
import os
import random
import signal
import subprocess
import sys
import time
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path

from warm import Warm

from deviate.records.layout import attempts, event_files, experiments_folder, runs_folder
from deviate.records.plans import read_plan
from deviate.records.read import read_experiment
from deviate.records.runs import Claim, damaged_files, read_claim, read_result
from deviate.replay.adopt import may_live
from deviate.replay.outcomes import SETTLED
from deviate.replay.processes import is_alive

TRAIN = '''\
import fcntl
import os
import random
import signal
import subprocess
import sys
import time

MARKS = os.environ["SURVIVAL_MARKS"]
replicate = int(os.environ["DEVIATE_REPLICATE"])
lock = os.open(os.path.join(MARKS, os.environ["DEVIATE_RUN"] + ".lock"), os.O_RDWR | os.O_CREAT)


def mark(what):
    log = os.open(os.path.join(MARKS, "log"), os.O_WRONLY | os.O_CREAT | os.O_APPEND)
    line = "%s %s %s %d\\n" % (what, os.environ["DEVIATE_RUN"], os.environ["DEVIATE_RUN_DIR"], os.getpid())
    os.write(log, line.encode())
    os.close(log)


try:
    fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
    mark("begin")
except OSError:
    mark("overlap")
while os.path.exists(os.path.join(MARKS, "hold")):
    time.sleep(0.02)

# What loads data holds the lock as well, so that a loader that outlives its run meets the next attempt.
LOADER = """
import os, random, signal, sys, time
if {stubborn}: signal.signal(signal.SIGTERM, signal.SIG_IGN)
source = random.Random({replicate})
for _ in range({steps}):
    os.write(1, b"%.17g\\\\n" % source.random())
time.sleep(60)
"""
STEPS = 5
loader = None
if replicate % 3:
    loader = subprocess.Popen(
        [sys.executable, "-c", LOADER.format(stubborn=replicate % 7 == 1, replicate=replicate, steps=STEPS)],
        stdout=subprocess.PIPE,
        pass_fds=[lock],
        start_new_session=replicate % 3 == 2,
    )
loss = 1.0
for epoch in range(STEPS):
    time.sleep(0.04)
    batch = float(loader.stdout.readline()) if loader else 0.5
    loss = 0.7 * loss + 0.1 * batch + 0.01 * random.random()
    print(f"loss {loss:.6f}")
    with open("checkpoint.txt", "w") as file:
        file.write("x" * 4096)
if loader and replicate % 5:
    loader.kill()  # every fifth one is left behind
mark("end")
'''

KINDS = ("parent", "run", "worker", "group")
PATIENCE_S = 600.0


@functools.cache
def warm() -> Warm:
    """What all of this process forks from."""
    made = Warm()
    atexit.register(made.end)
    return made


@dataclass
class Figures:
    """What an ordeal did, and what it cost.

    Attributes:
        kills: by kind.
        truncated: event files cut short, "during" and "after" a run.
    """

    kills: Counter[str] = field(default_factory=Counter)
    truncated: Counter[str] = field(default_factory=Counter)
    n_started: int = 0
    n_refused: int = 0
    n_attempts: int = 0
    n_begun: int = 0
    endings: Counter[str] = field(default_factory=Counter)
    seconds: float = 0.0


@dataclass
class Arena:
    """A project with one experiment, and marks that its runs leave outside of their work copies.

    Attributes:
        marks_in: a folder for the marks, if not one beside the project.
    """

    folder: Path
    name: str = "train"
    marks_in: Path | None = None

    def __post_init__(self) -> None:
        self.project.mkdir(parents=True, exist_ok=True)
        self.marks.mkdir(parents=True, exist_ok=True)
        (self.project / "train.py").write_text(TRAIN)

    @property
    def project(self) -> Path:
        return self.folder / "home" / "project"

    @property
    def marks(self) -> Path:
        return self.marks_in or self.folder / "marks"

    @property
    def experiment(self) -> Path:
        return experiments_folder(self.project / ".deviate") / self.name

    def start(self, *words: str) -> "subprocess.Popen[str]":
        """Start `deviate …` as the leader of a group of its own."""
        return subprocess.Popen(
            [sys.executable, "-m", "deviate", *words],
            cwd=self.project,
            env={**os.environ, "SURVIVAL_MARKS": str(self.marks)},
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            start_new_session=True,
        )

    def run(self, n_runs: int, *words: str) -> "subprocess.CompletedProcess[str]":
        """`deviate run`, which nobody kills, from a process that has imported deviate."""
        words = ("run", "train.py", "-r", str(n_runs), "--seed", "7", "-j", "2", "-q", *words)
        done = warm().run(words, self.project, {**os.environ, "SURVIVAL_MARKS": str(self.marks)})
        return subprocess.CompletedProcess(words, done.code, done.out + done.err)

    def table(self) -> dict[tuple[str, int], tuple[str, dict[str, tuple[object, ...]]]]:
        """Status and every value of every replicate, as records reads them."""
        found: dict[tuple[str, int], tuple[str, dict[str, tuple[object, ...]]]] = {}
        for experiment in read_experiment(self.experiment):
            for run in experiment.runs:
                assert (run.variant, run.replicate) not in found, "a run is counted twice"
                series = {name: (it.steps, it.values) for name, it in run.series.items()}
                found[run.variant, run.replicate] = (run.status, series)
        return found

    def runs(self) -> list[Path]:
        return sorted(runs_folder(self.experiment).glob("*/"))

    def unsettled(self) -> list[str]:
        """Ids of runs that were begun and have no result that stands."""
        return [run.name for run in self.runs() if not any(_stands(attempt) for attempt in attempts(run))]

    def marked(self, what: str) -> list[str]:
        log = self.marks / "log"
        lines = log.read_text().splitlines() if log.exists() else []
        return [line for line in lines if line.startswith(f"{what} ")]

    def claims(self) -> list[tuple[Path, Claim]]:
        """Attempts that have begun and not ended, with their claims."""
        found = []
        for run in self.runs():
            for attempt in attempts(run):
                claim = read_claim(attempt)
                if not (attempt / "result.json").exists() and claim is not None:
                    found.append((attempt, claim))
        return found

    def processes(self) -> list[int]:
        """Every process that belongs to a run here."""
        found = []
        for folder in Path("/proc").glob("[0-9]*"):
            with contextlib.suppress(OSError):
                if f"SURVIVAL_MARKS={self.marks}".encode() in (folder / "environ").read_bytes():
                    found.append(int(folder.name))
        return found

    def left_over(self) -> list[str]:
        """What nobody needs any more and nobody has removed."""
        found = [str(path) for run in self.runs() for path in run.glob(".*")]
        found += [str(path) for run in self.runs() for path in run.glob("attempt-*/.*")]
        for run in self.runs():
            for attempt in attempts(run):
                claim = read_claim(attempt)
                if claim is not None and claim.temporary and Path(claim.temporary).exists():
                    found.append(claim.temporary)
        return found


def is_fault(said: str) -> bool:
    """Whether deviate itself broke; scripts may."""
    return "deviate/cli/app.py" in said


def _stands(attempt: Path) -> bool:
    result = read_result(attempt)
    return result is not None and result.status in SETTLED and not damaged_files(attempt, result)


class Ordeal:
    """Kills and truncates by a seeded schedule, resuming until everything planned has happened."""

    def __init__(self, arena: Arena, seed: int, kills: dict[str, int], *, n_runs: int, truncations: int) -> None:
        self.arena = arena
        self.rng = random.Random(seed)
        self.n_runs = n_runs
        self.schedule = [kind for kind, count in kills.items() for _ in range(count)]
        self.schedule += ["during", "after"] * truncations
        self.rng.shuffle(self.schedule)
        self.figures = Figures()
        self.parent: subprocess.Popen[str] | None = None

    def endure(self) -> Figures:
        """Let everything of the schedule happen, then finish what is missing."""
        began = time.monotonic()
        acts: dict[str, Callable[[], bool]] = {
            "parent": self._kill_parent, "group": self._kill_group, "run": self._kill_run,
            "worker": self._kill_worker, "during": self._truncate_during, "after": self._truncate_after,
        }  # fmt: skip
        for kind in self.schedule:
            until = time.monotonic() + PATIENCE_S
            while not acts[kind]():
                assert time.monotonic() < until, f"there is nothing to be done for {kind}"
        self._finish()
        self.figures.seconds = time.monotonic() - began
        self._count()
        return self.figures

    def _keep_up(self) -> "subprocess.Popen[str]":
        """A process that carries out the experiment: the one that lives, or a new one."""
        if self.parent is not None and self.parent.poll() is None:
            return self.parent
        self._look_at(self.parent)
        self.figures.n_started += 1
        experiment = self.arena.experiment / "experiment.json"
        n_planned = read_plan(self.arena.experiment).n_runs if experiment.exists() else 0
        if self._n_missing() and n_planned == self.n_runs:
            self.parent = self.arena.start("resume", "train", "-q", "--jobs", str(self.rng.choice([1, 2, 3])))
        else:
            if n_planned == self.n_runs:
                self.n_runs += 4  # all have ended: more are needed to kill
            self.parent = self.arena.start(
                "run", "train.py", "-r", str(self.n_runs), "--seed", "7", "-j", "2", "-q", "--retries", "1"
            )  # fmt: skip
        return self.parent

    def _look_at(self, process: "subprocess.Popen[str] | None") -> None:
        """What a process that ended by itself said must be one of the few things that may be said."""
        if process is None or (process.stdout is not None and process.stdout.closed):
            return
        said = process.communicate(timeout=600)[0]
        assert not is_fault(said), said
        if process.returncode not in (0, 3, -signal.SIGKILL):
            assert "is being run by" in said, (process.returncode, said)
            self.figures.n_refused += 1

    def _n_missing(self) -> int:
        return self.n_runs - len(self.arena.runs()) + len(self.arena.unsettled())

    def _wait(self) -> None:
        time.sleep(self.rng.choice([0.05, 0.3, 0.6, 0.9]) + 0.4 * self.rng.random())

    def _kill_parent(self) -> bool:
        process = self._keep_up()
        self._wait()
        if process.poll() is not None:
            return False
        process.kill()
        process.communicate()
        self.figures.kills["parent"] += 1
        return True

    def _kill_group(self) -> bool:
        """The executor's group, and in half of the cases every process that it has started, as a control group ends."""
        process = self._keep_up()
        self._wait()
        if process.poll() is not None:
            return False
        mine = self.arena.processes() if self.rng.random() < 0.5 else []
        os.killpg(process.pid, signal.SIGKILL)
        process.communicate()
        self.rng.shuffle(mine)
        for pid in mine:
            with contextlib.suppress(ProcessLookupError):
                os.kill(pid, signal.SIGKILL)
        self.figures.kills["group"] += 1
        return True

    def _running(self) -> list[tuple[Path, Claim]]:
        return [
            (attempt, claim)
            for attempt, claim in self.arena.claims()
            if claim.process is not None and may_live(claim) and is_alive(claim.process, claim.process_birth)
        ]

    def _kill_run(self) -> bool:
        """The leader of a run, or its whole group."""
        self._keep_up()
        running = self._running()
        if not running:
            time.sleep(0.02)
            return False
        time.sleep(0.25 * self.rng.random())
        _, claim = self.rng.choice(running)
        if claim.process is None or not is_alive(claim.process, claim.process_birth):
            return False
        with contextlib.suppress(ProcessLookupError):
            (os.killpg if self.rng.random() < 0.5 else os.kill)(claim.process, signal.SIGKILL)
            self.figures.kills["run"] += 1
            return True
        return False

    def _kill_worker(self) -> bool:
        """A worker of one run, beside the executor of the others or alone."""
        if self.rng.random() < 0.6 and self.parent is not None and self.parent.poll() is None:
            with contextlib.suppress(subprocess.TimeoutExpired):
                self.parent.wait(0.0 if self.rng.random() < 0.5 else 3.0)
        if not (self.arena.experiment / "experiment.json").exists() or not self._n_missing():
            self._keep_up()
            time.sleep(0.05)
            return False
        worker = self.arena.start("worker", "train", "--index", str(self.rng.randrange(self.n_runs)))
        self._wait()
        if worker.poll() is not None:
            said = worker.communicate()[0]
            assert worker.returncode in (0, 75) or "has no index" in said, said
            return False
        worker.kill()
        worker.communicate()
        self.figures.kills["worker"] += 1
        return True

    def _truncate_during(self) -> bool:
        self._keep_up()
        files = [path for attempt, _ in self._running() for path in event_files(attempt) if path.stat().st_size]
        if not files:
            time.sleep(0.02)
            return False
        path = self.rng.choice(files)
        with contextlib.suppress(OSError):
            os.truncate(path, self.rng.randrange(path.stat().st_size))
            self.figures.truncated["during"] += 1
            return True
        return False

    def _truncate_after(self) -> bool:
        settled = [attempt for run in self.arena.runs() for attempt in attempts(run) if _stands(attempt)]
        files = [path for attempt in settled for path in event_files(attempt) if path.stat().st_size]
        if not files:
            self._keep_up()
            time.sleep(0.05)
            return False
        path = self.rng.choice(files)
        os.truncate(path, self.rng.randrange(path.stat().st_size))
        self.figures.truncated["after"] += 1
        return True

    def _finish(self) -> None:
        """Resume until nothing is missing; that must not take long now that nobody disturbs."""
        for _ in range(4):
            if self.parent is not None:
                self.parent.wait(PATIENCE_S)
                self._look_at(self.parent)
                self.parent = None
            done = self.arena.run(self.n_runs)
            self.figures.n_started += 1
            assert done.returncode == 0, done.stdout
            if not self._n_missing():
                return
        raise AssertionError(f"{self._n_missing()} runs are missing after four undisturbed resumes")

    def _count(self) -> None:
        for run in self.arena.runs():
            for attempt in attempts(run):
                result = read_result(attempt)
                self.figures.n_attempts += 1
                self.figures.endings["none" if result is None else result.status] += 1
        self.figures.n_begun = len(self.arena.marked("begin"))
