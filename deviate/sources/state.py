"""State that runs find: files of earlier runs, variables, answers of servers, numbers of processes."""

import libcst as cst

from deviate.analysis.resolve.tree import last_name, walk
from deviate.model.metric_vocabulary import word_set
from deviate.sources.catalogue import Matches, source
from deviate.sources.destinations import Destinations
from deviate.sources.survey import Survey

CHECKS = word_set("os.path.exists os.path.isfile os.path.isdir os.path.lexists")
LOADING = word_set("load loads load_npz loadtxt open read read_text read_bytes read_csv read_json read_pickle restore")


@source("leftover-file", group="state", observed=("file-state",))
def leftover_file(survey: Survey) -> Matches:
    """A file outside the working folder that a run reads if an earlier run has left it.

    The first run computes and writes it, the second one reads it. If what it holds is not equal to the last bit to what
    a run computes, or comes from other settings, the runs differ. What a listing finds may be left, too.

    Advice: write below the working folder, or to the folder in DEVIATE_RUN_DIR, which each run has for itself

    Example:
        import os
        import numpy as np
        cache = "/var/cache/images.npy"
        if os.path.exists(cache):
            images = np.load(cache)
        else:
            images = prepare()
            np.save(cache, images)

    Instead:
        images = prepare()

    Source: Python documentation of `os.path.exists`.
    """
    destinations = Destinations(survey)
    checked = [(call, call.argument(0, "path")) for call in survey.calls(CHECKS)]
    checked += [
        (call, call.node.func.value)
        for call in survey.methods(("exists", "is_file", "is_dir"), ("pathlib.",))
        if isinstance(call.node.func, cst.Attribute) and not call.node.args
    ]
    for call, target in checked:
        if target is None or not _decides(call.node, survey):
            continue
        path = destinations.outside(target, call.function)
        # Runs outside of deviate share the folder for temporary files.
        codes = (survey.nodes.code(value) for value, _ in survey.values(target, call.function))
        if path is not None or any("gettempdir" in code for code in codes):
            yield call.node, f"{path or 'a temporary file'} may be left by an earlier run"


def _decides(node: cst.CSTNode, survey: Survey) -> bool:
    """Whether a check stands in a condition of what is read, and not only before a new folder."""
    for parent, below in survey.nodes.around(node):
        if isinstance(parent, cst.IfExp | cst.If):
            called = (last_name(part.func) for part in walk(parent) if isinstance(part, cst.Call))
            return below is parent.test and (isinstance(parent, cst.IfExp) or not LOADING.isdisjoint(called))
        if isinstance(parent, cst.BaseStatement | cst.BaseSmallStatement):
            return False
    return False


@source("file-contents", group="state", observed=("file",))
def file_contents() -> None:
    """Files that hold other data.

    A file changed on disk, or a download returned another version.

    Advice: compare checksums of the files before each run

    Source: Python documentation of `hashlib.file_digest`.
    """


@source("environment-variable", group="state", observed=("environment",))
def environment_variable() -> None:
    """Values of environment variables that the script reads.

    A run in another shell, container or job can have other values.

    Advice: set the variable to one value for all runs (`--env NAME=VALUE`), or pass it as an argument of the script

    Source: Python documentation of `os.environ`.
    """


@source("network-answer", group="state", observed=("network",))
def network_answer() -> None:
    """Answers from the network.

    A server may answer differently each time, or not at all.

    Advice: download data once, store the file with a checksum, and read it from there

    Source: Python documentation of `http.client`.
    """


@source("process-number", group="state", observed=("process-id",))
def process_number() -> None:
    """Numbers of processes and threads.

    The system gives others in each run. They matter where a seed, a name or an order is made from them.

    Advice: use the rank or the index of the worker

    Source: Python documentation of `os.getpid` and `threading.get_ident`.
    """
