"""Origins of values: what kind of thing an expression is, found by following names, calls and operations backwards."""

from collections.abc import Iterable
from dataclasses import dataclass

import libcst as cst

from deviate.analysis.resolve.abstract_values import Argument, ClassRef, FunctionRef, Instance
from deviate.analysis.resolve.calls import CallGraph
from deviate.analysis.resolve.identifier_words import all_words
from deviate.analysis.resolve.index import PUTTING, Binding, Class, Function
from deviate.analysis.resolve.message_items import ReportedValue
from deviate.analysis.resolve.meters import FEEDS, Meters
from deviate.analysis.resolve.tree import (
    constant_key,
    constant_number,
    constant_text,
    dotted_name,
    element,
    identifiers,
    keywords,
    last_name,
    positional,
)
from deviate.model.metric_vocabulary import COUNTERS, NEUTRAL, QUALITY, RATES, split_identifier, word_set

# ---------------------------------------------------------------- telling names
# Names of callables, attributes and variables from which the kind of their value follows.

# Points in time: standard library, TensorFlow.
CLOCKS = word_set(
    "time.time time.perf_counter time.monotonic time.process_time time.thread_time time.time_ns time.perf_counter_ns "
    "time.monotonic_ns timeit.default_timer time.clock datetime.datetime.now datetime.now datetime.datetime.today "
    "datetime.datetime.utcnow tensorflow.timestamp"
)
SIZE_PARTS = word_set(
    "shape size ndim numel nelement dim num_examples batch_size num_samples num_parameters count_params"
)
TEXT_PARTS = word_set("name __name__ device dtype __class__ path filename isoformat join format upper lower")
STOPWATCHES = word_set("elapsed elapsed_time elapsed_seconds")
SETTINGS = word_set("args opt opts options config cfg conf hparams hp flags settings hyperparams configs argv")
WRITING = word_set(
    "builtins.str builtins.repr builtins.format time.strftime time.gmtime datetime.timedelta timedelta strftime"
)
"""Functions that format their argument, or return an object that prints as text, also for durations."""
BY_FULL_NAME = {
    "clock": CLOCKS,
    "size": frozenset({"builtins.len", "os.cpu_count", "torch.numel"}),
    "text": word_set(
        "time.ctime time.asctime os.path.join os.path.basename os.path.abspath os.getcwd builtins.type os.environ.get "
        "os.getenv builtins.input sys.version platform.node socket.gethostname pathlib.Path json.dumps pprint.pformat"
    ),
}
"""Kinds of what functions return, by their full names."""
BY_NAME = {
    "clock": word_set("perf_counter default_timer"),
    "size": SIZE_PARTS,
    "setting": word_set(
        "parse_args parse_known_args load_config safe_load parse_args_into_dataclasses linspace logspace geomspace "
        "get_scale get_loss_scale"
    ),
    "memory": word_set("memory_allocated max_memory_allocated memory_reserved max_memory_reserved memory_info"),
    "rate": word_set("get_last_lr get_lr get_epoch_values"),
    "place": word_set("argmax argmin idxmax idxmin nanargmax nanargmin"),
    "text": word_set("decode batch_decode detokenize convert_ids_to_tokens convert_tokens_to_string") | TEXT_PARTS,
}
"""Kinds of what callables return, by the last part of their names."""
PASSING = word_set(
    "round float int abs sum min max mean average median std var sqrt exp log log2 log10 array asarray to_float "
    "reduce_mean reduce_sum square power cast tensor as_tensor item detach cpu numpy data tolist double half "
    "float32 norm squeeze reshape view flatten result compute eval clone copy total_seconds device_get "
    "block_until_ready stack nanmean divmod list tuple sorted reversed fsum maximum minimum to_string to_markdown "
    "Tensor FloatTensor Variable Decimal Fraction vars asdict"
)
"""Functions and methods whose result has the kind of their first argument or of their object."""
JOINING = word_set("max min maximum minimum")
"""Those of them whose result depends on all arguments."""
ENUMERATIONS = word_set("enumerate trange range arange count xrange")
WRAPPINGS = word_set("tqdm track list tuple reversed sorted iter")
MEASURES = (
    "torchmetrics.", "sklearn.metrics.", "tensorflow.keras.metrics.", "keras.metrics.", "tf_keras.metrics.",
    "tensorflow.metrics.", "tensorflow.compat.v1.metrics.", "evaluate.load", "datasets.load_metric", "seqeval.",
    "sacrebleu.", "nltk.translate.", "rouge_score.", "ignite.metrics.", "monai.metrics.", "torcheval.metrics.",
    "clu.metrics.", "flax.nnx.metrics.", "flax.nnx.MultiMetric", "lpips.", "pytorch_msssim.", "skimage.metrics.",
    "scipy.stats.pearsonr", "scipy.stats.spearmanr", "scipy.stats.kendalltau", "pytorch_lightning.metrics.",
)  # fmt: skip
"""Libraries of metrics: their functions, and the objects of their classes."""
AVERAGING = word_set("compute get calculate evaluate eval calc")
MEASURING = (QUALITY - NEUTRAL) | {"evaluate", "validate"}
LAYERS = {"residual", "residuals"}
"""What a function returns that is a connection between layers more often than a measurement."""
FRAMES = ("pandas.DataFrame", "pandas.Series", "pandas.concat")
"""Data frames, whose origin is that of their contents."""


