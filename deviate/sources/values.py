"""Uses of single values, such as a reading of the clock: whether they are only reported, or decide what is computed."""

import libcst as cst

from deviate.analysis.resolve.index import Function
from deviate.analysis.resolve.tree import dotted_name, last_name, walk
from deviate.model.analysis import InputUse
from deviate.model.metric_vocabulary import HIGHER, LOWER, split_identifier, word_set
from deviate.sources.flow import ADDING, KEEPING, REPORTING, Follower
from deviate.sources.seeds import MAKERS, SEEDERS
from deviate.sources.survey import Survey

STRENGTHS: tuple[InputUse, ...] = ("reported", "sorted", "unknown", "computed")
"""Uses in rising order: an input with several has the last of them."""
CONVERTING = word_set(
    "float int round str repr abs format bool bytes max min sum mean divmod timedelta total_seconds strftime isoformat "
    "fromtimestamp timestamp ctime localtime gmtime hex hexdigest digest md5 sha1 sha256 encode decode from_bytes "
    "to_bytes replace strip split join unpack average median"
) | (KEEPING - {"map", "filter"})
"""Functions whose result is their argument in another form."""
HARMLESS = REPORTING | word_set(
    "write writelines sleep set_postfix set_postfix_str set_description echo add_scalar add_text log_metric "
    "log_metrics len isinstance type"
)
"""Functions that only report their argument, or wait."""
TIMING = word_set(
    "time times timer start started begin began end elapsed duration eta seconds second secs sec ms tic toc t0 t1 now "
    "clock wall speed throughput fps per took last since stamp timestamp date passed remaining s mfu flops tflops ips "
    "sps tps qps"
)
"""Words in the names of variables that hold times and speeds."""
MIXING = (cst.Add, cst.Subtract, cst.Multiply, cst.MatrixMultiply, cst.Power, cst.Modulo, cst.BitAnd, cst.BitXor)
SAVING = word_set("save saves checkpoint dump log flush report display show plot progress heartbeat notify sync")
"""Words in the names of functions that report or store, and change nothing in the training."""
TRAINED = HIGHER | LOWER | word_set("lr rate weight weights w grad gradient momentum noise scale temperature")
"""Words in the names of variables with results, or with what is trained."""
DEEPEST = 60
"""Most steps from a call to a use."""


