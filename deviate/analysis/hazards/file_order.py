"""Files in the order in which the file system gives them."""

from collections.abc import Iterator

import libcst as cst

from deviate.analysis.hazards.flow import Flow
from deviate.analysis.hazards.names import TENSORFLOW, under
from deviate.analysis.hazards.registry import Matches, hazard
from deviate.analysis.hazards.survey import Called, Survey
from deviate.model.metric_vocabulary import word_set

LISTING_FUNCTIONS = word_set(
    "os.listdir os.scandir os.walk os.fwalk glob.glob glob.iglob glob2.glob pathlib.Path().glob pathlib.Path().rglob "
    "pathlib.Path().iterdir pathlib.Path().walk"
) | under(TENSORFLOW, "io.gfile.listdir io.gfile.glob gfile.ListDirectory gfile.Glob gfile.listdir gfile.glob")
PATH_METHODS = ("iterdir", "rglob")


@hazard("file-order", "order")
def file_order(survey: Survey) -> Matches:
    """Files in the order in which the file system gives them.

    `os.listdir`, `glob` and their relatives give names in an order that depends on the file system and on how the
    folder was filled: a copy of the data on another machine is read in another order. What is split, batched or
    numbered by position then differs, though every seed is the same. deviate does not touch it.

    Example:
        import os
        names = os.listdir("images")
        train = names[:800]

    Instead:
        import os
        names = sorted(os.listdir("images"))
        train = names[:800]

    Source: Python documentation of `os.listdir`, `os.scandir` and `Path.iterdir` ("in arbitrary order") and of `glob`
    ("results are returned in arbitrary order"); TensorFlow documentation of `tf.io.gfile.listdir`.
    """
    flow = Flow(survey)
    for call in _file_listings(survey):
        if flow.order_matters(call.node, is_set=False):
            yield call.node, "names come in the order of the file system"


def _file_listings(survey: Survey) -> Iterator[Called]:
    seen: set[cst.CSTNode] = set()
    for call in (*survey.calls(LISTING_FUNCTIONS), *survey.methods(PATH_METHODS, ("pathlib.",))):
        if call.node not in seen:
            seen.add(call.node)
            yield call