# ---------------------------------------------------------------- origins

DEEPEST = 14
MOST_CALLS = 16
MOST_ITEMS = 16
MOST_STEPS = 3000
"""Limit of expressions that one answer may depend on: mutually recursive functions make them explode."""


@dataclass(frozen=True, slots=True)
class Origin:
    """The kind of a value and the decisive step, for the user.

    Attributes:
        kind: one of `WEIGHT`: `rate` is a learning rate, `cycle` the previous value of the same name.
            A `conditional counter` is counted under a condition: it may count right answers.
        is_derived: whether it is computed from a counter.
    """

    kind: str
    sentence: str = ""
    is_derived: bool = False


WEIGHT = (
    *("quality", "duration", "speed", "computed", "memory", "rate", "clock", "counter", "loop counter"),
    *("conditional counter", "place", "size", "unknown", "setting", "text", "object", "constant", "cycle"),
)
"""Kinds of origin, strongest first."""
UNKNOWN, CONSTANT, TEXT = Origin("unknown"), Origin("constant", "a constant"), Origin("text", "a text")
COUNTING = ("counter", "loop counter", "conditional counter")
SHARED = ("setting", "rate", "memory", "quality", "computed")
"""Kinds of origin that an item shares with its mapping; items of other kinds have their own."""


def strongest(origins: Iterable[Origin]) -> Origin:
    """The origin that decides among several."""
    return min(origins, key=lambda origin: WEIGHT.index(origin.kind), default=UNKNOWN)


