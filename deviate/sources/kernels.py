"""Calls of nondeterministic kernels, and whether the script asks its framework for deterministic ones."""

from collections.abc import Iterable, Iterator

import libcst as cst

from deviate.analysis.resolve.tree import constant_number, constant_text, identifiers, keywords, positional, walk
from deviate.analysis.survey import Called, Survey, is_false, is_true
from deviate.model.metric_vocabulary import split_identifier, word_set
from deviate.sources.names import TENSORFLOW, under

DATA = word_set("img imgs image images im ims mask masks target targets label labels gt")
"""Words for model inputs, which have no gradient."""

TRAINING = word_set("train training trains")

ASKING = under(TENSORFLOW, "config.experimental.enable_op_determinism")


def kernels(survey: Survey, names: Iterable[str], *, also: str = "") -> Iterator[Called]:
    """Calls by full name, except of frameworks that the script itself sets to deterministic mode.

    Args:
        also: another switch that is sufficient: "cudnn".
    """
    switches = held_by_script(survey)
    for call in survey.calls(names):
        if call.name.partition(".")[0] not in switches and also not in switches:
            yield call


def find_differentiated(survey: Survey, names: Iterable[str]) -> Iterator[Called]:
    """Calls of kernels whose gradient is not deterministic: layers, and functions where a gradient is computed."""
    for call in kernels(survey, names):
        is_layer = call.last[:1].isupper()
        if is_layer or _has_gradient(call, survey):
            yield call


def _has_gradient(call: Called, survey: Survey) -> bool:
    """Whether a function is called in a model or training step, and not on the input data."""
    arguments = positional(call.node)
    of_data = bool(arguments) and not DATA.isdisjoint(split_identifier(" ".join(identifiers(arguments[0]))))
    in_model = survey.is_in_model(call.function) and not _is_for_use(call.node, survey)
    return in_model and not of_data and not survey.is_without_gradient(call.node, call.function)


def _is_for_use(node: cst.CSTNode, survey: Survey) -> bool:
    """Whether a node is in a branch for inference: it returns early and its condition does not mention training."""
    for parent, _ in survey.nodes.around(node):
        if isinstance(parent, cst.If) and node is not parent.test:
            returns = any(isinstance(part, cst.Return) for part in walk(parent.body))
            if returns and TRAINING.isdisjoint(split_identifier(" ".join(identifiers(parent.test)))):
                return True
    return False


def held_by_script(survey: Survey) -> frozenset[str]:
    """The frameworks (and "cudnn") that the script sets to deterministic kernels, whatever its options."""
    requests = (*_of_torch(survey), *_of_others(survey))
    return frozenset(name for node, names in requests if not survey.is_conditional(node) for name in names)


def _of_torch(survey: Survey) -> Iterator[tuple[cst.CSTNode, tuple[str, ...]]]:
    for call in survey.calls(["torch.use_deterministic_algorithms", "torch.set_deterministic"]):
        mode = call.argument(0, "mode", "d")
        warns = keywords(call.node).get("warn_only")
        if is_true(mode) and not is_true(warns):
            yield call.node, ("torch",)
    for call in survey.calls(["torch.set_deterministic_debug_mode"]):
        mode = call.argument(0, "debug_mode")
        if mode is not None and (constant_text(mode) == "error" or constant_number(mode) == 2):
            yield call.node, ("torch",)
    for target, value, _ in survey.assignments_to("torch.backends.cudnn.deterministic"):
        if is_true(value):
            yield target, ("cudnn",)


def _of_others(survey: Survey) -> Iterator[tuple[cst.CSTNode, tuple[str, ...]]]:
    for call in survey.calls(ASKING):
        yield call.node, ("tensorflow", "keras", "tf_keras")
    for name in ("TF_DETERMINISTIC_OPS", "TF_CUDNN_DETERMINISTIC"):
        for item, value in survey.environment.get(name, ()):
            if not is_false(value) and constant_text(value) != "0":
                yield item, ("tensorflow", "keras", "tf_keras")
    for item, value in survey.environment.get("XLA_FLAGS", ()):
        if "deterministic" in (constant_text(value) or ""):
            yield item, ("jax", "flax")
