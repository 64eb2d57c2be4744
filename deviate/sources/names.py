"""Full names of library functions as expressions with their import prefixes, and functions that draw random numbers."""

import re
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

NO_DRAWS = "|".join((*MAKERS, "seed", "Generator", "BitGenerator", "[gs]et_?state"))
"""Functions of these modules that draw nothing."""
DRAWS = re.compile(
    r"random\.(random|randint|randrange|choices?|sample|shuffle|uniform|triangular|gauss|getrandbits|\w+variate)"
    rf"|numpy\.random\.(?!({NO_DRAWS})$)\w+"
    r"|torch\.(rand|randn|randint|randperm|rand_like|randn_like|randint_like|bernoulli|multinomial|normal)"
    rf"|{TENSORFLOW}random\.(normal|uniform|shuffle|truncated_normal|gamma|poisson|categorical)"
    rf"|{TENSORFLOW}(random_(normal|uniform|crop|shuffle)|truncated_normal|multinomial|image\.random_\w+)"
)
"""Functions that draw from the global generator of their library."""


LISTING_FUNCTIONS = (
    r"os\.(listdir|scandir|f?walk)|glob2?\.i?glob|pathlib\.Path\(\)\.(r?glob|iterdir|walk)"
    rf"|{TENSORFLOW}(io\.)?gfile\.(listdir|ListDirectory|glob|Glob)"
)


def draws_from(name: str) -> str | None:
    """The library whose global generator a function draws from; None when it draws from none."""
    return name.partition(".")[0] if DRAWS.fullmatch(name) else None


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
