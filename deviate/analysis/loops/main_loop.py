"""Finds the main training loop among repeats around it and evaluations beside it, and the alternatives to it."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from textwrap import shorten
from typing import Literal

import libcst as cst

from deviate.analysis.loops.managed import TrainingFramework, framework_of
from deviate.analysis.loops.training import TrainingSigns
from deviate.analysis.resolve.calls import CallGraph
from deviate.analysis.resolve.identifier_words import all_words
from deviate.analysis.resolve.index import Function, LoopNode, Nodes
from deviate.analysis.resolve.tree import constant_text, dotted_name, identifiers, keywords, last_name, positional, walk
from deviate.model.analysis import Loop
from deviate.model.metric_vocabulary import split_identifier, word_set

# ---------------------------------------------------------------- what a loop counts, and its counter

LoopUnit = Literal["epochs", "steps", "batches", "repeats", "other"]

EPOCHS = word_set("epoch epochs ep epo eps nepoch nepochs pass passes")
STEPS = word_set(
    "step steps iter iters iteration iterations it itr ii niter episode episodes eps update updates round rounds "
    "generation generations frame frames t timestep timesteps game games rollout rollouts"
)
REPEATS = word_set(
    "seed seeds fold folds run runs trial trials repeat repeats rep lr wd hp config configs cfg experiment exp "
    "attempt attempts retry retries tries model models network dataset datasets split"
)
"""Variables of loops that repeat a whole training."""

REPEATING = word_set(
    "seed seeds fold folds kf kfold skf cv run runs trial trials repeat repeats reps repetitions restarts configs "
    "experiments"
)
"""Words in the iterable of such loops; `dataset` and `model` are not among them."""

RANGES = word_set("range xrange trange prange arange count cycle repeat")
AROUND = word_set("tqdm enumerate zip list iter reversed track progressbar notebook_tqdm prefetch master_bar")


def counter_of(loop: LoopNode) -> str | None:
    """The counter of a loop: the first target of a `for`; in a `while`, the variable that is incremented and tested."""
    if isinstance(loop, cst.For):
        target: cst.BaseExpression = loop.target
        while isinstance(target, cst.Tuple | cst.List) and target.elements:
            target = target.elements[0].value
        return last_name(target) or None
    tested = {name for node in [loop.test, *_exits(loop)] for name in identifiers(node)}
    raised, added = [], []
    for node in walk(loop.body):
        match node:
            case cst.AugAssign(operator=cst.AddAssign()):
                raised.append(dotted_name(node.target))
            case cst.Assign(targets=[first, *_], value=cst.BinaryOperation(operator=cst.Add(), left=left)):
                added += [dotted_name(left)] if dotted_name(first.target) == dotted_name(left) else []

    def rank(name: str) -> tuple[bool, bool]:
        is_tested = name in tested or name.rpartition(".")[2] in tested
        return not is_tested, not (EPOCHS | STEPS) & set(split_identifier(name))

    return min(filter(None, [*raised, *added]), key=rank, default=None)


def counted_unit(loop: LoopNode, function: Function, graph: CallGraph) -> LoopUnit:
    """The unit that a loop counts, judged by its counter and its iterable."""
    variable = counter_of(loop)
    variable_words = set(split_identifier(variable)) if variable else set()
    if variable_words & EPOCHS and not (variable_words & REPEATS):
        return "epochs"
    if variable_words & REPEATS:
        return "repeats"
    if isinstance(loop, cst.While):
        tested = set(all_words(identifiers(loop.test)))
        return "epochs" if tested & EPOCHS and not variable_words & STEPS else "steps"
    through = list(iterated_expressions(loop.iter, function, graph))
    is_range = any(isinstance(part, cst.Call) and last_name(part.func) in RANGES for part in through)
    bound_words = {word for part in through for word in _counting_words(part)}
    if bound_words & REPEATING:
        return "repeats"
    if is_range and bound_words & EPOCHS:
        return "epochs"
    if is_range and (variable_words | bound_words) & STEPS:
        return "steps"
    return "other" if is_range or isinstance(loop.iter, cst.Tuple | cst.List) else "batches"


def iterated_expressions(
    node: cst.BaseExpression, function: Function, graph: CallGraph, depth: int = 6
) -> Iterator[cst.BaseExpression]:
    """The expressions behind an iterable: names are resolved, progress bars and `enumerate` are removed."""
    yield node
    if depth == 0:
        return
    if isinstance(node, cst.Name):
        scope, bindings = graph.resolver.find(node.value, function)
        for binding in bindings:
            if (value := binding.whole("assign")) is not None:
                yield from iterated_expressions(value, scope, graph, depth - 1)
    elif isinstance(node, cst.Call) and last_name(node.func) in AROUND:
        for value in (*positional(node), *(value for key, value in keywords(node).items() if key == "iterable")):
            yield from iterated_expressions(value, function, graph, depth - 1)


def _counting_words(node: cst.BaseExpression) -> Iterator[str]:
    """The words in an iterable that say what is counted: names, bounds of a range, the title of a progress bar."""
    if isinstance(node, cst.Name | cst.Attribute):
        yield from split_identifier(dotted_name(node))
    elif isinstance(node, cst.Call):
        name = last_name(node.func)
        if name in RANGES:
            yield from all_words(identifiers(node))
        title = constant_text(keywords(node).get("desc"))
        yield from split_identifier(title) if title is not None else ()


def _exits(loop: cst.While) -> list[cst.BaseExpression]:
    """Conditions under which the loop is left."""
    return [
        node.test
        for node in walk(loop.body)
        if isinstance(node, cst.If) and any(isinstance(part, cst.Break | cst.Return) for part in walk(node.body))
    ]


# ---------------------------------------------------------------- ranking

EVALUATIONS = word_set("eval evaluate evaluation test val valid validate validation plot predict")
DATA_WORDS = word_set("plot plots ax axs axes fig download extract file files line lines row path image subplot")
PRELIMINARIES = word_set("pretrain pretraining pre warmup warm burn burnin init initialize initialise")
SURE, LIKELY = 3, 2
"""Scores from which a loop is the main loop: always, or only if no other loop is."""

MOST_ALTERNATIVES = 5
TELLING: tuple[LoopUnit, ...] = ("epochs", "steps")
WORDING: dict[LoopUnit, str] = {
    "epochs": "counts epochs",
    "steps": "counts steps",
    "batches": "goes through batches",
    "repeats": "repeats the training",
}


@dataclass(frozen=True, slots=True)
class Training:
    """A loop that may be the main loop.

    Attributes:
        node: the loop, or the call of a managed one.
        variable: its counter.
        score: strength of the evidence.
        trains: whether something in it trains.
        framework: what runs it, if it is managed.
        evidence: reasons why it is the main loop or an alternative, strongest first.
    """

    node: LoopNode | cst.Call
    function: Function
    variable: str | None
    score: float
    counts: LoopUnit = "other"
    trains: bool = True
    framework: TrainingFramework | None = None
    evidence: tuple[str, ...] = ()

    @property
    def is_managed(self) -> bool:
        return self.framework is not None


@dataclass(frozen=True, slots=True)
class Trainings:
    """The loops that train.

    Attributes:
        outer: the main loop of each nest, best first.
        alternatives: other candidates for the main loop, best first.
    """

    outer: tuple[Training, ...] = ()
    alternatives: tuple[Training, ...] = ()

    @property
    def main(self) -> Training | None:
        return self.outer[0] if self.outer else None


class LoopFinder:
    """Ranks the loops of a project.

    Args:
        reported: values reported inside a node: (names of counters reported, number of metrics).
    """

    def __init__(self, graph: CallGraph, reported: Callable[[cst.CSTNode], tuple[set[str], int]]) -> None:
        self.graph = graph
        self.nodes = graph.nodes
        self.reported = reported
        self.signs = TrainingSigns(graph)
        self._around: dict[cst.CSTNode, set[cst.CSTNode]] = {}

    def find(self) -> Trainings:
        """The loops that train; each of the outer ones stands in no other one of them."""
        loops = [self._judge(loop, function) for loop, function in self.graph.loops if self.graph.call_paths(loop)]
        loops += [
            self._judge_managed(call, function, framework)
            for call, function in self.graph.calls
            if (framework := framework_of(call, self.graph)) is not None and self.graph.call_paths(call)
        ]
        training = [loop for loop in loops if loop.score >= SURE] or [loop for loop in loops if loop.score >= LIKELY]
        training = [
            loop for loop in training if loop.framework is None or not loop.framework.is_last_resort
        ] or training
        training.sort(key=self._rank)
        if not training:
            return Trainings()
        main, *rest = [loop for loop in training if self._is_outermost(loop, training)] or training[:1]
        rest = [loop for loop in rest if loop.counts in (*TELLING, main.counts)]
        nested = [loop for loop in training if loop is not main and loop not in rest]
        nested = [
            loop for loop in nested if loop.counts == "epochs" or (loop.counts == "steps" and self._nests(loop, main))
        ]
        return Trainings((main, *(loop for loop in rest if loop.trains)), (*rest, *nested)[:MOST_ALTERNATIVES])

    def _rank(self, loop: Training) -> tuple[float, str, int]:
        place = self.nodes.place(loop.node)
        return -loop.score, place.file, place.line

    # ------------------------------------------------------------ one loop

    def _judge(self, loop: LoopNode, function: Function) -> Training:
        variable = counter_of(loop)
        variable_words = set(split_identifier(variable)) if variable else set()
        counts = counted_unit(loop, function, self.graph)
        sure = self.signs.inside(loop.body)
        sign = next(iter(sure or self.signs.likely(loop.body)), None)
        counters, n_metrics = self.reported(loop)
        score = 0.0
        evidence = []
        if sign is not None:
            score += 3 if sure else 2.5
            evidence.append(
                f"trains: {shorten(self.nodes.code(sign), 60, placeholder=' …')} at {self.nodes.place(sign)}"
            )
        if sign is not None or n_metrics:
            score += {"epochs": 2.0, "steps": 1.0}.get(counts, 0.0)
            evidence += [WORDING[counts] + (f" ({variable})" if variable else "")] if counts in WORDING else []
        if variable and variable in counters and n_metrics:
            score += 2
            evidence.append(f"reports {variable} beside its metrics")
        if n_metrics:
            score += min(n_metrics, 8) / 10
            evidence.append(
                "1 metric is reported in it" if n_metrics == 1 else f"{n_metrics} metrics are reported in it"
            )
        score -= 2 * (counts == "repeats") + 2 * bool(DATA_WORDS & variable_words)
        score -= 0.5 * bool(PRELIMINARIES & {*split_identifier(function.name), *variable_words})
        if sign is None and self._evaluates(loop, function):
            score = 0
        return Training(loop, function, variable, score, counts, sign is not None, None, tuple(evidence))

    def _judge_managed(self, call: cst.Call, function: Function, framework: TrainingFramework) -> Training:
        score = LIKELY if framework.is_last_resort else 5.0 + (0.5 if "epochs" in keywords(call) else 0.0)
        evidence = (f"trains: driven by {framework.name}",)
        return Training(call, function, None, score, "epochs", framework=framework, evidence=evidence)

    def _evaluates(self, loop: LoopNode, function: Function) -> bool:
        """Whether a loop without visible training is inside an evaluation."""
        repeated = identifiers(loop.iter) if isinstance(loop, cst.For) else ()
        return bool(EVALUATIONS.intersection(all_words([function.name, *repeated])))

    # ------------------------------------------------------------ nests

    def _is_outermost(self, loop: Training, training: list[Training]) -> bool:
        """Whether no other training loop is the better main loop of the same nest."""
        for other in training:
            if other is loop:
                continue
            if self._nests(other, loop) and self._is_outer_better(other, loop):
                return False
            if self._nests(loop, other) and not self._is_outer_better(loop, other):
                return False
        return True

    def _is_outer_better(self, outer: Training, inner: Training) -> bool:
        """Which of two nested loops is the main loop: the outer one, unless it repeats the whole training.

        A loop that counts neither epochs nor steps (over stages, tasks, settings) yields to an inner one that does, if
        all its training happens in that one.
        """
        if outer.is_managed or outer.counts == "epochs":
            return True
        if outer.counts == "repeats" or (inner.counts in TELLING and self._retries(outer, inner)):
            return False
        if inner.is_managed and outer.counts not in TELLING:
            return False
        if outer.counts == "steps":
            return True
        return inner.counts not in TELLING or self._trains_besides(outer, inner)

    def _retries(self, outer: Training, inner: Training) -> bool:
        """Whether a `while` that counts nothing only runs another loop again after an error."""
        counts = outer.variable and (EPOCHS | STEPS) & set(split_identifier(outer.variable))
        if counts or not isinstance(outer.node, cst.While):
            return False
        frames = (frame.node for call_path in self.graph.call_paths(inner.node) for frame in call_path)
        ways = ([parent for parent, _ in self.nodes.around(node)] for node in frames)
        around = next((way for way in ways if outer.node in way), [outer.node])
        return any(isinstance(part, cst.Try) and part.handlers for part in around[: around.index(outer.node)])

    def _nests(self, outer: Training, inner: Training) -> bool:
        return outer.node in self._leading_to(inner.node)

    def _leading_to(self, node: cst.CSTNode) -> set[cst.CSTNode]:
        """The loops around a node on any call path to it, and the calls on these paths."""
        if node not in self._around:
            nodes: set[cst.CSTNode] = set()
            for call_path in self.graph.call_paths(node):
                for frame in call_path:
                    nodes.update(self.nodes.loops_around(frame.node))
                    nodes.add(frame.node)
            self._around[node] = nodes - {node}
        return self._around[node]

    def _passes(self, node: cst.CSTNode, outer: Training, inner: Training) -> bool:
        """Whether a call path leads to a node through one loop and not through another."""
        for call_path in self.graph.call_paths(node):
            around = {loop for frame in call_path for loop in (*self.nodes.loops_around(frame.node), frame.node)}
            if outer.node in around and inner.node not in around:
                return True
        return False

    def _trains_besides(self, outer: Training, inner: Training) -> bool:
        if isinstance(outer.node, cst.Call):
            return False
        return any(
            self._passes(sign, outer, inner) for sign in self.signs.inside(outer.node.body) if sign != inner.node
        )


# ---------------------------------------------------------------- for other rooms


def loop_value(
    node: LoopNode | cst.Call, number: int, nodes: Nodes, *, is_main: bool = False, evidence: tuple[str, ...] = ()
) -> Loop | None:
    """The `Loop` of the public model; None for `async for`, whose iterable cannot be wrapped."""
    source = nodes.source(node)
    file, line, end = source.file, source.line(node), source.end(node).line
    if isinstance(node, cst.Call):
        return Loop(number, file, line, end, "managed", None, source.span(node), is_main, evidence)
    body = source.end(node.body)
    end = body.line - (body.column == 0)
    if isinstance(node, cst.While):
        return Loop(number, file, line, end, "while", counter_of(node), source.span(node.test), is_main, evidence)
    if node.asynchronous is not None:
        return None
    return Loop(number, file, line, end, "for", counter_of(node), source.span(node.iter), is_main, evidence)
