"""Detects runs that start from the result of an earlier training: they load a checkpoint that is older than the run.

Pretrained weights and data are read too, so reading a model file is not sufficient evidence. A file counts if it looks
like a model, is older than the run, and is read before the main loop begins, and if in addition the run overwrites it,
the main loop begins after its first step, or the name only says that it is a checkpoint.

Such a file of the project that is read otherwise is told: after the first training step, as the best model of all; by a
script whose training is not seen; or instead of a training.
"""

from __future__ import annotations

import os
import re
import sys

from ..eventlog import BY_NAME
from .annotations import Any, Iterable
from .project import GuestProject
from .recorder import Recorder


def _word_set(text: str) -> frozenset[str]:
    return frozenset(text.split())


SOURCES = (".py", ".pyc", ".so", ".json", ".txt", ".csv", ".png", ".jpg")
"""What is read most, and is no model."""
SURE = frozenset((".ckpt", ".keras", ".pdparams"))
"""Suffixes of files that hold a model …"""
MODELS = frozenset((".pt", ".pth", ".safetensors", ".msgpack", ".params", ".weights", ".t7"))
"""… or tensors, unless their name speaks of data …"""
CARRIERS = frozenset((".pkl", ".pickle", ".joblib", ".npz", ".npy", ".bin", ".tar", ".zip", ".h5", ".hdf5", ".dill"))
"""… or anything else: then their name has to speak of a model."""
MODEL_WORDS = _word_set(
    "checkpoint ckpt chkpt chkpoint model models weights net network state params agent policy actor critic optimizer "
    "optim trainer snapshot best"
)
SIGNS = _word_set("checkpoint checkpoints ckpt ckpts chkpt chkpoint last latest resume resumed")
"""Words of names that only what a training leaves has …"""
PLAIN = (
    SIGNS
    | MODEL_WORDS
    | _word_set("epoch epochs step steps iter iteration best final current save saved pth ep it e s v")
    | _word_set("val valid test train loss acc accuracy")
)
"""… and all that may stand beside them: another word is the name of a known model, or of who made it."""
FOREIGN = _word_set(
    "pretrained pretrain pretraining pre teacher backbone imagenet init initial zoo hub base foundation download "
    "downloads downloaded cache"
)
"""Words of files and folders that are there to be started from."""
DATA_WORDS = _word_set(
    "data dataset datasets train test val valid validation vocab tokenizer embedding embeddings features processed "
    "images labels samples split splits graph"
)
EPOCH = re.compile(r"(?:^|[^a-z])(?:epochs?|ep|step|iter|iteration)[-_= ]?\d")
WORD = re.compile(r"[a-z]+")
NUMBERED = re.compile(r"(?:checkpoint|ckpt|epoch)[-_=]?\d+$")
"""Files and folders such as `checkpoint-500`."""

REWRITTEN = "the run writes it again"
CONTINUED = "the main loop begins at %d"
MOST = 1000


class CheckpointGuard:
    """Watches which files are read before the main loop begins, and what happens to them afterwards.

    Args:
        began: time of the last change of what a run finds, seconds since the epoch; what is younger is its own.
    """

    def __init__(self, work: str, began: float, recorder: Recorder, project: GuestProject, *, has_main: bool) -> None:
        self.work = os.path.realpath(work) + os.sep
        self.began = began
        self.recorder = recorder
        self.project = project
        self.has_main = has_main
        self.written: set[str] = set()
        self.read: dict[str, tuple[str, int]] = {}
        """Where each file is read that is older than the run."""
        self.old: set[str] = set()
        self.is_done = False

    def before_reading(self, path: Any) -> None:
        """Called for every file that is about to be read, so it makes the cheap checks first."""
        if type(path) is str and path.endswith(SOURCES):
            return
        try:
            name = os.fsdecode(path)
            if may_be_model(name):
                if self.recorder.has_stepped or self.recorder.trained:
                    self._note_old(_place(name))
                elif not self.is_done:
                    self._note(name)
        except Exception as error:
            self.recorder.fault("reading of %r" % (path,), error)

    def before_writing(self, path: Any) -> None:
        """The content of a file is about to be written or replaced."""
        try:
            name = os.fsdecode(path)
            if not may_be_model(name):
                return
            place = _place(name)
            if len(self.written) < MOST:
                self.written.add(place)
            if place in self.read and not self.is_done and (self.recorder.has_stepped or not self.has_main):
                self._tell(place, REWRITTEN)
        except Exception as error:
            self.recorder.fault("writing of %r" % (path,), error)

    def begin_main(self, iterable: Iterable[Any]) -> None:
        """The main loop begins over an iterable: `range(start, end)`, possibly in a progress bar."""
        counted = getattr(iterable, "iterable", iterable)
        if self.is_done or not self.read or type(counted) is not range or not counted:
            return
        if counted.step > 0 and counted.start > 1:
            candidates = [place for place in self.read if FOREIGN.isdisjoint(_words(self._project_path(place)))]
            if candidates and not _is_asked_for(candidates[-1]):  # a command that says where to go on from means it
                self._tell(candidates[-1], CONTINUED % counted.start)

    def _note(self, name: str) -> None:
        place = _place(name)
        if place in self.read or place in self.written or "site-packages" in place or len(self.read) >= MOST:
            return
        try:
            is_older = os.stat(place).st_mtime < self.began
        except OSError:  # the script tries to read it without success
            return
        if not is_older or os.sep + ".cache" + os.sep in place:
            return
        self.read[place] = self._reader()
        if place.startswith(self.work) and _is_named(self._project_path(place)) and not _is_asked_for(place):
            self._tell(place, BY_NAME)

    def _note_old(self, place: str) -> None:
        """A model is read that training may have made."""
        if place in self.written or place in self.old or not place.startswith(self.work) or len(self.old) >= MOST:
            return
        try:
            is_older = os.stat(place).st_mtime < self.began
        except OSError:
            return
        if is_older:
            self._tell_old(place, self._reader())

    def tell_unused(self) -> None:
        """The process ends: models were read without a training after it, or under a name that training gives."""
        for place, reader in self.read.items():
            path = self._project_path(place)
            is_named = _words(os.path.basename(path).rpartition(".")[0]) <= PLAIN
            is_wanted = is_named or not (self.recorder.has_stepped or self.recorder.trained)
            if is_wanted and place.startswith(self.work) and place not in self.old and not self.is_done:
                self._tell_old(place, reader)

    def _tell_old(self, place: str, reader: tuple[str, int]) -> None:
        path = self._project_path(place)
        if FOREIGN.isdisjoint(_words(path)) and not _is_asked_for(place):
            self.old.add(place)
            self.recorder.event("old model", path, *reader)

    def _reader(self) -> tuple[str, int]:
        """File and line of the project that reads a file now."""
        return self.project.nearest(sys._getframe(2))

    def _project_path(self, place: str) -> str:
        """The path of a file in the work copy relative to the project, as the user knows it."""
        return place[len(self.work) :] if place.startswith(self.work) else place

    def _tell(self, place: str, reason: str) -> None:
        self.is_done = True
        self.recorder.event("checkpoint", self._project_path(place), reason)


