"""Features of a Python file that show its purpose: training, a main part, imports. Fast: from text and `ast`."""

import ast
import re
import warnings
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from pathlib import Path

from deviate.analysis.resolve.identifier_words import all_words
from deviate.model.metric_vocabulary import split_identifier, word_set

LARGEST = 2_000_000
"""Maximum file size in bytes: larger files are data."""

TRAINING_CALLS = word_set(
    "backward zero_grad apply_gradients GradientTape value_and_grad grad train_on_batch partial_fit minimize fit "
    "fit_generator manual_backward train_step training_step train_epoch train_one_epoch train_and_evaluate "
    "compute_gradients compute_loss_and_gradients"
)
OPTIMIZERS = word_set("optimizer optim opt optimizers solver scaler sgd adam")
TRAINERS = word_set("trainer solver learner estimator agent model engine experiment runner")
SCALERS = word_set("scaler encoder vectorizer tokenizer pca tsne imputer binarizer transformer preprocessor normalizer")
FRAMEWORKS = word_set(
    "torch tensorflow keras jax flax lightning pytorch_lightning sklearn transformers accelerate fastai mxnet paddle "
    "optax haiku equinox chainer theano xgboost lightgbm catboost"
)
PARSERS = word_set(
    "argparse click typer fire hydra absl docopt tyro jsonargparse simple_parsing configargparse gin sacred optparse"
)
TESTING = word_set("pytest unittest nose hypothesis")
SAVERS = word_set("save save_weights save_checkpoint save_pretrained save_model save_state")
EPOCHS = word_set("epoch epochs ep epo")
STEPS = word_set("step steps iter iters iteration iterations it itr episode episodes update round")
GUARD = re.compile(r"""^if\s*\(?\s*__name__\s*==\s*["']__main__["']""", re.MULTILINE)
CALLED = re.compile(r"\b(\w+)\(")
SETTING_UP = re.compile(r"print|input|exit|_?(set|seed|register|init|setup|install|load|config|def)\w*", re.IGNORECASE)
STARTING_CALLS = word_set("run main Fire train fit start launch spawn cli")
AT_TOP = re.compile(r"^(?:for\b|while\b|with\b|(?:\w+ *= *[\w.]*(?:fit|train)\w*|[\w.]*\w)\()", re.MULTILINE)
"""Beginnings of top-level lines that do work; most library files have none and need not be parsed."""
COUNTING = re.compile(r"^[ \t]*for[ \t]+\W*(\w+)", re.MULTILINE)
TELLING = re.compile(
    rb"\b(?:backward|GradientTape|value_and_grad|apply_gradients|minimize|train\w*|fit\w*|epochs?|__main__|trainer)\b",
    re.IGNORECASE,
)
IMPORTS = re.compile(
    r"^[ \t]*(?:from[ \t]+(?P<base>\.*[\w.]*)[ \t]+import[ \t]+(?P<names>\([^)]*\)|[^\n#;]+)"
    r"|import[ \t]+(?P<plain>[\w., \t]+))",
    re.MULTILINE,
)


@dataclass(frozen=True, slots=True)
class Signs:
    """Features of one file.

    Attributes:
        imports: dotted names that it imports; those of other packages included, relative ones with their dots.
        training: names of the calls that train, in source order.
        loop: word for the counter of its training loop, "epoch" or "step"; empty without one.
        starts: whether running it does more than define names.
        parser: package that reads its command line; empty for none.
        framework: framework that it imports; empty for none.
        error: why it cannot be read as Python 3; empty when it can.
    """

    imports: frozenset[str]
    training: tuple[str, ...] = ()
    loop: str = ""
    has_guard: bool = False
    starts: bool = False
    parser: str = ""
    framework: str = ""
    is_test: bool = False
    saves: bool = False
    error: str = ""


