"""Where a program can be tapped, found anew from its tree; the program watched by other means; taps taken out again."""

import ast
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field

import libcst as cst
from libcst.metadata import MetadataWrapper, PositionProvider

from deviate.instrument.rewrite import BOOTSTRAP, INPUT_BOOTSTRAP
from deviate.model.analysis import Loop, Site, Span, TapForm

EVALUATED = {
    cst.AnnAssign: ("value",), cst.Arg: ("value",), cst.Assert: ("test", "msg"), cst.Assign: ("value",),
    cst.Attribute: ("value",), cst.AugAssign: ("value",), cst.Await: ("expression",),
    cst.BinaryOperation: ("left", "right"), cst.BooleanOperation: ("left", "right"), cst.Call: ("func",),
    cst.CompFor: ("iter",), cst.CompIf: ("test",), cst.Comparison: ("left",), cst.ComparisonTarget: ("comparator",),
    cst.DictComp: ("key", "value"), cst.DictElement: ("key", "value"), cst.Element: ("value",), cst.Expr: ("value",),
    cst.For: ("iter",), cst.FormattedStringExpression: ("expression",), cst.GeneratorExp: ("elt",), cst.If: ("test",),
    cst.IfExp: ("body", "test", "orelse"), cst.Index: ("value",), cst.Lambda: ("body",), cst.ListComp: ("elt",),
    cst.NamedExpr: ("value",), cst.Param: ("default",), cst.Raise: ("exc",), cst.Return: ("value",),
    cst.Slice: ("lower", "upper", "step"), cst.StarredDictElement: ("value",), cst.StarredElement: ("value",),
    cst.Subscript: ("value",), cst.UnaryOperation: ("expression",), cst.While: ("test",), cst.WithItem: ("item",),
    cst.Yield: ("value",),
}  # fmt: skip
TARGETS = {
    cst.AssignTarget: "target", cst.AnnAssign: "target", cst.AugAssign: "target", cst.For: "target",
    cst.CompFor: "target", cst.NamedExpr: "target", cst.AsName: "name", cst.Del: "target",
}  # fmt: skip
FRAMES = (cst.FunctionDef, cst.ClassDef, cst.Lambda, cst.GeneratorExp)
NEVER = (cst.Decorator, cst.Annotation, cst.Import, cst.ImportFrom)


@dataclass(frozen=True)
class Spot:
    """An expression that can be tapped.

    Attributes:
        frame: the node in whose frame it runs.
        loops: those of the same frame in whose body it stands.
        conditions: those `while` loops in whose condition it stands: evaluated before the loop, and between its steps.
    """

    node: cst.CSTNode
    span: Span
    form: TapForm
    frame: cst.CSTNode
    loops: tuple[cst.CSTNode, ...]
    conditions: tuple[cst.CSTNode, ...]


@dataclass
class Program:
    """A text with its spots and loops, each loop with its frame."""

    text: str
    spots: list[Spot] = field(default_factory=list)
    loops: dict[cst.For | cst.While, cst.CSTNode] = field(default_factory=dict)

    def __post_init__(self) -> None:
        wrapper = MetadataWrapper(cst.parse_module(self.text))
        self.module = wrapper.module
        self.positions = wrapper.resolve(PositionProvider)
        self._walk(self.module, self.module, (), ())

    def span(self, node: cst.CSTNode) -> Span:
        start, end = self.positions[node].start, self.positions[node].end
        if isinstance(node, cst.Tuple | cst.GeneratorExp | cst.Yield) and node.lpar:
            start, end = self.positions[node.lpar[0]].start, self.positions[node.rpar[-1]].end
        return Span(start.line, start.column, end.line, end.column)

    def loop(self, number: int, node: cst.For | cst.While, *, is_main: bool) -> Loop:
        span = self.span(node)
        kind, head = ("for", node.iter) if isinstance(node, cst.For) else ("while", node.test)
        return Loop(number, "train.py", span.line, span.end_line, kind, None, self.span(head), is_main)  # type: ignore[arg-type]

    def _walk(
        self,
        node: cst.CSTNode,
        frame: cst.CSTNode,
        loops: tuple[cst.CSTNode, ...],
        conditions: tuple[cst.CSTNode, ...],
        *,
        is_target: bool = False,
    ) -> None:
        if isinstance(node, cst.For | cst.While) and not getattr(node, "asynchronous", None):
            self.loops[node] = frame
        for name, child in _children(node):
            inside = TARGETS.get(type(node)) == name or (
                is_target and isinstance(node, cst.Tuple | cst.List | cst.Element | cst.StarredElement)
            )
            is_spot = name in EVALUATED.get(type(node), ()) and not inside and isinstance(child, cst.BaseExpression)
            inner = (*conditions, node) if isinstance(node, cst.While) and name == "test" else conditions
            if is_spot and not (isinstance(node, cst.Expr) and isinstance(child, cst.BaseString)):
                self.spots.append(Spot(child, self.span(child), _form(node, child), frame, loops, inner))
            if isinstance(child, NEVER) or (isinstance(node, cst.FormattedStringExpression) and node.equal):
                continue  # what a field with `=` shows is its own text
            if isinstance(child, FRAMES):
                self._walk(child, child, (), ())
            elif isinstance(node, cst.For | cst.While) and name == "body":
                self._walk(child, frame, (*loops, node), conditions)
            else:
                self._walk(child, frame, loops, inner, is_target=inside)