class ValueUse(Follower):
    """Follows a single value until it is reported or computed on.

    Attributes:
        branches: the statements that the value decides, apart from those that only report.
    """

    def __init__(self, survey: Survey, source: str) -> None:
        super().__init__(survey)
        self.is_clock = source == "clock"
        self.branches: list[cst.If | cst.While] = []
        self._depth = 0

    def of(self, node: cst.CSTNode, *, is_mixed: bool = False) -> InputUse:
        """The strongest use of the value of an expression.

        Args:
            is_mixed: whether the value was combined with others, as a number to train on is.
        """
        self._depth += 1
        try:
            return self._of(node, is_mixed=is_mixed) if self._depth < DEEPEST else "unknown"
        finally:
            self._depth -= 1

    def _of(self, node: cst.CSTNode, *, is_mixed: bool) -> InputUse:
        parent = self.nodes.parents.get(node)
        match parent:
            case cst.Arg():
                return self._argument(parent, is_mixed=is_mixed)
            case cst.BinaryOperation():
                return self.of(parent, is_mixed=is_mixed or self._mixes(parent, node))
            case cst.Attribute():
                above = self.nodes.parents.get(parent)
                is_method = isinstance(above, cst.Call) and above.func is parent
                return self.of(above if is_method and above is not None else parent, is_mixed=is_mixed)
            case cst.Index():
                is_key = isinstance(parent.value, cst.BaseString)  # of a dict
                return self.of(parent, is_mixed=is_mixed) if is_key else "computed"
            case cst.IfExp() if node is parent.test:
                return self.of(parent, is_mixed=True)
            case cst.If() | cst.While() | cst.CompIf() | cst.Assert() if node is parent.test:
                if isinstance(parent, cst.If) and self.is_clock and _is_report(parent):
                    return "reported"
                self.branches += [parent] if isinstance(parent, cst.If | cst.While) else []
                return "computed"
            case cst.Lambda() | cst.For() | cst.CompFor() if node is not getattr(parent, "target", None):
                return "unknown"
            case None | cst.Expr() | cst.AssignTarget() | cst.BaseSmallStatement() | cst.BaseStatement():
                return self._stated(node, parent, is_mixed=is_mixed)
        return self.of(parent, is_mixed=is_mixed)

    def _stated(self, node: cst.CSTNode, parent: cst.CSTNode | None, *, is_mixed: bool) -> InputUse:
        """The use of a value that a statement takes."""
        match parent:
            case cst.Expr() | cst.AssignTarget() | cst.For():
                return "reported"
            case cst.Assign():
                targets = [item.target for item in parent.targets]
                feeding = [item for item in targets if _spells(parent.value, item)]
                return strongest([self._target(item, is_mixed=is_mixed, feeds=item in feeding) for item in targets])
            case cst.AnnAssign():
                return self._target(parent.target, is_mixed=is_mixed)
            case cst.AugAssign():
                return self._target(parent.target, is_mixed=is_mixed or not self.is_clock, feeds=True)
            case cst.Return():
                return self._returned(self.nodes.function_of(node), is_mixed=is_mixed)
        return "unknown"

    def _mixes(self, operation: cst.BinaryOperation, node: cst.CSTNode) -> bool:
        """Whether an operation makes a number to compute on: a difference of two times or a speed is none."""
        other = operation.right if node is operation.left else operation.left
        if isinstance(other, cst.BaseString) or not isinstance(operation.operator, MIXING):
            return False
        if not self.is_clock or isinstance(operation.operator, cst.Modulo | cst.BitAnd | cst.BitXor):
            return True
        if isinstance(other, cst.BaseNumber):
            return False
        words = [word for part in walk(other) if isinstance(part, cst.Name) for word in split_identifier(part.value)]
        return TIMING.isdisjoint(words)

    def _argument(self, argument: cst.Arg, *, is_mixed: bool) -> InputUse:
        call = self.nodes.parents[argument]
        if not isinstance(call, cst.Call):
            return "unknown"
        name, function = last_name(call.func), self.nodes.function_of(call)
        keyword = argument.keyword.value if argument.keyword is not None else ""
        qualified = self.survey.resolver.qualified_name(call.func, function) or ""
        if name in MAKERS or qualified in SEEDERS or "seed" in split_identifier(keyword or name):
            return "computed"
        if keyword == "random_state":
            return "computed"
        if name in HARMLESS:
            return "reported"
        if name in ADDING and isinstance(call.func, cst.Attribute):
            return self._target(call.func.value, is_mixed=is_mixed)
        parameters = self.parameters(call, argument)
        if parameters:
            return strongest([self._variable(name, function, is_mixed=is_mixed) for name, function in parameters])
        if name in CONVERTING:
            return self.of(call, is_mixed=is_mixed)
        return "computed" if is_mixed else "unknown"

    def _target(self, target: cst.CSTNode, *, is_mixed: bool, feeds: bool = False) -> InputUse:
        """The use of what is stored in a name, an attribute or an item.

        Args:
            feeds: whether its last value is part of the new one, as of weights that are updated.
        """
        if isinstance(target, cst.Subscript):
            return self._target(target.value, is_mixed=is_mixed, feeds=feeds)
        name_words = split_identifier(last_name(target))
        is_timing = self.is_clock and not TIMING.isdisjoint(name_words)
        if is_mixed and not is_timing and (feeds or not self.is_clock or not TRAINED.isdisjoint(name_words)):
            return "computed"
        if isinstance(target, cst.Name):
            scope, _ = self.survey.resolver.find(target.value, self.nodes.function_of(target))
            return self._variable(target.value, scope, is_mixed=is_mixed)
        if isinstance(target, cst.Attribute):
            return self._attribute(target, is_mixed=is_mixed)
        return "unknown"

    def _variable(self, name: str, scope: Function, *, is_mixed: bool) -> InputUse:
        loads = self.loads(scope.node, name) if self.is_new(name, scope) else []
        return strongest([self.of(node, is_mixed=is_mixed) for node in loads])

    def _attribute(self, target: cst.Attribute, *, is_mixed: bool) -> InputUse:
        name, owner = dotted_name(target), self.owner(target)
        if owner is None:
            return "unknown"
        loads = self.loads(owner.node, name) if self.is_new(name, owner) else []
        return strongest([self.of(node, is_mixed=is_mixed) for node in loads])

    def _returned(self, function: Function, *, is_mixed: bool) -> InputUse:
        if not self.is_new(function):
            return "reported"
        calls = self.calls_of(function)
        return strongest([self.of(call, is_mixed=is_mixed) for call in calls]) if calls else "unknown"


def _spells(value: cst.CSTNode, target: cst.CSTNode) -> bool:
    """Whether a value is computed from what its target held."""
    name = dotted_name(target)
    return bool(name) and any(type(part) is type(target) and dotted_name(part) == name for part in walk(value))


def strongest(uses: list[InputUse]) -> InputUse:
    return max(uses, key=STRENGTHS.index, default="reported")


def _is_report(statement: cst.If) -> bool:
    """Whether a branch on the time only reports, and notes the time of it: a message every ten seconds."""
    if statement.orelse is not None:
        return False
    lines = statement.body.body if isinstance(statement.body, cst.IndentedBlock) else [statement.body]
    parts = [
        part
        for line in lines
        for part in (line.body if isinstance(line, cst.SimpleStatementLine | cst.SimpleStatementSuite) else [line])
    ]
    return all(map(_is_report_line, parts))


def _is_report_line(part: cst.CSTNode) -> bool:
    if isinstance(part, cst.Expr) and isinstance(part.value, cst.Call):
        name = last_name(part.value.func)
        return name in HARMLESS or not SAVING.isdisjoint(split_identifier(name))
    if isinstance(part, cst.Assign):
        words = [word for item in part.targets for word in split_identifier(last_name(item.target))]
        return not TIMING.isdisjoint(words)
    return False
