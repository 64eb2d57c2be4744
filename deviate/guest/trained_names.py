"""Tells weights from examples in the source text: training changes the names of weights, and only reads examples.

A name is changed where a loop carries it on (`w = w - rate * slope`, `w -= …`, `centres[k] = …`), where a function or a
method of the project does so with its argument or attribute, or where a method that trains is called on it. Elements
that a loop visits once each and new orders are no changes, nor are new draws where no main loop is known.
"""

from __future__ import annotations

import ast
import re

from .annotations import Iterator
from .statements import FUNCTIONS, bound_names, dotted_name, extended_containers, inner_statements, names_read, within

TRAINING = frozenset((
    "fit", "partial_fit", "train", "learn", "optimize", "train_step", "train_on_batch", "train_epoch",
))  # fmt: skip
"""Methods that change the weights of their object, where examples are handed to them."""
STEPPING = frozenset(("step", "backward", "minimize", "requires_grad_"))
"""Methods that do so without examples, as those of optimizers."""
SOLVING = frozenset(("lstsq", "solve", "inv", "pinv", "svd", "eigh", "polyfit", "curve_fit"))
"""Functions that give weights at once."""
DATA = re.compile(r"(?:set|data|frame|series|loader|array|tensor)s?$", re.IGNORECASE)
"""How the names of classes end whose objects hold examples."""
OF_MODELS = frozenset(("forward", "backward", "parameters", "__call__", "call", "predict"))
OF_DATA = frozenset(("__getitem__", "__len__", "__iter__", "__next__"))
ORDERING = frozenset(("shuffle", "permutation", "permuted", "sample", "resample", "take", "roll", "randperm"))
"""Calls that give the same examples in another order."""
DRAWING = ORDERING | frozenset((
    "normal", "uniform", "rand", "randn", "random", "randint", "integers", "choice", "standard_normal", "gauss",
    "bernoulli", "binomial", "poisson", "exponential", "rand_like", "randn_like", "random_sample",
))  # fmt: skip
WRAPPING = frozenset(("create", "array", "asarray", "tensor", "as_tensor", "from_numpy", "copy", "deepcopy", "list"))
"""Functions whose result stands for their argument, beside classes."""
COUNTING = frozenset(("range", "trange", "count", "arange", "repeat"))
"""Calls that count the passes of a training."""
SHOWING = frozenset(("print", "info", "debug", "write", "log"))
_LOOPS = (ast.For, ast.AsyncFor, ast.While)
_WHOLE = (ast.Name, ast.Attribute, ast.List, ast.Tuple, ast.Dict)
_HOLDERS = (*_WHOLE, ast.Subscript, ast.Starred)


