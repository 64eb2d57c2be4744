"""Loader workers whose draws no seed reaches."""

import libcst as cst

from deviate.analysis.hazards.names import TORCH_LOADERS
from deviate.analysis.hazards.registry import Matches, hazard
from deviate.analysis.hazards.survey import Called, Survey, is_true
from deviate.analysis.resolve.tree import constant_text, walk
from deviate.model.metric_vocabulary import word_set

OWN_GENERATORS = word_set("numpy.random.default_rng numpy.random.RandomState random.Random numpy.random.Generator")
NOT_FORKED = ("spawn", "forkserver")
START_METHOD_SETTERS = word_set("torch.multiprocessing.set_start_method multiprocessing.set_start_method")
KERAS_FITTING = ("fit", "fit_generator", "evaluate_generator", "predict_generator")


@hazard("loader-workers", "seeds")
def loader_workers(survey: Survey) -> Matches:
    """Loader workers whose draws no seed reaches.

    A worker process of a PyTorch `DataLoader` seeds the global generators of Python, NumPy (since PyTorch 1.9) and
    torch for itself. A generator that the data set keeps as an attribute is copied: all workers draw the same
    numbers, the same ones again in each epoch, and others with another number of workers. Workers that are started
    by `spawn` or `forkserver` are not routed by deviate: their draws belong to no stream.

    Example:
        import numpy as np
        from torch.utils.data import DataLoader, Dataset
        class Noisy(Dataset):
            def __init__(self):
                self.rng = np.random.default_rng(0)
            def __getitem__(self, index):
                return self.rng.normal(size=8)
        loader = DataLoader(Noisy(), num_workers=4)

    Instead:
        import numpy as np
        from torch.utils.data import DataLoader, Dataset
        class Noisy(Dataset):
            def __getitem__(self, index):
                return np.random.normal(size=8)
        loader = DataLoader(Noisy(), num_workers=4)

    Source: PyTorch documentation of `torch.utils.data`, "Randomness in multi-process data loading"; PyTorch source,
    _utils/worker.py; Keras 2 documentation of `fit`, parameter `use_multiprocessing`.
    """
    started = any(_names_start(call.argument(0, "method")) for call in survey.calls(START_METHOD_SETTERS))
    for call in survey.calls(TORCH_LOADERS):
        if not _has_workers(call):
            continue
        generator_name = _own_generator_name(call, survey)
        if generator_name is not None and call.argument(None, "worker_init_fn") is None:
            yield call.node, f"each worker draws from a copy of the data set's own generator, {generator_name}"
        elif started or _names_start(call.argument(None, "multiprocessing_context")):
            yield call.node, "workers that are not forked draw from generators that no variant holds"
    if {"keras", "tensorflow"} & survey.graph.imported_packages:
        for call in survey.methods(KERAS_FITTING, ("keras.", "tensorflow.")):
            if is_true(call.argument(None, "use_multiprocessing")):
                yield call.node, "processes draw from copies of one generator, and batches come in any order"


def _names_start(node: cst.BaseExpression | None) -> bool:
    if isinstance(node, cst.Call) and node.args:  # get_context("spawn")
        node = node.args[0].value
    return constant_text(node) in NOT_FORKED


def _has_workers(call: Called) -> bool:
    n_workers = call.argument(5, "num_workers")
    return n_workers is not None and not (isinstance(n_workers, cst.Integer) and n_workers.value == "0")


def _own_generator_name(call: Called, survey: Survey) -> str | None:
    """The attribute of a data set of the project that stores the generator from which its items are drawn."""
    data = call.argument(0, "dataset")
    for data_class in survey.resolver.classes(data, call.function) if data is not None else ():
        for cls in survey.resolver.order(data_class)[0]:
            generators = [
                name
                for name, bound in cls.attributes.items()
                for binding, function in bound
                if isinstance(binding.value, cst.Call)
                and survey.resolver.qualified_name(binding.value.func, function) in OWN_GENERATORS
            ]
            method = survey.resolver.method(data_class, "__getitem__")
            used = {part.value for part in walk(method.node) if isinstance(part, cst.Name)} if method else set()
            for name in generators:
                if name in used:
                    return name
    return None