def read_signs(path: Path) -> Signs:
    """The features of a file. To save time, files that only define names or never mention training are not parsed."""
    try:
        content = path.read_bytes() if path.stat().st_size <= LARGEST else b""
    except OSError as error:
        return Signs(frozenset(), error=f"cannot be read: {error.strerror}")
    text = content.decode("utf-8", errors="replace")
    imports = frozenset(_imports(text))
    if not TELLING.search(content):
        return Signs(imports)
    packages = {name.split(".")[0] for name in imports}
    common = Signs(
        imports,
        has_guard=bool(GUARD.search(text)),
        parser=min(packages & PARSERS, default=""),
        framework=min(packages & FRAMEWORKS, default=""),
        is_test=not packages.isdisjoint(TESTING) or "absl.testing" in imports,
    )
    if common.is_test or not (common.has_guard or AT_TOP.search(text)):
        return replace(common, training=_spelling(text) if packages & (FRAMEWORKS | {"numpy"}) else ())
    try:
        tree = _parse(content)
    except (SyntaxError, ValueError, RecursionError, MemoryError) as error:
        line = f" at line {error.lineno}" if isinstance(error, SyntaxError) and error.lineno else ""
        reason = f"is no valid Python 3{line}"
        return replace(common, training=_spelling(text), loop=_loop(COUNTING.findall(text)), error=reason)
    nodes = list(_telling_nodes(tree))
    return replace(
        common,
        training=tuple(dict.fromkeys(_training_calls(nodes))),
        loop=_loop(_counters(nodes)),
        starts=common.has_guard or any(_does_something(statement) for statement in tree.body),
        saves=any(isinstance(node, ast.Call) and _calls(node)[-1] in SAVERS for node in nodes),
    )


def _spelling(text: str) -> tuple[str, ...]:
    """The training calls in a text that is not parsed; names in strings and comments count too."""
    return tuple(dict.fromkeys(name for name in CALLED.findall(text) if name in TRAINING_CALLS))


def _parse(content: bytes) -> ast.Module:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # "\d": a problem of the script
        return ast.parse(content)


def _telling_nodes(tree: ast.Module) -> Iterator[ast.Call | ast.For]:
    """Calls and loops in source order; twice as fast as `ast.walk`, as names and constants are skipped."""
    waiting: list[ast.AST] = [tree]
    while waiting:
        node = waiting.pop()
        if isinstance(node, ast.Call | ast.For):
            yield node
        for field in reversed(node._fields):
            value = getattr(node, field, None)
            if isinstance(value, list):
                waiting.extend(item for item in reversed(value) if isinstance(item, ast.AST))
            elif isinstance(value, ast.AST) and value._fields and not isinstance(value, ast.Name | ast.Constant):
                waiting.append(value)


def _imports(text: str) -> Iterator[str]:
    for match in IMPORTS.finditer(text):
        if match["plain"]:
            yield from (part.split()[0] for part in match["plain"].split(",") if part.strip())
            continue
        base = match["base"]
        yield base
        joint = "" if base.endswith(".") else "."
        names = (part.split()[0] for part in re.split(r"[(),\s]*[,()\n]\s*", match["names"]) if part.strip())
        yield from (f"{base}{joint}{name}" for name in names)


def _calls(call: ast.Call) -> list[str]:
    """The dotted parts of a callee, outermost object first; [""] for one without a name."""
    names: list[str] = []
    node: ast.expr = call.func
    while isinstance(node, ast.Attribute):
        names.append(node.attr)
        node = node.value
    if isinstance(node, ast.Name):
        names.append(node.id)
    return names[::-1] or [""]


def _training_calls(nodes: Iterable[ast.AST]) -> Iterator[str]:
    for node in nodes:
        if not isinstance(node, ast.Call):
            continue
        names = _calls(node)
        last, before = names[-1], set(split_identifier(names[-2])) if len(names) > 1 else set()
        if last in ("fit", "partial_fit") and (before & SCALERS or len(names) == 1):
            continue
        if last in TRAINING_CALLS:
            yield last
        elif last == "step" and before & OPTIMIZERS:
            yield f"{names[-2]}.step"
        elif last == "train" and before & TRAINERS and (node.args or node.keywords or "model" not in before):
            yield f"{names[-2]}.train"


def _loop(counters: Iterable[str]) -> str:
    """The unit of a loop over epochs, else over steps; empty if there is neither."""
    counter_words = set(all_words(counters))
    return "epoch" if counter_words & EPOCHS else "step" if counter_words & STEPS else ""


def _counters(nodes: Iterable[ast.AST]) -> Iterator[str]:
    for node in nodes:
        if isinstance(node, ast.For):
            yield from (part.id for part in ast.walk(node.target) if isinstance(part, ast.Name))


def _does_something(statement: ast.stmt) -> bool:
    """Whether a top-level statement does more than import, define and set up."""
    match statement:
        case ast.Expr(value=ast.Call() as call) | ast.Assign(value=ast.Call() as call):
            names = _calls(call)
            if any(_training_calls([call])) or names[-1] in STARTING_CALLS:
                return True
            return isinstance(statement, ast.Expr) and len(names) == 1 and not SETTING_UP.fullmatch(names[0])
        case ast.For() | ast.While() | ast.With():
            return True
        case ast.If() | ast.Try():
            return any(_does_something(inner) for inner in statement.body)
    return False
