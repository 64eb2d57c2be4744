"""Captures outputs of evaluations and weights in files beside the events. Frameworks supply the bytes.

An evaluation covers one or more sets of examples; each set has a name, which is the same in all runs. For each set the
outputs of the last evaluation are stored, and those at every K-th step of the main loop on request. Nothing here draws
random numbers, changes them, or keeps an array of the program alive.
"""

from __future__ import annotations

import math
import os
from threading import get_ident

from ..annotations import Array, Callable, Iterable, Sequence
from ..npz import write_npz
from ..recorder import Recorder

KEY_WIDTH = 8
"""Bytes of the hash by which an example is known."""
FIT = frozenset("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_.+")
"""What the name of a set, which becomes a part of a file's, may consist of."""


class Part:
    """Rows of one array of a set, in order of arrival."""

    __slots__ = ("chunks", "kind", "rows", "shape")

    def __init__(self, kind: str, shape: tuple[int, ...]) -> None:
        self.kind = kind
        self.shape = shape
        self.rows = 0
        self.chunks: list[bytes] = []

    def whole(self) -> Array:
        return self.kind, (self.rows, *self.shape), b"".join(self.chunks)


class Set:
    """One set of examples in one evaluation.

    Attributes:
        parts: arrays with a row per example: `outputs`; where they are known `truth`, the true labels, and `keys`, a
            hash of each example's input; and what else the script logs under a name of its own.
        step: of the main loop, -1 outside of it.
        why_not: what keeps it from being of use, in words; empty where nothing does.
    """

    def __init__(self, name: str, step: int, framework: str) -> None:
        self.name = name
        self.step = step
        self.framework = framework
        self.parts: dict[str, Part] = {}
        self.is_written = False
        self.why_not = ""

    def add(self, arrays: dict[str, Array]) -> int:
        """Add a batch of rows; returns its size in bytes. Arrays that do not fit those before invalidate the set."""
        size = 0
        for name, (kind, shape, buffer) in arrays.items():
            part = self.parts.get(name)
            if part is None:
                part = self.parts[name] = Part(kind, tuple(shape[1:]))
            if (part.kind, part.shape) != (kind, tuple(shape[1:])):
                self.why_not = "%s change their shape or type from batch to batch" % name
                return size
            chunk = bytes(buffer)
            part.rows += shape[0]
            part.chunks.append(chunk)
            size += len(chunk)
        return size

    def size(self) -> int:
        """Size in bytes."""
        return sum(len(chunk) for part in self.parts.values() for chunk in part.chunks)

    def arrays(self) -> list[tuple[str, Array]]:
        """Arrays with a row for every example; incomplete arrays are left out."""
        rows = max((part.rows for part in self.parts.values()), default=0)
        return [(name, part.whole()) for name, part in self.parts.items() if part.rows == rows]


def example_keys(batch: Array) -> Array:
    """A hash of each row of an array, which identifies examples in any order; shape (rows,), uint64."""
    from hashlib import blake2b  # loads OpenSSL, and most runs capture nothing

    from .hashing import flat, pieces

    kind, shape, buffer = batch
    view = flat(buffer)
    rows = shape[0]
    width = len(view) // rows if rows else 0
    head = ("%s\x1f%s" % (kind, ",".join(map(str, shape[1:])))).encode()[:64]
    keys = []
    for start in range(0, width * rows, width) if width else [0] * rows:
        digest = blake2b(digest_size=KEY_WIDTH, key=head)
        for first, last in pieces(width):
            digest.update(view[start + first : start + last])
        keys.append(digest.digest())
    return "uint64", (rows,), b"".join(keys)


def fit_name(name: str) -> str:
    """The name of a set in a form that fits file names."""
    return "".join(sign if sign in FIT else "_" for sign in name).strip("_.") or "test"


FOLDER = "artifacts"
PREDICTIONS, WEIGHTS = "predictions", "weights"
SCRIPT = "script"
"""The framework of what the script logs itself: it is kept whether or not the run captures anything."""
OUTSIDE = -1
"""The step of what happens outside the main loop."""
FULL = "the limit of what is captured of a run is reached"


