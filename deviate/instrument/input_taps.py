"""Places of a file where a traced run records inputs: orders of sets, hashes, clocks, writes of threads, hazards.

An order enters a program where items are taken out of a set. Which expressions are sets is only known when they run, so
that each expression of which items are taken is tapped unless it cannot be a set; the tap asks for the type.
"""

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field

import libcst as cst

from deviate.instrument.edits import Edit, Parsed, wrap

ORDER, CALLEE, WRITE, RAN = (f"__deviate_{name}__" for name in ("order", "callee", "write", "ran"))

IGNORE = re.compile(r"#\s*deviate:\s*ignore\b")
CONSUMERS = frozenset({
    "accumulate", "array", "asarray", "chain", "choice", "choices", "combinations", "cycle", "DataFrame", "deque",
    "dict", "enumerate", "extend", "extendleft", "filter", "from_iterable", "fromiter", "fromkeys", "imap",
    "imap_unordered", "islice", "iter", "join", "list", "map", "OrderedDict", "permutations", "product", "reduce",
    "sample", "Series", "shuffle", "starmap", "sum", "tensor", "tuple", "zip", "zip_longest",
})  # fmt: skip
"""Functions and methods, by their last names, that take the items of arguments in order."""
WITH_KEY = frozenset({"max", "min", "nlargest", "nsmallest", "sorted"})
"""Functions whose result depends on the order of items that are equal by `key`."""
ORDER_FREE = frozenset({
    "all", "any", "frozenset", "intersection", "issubset", "len", "max", "min", "set", "sorted", "symmetric_difference",
    "union", "unique",
})  # fmt: skip
"""Functions whose result is the same in any order of the items, unless they have a `key`."""
CLOCKS = frozenset({"now", "today", "utcnow"})
"""Methods of date types, which are written in C so that no other function can be put in their place."""
WRITERS = frozenset({"append", "appendleft", "extend", "insert", "update"})
NO_SETS = (
    cst.BaseNumber, cst.BaseString, cst.List, cst.Tuple, cst.Dict, cst.ListComp, cst.DictComp, cst.GeneratorExp,
    cst.Lambda,
)  # fmt: skip
NO_SET_FUNCTIONS = frozenset({
    "dict", "enumerate", "filter", "float", "int", "iter", "len", "list", "map", "open", "range", "reversed", "sorted",
    "str", "super", "tuple", "zip",
})  # fmt: skip
NO_SET_METHODS = frozenset({
    "format", "items", "keys", "named_parameters", "parameters", "readlines", "splitlines", "split", "strip", "tolist",
    "values",
})  # fmt: skip
NEVER = (
    cst.Annotation, cst.Decorator, cst.Del, cst.Import, cst.ImportFrom, cst.MatchPattern, cst.TypeAlias,
    cst.TypeParameters,
)  # fmt: skip
"""Nodes that hold nothing that can be tapped; decorators accept any expression only since Python 3.9."""
FRESH = (cst.List, cst.Dict, cst.Set, cst.ListComp, cst.DictComp, cst.SetComp)
FRESH_FUNCTIONS = frozenset({"Counter", "OrderedDict", "defaultdict", "deque", "dict", "list", "set"})
"""Values of which no other thread has a reference yet."""
PLAIN_DECORATORS = frozenset({"abstractmethod", "classmethod", "dataclass", "property", "staticmethod"})
COMPILERS = frozenset({"cfunc", "guvectorize", "njit", "stencil", "vectorize"})
"""Decorators, by their last names, of functions that are compiled from their bytecode."""

