"""Names of evaluation sets, from the names of loaders, datasets and arrays in the script."""

from __future__ import annotations

import re
import sys
from types import FrameType

from .annotations import Any, Callable, Iterator
from .project import GuestProject

NOBODY = "evaluation"
"""What a set is called of which no name is known."""
PLAIN = "test"
"""What a set is called whose name tells no more than that it is data."""
FIRST = re.compile(
    r"^(?:(?:get|make|build|create|load|x|y|xs|xb|inputs?|images?|imgs?|features?|feats?|batch|tokenized|encoded)"
    r"|data_*loaders?|loaders?|dl|iterators?|data_*sets?|datasets?|ds|sets?|df|data)_+(?!\d+$)"
)
JOINED = re.compile(r"^(?:x|inputs?|images?|imgs?|features?|data)(?=(?:train|val|test|dev|eval|hold))")
LAST = re.compile(
    r"(?:_+(?:dl|ds|it|iter|x|xs|inputs?|images?|imgs?|features?|feats?|tensors?|arrays?|df|gen|batch(?:es)?|split)"
    r"|_*(?:data_*loaders?|loaders?|iterators?|data_*sets?|datasets?|data|sets?)\d*)$"
)
GENERIC = {
    "a", "arg", "args", "array", "b", "batch", "batches", "d", "data", "dl", "ds", "feature", "features", "gen",
    "generator", "i", "ids", "idx", "image", "images", "img", "imgs", "input", "input_ids", "inputs", "item", "it",
    "iter", "iterator", "loader", "obj", "sample", "samples", "self", "seq", "split", "src", "tensor", "text", "texts",
    "tokens", "v", "value", "x", "x_batch", "xb", "xs",
}  # fmt: skip
"""Names that tell of data, but not of which."""
INPUTS = {
    "input_ids": "labels", "tokens": "labels", "text": "label", "inputs": "targets", "input": "target",
    "images": "labels", "image": "label", "imgs": "labels", "img": "label", "features": "labels", "feature": "label",
    "feats": "labels", "samples": "labels", "sample": "label", "data": "labels", "batch": "labels", "src": "tgt",
    "xs": "ys", "x": "y", "X": "y",
}  # fmt: skip
"""What inputs are called, or a part of their name, and labels beside them."""
ANSWERS = ("y", "Y", "labels", "label", "targets", "target", "t")
"""What labels are called beside inputs of any name."""
WORDS = re.compile(r"(?:^|_)(test|testing|val|valid|validate|validation|dev|eval|holdout)(?:_|$)")
"""What functions are called that evaluate a set of this name."""
SPLITS = re.compile(r"(?:train|training|test|testing|val|valid|validation|dev|eval|holdout)")
"""Values of variables that tell which data a function goes through."""
OF_SPLIT = re.compile(r"split|phase|mode|stage|subset|partition|part|flag|which|name|kind")
HOLDS = re.compile(r"loader|(?<!cr)iter|data|dl$|ds$|set$|batches|gen$|generator")
"""Names of what a function is given to go through."""
IS_OPTIMIZED = 1
"""The flag of code whose local names are no dictionary."""
MOST_NAMES = 5000
MOST_PARTS = 64


def set_name(name: str) -> str:
    """The name of a set, from the name of a variable that holds it; "" if the name is not informative.

    >>> [set_name(name) for name in ("test_loader", "X_test", "valLoader", "val_ds", "testset", "loader", "images")]
    ['test', 'test', 'val', 'val', 'test', '', '']
    >>> [set_name(name) for name in ("dataloader_test", "ds_val", "data_loader_dev", "dataset_1")]
    ['test', 'val', 'dev', 'dataset_1']
    """
    plain = re.sub(r"(?<=[a-z0-9])(?=[A-Z])", "_", name).lower().strip("_")
    before = ""
    while plain != before and plain not in GENERIC:
        before = plain
        plain = LAST.sub("", JOINED.sub("", FIRST.sub("", plain))).strip("_")
    return "" if plain in GENERIC else plain


def label_names(name: str) -> list[str]:
    """What labels may be called beside inputs of this name, the most telling first.

    >>> label_names("X_test")[:3]
    ['y_test', 'Y_test', 'labels_test']
    """
    words = [word for word in INPUTS if word in name]
    return [name.replace(word, label, 1) for word in words for label in dict.fromkeys((INPUTS[word], *ANSWERS))]