class TrainedNames:
    """Answers for statements of a project.

    Args:
        trees: the files of the project that are known.
        main_loops: first and last line of the main loops by the name of the file; empty where none is known, so that
            every loop may train.
    """

    def __init__(self, trees: dict[str, ast.Module], main_loops: dict[str, list[tuple[int, int]]]) -> None:
        self.trees = trees
        self.main_loops = main_loops
        # Without a main loop, a loop that adds draws may as well make a series of data.
        self.new_draws = ORDERING if main_loops else DRAWING
        self.functions: dict[str, list[tuple[str, ast.AST]]] = {}
        for file, tree in trees.items():
            for node in ast.walk(tree):
                if isinstance(node, FUNCTIONS):
                    self.functions.setdefault(node.name, []).append((file, node))
        self.changed: dict[tuple[ast.AST, frozenset[str], bool], bool] = {}

    def is_trained(self, file: str, scope: ast.AST, statement: ast.AST) -> bool:
        """Whether training changes the names that a statement of a function (or of the module) binds."""
        names = {*bound_names(statement), *extended_containers(statement)}
        if any(_keyword(call, "requires_grad") for call in _calls(statement)):
            return True
        names = self._with_aliases(scope, statement, names)
        if not names:
            return False
        attributes = {name.rpartition(".")[2] for name in names if name.startswith("self.")}
        if attributes and self._is_attribute_changed(file, scope, attributes):
            return True
        return self._is_changed(file, scope, names, is_repeated=False) or (
            isinstance(scope, ast.Module) and self._is_changed_globally(file, names)
        )

    def is_shown_only(self, scope: ast.AST, statement: ast.AST) -> bool:
        """Whether nothing but output reads what a statement computes."""
        value = statement.value if isinstance(statement, ast.Expr) else None
        if _is_showing(statement) or (isinstance(value, ast.Call) and _last_name(value) in DRAWING):
            return True
        names = set(bound_names(statement))
        for call in _calls(scope):
            given = [*call.args, *(word.value for word in call.keywords)]
            if any(names & names_read(value) for value in given) and _last_name(call) in self.functions:
                return False
        if not names or any("." in name for name in names) or not isinstance(statement, ast.Assign):
            return False
        read = [other for other in ast.walk(scope) if isinstance(other, ast.stmt) and other is not statement]
        simple = [other for other in read if not any(inner_statements(other))]
        headers = [part for other in read if any(inner_statements(other)) for part in _header(other)]
        return not any(names & names_read(node) for node in headers) and not any(
            names & names_read(other) and not _is_showing(other) for other in simple
        )

    def has_training(self, file: str) -> bool:
        """Whether a file trains: in a loop, or by solving for its weights. Methods that train are main loops."""
        is_solving = any(_last_name(call) in SOLVING for call in _calls(self.trees[file]))
        return is_solving or bool(self.training_loops(file))

    def training_loops(self, file: str) -> list[tuple[int, int]]:
        """Lines of the loops of a file that change what was there before them: those that train, as far as one sees."""
        tree = self.trees[file]
        lines = []
        for scope in [tree, *(node for node in ast.walk(tree) if isinstance(node, FUNCTIONS))]:
            before = set(_arguments(scope))
            for statement in within(scope):
                if isinstance(statement, _LOOPS) and self._is_training(file, scope, statement, before):
                    lines.append((statement.lineno, statement.end_lineno or statement.lineno))
                if not _is_plain(statement):
                    before.update(bound_names(statement))
        return lines

    # ------------------------------------------------------------ changes

    def _is_training(self, file: str, scope: ast.AST, loop: ast.AST, before: set[str]) -> bool:
        if isinstance(loop, ast.For) and not any(_last_name(call) in COUNTING for call in _calls(loop.iter)):
            return False
        if any(self._is_carried(loop, {name}, [loop]) for name in before):
            return True
        for call in _calls(loop):
            if isinstance(call.func, ast.Attribute) and _trains(call):
                return True
            if any(self._is_passed(call, {name}, is_repeated=True) for name in before):
                return True
        return False

    def _is_changed(self, file: str, scope: ast.AST, names: set[str], *, is_repeated: bool) -> bool:
        """Whether a function changes names: in a loop, or at all if the function is called in one."""
        key = scope, frozenset(names), is_repeated
        if key not in self.changed:
            self.changed[key] = False  # functions may call each other
            self.changed[key] = self._changes(file, scope, names, is_repeated=is_repeated)
        return self.changed[key]

    def _changes(self, file: str, scope: ast.AST, names: set[str], *, is_repeated: bool) -> bool:
        for statement, loops in _with_loops(scope):
            counted = [loop for loop in loops if self._may_train(file, loop)]
            aliases = {
                target
                for loop in loops
                if isinstance(loop, ast.For) and names & names_read(loop.iter)
                for target in _targets(loop.target)
            }
            if (is_repeated or counted) and _is_in_place(
                statement, names | aliases, [] if is_repeated else counted, self.new_draws
            ):
                return True
            if counted and self._is_carried(counted[0], names, counted):
                return True
            for call in _own_calls(statement):
                owner = call.func.value if isinstance(call.func, ast.Attribute) else None
                if owner is not None and _trains(call) and names & {_dotted(owner)}:
                    return True
                if self._is_passed(call, names, is_repeated=is_repeated or bool(counted)):
                    return True
        return False

    def _may_train(self, file: str, loop: ast.AST) -> bool:
        if not self.main_loops:
            return True
        first, last = loop.lineno, loop.end_lineno or loop.lineno  # type: ignore[attr-defined]
        return any(start <= last and first <= end for start, end in self.main_loops.get(file, ()))

    def _is_carried(self, loop: ast.AST, names: set[str], loops: list[ast.AST]) -> bool:
        """Whether a loop assigns names anew after it has read them: the next pass begins with what this one leaves."""
        read: set[str] = set()
        for statement in within(loop):
            parts = [statement] if not any(inner_statements(statement)) else _header(statement)
            if isinstance(statement, ast.Assign):
                read |= names_read(statement.value)
                for target, value in _pairs(statement):
                    is_carried = names.intersection(_targets(target), read)
                    is_new = (
                        _is_constant(value) or _is_reordered(value, names, self.new_draws) or _visits(target, loops)
                    )
                    if is_carried and not is_new:
                        return True
            elif isinstance(statement, ast.AugAssign):
                is_new = _calls_any(statement.value, self.new_draws) or _visits(statement.target, loops)
                if not is_new and names.intersection(_targets(statement.target)):
                    return True
            for part in parts:
                read |= names_read(part)
        return False

    def _is_passed(self, call: ast.Call, names: set[str], *, is_repeated: bool) -> bool:
        """Whether a call hands one of the names to a function of the project that changes it."""
        if not isinstance(call.func, (ast.Name, ast.Attribute)):
            return False
        for where, function in self.functions.get(_last_name(call), ()):
            parameters = _arguments(function)
            if parameters[:1] == ["self"] and isinstance(call.func, ast.Attribute):
                parameters = parameters[1:]
            given = [*zip(parameters, call.args), *((word.arg, word.value) for word in call.keywords if word.arg)]
            inside = {name for name, value in given if isinstance(value, _HOLDERS) and names & names_read(value)}
            if inside and self._is_changed(where, function, inside, is_repeated=is_repeated):
                return True
        return False

    def _is_changed_globally(self, file: str, names: set[str]) -> bool:
        """Whether a function changes variables of its module."""
        for function in ast.walk(self.trees[file]):
            if isinstance(function, FUNCTIONS):
                local = set(_arguments(function)) | {
                    name for node in within(function) if isinstance(node, ast.Assign) for name in _plain_targets(node)
                }
                named = {name for node in within(function) if isinstance(node, ast.Global) for name in node.names}
                seen = {name for name in names if name in named or name not in local}
                if seen and self._is_changed(file, function, seen, is_repeated=True):
                    return True
        return False

    def _is_attribute_changed(self, file: str, scope: ast.AST, attributes: set[str]) -> bool:
        """Whether the class of a method, or anything else that holds its objects, changes attributes."""
        of_class = next(
            (node for node in ast.walk(self.trees[file]) if isinstance(node, ast.ClassDef) and scope in node.body), None
        )
        if of_class is None:
            return False
        methods = {node.name: node for node in of_class.body if isinstance(node, FUNCTIONS)}
        if OF_DATA & methods.keys():
            return False
        own = {"self.%s" % name for name in attributes}
        for method in methods.values():
            if method is not scope and self._is_changed(file, method, own, is_repeated=True):
                return True
            if method is not scope and any(
                own.intersection(_targets(target)) and own & names_read(node.value)
                for node in within(method)
                if isinstance(node, ast.Assign)
                for target, value in _pairs(node)
                if not _is_reordered(value, own, self.new_draws)
            ):
                return True
        for tree in self.trees.values():
            for node in ast.walk(tree):
                changed = [] if not isinstance(node, ast.AugAssign) else list(_targets(node.target))
                if any("." in name and name.rpartition(".")[2] in attributes and name not in own for name in changed):
                    return True
        return bool(OF_MODELS & methods.keys()) and not self._changes_any(file, methods.values())

    def _changes_any(self, file: str, methods: object) -> bool:
        """Whether methods change any attribute: then those that they leave alone are no weights."""
        for method in methods:  # type: ignore[attr-defined]
            for node in within(method):
                if isinstance(node, (ast.AugAssign, ast.Assign)) and method.name != "__init__":
                    own = {name for name in bound_names(node) if name.startswith("self.")}
                    if own and (isinstance(node, ast.AugAssign) or own & names_read(node.value)):
                        return True
        return False

    def _with_aliases(self, scope: ast.AST, statement: ast.AST, names: set[str]) -> set[str]:
        """Names, and those of containers and objects that are made of them."""
        start = getattr(statement, "lineno", 0)
        for node in within(scope):
            if isinstance(node, ast.Assign) and node.lineno > start and names & names_read(node.value):
                values = [node.value]
                if isinstance(node.value, ast.Call) and (_last_name(node.value) in WRAPPING or _is_class(node.value)):
                    values = [*node.value.args, *(word.value for word in node.value.keywords)]
                if any(isinstance(value, _WHOLE) and names & names_read(value) for value in values):
                    names = names | set(bound_names(node))
        return names


