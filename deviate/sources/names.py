"""Full names of library functions as expressions with their import prefixes, and functions that draw random numbers."""

from collections.abc import Iterator

import libcst as cst

from deviate.analysis.resolve.index import Function
from deviate.analysis.resolve.tree import walk
from deviate.model.metric_vocabulary import word_set
from deviate.sources.seeds import MAKERS
from deviate.sources.survey import Called, Survey

TENSORFLOW = r"tensorflow\.(compat\.v[12]\.)?"
KERAS = r"(keras|tf_keras|tensorflow\.(compat\.v[12]\.)?keras)\."
TORCH = r"torch\.nn\.(functional\.)?"
TORCH_PARAMETERS = word_set("torch.nn.Parameter torch.nn.parameter.Parameter")
TORCH_LOADERS = word_set("torch.utils.data.DataLoader torch.utils.data.dataloader.DataLoader")
LIGHTNING_TRAINERS = word_set("lightning.Trainer pytorch_lightning.Trainer lightning.pytorch.Trainer")

PYTHON_DRAWS = word_set(
    "random randint randrange choice choices sample shuffle uniform triangular gauss normalvariate lognormvariate "
    "betavariate expovariate gammavariate getrandbits vonmisesvariate paretovariate weibullvariate"
)
NO_DRAWS = MAKERS | word_set("seed Generator BitGenerator getstate setstate get_state set_state")
"""Functions of these modules that draw nothing."""
TORCH_DRAWS = word_set("rand randn randint randperm rand_like randn_like randint_like bernoulli multinomial normal")
TENSORFLOW_DRAWS = word_set("normal uniform shuffle truncated_normal gamma poisson categorical")
TENSORFLOW_OLD_DRAWS = word_set("random_normal random_uniform random_crop random_shuffle truncated_normal multinomial")


LISTING_FUNCTIONS = (
    r"os\.(listdir|scandir|f?walk)|glob2?\.i?glob|pathlib\.Path\(\)\.(r?glob|iterdir|walk)"
    rf"|{TENSORFLOW}(io\.)?gfile\.(listdir|ListDirectory|glob|Glob)"
)


def draws_from(name: str) -> str | None:
    """The library whose global generator a function draws from; None when it draws from none."""
    owner, _, last = name.rpartition(".")
    if owner == "random" and last in PYTHON_DRAWS:
        return "random"
    if owner == "numpy.random" and last not in NO_DRAWS:
        return "numpy"
    if owner == "torch" and last in TORCH_DRAWS:
        return "torch"
    if owner in ("tensorflow.random", "tensorflow.compat.v1.random") and last in TENSORFLOW_DRAWS:
        return "tensorflow"
    is_old = owner in ("tensorflow", "tensorflow.compat.v1") and last in TENSORFLOW_OLD_DRAWS
    is_image = owner.endswith("tensorflow.image") and last.startswith("random_")
    return "tensorflow" if is_old or is_image else None


def draws_in(node: cst.BaseExpression, function: Function, survey: Survey) -> Iterator[Called]:
    """Draws from global generators by a node, including those in functions of the project that it calls."""
    callees = [ref.function for ref in survey.resolver.functions(node, function)]
    calls: list[tuple[cst.Call, Function]] = []
    for value, where in survey.values(node, function):
        if isinstance(value, cst.Lambda):
            callees += survey.graph.callees(value)
            calls += [(part, where) for part in walk(value.body) if isinstance(part, cst.Call)]
    for callee in dict.fromkeys(callees):
        for inner in (callee, *survey.graph.callees(callee.node)):
            calls += [(call, inner) for call in inner.calls]
    for call, where in calls:
        name = survey.resolver.qualified_name(call.func, where) or ""
        if draws_from(name):
            yield Called(call, where, name)