def may_be_model(name: str) -> bool:
    """Whether the name of a file is that of a model or a checkpoint."""
    slash = name.rfind(os.sep) + 1
    dot = name.rfind(".", slash + 1)
    if dot < 0:
        return name.startswith(("checkpoint", "ckpt"), slash)
    suffix = name[dot:].lower()
    if suffix in SURE:
        return True
    if suffix in MODELS:
        words = _words(name[slash:dot])
        return DATA_WORDS.isdisjoint(words) or not MODEL_WORDS.isdisjoint(words)
    return suffix in CARRIERS and not (MODEL_WORDS | SIGNS).isdisjoint(_words(name[slash:dot]))


def _place(name: str) -> str:
    path = os.path.abspath(name)
    return os.path.join(os.path.realpath(os.path.dirname(path)), os.path.basename(path))


def _words(text: str) -> set[str]:
    return set(WORD.findall(text.lower()))


def _is_named(name: str) -> bool:
    """Whether a path only says that a file is a checkpoint, which one, and of which run.

    `last.pt`, `epoch_12.pth`, `model_latest.pt` and `runs/3/checkpoint-500/optimizer.pt` do; `sam_vit_h.pth`,
    `yolov5s_last.pt` and `pretrained/checkpoint.pth` do not.
    """
    folders, _, file = name.lower().rpartition(os.sep)
    stem = file[: file.rfind(".")] if "." in file else file
    for suffix in (".pth", ".pt", ".ckpt"):  # `checkpoint.pth.tar`
        stem = stem[: -len(suffix)] if stem.endswith(suffix) else stem
    words = _words(stem)
    if not FOREIGN.isdisjoint(words | _words(folders)):
        return False
    if any(NUMBERED.match(folder) for folder in folders.split(os.sep)):
        return True
    return words <= PLAIN and (not words.isdisjoint(SIGNS) or EPOCH.search(stem) is not None)


def _is_asked_for(place: str) -> bool:
    """Whether the command names this file, or the folder of this checkpoint only."""
    folder = os.path.dirname(place)
    wanted = {place, folder} if NUMBERED.match(os.path.basename(folder)) else {place}
    arguments = [word.rpartition("=")[2] for word in getattr(sys, "argv", [])[1:]]
    return any(_place(word) in wanted for word in arguments if word)


def watch(work: str, recorder: Recorder, project: GuestProject, *, has_main: bool) -> CheckpointGuard | None:
    """The guard of this run; None if the run continues the work of a previous attempt (DEVIATE_CONTINUED)."""
    if os.environ.get("DEVIATE_CONTINUED"):  # the number of that attempt, or a value from the user
        return None
    return CheckpointGuard(work, beginning(work), recorder, project, has_main=has_main)


def beginning(work: str) -> float:
    """Time of the last change of what a run finds, seconds since the epoch.

    It is that of the work copy's folder, which has not changed since its creation, and has the same clock as its files.
    """
    return os.stat(os.path.dirname(os.path.dirname(os.path.abspath(work)))).st_mtime