IDENTITIES = frozenset({"hash", "id"})
MARKED: dict[type[cst.CSTNode], str] = {
    cst.AnnAssign: "value", cst.Assert: "test", cst.Assign: "value", cst.AugAssign: "value", cst.Expr: "value",
    cst.For: "iter", cst.If: "test", cst.Match: "subject", cst.Raise: "exc", cst.Return: "value", cst.While: "test",
    cst.WithItem: "item",
}  # fmt: skip
"""Statements, and the expression of each that can be marked."""
THREADS = re.compile(
    r"^\s*(?:import|from)\b[^\n#]*\b(?:threading|_thread|concurrent|multiprocessing|joblib)\b", re.MULTILINE
)
BYTECODE = re.compile(r"^\s*(?:import|from)\b[^\n#]*\b(?:numba|taichi|warp|cupyx|pyopencl|llvmlite)\b", re.MULTILINE)

CONVERTED = re.compile(
    r"^\s*(?:import|from)\b[^\n#]*\b(?:tensorflow|tf_keras|keras)\b"
    r"|\bjit\.script|\btorch\.compile\b|\btorch_compile\b|\b(?:self|\w*model|\w*net|\w*module)\.compile\(",
    re.MULTILINE,
)
BLOCKS = (cst.BaseStatement, cst.BaseSuite, cst.Else, cst.ExceptHandler, cst.Finally)


@dataclass(frozen=True, slots=True)
class InputTaps:
    """What is tapped in the files of a project besides its metrics and loops.

    Attributes:
        has_threads: whether a file imports what starts threads.
        is_compiled: whether a file imports a compiler of bytecode, which does not know taps: functions with decorators,
            and those that are handed to other functions, are left alone.
        is_converted: whether functions may be converted from their source text or traced by a compiler, which runs no
            marker: only lines outside of functions are marked.
    """

    has_threads: bool
    is_compiled: bool
    is_converted: bool = False

    @classmethod
    def of_texts(cls, texts: Iterable[str]) -> "InputTaps":
        texts = list(texts)
        has_threads, is_compiled, is_converted = (
            any(map(pattern.search, texts)) for pattern in (THREADS, BYTECODE, CONVERTED)
        )
        return cls(has_threads, is_compiled, is_converted)


def input_edits(
    parsed: Parsed, lines: Sequence[str], taps: InputTaps, watched: Sequence[tuple[int, int]]
) -> tuple[list[Edit], dict[int, int]]:
    """The edits for a file, and the number of the marker of each line that has one.

    Args:
        watched: number and line of each hazard.
    """
    collector = _Collector(parsed, lines, taps)
    parsed.module.visit(collector)
    edits: list[Edit] = []
    markers: dict[cst.CSTNode, int] = {}
    marked: dict[int, int] = {}
    for number, line in watched:
        expression = collector.expression_at(line)
        if expression is not None:
            marked[number] = markers.setdefault(expression, number)
            if marked[number] == number:
                edits += wrap(parsed.span(expression), f"{RAN}({number}, (", "))")
    for tap, node in collector.tapped:
        edits += wrap(parsed.span(node), f"{tap}((", "))")
    return edits, marked


@dataclass(slots=True)
class _Function:
    """Names of a function: those of new objects, and those that it shares with others by declaration."""

    fresh: set[str] = field(default_factory=set)
    shared: set[str] = field(default_factory=set)


