"""Seeds that change by themselves: made from the clock, a process number, `hash()` or `id()`."""

import libcst as cst

from deviate.analysis.hazards.registry import Matches, hazard
from deviate.analysis.hazards.seeds import SEEDERS
from deviate.analysis.hazards.survey import Called, Survey
from deviate.analysis.resolve.origins import CLOCKS
from deviate.analysis.resolve.tree import constant_text, last_name, positional, walk
from deviate.model.metric_vocabulary import word_set

CHANGING_SOURCES = CLOCKS | word_set(
    "os.getpid os.getppid builtins.hash builtins.id threading.get_ident time.clock_gettime datetime.datetime.timestamp "
    "os.times"
)


@hazard("changing-seed", "seeds")
def changing_seed(survey: Survey) -> Matches:
    """Seeds that change by themselves: made from the clock, a process number, `hash()` or `id()`.

    The script looks seeded and gives another result each time. deviate keys its own seeds by the one that the
    script asks for, so such a seed changes every stream in every variant: nothing is held any more.

    Example:
        import random, time
        random.seed(int(time.time()))

    Instead:
        import random
        random.seed(20240501)

    Source: Python documentation of `time.time`, `os.getpid`, and of `object.__hash__`: hash values of str and bytes
    objects "are salted with an unpredictable random value".
    """
    changing: dict[cst.CSTNode, Called] = {call.node: call for call in survey.calls(CHANGING_SOURCES)}
    for seeding in survey.in_order(SEEDERS) if changing else ():
        for argument in seeding.node.args:
            for value, _ in survey.values(argument.value, seeding.function):
                for part in walk(value):
                    if part in changing:
                        yield part, _describe_seed(changing.pop(part), f"seeds {seeding.name}")
    for node, call in changing.items():
        if _is_seed(node, survey):
            yield node, _describe_seed(call, "is taken for a seed")


def _describe_seed(call: Called, subject: str) -> str:
    return f"{call.name.removeprefix('builtins.')}() {subject}: it differs between runs"


def _is_seed(node: cst.CSTNode, survey: Survey) -> bool:
    """Whether a number becomes, through arithmetic alone, the value of a seed."""
    for parent in survey.nodes.ancestors(node):
        match parent:
            case cst.Arg(keyword=cst.Name(value=name)):
                return "seed" in name.lower() or name == "random_state"
            case cst.Call(func=cst.Attribute(attr=cst.Name(value="seed" | "set_seed" | "manual_seed"))):
                return True
            case cst.Assign():
                return any("seed" in last_name(target.target).lower() for target in parent.targets)
            case cst.Arg() | cst.BinaryOperation() | cst.UnaryOperation() | cst.IfExp() | cst.BooleanOperation():
                pass
            case cst.Attribute():
                pass
            case cst.Call() if last_name(parent.func) in ("int", "abs", "round", "float") or not positional(parent):
                pass
            case cst.Call() if constant_text(positional(parent)[0]) is None:
                return False
            case _:
                return False
    return False