# ---------------------------------------------------------------- what statements do


def _is_in_place(statement: ast.AST, names: set[str], loops: list[ast.AST], new: frozenset[str]) -> bool:
    """Whether a statement changes the object behind a name, and not only an element that the outermost loop visits."""
    if isinstance(statement, ast.AugAssign):
        targets, value = [statement.target], statement.value
    elif isinstance(statement, ast.Assign):
        targets = [target for target in statement.targets if isinstance(target, (ast.Subscript, ast.Attribute))]
        value = statement.value
    else:
        return any(
            isinstance(call.func, ast.Attribute)
            and call.func.attr.endswith("_")
            and not call.func.attr.startswith("_")
            and names & {_dotted(call.func.value), _dotted(getattr(call.func.value, "value", call.func.value))}
            for call in _own_calls(statement)
        )
    if _calls_any(value, new):
        return False
    for target in targets:
        base = target.value if isinstance(target, ast.Attribute) else target
        if names.intersection([*_targets(target), *_targets(base)]) and not _visits(target, loops):
            return True
    return False


def _visits(target: ast.AST, loops: list[ast.AST]) -> bool:
    """Whether the outermost loop visits elements of the target one after the other."""
    outermost = loops[0] if loops else None
    if not isinstance(target, ast.Subscript) or not isinstance(outermost, ast.For):
        return False
    return bool(names_read(target.slice) & set(_targets(outermost.target)))


