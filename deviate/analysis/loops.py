"""The main loop: which loop of the file trains, told from repeats around it and from evaluation beside it."""

from collections.abc import Callable
from dataclasses import dataclass

import libcst as cst

from deviate.model import Loop

from .calls import CallGraph, Frame
from .index import Function, LoopNode
from .managed import is_managed
from .nodes import Nodes
from .tree import dotted, identifiers, keywords, last_name, listed, walk
from .words import all_words, words

EPOCHS = listed("epoch epochs ep epo")
STEPS = listed(
    "step steps iter iters iteration iterations it itr ii episode episodes update updates round rounds generation t"
)
REPEATS = listed(
    "seed seeds fold folds run runs trial trials repeat repeats rep lr wd hp config configs cfg experiment exp "
    "model models network dataset datasets split"
)
TRAINING_CALLS = listed(
    "backward zero_grad apply_gradients gradient train_on_batch partial_fit value_and_grad apply_updates train_step "
    "training_step train_epoch train_one_epoch opt_update optimize_parameters minimize manual_backward "
    "clip_grad_norm_ gradients update_params update_parameters update_weights sgd_step"
)
EVALUATIONS = listed("eval evaluate evaluation test val valid validate validation plot predict")
DATA_WORDS = listed("plot plots ax axs axes fig download extract file files line lines row path image subplot")
SURE, LIKELY = 3, 2
"""What speaks for a main loop: from here on it is one; from here on it is one where no other is."""


@dataclass(frozen=True, slots=True)
class Training:
    """A loop that may be the main loop.

    Attributes:
        node: the loop, or the call of a managed one.
        variable: its counter.
        score: how much speaks for it.
    """

    node: LoopNode | cst.Call
    function: Function
    variable: str | None
    score: float
    is_managed: bool = False