class _Collector(cst.CSTVisitor):
    """Collects expressions to tap.

    Attributes:
        tapped: each expression with its tap.
        statements: first and last line of each statement, or of the head of a compound one, with the expression of it
            that can be marked.
    """

    def __init__(self, parsed: Parsed, lines: Sequence[str], taps: InputTaps) -> None:
        super().__init__()
        self.parsed = parsed
        self.taps = taps
        self.tapped: list[tuple[str, cst.BaseExpression]] = []
        self.statements: list[tuple[int, int, cst.BaseExpression]] = []
        self.ignored = {number for number, line in enumerate(lines, 1) if IGNORE.search(line)}
        self.targets: set[cst.CSTNode] = set()
        self.order_free: set[cst.CSTNode] = set()
        self.functions: list[_Function] = []
        self.passed = _passed_names(parsed.module) if taps.is_compiled else frozenset[str]()

    def expression_at(self, line: int) -> cst.BaseExpression | None:
        """The expression of the smallest statement around a line; in a line with several, the first of them."""
        around = [statement for statement in self.statements if statement[0] <= line <= statement[1]]
        return min(around, key=lambda statement: statement[1] - statement[0])[2] if around else None

    def on_visit(self, node: cst.CSTNode) -> bool:
        if isinstance(node, NEVER) or node in self.targets or self._is_compiled(node):
            return False
        match node:
            case cst.FormattedStringExpression(equal=cst.AssignEqual()):
                return False  # it shows its own text
            case cst.FunctionDef():
                self.functions.append(_function_names(node) if self.taps.has_threads else _Function())
            case cst.For() | cst.CompFor():
                self._visit_loop(node)
            case cst.SetComp():
                self._free(node)
            case cst.AsName():
                self.targets.add(node.name)
            case cst.StarredElement() | cst.Arg(star="*"):
                self._order(node.value)
            case cst.Yield(value=cst.From(item=items)):
                self._order(items)
            case cst.Call():
                self._visit_call(node)
            case cst.Assign():
                self._visit_assignment(node)
            case cst.AugAssign():
                self._visit_addition(node)
        self._mark(node)
        return True

    def on_leave(self, original_node: cst.CSTNode) -> None:
        if isinstance(original_node, cst.FunctionDef) and not self._is_compiled(original_node):
            self.functions.pop()

    def _is_compiled(self, node: cst.CSTNode) -> bool:
        """Whether a compiler may read the bytecode of a function."""
        if isinstance(node, cst.Lambda):
            return self.taps.is_compiled
        if not isinstance(node, cst.FunctionDef | cst.ClassDef):
            return False
        decorators = {_last_name(decorator.decorator) for decorator in node.decorators}
        is_decorated = bool(decorators - PLAIN_DECORATORS) or node.name.value in self.passed
        return bool(decorators & COMPILERS) or (self.taps.is_compiled and is_decorated)

    # ------------------------------------------------------------ items taken in order

    def _visit_loop(self, node: cst.For | cst.CompFor) -> None:
        self.targets.add(node.target)
        if node in self.order_free and isinstance(node, cst.CompFor):
            self._free(node.inner_for_in)
        elif node.asynchronous is None:
            self._order(node.iter)

    def _visit_call(self, node: cst.Call) -> None:
        name, is_method = _last_name(node.func), isinstance(node.func, cst.Attribute)
        arguments = [argument.value for argument in node.args if not argument.star and argument.keyword is None]
        has_key = any(argument.keyword is not None and argument.keyword.value == "key" for argument in node.args)
        if name in (CLOCKS if is_method else IDENTITIES):
            self._tap(CALLEE, node.func)
        elif isinstance(node.func, cst.Attribute) and name == "pop" and not node.args:
            self._order(node.func.value)
        elif name in CONSUMERS and node not in self.order_free:
            for argument in arguments:
                self._order(argument)
        elif has_key and name in WITH_KEY and arguments:
            self._order(arguments[-1])
        elif name in ORDER_FREE and not has_key:
            for argument in arguments:
                self._free(argument)
        if isinstance(node.func, cst.Attribute) and name in WRITERS and arguments and self._is_shared(node.func.value):
            self._tap(WRITE, arguments[-1])

    def _free(self, node: cst.CSTNode | None) -> None:
        """Leave out what a node takes in order, as its result is used in no order."""
        if isinstance(node, cst.BaseSimpleComp):
            node = node.for_in
        if node is not None:
            self.order_free.add(node)

    def _order(self, node: cst.BaseExpression | None) -> None:
        if node is not None and _may_be_set(node):
            self._tap(ORDER, node)

    def _tap(self, tap: str, node: cst.BaseExpression) -> None:
        if not self._is_ignored(node):
            self.tapped.append((tap, node))

    def _is_ignored(self, node: cst.CSTNode) -> bool:
        return bool(self.ignored) and self.parsed.span(node).line in self.ignored

    # ------------------------------------------------------------ writes, and statements

    def _visit_assignment(self, node: cst.Assign) -> None:
        targets = [target.target for target in node.targets]
        unpacked = [target for target in targets if isinstance(target, cst.Tuple | cst.List)]
        self.targets.update(unpacked)
        self._order(node.value if unpacked else None)
        if any(isinstance(target, cst.Subscript) and self._is_shared(target.value) for target in targets):
            self._tap(WRITE, node.value)

    def _visit_addition(self, node: cst.AugAssign) -> None:
        is_local = isinstance(node.target, cst.Name) and not (
            self.functions and node.target.value in self.functions[-1].shared
        )
        if not is_local and self._is_shared(node.target):
            self._tap(WRITE, node.value)

    def _mark(self, node: cst.CSTNode) -> None:
        """Add a statement to those that can be marked."""
        name = MARKED.get(type(node))
        if name is None or (self.functions and self.taps.is_converted):
            return
        expression = getattr(node, name)
        is_docstring = isinstance(node, cst.Expr) and isinstance(expression, cst.BaseString)
        if expression is not None and not is_docstring and not self._is_ignored(expression):
            is_head = isinstance(node, cst.BaseCompoundStatement | cst.WithItem)
            span = self.parsed.span(expression if is_head else node)
            self.statements.append((span.line, span.end_line, expression))

    def _is_shared(self, node: cst.BaseExpression) -> bool:
        """Whether other threads may have the object that a function writes to."""
        if not (self.taps.has_threads and self.functions):
            return False
        root: cst.CSTNode = node
        while isinstance(root, cst.Attribute | cst.Subscript):
            root = root.value
        return not (isinstance(root, cst.Name) and root.value in self.functions[-1].fresh)