def _is_reordered(value: ast.AST, names: set[str], new: frozenset[str]) -> bool:
    """Whether a value holds examples in another order, or is drawn anew."""
    if isinstance(value, ast.Subscript):
        return bool(names & names_read(value.value))
    return _calls_any(value, new)


def _calls_any(value: ast.AST, names: frozenset[str]) -> bool:
    return any(_last_name(call) in names for call in _calls(value))


def _is_constant(value: ast.AST) -> bool:
    return isinstance(value, ast.Constant) or (isinstance(value, (ast.List, ast.Dict)) and not names_read(value))


def _is_plain(statement: ast.AST) -> bool:
    """Whether a statement binds names to a constant or an empty container: counters and sums, no weights."""
    return isinstance(statement, ast.Assign) and _is_constant(statement.value)


def _is_showing(statement: ast.AST) -> bool:
    value = statement.value if isinstance(statement, ast.Expr) else None
    return isinstance(value, ast.Call) and _last_name(value) in SHOWING


def _pairs(statement: ast.Assign) -> Iterator[tuple[ast.AST, ast.AST]]:
    """Targets with their values, one by one where both are written out."""
    for target in statement.targets:
        if (
            isinstance(target, (ast.Tuple, ast.List))
            and isinstance(statement.value, (ast.Tuple, ast.List))
            and len(target.elts) == len(statement.value.elts)
        ):
            yield from zip(target.elts, statement.value.elts)
        else:
            yield target, statement.value


def _targets(target: ast.AST) -> Iterator[str]:
    return bound_names(ast.AugAssign(target=target))  # type: ignore[call-arg,arg-type]


def _plain_targets(statement: ast.Assign) -> Iterator[str]:
    return (target.id for target in statement.targets if isinstance(target, ast.Name))


def _header(statement: ast.AST) -> list[ast.expr]:
    return [child for child in ast.iter_child_nodes(statement) if isinstance(child, ast.expr)]


def _with_loops(scope: ast.AST, loops: tuple[ast.AST, ...] = ()) -> Iterator[tuple[ast.stmt, list[ast.AST]]]:
    """Statements of a function with the loops around them, outermost first."""
    for node in inner_statements(scope):
        if not isinstance(node, (*FUNCTIONS, ast.ClassDef)):
            yield node, list(loops)
            yield from _with_loops(node, (*loops, node) if isinstance(node, _LOOPS) else loops)


def _calls(node: ast.AST) -> Iterator[ast.Call]:
    return (child for child in ast.walk(node) if isinstance(child, ast.Call))


def _own_calls(statement: ast.AST) -> Iterator[ast.Call]:
    """Calls of a statement without those of the statements inside it."""
    parts = _header(statement) if any(inner_statements(statement)) else [statement]
    return (call for part in parts for call in _calls(part))


def _last_name(call: ast.Call) -> str:
    return call.func.attr if isinstance(call.func, ast.Attribute) else str(getattr(call.func, "id", ""))


def _is_class(call: ast.Call) -> bool:
    """Whether a call makes an object that is no data, by the name of the class."""
    name = _last_name(call)
    return name[:1].isupper() and not DATA.search(name)


def _trains(call: ast.Call) -> bool:
    return _last_name(call) in (TRAINING if call.args or call.keywords else STEPPING)


def _keyword(call: ast.Call, name: str) -> bool:
    return any(word.arg == name and getattr(word.value, "value", None) is True for word in call.keywords)


def _dotted(node: ast.AST) -> str:
    return node.id if isinstance(node, ast.Name) else dotted_name(node) if isinstance(node, ast.Attribute) else ""


def _arguments(function: ast.AST) -> list[str]:
    arguments = getattr(function, "args", None)
    return [] if arguments is None else [word.arg for word in (*arguments.args, *arguments.kwonlyargs)]
