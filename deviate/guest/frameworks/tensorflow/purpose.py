"""Determines the stream of a draw of TensorFlow or Keras from the functions that are running."""

from __future__ import annotations

import os
import sys
from types import CodeType, FrameType

from ...adapter_context import AdapterContext
from ...project import beyond, outwards
from ...split import EarlyDraws
from ...streams import OTHER

ORDER, PERMUTATION, BATCHES, PIPELINE, PARALLEL = "order", "permutation", "batches", "pipeline", "parallel"
"""Beside the names of streams: a dataset is shuffled, a tensor is, Keras makes batches of arrays; a function of a
dataset is traced, and one that several threads will run."""

MODEL = "model"
"""Something of the project is called by a name of CALLS."""
CALLS = ("call", "__call__", "tf__call", "tf____call__")
"""As methods of models are named, and as AutoGraph names them."""

KINDS = (
    ("tensorflow/python/data/ops/structured_function.py", "", PIPELINE),
    ("tensorflow/python/data/ops/shuffle_op.py", "", ORDER),
    ("tensorflow/python/data/ops/sample_from_datasets_op.py", "", ORDER),
    ("tensorflow/python/data/experimental/ops/shuffle_ops.py", "", ORDER),
    ("tensorflow/python/data/experimental/ops/global_shuffle_op.py", "", ORDER),
    ("tensorflow/python/data/experimental/ops/snapshot.py", "", ORDER),
    ("tensorflow/python/ops/data_flow_ops.py", "", ORDER),
    ("tensorflow/python/training/input.py", "", BATCHES),
    ("tensorflow/python/ops/random_ops.py", "random_shuffle", PERMUTATION),
    ("tensorflow/python/ops/random_ops.py", "random_crop", "augment"),
    ("tensorflow/python/ops/random_crop_ops.py", "", "augment"),
    ("tensorflow/python/ops/image_ops_impl.py", "", "augment"),
    ("tensorflow/python/ops/nn_ops.py", "", "dropout"),
    ("tensorflow/python/ops/init_ops", "", "init"),
    ("tensorflow/python/ops/resource_variable_ops.py", "_init_from_args", "init"),
    ("tensorflow/python/ops/ref_variable.py", "_init_from_args", "init"),
    ("tensorflow/python/eager/polymorphic_function/polymorphic_function.py", "__init__", "init"),
    ("/keras/src/random/random.py", "shuffle", PERMUTATION),
    ("/keras/src/random/random.py", "dropout", "dropout"),
    ("/initializers/", "", "init"),
    ("/layers/preprocessing/", "", "augment"),
    ("/data_adapters/", "", BATCHES),
)
"""Where files of the library lie, how the names of functions begin, and what is drawn for in them."""
PARALLEL_CLASSES = ("_ParallelMapDataset", "_ParallelInterleaveDataset", "ParallelInterleaveDataset")
BETWEEN = ("tensorflow.python.autograph", "tensorflow.python.util")
LIBRARIES = ("tensorflow", "keras", "tf_keras")
MADE_INTO = frozenset(("Variable", "get_variable", "add_weight", "add_variable"))
"""Calls whose arguments are the first values of weights."""
DIVIDED_BY = frozenset(("skip", "split_dataset"))
"""Methods by which examples are divided; `take` alone looks at some of them."""
SHUFFLED_BY = frozenset(("shuffle", "list_files", "shuffle_and_repeat", "random_shuffle"))