def _children(node: cst.CSTNode) -> Iterator[tuple[str, cst.CSTNode]]:
    for name in node.__dataclass_fields__:
        value = getattr(node, name)
        for child in value if isinstance(value, list | tuple) else (value,):
            if isinstance(child, cst.CSTNode):
                yield name, child


def _form(parent: cst.CSTNode, node: cst.CSTNode) -> TapForm:
    if isinstance(parent, cst.Call):
        is_format = isinstance(node, cst.Attribute) and isinstance(node.value, cst.BaseString)
        return "format" if is_format and node.attr.value == "format" else "call"
    if isinstance(parent, cst.FormattedStringExpression) and parent.equal is not None:
        return "shown"
    is_template = isinstance(parent, cst.BinaryOperation) and isinstance(parent.left, cst.BaseString)
    return "mapping" if is_template and node is parent.right else "value"


# ------------------------------------------------------------ the same values, seen by other means


def watched(program: Program, sites: dict[int, Spot], loops: dict[int, cst.CSTNode]) -> str:
    """The program with `__seen__(site, value, {loop: step})` around expressions and counters in its loops."""
    return program.module.visit(_Watching(sites, loops)).code


class _Watching(cst.CSTTransformer):
    def __init__(self, sites: dict[int, Spot], loops: dict[int, cst.CSTNode]) -> None:
        self.sites = {spot.node: (number, spot) for number, spot in sites.items()}
        self.numbers = {node: number for number, node in loops.items()}

    def on_leave(self, original: cst.CSTNode, updated: cst.CSTNode) -> cst.CSTNode | cst.FlattenSentinel[cst.CSTNode]:
        if original in self.numbers:
            name = f"__step{self.numbers[original]}__"
            counting = cst.parse_statement(f"{name} += 1\n")
            body = updated.body.with_changes(body=[counting, *updated.body.body])
            return cst.FlattenSentinel([cst.parse_statement(f"{name} = -1\n"), updated.with_changes(body=body)])
        if original in self.sites:
            number, spot = self.sites[original]
            around = [self.numbers[loop] for loop in spot.loops if loop in self.numbers]
            steps = cst.parse_expression(f"dict([{', '.join(f'({it}, __step{it}__)' for it in around)}])")
            inside = updated.with_changes(lpar=[*updated.lpar, cst.LeftParen()], rpar=[*updated.rpar, cst.RightParen()])
            arguments = [cst.Arg(it) for it in (cst.Integer(str(number)), inside, steps)]
            return cst.Call(cst.Name("__seen__"), arguments)
        return updated


# ------------------------------------------------------------ taps taken out


def untapped(text: str) -> str:
    """The syntax tree, as text, of a program whose taps are taken out."""
    return ast.dump(_Untapping().visit(ast.parse(text)))


class _Untapping(ast.NodeTransformer):
    """Knows taps by their names alone. Calls of a callee that was tapped n times end in n times `()`."""

    bootstraps = frozenset(ast.dump(ast.parse(text, mode="eval").body) for text in (BOOTSTRAP, INPUT_BOOTSTRAP))

    def visit_Expr(self, node: ast.Expr) -> ast.AST | None:
        return None if ast.dump(node.value) in self.bootstraps else self.generic_visit(node)

    def visit_Subscript(self, node: ast.Subscript) -> ast.AST:
        if isinstance(node.value, ast.Tuple) and node.value.elts and ast.dump(node.value.elts[0]) in self.bootstraps:
            return self.visit(node.value.elts[1])
        return self.generic_visit(node)

    def visit_Call(self, node: ast.Call) -> ast.AST:
        self.generic_visit(node)
        name = node.func.id.strip("_").removeprefix("deviate_") if isinstance(node.func, ast.Name) else ""
        is_tap = bool(name) and node.func.id.startswith("__deviate_")
        if is_tap and name in ("call", "meter"):
            node.args[1].steps = getattr(node.args[1], "steps", 0) + 1
        if is_tap:
            return node if name == "loop" else node.args[min(1, len(node.args) - 1)]
        if isinstance(node.func, ast.Call) and getattr(node.func.func, "id", "") == "__deviate_loop__":
            return node.args[0]
        if getattr(node.func, "left", 0) and not node.args and not node.keywords:
            node.func.left -= 1
            return node.func
        node.left, node.func.steps = getattr(node.func, "steps", 0), 0
        return node


def statements(tree: ast.AST) -> list[tuple[str, int]]:
    """Kind and line of each statement, the bootstrap left out."""
    found = [node for node in ast.walk(tree) if isinstance(node, ast.stmt)]
    kept = [it for it in found if not (isinstance(it, ast.Expr) and ast.dump(it.value) in _Untapping.bootstraps)]
    return [(type(node).__name__, node.lineno) for node in kept]


def sites_of(spots: dict[int, Spot]) -> Sequence[Site]:
    """Sites for spots; every form with fields that make it read what it can."""
    fields = {
        "call": ("tensorboard.torch_SummaryWriter_add_scalar", "0"),
        "meter": ("avg", "sum"),
        "format": ("0", "k"),
        "mapping": ("a",),
    }
    return [
        Site(number, "train.py", spot.span.line, spot.span, "", "print", spot.form, None, fields.get(spot.form, ()))
        for number, spot in spots.items()
    ]
