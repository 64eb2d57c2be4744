"""Evaluation that depends on training, or on the data that it reports."""

import libcst as cst

from deviate.analysis.resolve.tree import dotted_name, identifiers, keywords, positional, walk
from deviate.model.metric_vocabulary import split_identifier, word_set
from deviate.sources.catalogue import Matches, source
from deviate.sources.cures import instead, with_arguments
from deviate.sources.names import TORCH_LOADERS, draws_from
from deviate.sources.patterns import ABSENT, constant
from deviate.sources.survey import Survey

EVALUATING = word_set("evaluate evaluation eval validate validation valid val test testing predict infer inference")
"""Words in the names of functions and variables of an evaluation."""
VALIDATING = word_set("evaluate evaluation eval validate validation val")
"""Those of functions that are not called to try a model, as `test` often is."""
DROPOUTS = ("dropout", "dropout1d", "dropout2d", "dropout3d", "alpha_dropout")
DROPOUT_LAYERS = r"torch\.nn\.(Alpha)?Dropout[123]?d?"
FREE_OF_GRADIENT = ("torch.no_grad", "torch.inference_mode")


@source(
    "active-dropout",
    group="evaluation",
    held="dropout",
    cure=instead(with_arguments(training=False), **dict.fromkeys(DROPOUTS, with_arguments(training="self.training"))),
)
def active_dropout(survey: Survey) -> Matches:
    """Dropout that is active in the evaluation.

    `F.dropout(x)` drops by default, in evaluation too; so does a Keras model that is called with `training=True`, and a
    PyTorch model after training unless `eval()` is called. Scores then contain random numbers that belong to no
    training.

    Example:
        import torch.nn as nn
        import torch.nn.functional as F
        class Net(nn.Module):
            def forward(self, x):
                return F.dropout(self.layer(x), 0.5)
        net = Net()

    Source: PyTorch documentation of `torch.nn.functional.dropout` (`training=True` by default) and `Module.eval`; Keras
    documentation of `Layer.__call__`, argument `training`.
    """
    for call in survey.calls(rf"torch\.nn\.functional\.({'|'.join(DROPOUTS)})"):
        is_always = constant(call.argument(2, "training")) in (ABSENT, True)
        if survey.is_model(call.function.owner) and is_always and not _is_asked(call.node, survey):
            yield call.node, f"{call.last} drops in the evaluation, too"
    for function in survey.functions:
        for node in function.calls if is_evaluation(function.name) else ():
            if constant(keywords(node).get("training")) is True:
                yield node, "the model is called in training mode by the evaluation"
    if any(survey.calls(DROPOUT_LAYERS)) and not (survey.method_calls("eval") or survey.method_calls("train")):
        for call in survey.calls(FREE_OF_GRADIENT):
            if isinstance(survey.nodes.parents.get(call.node), cst.WithItem):
                yield call.node, "no model is set to eval(), so dropout is active here"


def _is_asked(node: cst.CSTNode, survey: Survey) -> bool:
    """Whether a node runs only in training, by a condition."""
    conditions = (parent.test for parent in survey.nodes.ancestors(node) if isinstance(parent, cst.If | cst.IfExp))
    return any("training" in identifiers(test) for test in conditions)


def is_evaluation(name: str, words: frozenset[str] = EVALUATING) -> bool:
    """Whether a function or variable is of an evaluation, by its name."""
    parts = set(split_identifier(name))
    return not words.isdisjoint(parts) and parts.isdisjoint({"train", "training", "split", "fit"})


STOPPING = word_set("EarlyStopping ModelCheckpoint early_stopping early_stopping_rounds")
WATCHED = ("validation_data", "eval_set", "valid_sets", "evals")
SCORING = ("evaluate", "score", "predict", "predict_proba")


@source("chosen-on-test", group="evaluation")
def chosen_on_test(survey: Survey) -> Matches:
    """An epoch or model that is chosen on the very data on which it is reported.

    The best of many epochs on the test data is too good by chance, and which epoch is best differs between runs: the
    spread of such scores is that of a maximum.

    Advice: choose on validation data, and report on test data once

    Example:
        for epoch in range(9):
            test_acc = evaluate(model, test_data)
            if test_acc > best_acc:
                best_acc = test_acc

    Instead:
        for epoch in range(9):
            val_acc = evaluate(model, val_data)
            if val_acc > best_acc:
                best_acc = val_acc
        test_acc = evaluate(model, test_data)

    Source: Cawley and Talbot, 2010, "On over-fitting in model selection and subsequent selection bias in performance
    evaluation", Journal of Machine Learning Research 11.
    """
    message = "the best epoch is chosen on the test data"
    for function in survey.functions:
        for node in walk(function.node):
            sides: list[cst.BaseExpression] = []
            if isinstance(node, cst.Comparison) and len(node.comparisons) == 1:
                sides = [node.left, node.comparisons[0].comparator]
            elif isinstance(node, cst.Call) and dotted_name(node.func) in ("max", "min"):
                sides = positional(node)
            words = [set(split_identifier(" ".join(identifiers(side)))) for side in sides]
            is_here = len(words) == 2 and survey.nodes.function_of(node) is function
            if is_here and any("best" in one and "test" in other for one, other in (words, words[::-1])):
                yield node, message
    keyword_names = {name for function in survey.functions for call in function.calls for name in keywords(call)}
    if not STOPPING.isdisjoint({name.rpartition(".")[2] for name in survey.names} | keyword_names):
        shown = [value for name in SCORING for call in survey.method_calls(name) for value in positional(call.node)]
        scored = {value.value for value in shown if isinstance(value, cst.Name)}
        for method in ("fit", "train"):
            for call in survey.method_calls(method):
                watched = [value for name, value in keywords(call.node).items() if name in WATCHED]
                if any(scored.intersection(identifiers(value)) for value in watched):
                    yield call.node, "training is stopped by the data that the script reports"


@source("validation-draws", group="evaluation", held="augment", cure=instead(DataLoader=with_arguments(shuffle=False)))
def validation_draws(survey: Survey) -> Matches:
    """Validation that draws from the generator of training.

    A validation loader that shuffles, or an evaluation that draws, advances the generator that training uses. How often
    the script validates then changes the training itself, and runs with other intervals cannot be compared.

    Example:
        from torch.utils.data import DataLoader
        val_loader = DataLoader(val_data, batch_size=64, shuffle=True)

    Source: PyTorch documentation of `torch.utils.data.DataLoader`: `shuffle` draws a base seed and an order from the
    global generator unless `generator` is given.
    """
    for call in survey.calls(TORCH_LOADERS):
        names = map(dotted_name, survey.targets(call.node))
        is_shuffled = constant(call.argument(2, "shuffle")) is True and call.argument(None, "generator") is None
        if is_shuffled and any(map(is_evaluation, names)):
            yield call.node, "the order of validation is drawn from the generator of training"
    for function in survey.functions:
        for node in function.calls if is_evaluation(function.name, VALIDATING) else ():
            name = survey.resolver.qualified_name(node.func, function) or ""
            if draws_from(name):
                yield node, f"{name} advances the generator of training"
