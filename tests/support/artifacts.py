"""Files with captured outputs and weights, as the guest writes them, and the events that tell of them."""

from collections.abc import Mapping
from pathlib import Path

import numpy as np
import numpy.typing as npt

from deviate.eventlog import encode
from deviate.guest.npz import write_npz

Arrays = Mapping[str, npt.NDArray[np.generic]]


def write_arrays(path: Path, arrays: Arrays, *, is_compressed: bool = True) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    buffers = [(name, (str(it.dtype), it.shape, np.ascontiguousarray(it).tobytes())) for name, it in arrays.items()]
    write_npz(str(path), buffers, is_compressed=is_compressed)


def keep_predictions(attempt: Path, name: str, arrays: Arrays, *, step: int = -1, pid: int = 12) -> str:
    """Write the outputs of a set into an attempt; gives the event that tells of it, as a line."""
    file = f"predictions-{name}{'' if step < 0 else f'-{step}'}-{pid:x}.npz"
    write_arrays(attempt / "artifacts" / file, arrays)
    return encode("artifact", "predictions", name, step, "torch", file, len(arrays["outputs"]))


def keep_weights(attempt: Path, moment: str, arrays: Arrays, *, step: int = -1, pid: int = 12) -> str:
    """The same of weights."""
    file = f"weights-torch-{moment}{'' if step < 0 else f'-{step}'}-{pid:x}.npz"
    write_arrays(attempt / "artifacts" / file, arrays, is_compressed=False)
    return encode("artifact", "weights", moment, step, "torch", file, len(arrays))