class LoopFinder:
    """Ranks the loops of one file.

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
        self.known: dict[cst.CSTNode, bool] = {}

    def find(self) -> list[Training]:
        """The loops that train, best first; each stands in no other one of them."""
        found = [self._judge(loop, function) for loop, function in self.graph.loops if self.graph.ways(loop)]
        found += [
            Training(call, function, None, 5.0 + self._epochs(call), is_managed=True)
            for call, function in self.graph.calls
            if is_managed(call, self.graph) and self.graph.ways(call)
        ]
        told = [loop for loop in found if loop is not None]
        training = [loop for loop in told if loop.score >= SURE] or [loop for loop in told if loop.score >= LIKELY]
        outer = [loop for loop in training if self._is_outermost(loop, training)]
        return sorted(outer, key=lambda loop: (-loop.score, str(self.nodes.place(loop.node))))

    def contains(self, outer: LoopNode | cst.Call, node: cst.CSTNode) -> bool:
        """Whether a node runs inside a loop: in its body or in a function called from there."""
        return any(any(self._is_below(outer, frame.node) for frame in way) for way in self.graph.ways(node))

    def _is_below(self, outer: cst.CSTNode, node: cst.CSTNode) -> bool:
        return outer in self.nodes.loops_around(node)

    def _judge(self, loop: LoopNode, function: Function) -> Training | None:
        variable = counter_of(loop)
        named = words(variable) if variable else []
        trains = self._trains(loop)
        counters, n_metrics = self.reported(loop)
        score = 0.0
        if trains:
            score += 3
        if variable and variable in counters and n_metrics:
            score += 2
        if EPOCHS & set(named):
            score += 2 if trains or n_metrics else 0
        elif STEPS & set(named) or isinstance(loop, cst.While):
            score += 1 if trains or n_metrics else 0
        if n_metrics:
            score += min(n_metrics, 8) / 10
        if REPEATS & set(named) and not EPOCHS & set(named):
            score -= 2
        if DATA_WORDS & set(named):
            score -= 2
        if not trains and self._evaluates(loop, function):
            score = 0
        return Training(loop, function, variable, score)

    def _trains(self, loop: LoopNode) -> bool:
        return self._shows_training(loop.body) or any(
            self._shows_training(function.node) for function in self.graph.callees(loop.body)
        )

    def _shows_training(self, node: cst.CSTNode) -> bool:
        if node not in self.known:
            calls = (part for part in walk(node) if isinstance(part, cst.Call))
            self.known[node] = any(self._is_training_call(call) for call in calls)
        return self.known[node]

    def _is_training_call(self, call: cst.Call) -> bool:
        name = last_name(call.func)
        if name in TRAINING_CALLS:
            return True
        spelled = words(dotted(call.func))
        if name in ("step", "apply", "update", "run") and {
            "optimizer",
            "optim",
            "opt",
            "optimizers",
            "solver",
            "sgd",
            "adam",
            "tx",
        } & set(spelled):
            return True
        if isinstance(call.func, cst.Subscript):
            spelled = words(dotted(call.func.value))
        if name == "run" and any(
            "train" in words(text) for argument in call.args for text in identifiers(argument.value)
        ):
            return True
        if isinstance(call.func, cst.Name):
            return bool({"train", "fit"} & set(words(name))) and not {"data", "load", "loader", "split"} & set(
                words(name)
            )
        return name in ("fit", "train") and bool(call.args) and bool(self._fits(call))

    def _fits(self, call: cst.Call) -> bool:
        values = {dotted(argument.value) for argument in call.args}
        return not values <= {"True", "False", "mode"}

    def _evaluates(self, loop: LoopNode, function: Function) -> bool:
        """Whether a loop that shows no training stands in an evaluation."""
        repeated = identifiers(loop.iter) if isinstance(loop, cst.For) else ()
        return bool(EVALUATIONS.intersection(all_words([function.name, *repeated])))

    def _epochs(self, call: cst.Call) -> float:
        return 0.5 if "epochs" in keywords(call) else 0.0

    def _is_outermost(self, loop: Training, training: list[Training]) -> bool:
        """Whether no other training loop is the better main loop of the same nest.

        The outermost one is, but for repeats of the whole training around it, and for a managed loop that a plain loop
        repeats without counting epochs or steps.
        """
        for other in training:
            if other is loop or not isinstance(other.node, cst.For | cst.While):
                if other is not loop and other.is_managed and self._nests(loop, other) and not _counts(loop):
                    return False
                continue
            if self._nests(other, loop) and (_counts(other) or not (loop.is_managed or _counts(loop))):
                return False
            if self._nests(loop, other) and _counts(other) and not _counts(loop):
                return False
        return True

    def _nests(self, outer: Training, inner: Training) -> bool:
        return isinstance(outer.node, cst.For | cst.While) and self.contains(outer.node, inner.node)


def _counts(loop: Training) -> bool:
    named = set(words(loop.variable)) if loop.variable else set()
    if EPOCHS & named:
        return True
    if REPEATS & named:
        return False
    return bool(STEPS & named) or isinstance(loop.node, cst.While)


def counter_of(loop: LoopNode) -> str | None:
    """The counter of a loop: the (first) target of a `for`; of a `while`, what is counted up and tested."""
    if isinstance(loop, cst.For):
        target: cst.BaseExpression = loop.target
        while isinstance(target, cst.Tuple | cst.List) and target.elements:
            target = target.elements[0].value
        return last_name(target) or None
    tested = {name for node in [loop.test, *_exits(loop)] for name in identifiers(node)}
    raised = [
        dotted(node.target)
        for node in walk(loop.body)
        if isinstance(node, cst.AugAssign) and isinstance(node.operator, cst.AddAssign) and dotted(node.target)
    ]
    raised += [
        dotted(node.targets[0].target)
        for node in walk(loop.body)
        if isinstance(node, cst.Assign)
        and isinstance(node.value, cst.BinaryOperation)
        and isinstance(node.value.operator, cst.Add)
        and dotted(node.targets[0].target)
        and dotted(node.targets[0].target) == dotted(node.value.left)
    ]
    ranked = sorted(raised, key=lambda name: (name not in tested, not (EPOCHS | STEPS) & set(words(name))))
    return ranked[0] if ranked else None


def loop_value(node: LoopNode | cst.Call, number: int, nodes: Nodes, *, is_main: bool = False) -> Loop | None:
    """A loop as other rooms see it; None for `async for`, whose iterable cannot be wrapped."""
    source = nodes.source(node)
    file, line, end = source.file, source.line(node), source.end(node).line
    if isinstance(node, cst.Call):
        return Loop(number, file, line, end, "managed", None, source.span(node), is_main)
    body = source.end(node.body)
    end = body.line - (body.column == 0)
    if isinstance(node, cst.While):
        return Loop(number, file, line, end, "while", counter_of(node), source.span(node.test), is_main)
    if node.asynchronous is not None:
        return None
    return Loop(number, file, line, end, "for", counter_of(node), source.span(node.iter), is_main)


def _exits(loop: cst.While) -> list[cst.BaseExpression]:
    """Conditions under which the loop is left."""
    return [
        node.test
        for node in walk(loop.body)
        if isinstance(node, cst.If) and any(isinstance(part, cst.Break | cst.Return) for part in walk(node.body))
    ]


def branch_of(node: cst.CSTNode, nodes: Nodes) -> list[tuple[cst.CSTNode, cst.CSTNode]]:
    """The branches of `if` statements in which a node stands: (statement, branch)."""
    found: list[tuple[cst.CSTNode, cst.CSTNode]] = []
    below = node
    for parent in nodes.ancestors(node):
        if isinstance(parent, cst.If):
            found.append((parent, below))
        if isinstance(parent, cst.FunctionDef):
            break
        below = parent
    return found


def runs_after(frame: Frame, earlier: Frame, nodes: Nodes) -> bool:
    """Whether the node of a frame stands behind that of another frame of the same function, on a common branch."""
    if frame.function is not earlier.function:
        return False
    last = earlier.node.body if isinstance(earlier.node, cst.For | cst.While) else earlier.node
    source = frame.function.source
    where, end = source.start(frame.node), source.end(last)
    if (where.line, where.column) < (end.line, end.column):
        return False
    branches = dict(branch_of(earlier.node, nodes))
    return all(branches.get(statement, branch) is branch for statement, branch in branch_of(frame.node, nodes))