def find(frame: FrameType | None, project: GuestProject, is_target: Callable[[Any], bool], untold: str = PLAIN) -> str:
    """The name of a set, from the outermost frame of the script with an informative name for an object.

    Args:
        frame: where the thing is in use; its callers are asked as well.
        is_target: whether a value is the thing.

    Returns:
        `untold` where all names are plain, "" where nothing of the script's holds it.
    """
    best = ""
    for outer in project.frames(frame):
        with_names = [set_name(name) for name in _names_held(outer, is_target)]
        name = next((name for name in with_names if WORDS.search(name)), "") or next(filter(None, with_names), "")
        best = name or (best if best != untold else "") or (untold if with_names else best)
    return best


def of_function(frame: FrameType | None, project: GuestProject) -> str:
    """The name of a set, from the innermost function whose name contains one: `test`, `validate`."""
    for outer in project.frames(frame):
        match = WORDS.search(re.sub(r"(?<=[a-z0-9])(?=[A-Z])", "_", outer.f_code.co_name).lower())
        if match:
            word = match.group(1)
            return {"testing": "test", "validate": "val", "validation": "val", "eval": NOBODY}.get(word, word)
    return NOBODY


def of_argument(frame: FrameType | None, project: GuestProject) -> str:
    """The name of a set, from an argument of the script's innermost function: a string, or a variable of the caller.

    >>> of_argument(None, None)
    ''
    """
    frame = project.innermost(frame) if frame is not None else None
    names = {} if frame is None else variables(frame)
    for name, value in names.items():
        if type(value) is str and OF_SPLIT.search(name.lower()) and SPLITS.fullmatch(value):
            return value
    for name, value in names.items():
        if HOLDS.search(name.lower()) and not isinstance(value, (str, int, float, bool, type(None))):
            label = find(frame, project, lambda other, value=value: other is value, "")  # type: ignore[misc]
            if label:
                return label
    return ""


def beside(
    frame: FrameType | None, project: GuestProject, is_target: Callable[[Any], bool]
) -> Iterator[tuple[str, Any]]:
    """Names and values beside an object in the script's innermost frame that holds it, such as labels beside inputs.

    The first name is that of the object itself, then those of its neighbours: in the frame, or in the containing
    object.
    """
    for outer in project.frames(frame):
        names = variables(outer)
        for around in (names, *(attributes(value) for value in names.values())):
            for name, value in list(around.items()):
                has_parts = around is names and type(value) in (tuple, list) and len(value) <= MOST_PARTS
                candidates = [value, *(value if has_parts else ())]
                if isinstance(name, str) and any(_matches_safely(is_target, candidate) for candidate in candidates):
                    yield name, value
                    yield from around.items()
                    return


def variables(frame: FrameType) -> dict[str, Any]:
    """A copy of the variables of a frame, which does not keep the values alive."""
    names = frame.f_locals
    variables = dict(names)
    # Up to Python 3.12 a function's frame keeps the dictionary that it made for us, and all values with it.
    if frame.f_code.co_flags & IS_OPTIMIZED and type(names) is dict and sys.getrefcount(names) <= _UNSHARED:
        names.clear()
    return variables


def _names_held(frame: FrameType, is_target: Callable[[Any], bool]) -> Iterator[str]:
    """Names of an object in a frame: variables first, then items, then attributes."""
    names = variables(frame)
    if len(names) > MOST_NAMES:
        return
    for name, value in names.items():
        if _matches_safely(is_target, value):
            yield name
    for name, value in names.items():
        if type(value) is dict or isinstance(value, (list, tuple)):
            for key, item in _items(name, value):
                if _matches_safely(is_target, item):
                    yield key
    for variable, value in names.items():
        for name, item in attributes(value).items():
            if _matches_safely(is_target, item):
                yield name if isinstance(name, str) and set_name(name) else variable


def _items(name: str, value: Any) -> Iterator[tuple[str, Any]]:
    if isinstance(value, dict):
        for key, item in list(value.items())[:MOST_NAMES]:
            yield (key if isinstance(key, str) else name), item
    elif len(value) <= MOST_PARTS:
        for item in value:
            yield name, item


def attributes(value: Any) -> dict[str, Any]:
    """The instance dictionary of an object, read without running code of its class."""
    if isinstance(value, (type, type(sys))):
        return {}
    try:
        contents = object.__getattribute__(value, "__dict__")
    except AttributeError:
        return {}
    return contents if type(contents) is dict and len(contents) <= MOST_NAMES else {}


def _matches_safely(is_target: Callable[[Any], bool], value: Any) -> bool:
    """Whether a value is a target; False where its class raises when asked."""
    try:
        return is_target(value)
    except Exception:  # values of any class
        return False


def _measure() -> int:
    """The reference count of a frame's dictionary that is referenced nowhere else."""

    def probe() -> int:
        names = sys._getframe().f_locals
        return sys.getrefcount(names)

    return probe() if hasattr(sys, "getrefcount") else -1


_UNSHARED = _measure()
