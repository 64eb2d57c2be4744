"""Seeds that come too late or are missing where examples are divided and models are made."""

from deviate.sources.catalogue import Matches, source
from deviate.sources.cures import instead, with_arguments
from deviate.sources.names import KERAS
from deviate.sources.patterns import ABSENT, Condition, constant, has, has_not, named
from deviate.sources.seeds import SEEDERS, SEEDING_ALL
from deviate.sources.survey import Called, Survey


def seeders_of(library: str, survey: Survey) -> list[Called]:
    """Calls that seed the global generator of a library, in source order."""
    own = (f"{library}.seed", f"{library}.manual_seed")
    return [call for call in survey.in_order(SEEDERS) if call.last in SEEDING_ALL or call.name.startswith(own)]


def is_unseeded(library: str, name: str, place: int | None = None) -> Condition:
    """Calls that give no generator or seed of this name, in a program that seeds no generator of the library."""

    def is_so(call: Called, survey: Survey) -> bool:
        is_spread = any(argument.star for argument in call.node.args)
        value = constant(call.argument(place, name))
        return not is_spread and (value is None or value is ABSENT) and not seeders_of(library, survey)

    return is_so


@source(
    "unseeded-split",
    named(
        r"sklearn\.model_selection\.(Stratified)?(Group)?KFold",
        "{} shuffles without a seed",
        has(1, shuffle=True),
        is_unseeded("numpy.random", "random_state", 2),
    ),
    named(
        r"sklearn\.model_selection\.(train_test_split|(Stratified|Group)?ShuffleSplit|Repeated(Stratified)?KFold)",
        "{} draws without a seed",
        has_not(shuffle=False),
        is_unseeded("numpy.random", "random_state"),
    ),
    named(
        r"torch\.utils\.data\.(dataset\.)?random_split", "{} draws without a seed", is_unseeded("torch", "generator", 2)
    ),
    group="seeds",
    held="split",
    cure=instead(
        with_arguments(random_state=0), random_split=with_arguments(generator="torch.Generator().manual_seed(0)")
    ),
)
def unseeded_split() -> None:
    """Examples divided at random without a seed: splits and cross-validation.

    `train_test_split`, splitters with `shuffle=True` and `random_split` draw from a global generator, which starts
    differently in each run unless the script seeds it. The runs then train and test on different data.

    Example:
        from sklearn.model_selection import StratifiedKFold, cross_val_score
        folds = StratifiedKFold(n_splits=5, shuffle=True)
        scores = cross_val_score(model, x, y, cv=folds)

    Source: scikit-learn glossary, `random_state`: None uses "the global random state instance from numpy.random";
    PyTorch documentation of `random_split`, parameter `generator`.
    """


LAYERS = (
    r"torch\.nn\.(Linear|Bilinear|Conv(Transpose)?[123]d|Embedding|LSTM|GRU|RNN|MultiheadAttention|Transformer\w*)"
    rf"|{KERAS}(Sequential|Model|layers\.(Dense|Conv2D|Embedding|LSTM))"
)


OF_KERAS = ("keras", "tensorflow", "tf_keras")
FAMILIES = {"torch": ("torch", "transformers"), "tensorflow": OF_KERAS, "keras": OF_KERAS}
"""The packages whose models a library's seed is for."""
TRANSFORMERS = (
    r"transformers\.\w*(Model|For[A-Z]\w+)(\.from_config)?"
    r"|transformers\.\w*For(\w+Classification|QuestionAnswering|MultipleChoice)\.from_pretrained"
)
"""Models with weights that are drawn: all, or those of a new head."""
TRAINERS = r"transformers\.(\w+\.)*(Seq2Seq)?Trainer"
"""They set the seed of their arguments when they are made."""


@source("seed-after-model", group="seeds", held="init", line="torch.manual_seed(0)", is_reported_once=True)
def seed_after_model(survey: Survey) -> Matches:
    """A model that is made before the first seed is set.

    Its initial weights are drawn from a generator that the script has not seeded yet, so they differ in each run
    although a seed is set later, as by the `Trainer` of transformers.

    Example:
        import torch
        net = torch.nn.Linear(6, 1)
        torch.manual_seed(1)

    Source: PyTorch documentation, "Reproducibility": `torch.manual_seed` seeds the generator from then on.
    """
    models = [call for call in survey.calls(LAYERS) if not survey.is_model(call.function.owner)]
    models += survey.calls(TRANSFORMERS)
    models += [
        Called(call, function, "torch")
        for function in survey.functions
        for call in function.calls
        if any(map(survey.is_model, survey.resolver.classes(call, function)))
    ]
    for library, packages in FAMILIES.items():
        seedings = [*seeders_of(library, survey), *(survey.calls(TRAINERS) if library == "torch" else ())]
        first = min(filter(None, (_order(call, survey) for call in seedings)), default=())
        for call in models if first else ():
            order = _order(call, survey)
            if order and order < first and call.name.partition(".")[0] in packages:
                yield call.node, f"the weights are drawn before the first seed is set (line {first[-1]})"


def _order(call: Called, survey: Survey) -> tuple[int, ...]:
    """When a call first runs: the lines of the calls that lead to it from the script; empty if that is unknown."""
    entry = survey.graph.project.entry
    paths = [path for path in survey.graph.call_paths(call.node) if path[0].function.module is entry]
    return min((tuple(survey.nodes.line(frame.node) for frame in path) for path in paths), default=())
