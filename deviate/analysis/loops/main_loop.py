"""Finds the main training loop among repeats around it and evaluations beside it, and the alternatives to it."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from textwrap import shorten

import libcst as cst

from deviate.analysis.loops.counting import LoopUnit, counted_unit, counter_of
from deviate.analysis.loops.managed import Framework, framework_of
from deviate.analysis.loops.training import TrainingSigns
from deviate.analysis.resolve.calls import CallGraph, Frame
from deviate.analysis.resolve.identifier_words import all_words
from deviate.analysis.resolve.index import Function, LoopNode, Nodes
from deviate.analysis.resolve.tree import identifiers, keywords
from deviate.model import Loop
from deviate.model.metric_vocabulary import split_identifier, word_set

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
    framework: Framework | None = None
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

    def __init__(
        self,
        graph: CallGraph,
        reported: Callable[[cst.CSTNode], tuple[set[str], int]],
    ) -> None:
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
        training = [loop for loop in training if not _is_last_resort(loop)] or training
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

    def _judge_managed(self, call: cst.Call, function: Function, framework: Framework) -> Training:
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
        if outer.counts == "repeats":
            return False
        if inner.is_managed and outer.counts not in TELLING:
            return False
        if outer.counts == "steps":
            return inner.counts not in TELLING or not self._builds(outer, inner)
        if self._builds(outer, inner):
            return False
        return inner.counts not in TELLING or self._trains_besides(outer, inner)

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

    def _builds(self, outer: Training, inner: Training) -> bool:
        """Whether each iteration of a loop creates a model, which another loop then trains."""
        for call_path in self.graph.call_paths(inner.node):
            is_begun = False
            for frame in call_path:
                is_first = outer.node in self.nodes.loops_around(frame.node)
                is_begun = is_begun or is_first
                if is_begun and any(
                    self._makes_model(call) for call in self._before(frame, outer if is_first else None)
                ):
                    return True
        return False

    def _before(self, frame: Frame, outer: Training | None) -> Iterator[cst.Call]:
        """The calls before a frame's node in its function, restricted to a loop if one is passed."""
        source = frame.function.source
        place = source.start(frame.node)
        for call in frame.function.calls:
            start = source.start(call)
            is_inside = outer is None or outer.node in self.nodes.loops_around(call)
            if is_inside and (start.line, start.column) < (place.line, place.column):
                yield call

    def _makes_model(self, call: cst.Call) -> bool:
        return self.signs.builds_model(call, self.nodes.function_of(call)) or any(
            self.signs.builds_model(inner, function)
            for function in self.graph.callees(call)
            for inner in function.calls
        )


def _is_last_resort(loop: Training) -> bool:
    return loop.framework is not None and loop.framework.is_last_resort


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