class Purpose:
    """Determines the stream of a draw in a frame, from the program alone."""

    def __init__(self, context: AdapterContext) -> None:
        self.early = context.part(EarlyDraws)
        self.streams = context.streams
        self.project = context.project
        self.flows = self.early.flows
        self.kinds: dict[int, tuple[CodeType, str | None]] = {}

    def stream(self, frame: FrameType) -> str:
        return self._stream(frame, self._kinds(frame))

    def draw(self, frame: FrameType) -> tuple[str, bool]:
        """The stream, and whether the draw is in a dataset function that several threads will run."""
        kinds = self._kinds(frame)
        return self._stream(frame, kinds), PIPELINE in kinds and self._is_parallel(frame)

    def _stream(self, frame: FrameType, kinds: list[str]) -> str:
        is_called = MODEL in kinds
        if is_called:
            kinds = [kind for kind in kinds if kind != MODEL]
        if ORDER in kinds:
            return self._dividing(frame) or "shuffle"
        if PERMUTATION in kinds or BATCHES in kinds:
            return self._permutation(frame, kinds)
        if PIPELINE in kinds:
            return "augment"
        if kinds:
            return kinds[0]
        if self.streams.now != OTHER:
            return self.streams.now
        if self.flows.reach(frame, MADE_INTO):
            return "init"
        if is_called and any(map(self._is_model, outwards(frame))):
            return "dropout"
        caller = self.project.innermost(frame)
        return OTHER if caller is None else self.early.stream(caller, "tensorflow.random") or OTHER

    def permutation(self, frame: FrameType) -> str:
        """The stream of a permutation of a tensor that is requested in this frame."""
        return self._permutation(frame, self._kinds(frame))

    def _permutation(self, frame: FrameType, kinds: list[str]) -> str:
        if BATCHES in kinds:
            return "shuffle"
        if PIPELINE in kinds:
            return "augment"
        if self.streams.now != OTHER:
            return self.streams.now
        caller = self.project.innermost(frame)
        call = "tensorflow.random.shuffle"
        return "shuffle" if caller is None else self.early.stream(caller, call, is_order=True) or "shuffle"

    def _dividing(self, frame: FrameType) -> str | None:
        """Whether a dataset is shuffled to be split: outside of the training, and the result is split."""
        if self.early.is_training(frame):
            return None
        return "split" if self.flows.reach(frame, DIVIDED_BY, SHUFFLED_BY) else None

    def is_of_project(self, frame: FrameType) -> bool:
        """Whether a frame runs code of the project, possibly rewritten by AutoGraph."""
        if self.flows.is_of_project(frame.f_code):
            return True
        name = os.path.basename(frame.f_code.co_filename)
        file = frame.f_globals.get("__file__") if name.startswith("__autograph_generated_file") else None
        return isinstance(file, str) and self.project.file(file) is not None

    def is_asked_by_project(self, frame: FrameType | None) -> bool:
        """Whether a frame was called by the project, possibly through AutoGraph."""
        asking = beyond(BETWEEN, frame)
        return asking is not None and self.is_of_project(asking)

    def is_parallel(self, frame: FrameType) -> bool:
        """Whether a dataset function is being traced that several threads will run."""
        return PIPELINE in self._kinds(frame) and self._is_parallel(frame)

    def _is_parallel(self, frame: FrameType) -> bool:
        owners = (outer.f_locals.get("self") for outer in outwards(frame) if outer.f_code.co_name == "__init__")
        return any(type(owner).__name__ in PARALLEL_CLASSES for owner in owners)

    def name(self, frame: FrameType) -> str:
        """The public library function that the project, or another library, called."""
        name, owner = frame.f_code.co_name, ""
        for outer in outwards(frame):
            module = str(outer.f_globals.get("__name__"))
            if not module.startswith("tensorflow."):
                break
            if not module.startswith(("tensorflow.python.util", "tensorflow.python.autograph")):
                name = outer.f_code.co_name
                owner = "data.Dataset." if module.endswith("dataset_ops") else ""
        return "tensorflow.%s%s" % (owner, name)

    def _kinds(self, frame: FrameType | None) -> list[str]:
        """Purposes of the running library functions where known, innermost first."""
        kinds = []
        while frame is not None:
            entry = self.kinds.get(id(frame.f_code)) or self._learn(frame)
            if entry[1] is not None:
                kinds.append(entry[1])
            frame = frame.f_back
        return kinds

    def _learn(self, frame: FrameType) -> tuple[CodeType, str | None]:
        code = frame.f_code
        library = str(frame.f_globals.get("__name__")).partition(".")[0]
        kind = _kind(code) if library in LIBRARIES else None
        if code.co_name in CALLS and self.is_of_project(frame):
            kind = MODEL
        # The reference keeps the id from being used again; as a key, code is slow.
        entry = self.kinds[id(code)] = (code, kind)
        return entry

    def _is_model(self, frame: FrameType) -> bool:
        """Whether a `tf.Module` of the project is being called."""
        if frame.f_code.co_name not in CALLS or not self.is_of_project(frame):
            return False
        tensorflow = sys.modules.get("tensorflow")
        return tensorflow is not None and isinstance(frame.f_locals.get("self"), tensorflow.Module)


def _kind(code: CodeType) -> str | None:
    file = code.co_filename.replace(os.sep, "/")
    for path, function, kind in KINDS:
        if path in file and code.co_name.startswith(function):
            return kind
    return None