class Capture:
    """Captures what the spec requests of this process.

    Args:
        wanted: `predictions` and `weights` "on"; `every`, a number of steps of the main loop, "0" for the end alone;
            `limit`, bytes of one run; `tta`, names of test-time augmentations with commas between; `profile`, the first
            step of the main loop that is profiled and the first one after, as "1:11".
        folder: of the attempt.

    Attributes:
        wants_predictions, wants_weights: whether anything of the kind is to be kept.
        weights_of: gives the weights of a framework by name, as they are now; adapters put themselves in.
        at_end: told before the sets of an evaluation are closed; adapters put in what still waits on a device.
        keeper: the framework whose own trainer runs now and whose adapter keeps its outputs; "" where none does. What
            stands below it keeps nothing then.
        ids_above: gives the ids of tensors that the adapter of a framework above theirs keeps.
    """

    def __init__(self, wanted: dict[str, str], folder: str, recorder: Recorder) -> None:
        self.wants_predictions = PREDICTIONS in wanted
        self.wants_weights = WEIGHTS in wanted
        self.every = int(wanted.get("every", "0"))
        self.left = int(wanted.get("limit", str(1 << 30)))
        self.augmentations = [name for name in wanted.get("tta", "").split(",") if name]
        self.profile = wanted.get("profile", "")
        self.folder = folder
        self.recorder = recorder
        self.open: dict[str, Set] = {}
        self.last: dict[str, Set] = {}
        self.weights_of: dict[str, Callable[[], Iterable[tuple[str, Array]]]] = {}
        self.at_end: list[Callable[[], object]] = []
        self.keeper = ""
        self.ids_above: Callable[[], set[int]] = set
        self.pid = os.getpid()
        self.thread = get_ident()
        self.refusals: set[str] = set()
        self.digests: dict[str, str] = {}
        self.latest = OUTSIDE
        self.n_loops = 0
        self.columns: dict[str, dict[str, Array]] = {}
        self.logged: set[str] = set()
        self.has_begun = False
        self.has_shared = False
        if self.wants_predictions or self.wants_weights:
            self.begin()

    def begin(self) -> None:
        """Start capturing from now on, even if only data that the script logs itself."""
        recorder = self.recorder
        if not self.has_begun:
            self.has_begun = True
            recorder.at_main_step.append(self._main_step)
            recorder.at_main_end.append(lambda: self._finish("loop"))
            recorder.at_close.append(lambda: self._finish("exit"))

    def is_script_thread(self) -> bool:
        """Whether this is the script's own process and thread: workers of loaders capture nothing."""
        return os.getpid() == self.pid and get_ident() == self.thread

    def share_limit(self) -> None:
        """Keep to this process's part of the limit, which is one for the run, if several ranks capture their shares."""
        n_ranks = self.recorder.n_ranks
        if n_ranks > 1 and not self.has_shared:
            self.has_shared = True
            self.left //= 2 if self.recorder.rank == 0 else 2 * (n_ranks - 1)

    # ------------------------------------------------------------ predictions

    def rows(self, name: str, arrays: dict[str, Array], framework: str, step: int | None = None) -> None:
        """Add rows of the current evaluation: `outputs`, and `truth` and `keys` if available.

        Args:
            name: of the set; the same name in one evaluation is the same set.
            step: of the main loop in which the rows were computed; the present one unless it is given.
        """
        if not self.is_script_thread():
            return
        name = fit_name(name)
        current = self.open.get(name)
        if framework == SCRIPT and name not in self.logged:
            self.logged.add(name)
            self.again(name)
            current = None
        elif framework != SCRIPT and name in self.logged:
            return  # the script logs this set itself
        if current is None:
            current = self.open[name] = Set(name, self.step() if step is None else step, framework)
        if current.why_not:
            return
        size = current.add(arrays)
        self.left -= size
        if self.left < 0 and not current.why_not:
            current.why_not = FULL
        if current.why_not:
            self.give_up(name, framework, current.why_not)

    def give_up(self, name: str, framework: str, reason: str) -> None:
        """Discard a set of the current evaluation, and its previous evaluation, which would be mistaken for the last.

        Args:
            reason: in words.
        """
        name = fit_name(name)
        if not self.is_script_thread() or (framework != SCRIPT and name in self.logged):
            return
        current = self.open.setdefault(name, Set(name, OUTSIDE, framework))
        current.why_not = reason
        self.refuse(PREDICTIONS, name, reason)
        self._drop(current)
        earlier = self.last.pop(name, None)
        if earlier is not None:
            self._drop(earlier)

    def add_columns(self, name: str, columns: dict[str, Array]) -> None:
        """Add columns for the examples of a whole set, in their order."""
        self.columns.setdefault(fit_name(name), {}).update(columns)

    def again(self, name: str) -> None:
        """A set is iterated again in the same evaluation: the later pass replaces the earlier one."""
        replaced = self.open.pop(fit_name(name), None)
        if replaced is not None:
            self._drop(replaced)

    def end_evaluation(self) -> None:
        """Training continues or the run ends, so all sets of the evaluation are complete."""
        if not self.is_script_thread():
            return
        self.recorder.tell(self.at_end)
        for name, current in self.open.items():
            if current.why_not or not current.parts:
                continue
            before = self.last.get(name)
            if before is not None:
                self._drop(before)
            self.last[name] = current
            if self.every and current.step != OUTSIDE and (current.step + 1) % self.every == 0:
                self._write(current)
        self.open = {}

    def _drop(self, rows: Set) -> None:
        if not rows.is_written:
            self.left += rows.size()
        rows.parts = {}

    def _write(self, chosen: Set) -> None:
        if chosen.is_written or not chosen.parts:
            return
        chosen.is_written = True
        file = "%s-%s%s-%x.npz" % (PREDICTIONS, chosen.name, _place(chosen.step), self.pid)
        arrays = chosen.arrays()
        rows = arrays[0][1][1][0] if arrays else 0
        for column, array in self.columns.get(chosen.name, {}).items():
            if array[1][0] == rows:
                arrays.append((column, array))
            else:
                reason = "%d rows for %d examples" % (array[1][0], rows)
                self.refuse("groups", "%s of %s" % (column, chosen.name), reason)
        self.left += chosen.size()
        chosen.parts = {}
        if self._save(PREDICTIONS, chosen.name, file, arrays, is_compressed=True):
            self.recorder.event("artifact", PREDICTIONS, chosen.name, chosen.step, chosen.framework, file, rows)

    # ------------------------------------------------------------ weights

    def weights(self, step: int, moment: str) -> None:
        """Write the weights of every framework that has trained any."""
        if not self.is_script_thread():
            return
        from .hashing import weights_digest

        for framework, give in self.weights_of.items():
            arrays = list(give())
            if not arrays:
                continue
            if moment != "step" and self.digests.get(framework) == weights_digest(arrays):
                continue  # no change since a main loop ended
            if sum(_bytes(kind, shape) for _, (kind, shape, _) in arrays) > self.left:
                self.refuse(WEIGHTS, framework, FULL)
                continue
            again = "_%d" % (self.n_loops + 1) if self.n_loops and moment != "exit" else ""
            file = "%s-%s-%s%s%s-%x.npz" % (WEIGHTS, framework, moment, again, _place(step), self.pid)
            if self._save(WEIGHTS, framework, file, arrays, is_compressed=False):
                self.recorder.event("artifact", WEIGHTS, moment, step, framework, file, len(arrays))
                if moment == "loop":
                    self.digests[framework] = weights_digest(arrays)

    # ------------------------------------------------------------ moments

    def step(self) -> int:
        """The main-loop step of this thread, OUTSIDE if it is in none."""
        recorder = self.recorder
        for loop in recorder.running.get(get_ident(), ()):
            if loop.id in recorder.main_ids:
                return loop.step
        return OUTSIDE

    def _main_step(self, step: int) -> None:
        """The main loop begins a step: capture the state after the previous one if requested."""
        self.end_evaluation()
        self.latest = step
        if self.every and step and step % self.every == 0:
            self.weights(step - 1, "step")

    def _finish(self, moment: str) -> None:
        """The main loop or the process has ended."""
        if not self.is_script_thread():
            return
        self.end_evaluation()
        if moment == "exit":
            for rows in self.last.values():
                self._write(rows)
            self.weights(OUTSIDE, moment)
            return
        is_asked_for = self.every and self.latest != OUTSIDE and (self.latest + 1) % self.every == 0
        self.weights(self.latest if is_asked_for else OUTSIDE, moment)
        self.latest = OUTSIDE
        self.n_loops += 1

    # ------------------------------------------------------------ files

    def _save(
        self, kind: str, name: str, file: str, arrays: Sequence[tuple[str, Array]], *, is_compressed: bool
    ) -> bool:
        """Write a file; returns whether that succeeded. Failures are reported, and the script continues."""
        folder = os.path.join(self.folder, FOLDER)
        path = os.path.join(folder, file)
        try:
            os.makedirs(folder, exist_ok=True)
            before = os.path.getsize(path) if os.path.exists(path) else 0
            self.left -= write_npz(path, arrays, is_compressed=is_compressed) - before
        except Exception as error:  # a full disk, or a type that NumPy has not: the others can still be kept
            self.refuse(kind, name, "it could not be written: %s: %s" % (type(error).__name__, error))
            return False
        return True

    def refuse(self, kind: str, name: str, reason: str) -> None:
        """Report once why something is not captured."""
        text = "%s of %s: %s" % (kind, name, reason)
        if text not in self.refusals:
            self.refusals.add(text)
            self.recorder.event("not captured", kind, name, reason)


def _place(step: int) -> str:
    return "" if step == OUTSIDE else "-%d" % step


def _bytes(kind: str, shape: Sequence[int]) -> int:
    return int("".join(filter(str.isdigit, kind)) or 8) // 8 * math.prod(map(int, shape))