class Origins:
    """Finds the origins of expressions."""

    def __init__(self, graph: CallGraph) -> None:
        self.graph = graph
        self.nodes = graph.nodes
        self.resolver = graph.resolver
        self.meters = Meters(graph)
        self.active: set[object] = set()
        self.met: set[object] = set()
        self.known: dict[object, Origin] = {}
        self.steps = 0

    def of(self, node: cst.CSTNode, function: Function, depth: int = DEEPEST) -> Origin:
        """The origin of an expression, seen from a function."""
        self.steps = self.steps + 1 if self.active else 0
        if depth == 0 or self.steps > MOST_STEPS:
            return UNKNOWN
        if constant_number(node) is not None:
            return CONSTANT
        depth -= 1
        match node:
            case cst.Name():
                return self._of_name(node, function, depth)
            case cst.Attribute():
                return self._of_attribute(node, function, depth)
            case cst.Subscript():
                return self._of_subscript(node, function, depth)
            case cst.Call():
                return self._of_call(node, function, depth)
            case cst.BinaryOperation():
                return self._of_operation(node, function, depth)
            case cst.BaseString():
                return TEXT
            case cst.Comparison():
                return Origin("computed", "counted from a comparison")
            case cst.Lambda():
                return Origin("object", "a function")
        return self._strongest([(part, function) for part in _parts(node)], depth)

    def _strongest(self, arguments: Iterable[Argument], depth: int) -> Origin:
        return strongest(self.of(*argument, depth) for argument in list(arguments)[:MOST_ITEMS])

    def _of_operation(self, node: cst.BinaryOperation, function: Function, depth: int) -> Origin:
        left, right = self.of(node.left, function, depth), self.of(node.right, function, depth)
        if isinstance(node.operator, cst.Add | cst.Modulo) and "text" in (left.kind, right.kind):
            return TEXT
        return combine(node.operator, left, right)

    # ------------------------------------------------------------ names

    def _of_name(self, node: cst.Name, function: Function, depth: int) -> Origin:
        name = node.value
        if name in ("True", "False", "None", "__name__", "__file__"):
            return CONSTANT
        scope, bindings = self.resolver.find(name, function)
        if name.lower() in SETTINGS and not any(binding.how == "stars" for binding in bindings):
            return Origin("setting", f"the program's options ({name})")
        key = (scope, name)
        if key in self.known:
            return self.known[key]
        if key in self.active:
            self.met.add(key)
            return Origin("cycle")
        self.active.add(key)
        origin = self._of_bindings(name, scope, bindings, depth)
        self.active.discard(key)
        self.met.discard(key)
        if not self.met:  # otherwise the answer holds only inside the cycle
            self.known[key] = origin
        return origin

    def _of_bindings(self, name: str, scope: Function, bindings: list[Binding], depth: int) -> Origin:
        counting = [binding for binding in bindings if binding.how not in (*PUTTING, "declared")]
        outer = [binding for binding in counting if not isinstance(binding.node, cst.CompFor)] or counting
        origins = [self._of_binding(name, binding, scope, depth) for binding in outer]
        telling = [origin for origin in origins if origin.kind not in ("constant", "cycle")]
        if telling or not origins:
            return strongest(telling)
        line = self.nodes.line(outer[0].node)
        if (scope.is_module and name.isupper()) or len(outer) == 1:
            return Origin("setting", f"constant since line {line}")
        return Origin("constant", f"only constants are assigned (line {line})")

    def _of_binding(self, name: str, binding: Binding, scope: Function, depth: int) -> Origin:
        """The origin of the value of one binding."""
        value, where = binding.value, self.nodes.line(binding.node)
        if binding.how == "parameter":
            return self._of_parameter(name, binding, scope, depth)
        if binding.how == "define":
            return Origin("object", f"defined at line {where}")
        if binding.how == "caught":
            return Origin("text", f"an exception, caught at line {where}")
        if value is None:
            return UNKNOWN
        if binding.how == "for":
            return self._of_loop_target(value, binding, scope, depth, where)
        if binding.how == "add":
            return self._of_addition(name, binding, value, scope, depth, where)
        return self._of_assignment(value, binding.position, scope, depth) if binding.how == "assign" else UNKNOWN

    def _of_assignment(self, value: cst.CSTNode, position: tuple[int, ...], scope: Function, depth: int) -> Origin:
        while position and isinstance(value, cst.BaseExpression):
            part = element(value, position[0])
            if part is None:
                break
            value, position = part, position[1:]
        if position and isinstance(value, cst.Call):
            returned = self._of_return_values(value, scope, depth, position)
            if returned is not None:
                return returned
        return self.of(value, scope, depth)

    def _of_addition(
        self, name: str, binding: Binding, value: cst.CSTNode, scope: Function, depth: int, where: int
    ) -> Origin:
        operator = binding.node.operator if isinstance(binding.node, cst.AugAssign) else None
        number = constant_number(value)
        if not isinstance(operator, cst.AddAssign | cst.SubtractAssign | None) or (number or 0) % 1:
            return Origin("computed", f"changed at line {where}")
        if number is not None:
            is_conditional = any(isinstance(parent, cst.If) for parent in self.nodes.ancestors(binding.node))
            name_words = set(split_identifier(name))
            if is_conditional and QUALITY & name_words:
                return Origin("quality", f"counted up at line {where}")
            is_open = is_conditional and not COUNTERS & name_words
            return Origin("conditional counter" if is_open else "counter", f"counted up at line {where}")
        added = self.of(value, scope, depth)
        return Origin("counter", f"adds up sizes at line {where}") if added.kind in COUNTED - {"rate"} else added

    def _of_parameter(self, name: str, binding: Binding, function: Function, depth: int) -> Origin:
        if name not in function.parameters:
            return UNKNOWN
        origins = []
        for edge in self.graph.edges_into(function)[:MOST_CALLS]:
            argument = edge.argument(name)
            if argument is not None:
                origins.append(self.of(*argument, depth))
            elif edge.is_handed:
                origins.append(UNKNOWN)
        if not origins and binding.value is not None:
            return self.of(binding.value, function, depth)
        return strongest(origins)

    def _of_loop_target(
        self, iterable: cst.CSTNode, binding: Binding, scope: Function, depth: int, where: int
    ) -> Origin:
        position = binding.position
        while isinstance(iterable, cst.Call) and last_name(iterable.func) in WRAPPINGS and iterable.args:
            iterable = iterable.args[0].value
        if isinstance(iterable, cst.Call):
            called, is_first = last_name(iterable.func), position[:1] in ((), (0,))
            if called in ENUMERATIONS and is_first:
                return Origin("loop counter", str(where))
            if called in ("items", "keys", "values") and isinstance(iterable.func, cst.Attribute):
                if called != "values" and is_first:
                    return Origin("text", f"key of a dict (line {where})")
                inner = self.of(iterable.func.value, scope, depth)
                return inner if inner.kind in (*SHARED, "duration", "speed") else UNKNOWN
        if isinstance(iterable, cst.Tuple | cst.List) and iterable.elements:
            if all(constant_text(item.value) is not None for item in iterable.elements):
                return Origin("text", f"one of the texts at line {where}")
            if all(constant_number(item.value) is not None for item in iterable.elements):
                return Origin("loop counter", str(where))
        if not isinstance(iterable, cst.BaseExpression):
            return UNKNOWN
        members = self.resolver.loop_items(iterable, position, scope)
        if members:
            return self._strongest(members, depth)
        whole = self.of(iterable, scope, depth) if not position else UNKNOWN
        return whole if whole.kind in ("rate", "setting", "duration") else UNKNOWN

    # ------------------------------------------------------------ attributes and items

    def _of_attribute(self, node: cst.Attribute, function: Function, depth: int) -> Origin:
        """The origin of `base.name`."""
        name, spelled = node.attr.value, dotted_name(node)
        is_number = name.startswith(("num_", "nb_", "n_")) and QUALITY.isdisjoint(split_identifier(name))
        if name in SIZE_PARTS or is_number:
            return Origin("size", "a shape or number of examples")
        if name in TEXT_PARTS:
            return Origin("text", "a name or text")
        if name.lower() in SETTINGS:
            return Origin("setting", f"the program's options ({spelled})")
        fed = self._of_meter(node.value, name, function, depth)
        if fed is not None:
            return fed
        classes = self.resolver.classes(node.value, function)
        if classes:
            return self._of_attribute_bindings(classes, name, depth)
        base = self.of(node.value, function, depth)
        if base.kind == "setting":
            return Origin("setting", f"read from {dotted_name(node.value)}")
        if base.kind in ("quality", "size", "memory", "clock", "text"):
            return base
        return Origin("duration", f"time: {spelled}") if name in STOPWATCHES else UNKNOWN

    def _of_meter(self, node: cst.BaseExpression, name: str, function: Function, depth: int) -> Origin | None:
        """The origin of an attribute of a meter, from the values fed to it; None for other objects."""
        key = (node, "fed")
        if name in FEEDS or not isinstance(node, cst.Name | cst.Attribute | cst.Subscript) or key in self.active:
            return None
        if not any(map(self._is_fed, self.resolver.classes(node, function))):
            return None
        self.active.add(key)
        sources = [item for item in self.meters.fed_values(node, function) if isinstance(item, ReportedValue)]
        origins = [self.of(value.source, value.function, depth) for value in sources]
        self.active.discard(key)
        if origins and COUNTERS.intersection(split_identifier(name)):
            return Origin("counter", f"number of values in {dotted_name(node)}")
        return strongest(origins) if origins and strongest(origins).kind != "constant" else None

    def _is_fed(self, cls: Class) -> bool:
        return any(name in FEEDS for base in self.resolver.order(cls)[0] for name in base.methods)

    def _of_attribute_bindings(self, classes: list[Class], name: str, depth: int) -> Origin:
        """The origin of the values assigned to `self.name` in a class, or of a property."""
        origins: list[Origin] = []
        for base in dict.fromkeys(base for cls in classes for base in self.resolver.order(cls)[0]):
            if (base, name) in self.active:
                origins.append(Origin("cycle"))
                continue
            self.active.add((base, name))
            for binding, where in base.attributes.get(name, ()):
                if binding.how not in (*PUTTING, "declared"):
                    origins.append(self._of_binding(name, binding, where, depth))
            method = base.methods.get(name)
            if method is not None:
                origins += [UNKNOWN, *(self.of(value, method, depth) for value in method.returns)]
            self.active.discard((base, name))
        moving = [origin for origin in origins if origin.kind not in ("constant", "cycle")]
        return strongest(moving)

    def _of_subscript(self, node: cst.Subscript, function: Function, depth: int) -> Origin:
        """The origin of `base[key]`."""
        path, key = dotted_name(node), constant_key(node)
        if "param_groups" in path:
            is_rate = RATES.intersection(split_identifier(" ".join(identifiers(node))))
            return Origin("rate" if is_rate else "setting", "read from the optimizer")
        if path.startswith(("os.environ", "sys.argv")):
            return Origin("setting", "read from the environment")
        base = self.of(node.value, function, depth)
        if key is None or base.kind == "setting":
            return base
        origin = self._strongest(self._under_key(node.value, key, function), depth)
        if origin.kind not in ("unknown", "constant"):
            return origin
        return base if base.kind in SHARED else UNKNOWN

    def _under_key(self, node: cst.BaseExpression, key: str, function: Function) -> list[Argument]:
        """The values under a constant key: in a dict display, or assigned later."""
        values: list[Argument] = [*self.resolver.values_under_key(node, key, function)]
        if isinstance(node, cst.Name):
            scope, bindings = self.resolver.find(node.value, function)
            put = [binding for binding in bindings if constant_text(binding.key) == key]
            values += [(value, scope) for binding in put if (value := binding.whole("item")) is not None]
        return values

    # ------------------------------------------------------------ calls

    def _of_call(self, node: cst.Call, function: Function, depth: int) -> Origin:
        """The origin of the result of a call."""
        qualified = self.resolver.qualified_name(node.func, function) or ""
        name = last_name(node.func)
        origin = self._by_callee_name(node, qualified, name, function) or self._of_writing(
            node, qualified, function, depth
        )
        if origin is not None:
            return origin
        origin = self._of_return_values(node, function, depth)
        if isinstance(node.func, cst.Attribute) and (origin is None or origin.kind not in ("text", "duration")):
            origin = self._of_meter(node.func.value, name, function, depth) or origin
        if origin is not None:
            return origin
        if name in PASSING:
            inner = self._strongest([(value, function) for value in self._passed_on(node, function)], depth)
            return Origin("computed", f"computed by {name}()") if inner.kind in ("unknown", "object") else inner
        if _is_measuring(name) or _is_measuring(qualified.rpartition(".")[2]):
            return Origin("quality", f"result of {dotted_name(node.func)}()")
        return UNKNOWN

    def _by_callee_name(self, node: cst.Call, qualified: str, name: str, function: Function) -> Origin | None:
        """The origin that follows from the name of a callee."""
        spelled = f"{dotted_name(node.func)}()"
        if qualified.startswith(MEASURES):
            return Origin("quality", f"result of {spelled}, from {qualified.partition('.')[0]}")
        kinds = [kind for kind, names in BY_FULL_NAME.items() if qualified in names]
        is_told = name not in TEXT_PARTS or name not in ("join", "format")
        kinds += [kind for kind, names in BY_NAME.items() if is_told and name in names]
        if kinds:
            return Origin(kinds[0], self.nodes.code(node) if kinds[0] == "size" else spelled)
        if self._is_of_project(node, function):
            return None
        if name in STOPWATCHES:
            return Origin("duration", f"time: {spelled}")
        is_class = name[:1].isupper() and not name.isupper() and name not in PASSING
        return Origin("object", f"made by {spelled}") if is_class and qualified not in FRAMES else None

    def _is_of_project(self, node: cst.Call, function: Function) -> bool:
        referents = self.resolver.resolve(node.func, function)
        return any(isinstance(referent, ClassRef | FunctionRef | Instance) for referent in referents)

    def _of_writing(self, node: cst.Call, qualified: str, function: Function, depth: int) -> Origin | None:
        """The origin of a string formatted by a library; a formatted duration stays a duration."""
        name, values = last_name(node.func), [*positional(node), *keywords(node).values()]
        if qualified in FRAMES:
            return self._strongest([(value, function) for value in values[:1]], depth)
        is_writing = qualified in WRITING or name in WRITING or name in TEXT_PARTS
        origins = [self.of(value, function, depth) for value in values] if is_writing else []
        return next((origin for origin in origins if origin.kind == "duration"), TEXT) if is_writing else None

    def _passed_on(self, node: cst.Call, function: Function) -> list[cst.BaseExpression]:
        """The arguments whose kind the result of a call has."""
        arguments, name = positional(node), last_name(node.func)
        if isinstance(node.func, cst.Attribute) and not self._is_module(node.func.value, function):
            return [node.func.value]
        return arguments if name in JOINING else arguments[:1]

    def _is_module(self, node: cst.BaseExpression, function: Function) -> bool:
        root: cst.BaseExpression = node
        while isinstance(root, cst.Attribute):
            root = root.value
        bindings = self.resolver.find(root.value, function)[1] if isinstance(root, cst.Name) else []
        return any(binding.how == "import" for binding in bindings[:1])

    def _of_return_values(
        self, call: cst.Call, function: Function, depth: int, item: tuple[int, ...] = ()
    ) -> Origin | None:
        """The origin of the return value of a function of the project, or of one item of it; None otherwise.

        Args:
            item: where the item stands in nested tuples.
        """
        callee = next((ref.function for ref in self.resolver.functions(call.func, function)), None)
        if callee is None or callee.name == "__init__" or depth <= 0 or callee in self.active:
            return None
        if callee.name in FEEDS and not callee.returns:
            return None
        self.active.add(callee)
        origins = []
        for value in callee.returns:
            part = element(value, item[0]) if item else value
            origins.append(self._of_assignment(part, item[1:], callee, depth) if part is not None else UNKNOWN)
        self.active.discard(callee)
        result = strongest(origins)
        if result.kind == "constant" and len(origins) > 1:
            result = Origin("computed", f"one of several results of {callee.name}()")
        if result.kind in {"unknown", "computed"} and not item:
            name_words = all_words(name for value in callee.returns for name in identifiers(value))
            if _is_measuring(callee.name) or (MEASURING - LAYERS).intersection(name_words):
                return Origin("quality", f"result of {callee.name}()")
        return result if origins else None