def _last_name(node: cst.BaseExpression) -> str:
    match node:
        case cst.Call():
            return _last_name(node.func)
        case cst.Attribute():
            return node.attr.value
        case cst.Name():
            return node.value
    return ""


def _may_be_set(node: cst.BaseExpression) -> bool:
    if isinstance(node, cst.Call):
        names = NO_SET_FUNCTIONS if isinstance(node.func, cst.Name) else NO_SET_METHODS
        return _last_name(node.func) not in names
    return not isinstance(node, NO_SETS)


def _passed_names(module: cst.Module) -> frozenset[str]:
    """Names that are arguments of calls, such as that of `f` in `fast = njit(f)`."""
    import libcst.matchers as m  # a quarter of a second, for the few projects that compile bytecode

    arguments = m.findall(module, m.Arg(value=m.Name()))
    return frozenset(argument.value.value for argument in arguments)  # type: ignore[attr-defined]


def _function_names(function: cst.FunctionDef) -> _Function:
    names = _Function()
    for node in _statements_within(function.body):
        if isinstance(node, cst.Global | cst.Nonlocal):
            names.shared |= {item.name.value for item in node.names}
        elif isinstance(node, cst.Assign) and _is_fresh(node.value):
            names.fresh |= {target.target.value for target in node.targets if isinstance(target.target, cst.Name)}
    names.fresh -= names.shared
    return names


def _is_fresh(node: cst.BaseExpression) -> bool:
    is_made = isinstance(node, cst.Call) and isinstance(node.func, cst.Name) and node.func.value in FRESH_FUNCTIONS
    return is_made or isinstance(node, FRESH)


def _statements_within(node: cst.CSTNode) -> Iterator[cst.CSTNode]:
    """Small statements of a function, without those of functions inside of it."""
    for child in node.children:
        if isinstance(child, cst.BaseSmallStatement):
            yield child
        elif isinstance(child, BLOCKS) and not isinstance(child, cst.FunctionDef | cst.ClassDef):
            yield from _statements_within(child)