def _parts(node: cst.CSTNode) -> list[cst.BaseExpression]:
    """The expressions of which one is the value, or of which it consists."""
    match node:
        case cst.UnaryOperation() | cst.Await():
            return [node.expression]
        case cst.NamedExpr():
            return [node.value]
        case cst.IfExp():
            return [node.body, node.orelse]
        case cst.BooleanOperation():
            return [node.left, node.right]
        case cst.ListComp() | cst.SetComp() | cst.GeneratorExp():
            return [node.elt]
        case cst.List() | cst.Tuple() | cst.Set():
            return [item.value for item in node.elements]
    return []


def _is_measuring(name: str) -> bool:
    """Whether the name of a callable says that it measures; `ensure_correct_name` corrects something."""
    called = split_identifier(name)
    inside = set(MEASURING.intersection(called))
    if {"to", "from"}.intersection(called):
        return False  # `reward_hf_to_tune` converts
    if AVERAGING.isdisjoint(called):
        inside.discard("map")  # `tree_map` and `dataset.map` apply a function
    return bool(inside - {"correct"} or "correct" in called[-1:])


# ---------------------------------------------------------------- arithmetic

DIFFERENCES = {"clock", "unknown", "constant", "setting", "computed", "cycle"}
COUNTED = {*COUNTING, "place", "size", "setting", "rate"}
SHARED_OUT = {*COUNTING, "size", "setting", "unknown", "computed"}


def combine(operator: cst.BaseBinaryOp, left: Origin, right: Origin) -> Origin:
    """The origin of `left operator right`."""
    kinds = {left.kind, right.kind}
    is_quotient = isinstance(operator, cst.Divide | cst.FloorDivide)
    if isinstance(operator, cst.Divide) and "text" in kinds:
        return Origin("text", "a path")
    if isinstance(operator, cst.Subtract) and "clock" in kinds and kinds <= DIFFERENCES:
        return Origin("duration", "difference of two clock readings")
    if is_quotient and right.kind == "duration" and left.kind != "duration":
        return Origin("speed", "amount divided by elapsed time")
    if is_quotient and left.kind == "duration":
        return left
    if kinds == {"constant"}:
        return CONSTANT
    if "cycle" in kinds and kinds <= {"cycle", "constant"}:
        is_counter = isinstance(operator, cst.Add | cst.Subtract)
        return Origin("counter", "counts up") if is_counter else Origin("computed", "changed in each step")
    if is_quotient and left.kind == "conditional counter" and right.kind in SHARED_OUT:
        return Origin("quality", f"share of what is {left.sentence}")
    if kinds <= COUNTED | {"constant", "cycle"}:
        return _of_counts(left, right)
    if is_quotient and left.kind in (*COUNTING, "size") and right.kind in ("unknown", "cycle"):
        return UNKNOWN
    result = left if is_quotient else strongest([left, right])
    is_mixed = result.kind in (*COUNTED, "unknown", "cycle", "constant") and kinds & {"unknown", "computed"}
    return Origin("computed", "computed") if is_mixed and result.kind != "rate" else result


def _of_counts(left: Origin, right: Origin) -> Origin:
    counter = next((one for one in (left, right) if one.kind in COUNTING), None)
    if counter is None:
        return strongest([left, right])
    if counter.is_derived:
        return counter
    sentence = f"counter of the loop at line {counter.sentence}" if counter.kind == "loop counter" else counter.sentence
    return Origin("counter", f"computed from the {sentence}", is_derived=True)
