"""Origins of values, found by following names, calls and operations backwards."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from enum import Enum

import libcst as cst

from deviate.analysis.resolve.abstract_values import Argument, ClassRef, Edge, FunctionRef, Instance, Placed
from deviate.analysis.resolve.calls import CallGraph
from deviate.analysis.resolve.identifier_words import all_words
from deviate.analysis.resolve.index import PUTTING, Binding, Class, Function
from deviate.analysis.resolve.message_items import ReportedValue, format_fields, percent_fields
from deviate.analysis.resolve.meters import FEEDS, MOST_MEANT, Meters
from deviate.analysis.resolve.tree import (
    constant_key,
    constant_number,
    constant_text,
    dotted_name,
    element,
    identifiers,
    index_of,
    keywords,
    last_name,
    positional,
    telling_identifiers,
    walk,
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
CLOCK_NAMES = ("perf_counter", "default_timer")
STOPWATCHES = word_set("elapsed elapsed_time elapsed_seconds")
# Names of times, places and kinds.
TEXTS = word_set(
    "time.ctime time.asctime os.path.join os.path.basename os.path.abspath os.getcwd builtins.type os.environ.get "
    "os.getenv builtins.input sys.version platform.node socket.gethostname pathlib.Path json.dumps pprint.pformat"
)
# Functions that format their argument, or return an object that prints as text, also for durations.
WRITING = word_set(
    "builtins.str builtins.repr builtins.format time.strftime time.gmtime datetime.timedelta timedelta strftime"
)
SIZES = frozenset({"builtins.len", "os.cpu_count", "torch.numel"})
SIZE_PARTS = word_set(
    "shape size ndim numel nelement dim num_examples batch_size num_samples num_parameters count_params"
)
COUNTING = ("num_", "nb_", "n_")
"""How names of numbers of things begin."""
PARSERS = ("parse_args", "parse_known_args", "load_config", "safe_load", "parse_args_into_dataclasses")
SETTINGS = word_set("args opt opts config cfg conf hparams hp flags options settings hyperparams configs argv")
TEXT_PARTS = word_set("name __name__ device dtype __class__ path filename isoformat join format upper lower")
DECODING = ("batch_decode", "detokenize", "convert_ids_to_tokens", "convert_tokens_to_string")
TOKENIZERS = word_set("tokenizer tok tokeniser enc processor vocab sp bpe")
MEMORY_CALLS = word_set("memory_allocated max_memory_allocated memory_reserved max_memory_reserved memory_info")
# Schedulers of torch and timm.
RATE_CALLS = ("get_last_lr", "get_lr", "get_epoch_values")
SCALE_CALLS = ("get_scale", "get_loss_scale")
"""Methods of what scales the loss for training with half precision."""
INDEX_CALLS = word_set("argmax argmin idxmax idxmin nanargmax nanargmin")
SCHEDULES = word_set("schedule scheduler sched anneal annealing annealer")
SCHEDULED = word_set("step value get_value get_current_value")
"""Methods by which a schedule tells its value."""
# Functions and methods whose result has the kind of their first argument or of their object.
PASSING = word_set(
    "round float int abs sum min max mean average median std var sqrt exp log log2 log10 array asarray to_float "
    "reduce_mean reduce_sum square power cast tensor as_tensor item detach cpu numpy data tolist double half "
    "float32 norm squeeze reshape view flatten result compute eval clone copy total_seconds device_get "
    "block_until_ready stack nanmean divmod list tuple sorted reversed fsum maximum minimum to_string to_markdown"
)
JOINING = ("max", "min", "maximum", "minimum")
"""Those of them whose result depends on all arguments."""

# Constructors of torch whose object is the number passed to them.
NUMBERS = ("Tensor", "FloatTensor", "Variable", "Decimal", "Fraction")
GRIDS = ("linspace", "logspace", "geomspace")
ARRAYS = ("tensor", "as_tensor", "array", "asarray", "stack", "Tensor", "FloatTensor")
ENUMERATIONS = ("enumerate", "trange", "range", "arange", "count", "xrange")
WRAPPINGS = ("tqdm", "track", "list", "tuple", "reversed", "sorted", "iter")
# Libraries of metrics: their functions, and the objects of their classes.
MEASURES = (
    "torchmetrics.", "sklearn.metrics.", "tensorflow.keras.metrics.", "keras.metrics.", "tf_keras.metrics.",
    "tensorflow.metrics.", "tensorflow.compat.v1.metrics.", "evaluate.load", "datasets.load_metric", "seqeval.",
    "sacrebleu.", "nltk.translate.", "rouge_score.", "ignite.metrics.", "monai.metrics.", "torcheval.metrics.",
    "clu.metrics.", "flax.nnx.metrics.", "flax.nnx.MultiMetric", "lpips.", "pytorch_msssim.", "skimage.metrics.",
    "scipy.stats.pearsonr", "scipy.stats.spearmanr", "scipy.stats.kendalltau", "pytorch_lightning.metrics.",
)  # fmt: skip


# ---------------------------------------------------------------- origins

DEEPEST = 14
MOST_CALLS = 16
MOST_ITEMS = 16
MOST_STEPS = 3000
"""Limit of expressions that one answer may depend on: mutually recursive functions make them explode."""
COMPREHENSIONS = (cst.ListComp, cst.SetComp, cst.GeneratorExp, cst.DictComp)
LISTS = ("list", "deque", "dict", "OrderedDict", "defaultdict")
SHARED = ("setting", "rate", "memory", "quality", "computed")
"""Kinds of origin that an item shares with its mapping; items of other kinds have their own."""
FRAMES = ("pandas.DataFrame", "pandas.Series", "pandas.concat")
"""Data frames, whose origin is that of their contents."""
AVERAGING = word_set("compute get calculate evaluate eval calc")
MEASURING = (QUALITY - NEUTRAL) | {"evaluate", "validate"}
LAYERS = {"residual", "residuals"}
"""What a function returns that is a connection between layers more often than a measurement."""
UNITS = word_set("d day days h hr hrs hour hours m min mins minute minutes s sec secs second seconds ms us")


class Reason(Enum):
    """Why a value has its kind of origin.

    Attributes:
        kind: of the origin.
        sentence: shown to the user after the word for the kind; `{}` stands for the detail.
    """

    UNKNOWN = "unknown", ""
    CYCLE = "cycle", ""
    COUNTED = "counter", "counted up at line {}"
    CONDITIONAL = "counter", "counted up under a condition at line {}"
    SIZES_ADDED = "counter", "adds up sizes at line {}"
    COUNTS_UP = "counter", "counts up"
    LOOP_COUNTER = "counter", "counter of the loop at line {}"
    VALUES_FED = "counter", "number of values in {}"
    OF_COUNTER = "counter", "computed from the {}"
    SHAPE = "size", "a shape or number of examples"
    LENGTH = "size", "{}"
    OF_SIZES = "size", "computed from sizes and settings"
    OPTIONS = "setting", "the program's options ({})"
    SINGLE_CONSTANT = "setting", "constant since line {}"
    FIXED_ATTRIBUTE = "setting", "{} is set to a constant"
    READ_FROM = "setting", "read from {}"
    READ_BY = "setting", "read by {}"
    CANDIDATE = "setting", "one of the values to choose from, made by {}"
    OPTIMIZER_RATE = "rate", "learning rate, read from the optimizer"
    SCHEDULER_RATE = "rate", "learning rate, read from the scheduler"
    CLOCK = "clock", "{}"
    INDEX = "counter", "a place: {}"
    SCHEDULED = "setting", "set by a schedule: {}"
    LEFT = "estimate", "time left: {}"
    STOPWATCH = "duration", "time: {}"
    ELAPSED = "duration", "difference of two clock readings"
    PER_TIME = "speed", "amount divided by elapsed time"
    MEMORY = "memory", "{}"
    TEXT = "text", "a text"
    NAME_OR_TEXT = "text", "a name or text"
    KEY = "text", "key of a dict (line {})"
    ONE_OF_TEXTS = "text", "one of the texts at line {}"
    EXCEPTION = "text", "an exception, caught at line {}"
    PATH = "text", "a path"
    CONSTANT = "constant", "a constant"
    ONLY_CONSTANTS = "constant", "only constants are assigned (line {})"
    DEFINED = "object", "defined at line {}"
    FUNCTION = "object", "a function"
    MADE_BY = "object", "made by {}"
    RESULT = "quality", "result of {}"
    COUNTED_QUALITY = "quality", "counted up at line {}"
    SHARE = "quality", "share of what is {}"
    COMPARISON = "computed", "counted from a comparison"
    CHANGED = "computed", "changed at line {}"
    CHANGED_IN_STEPS = "computed", "changed in each step"
    COMPUTED_BY = "computed", "computed by {}()"
    ONE_OF_RESULTS = "computed", "one of several results of {}()"
    COMPUTED = "computed", "computed"

    def __init__(self, kind: str, sentence: str) -> None:
        self.kind = kind
        self.sentence = sentence


@dataclass(frozen=True, slots=True)
class Origin:
    """The kind of a value and the reason for it.

    Attributes:
        detail: line or code inserted into the sentence of the reason.
    """

    reason: Reason
    detail: object = ""

    @property
    def kind(self) -> str:
        """One of `WEIGHT`: `rate` is a learning rate, `cycle` the previous value of the same name."""
        return self.reason.kind

    @property
    def sentence(self) -> str:
        """The decisive step, for the user."""
        return self.reason.sentence.format(self.detail)


UNKNOWN = Origin(Reason.UNKNOWN)
WEIGHT = (
    *("quality", "duration", "speed", "estimate", "computed", "memory", "rate", "clock", "counter", "size"),
    *("unknown", "setting", "text", "object", "constant", "cycle"),
)
"""Kinds of origin, strongest first."""


def strongest(origins: Iterable[Origin]) -> Origin:
    """The origin that decides among several."""
    return min(origins, key=lambda origin: WEIGHT.index(origin.kind), default=UNKNOWN)


TEXT = Origin(Reason.TEXT)


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
        self._chances: dict[int, bool] = {}
        self.steps = 0

    def of(self, node: cst.CSTNode, function: Function, depth: int = DEEPEST) -> Origin:
        """The origin of an expression, seen from a function."""
        self.steps = self.steps + 1 if self.active else 0
        if depth == 0 or self.steps > MOST_STEPS:
            return UNKNOWN
        if constant_number(node) is not None:
            return Origin(Reason.CONSTANT)
        depth -= 1
        text = self._of_text(node, function, depth)
        if text is not None:
            return text
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
                left, right = self.of(node.left, function, depth), self.of(node.right, function, depth)
                for spent, other, rest in ((left, right, node.right), (right, left, node.left)):
                    if spent.kind == "duration" and self._is_rest(node.operator, rest, other):
                        return Origin(Reason.LEFT, self.nodes.code(rest))
                return combine(node.operator, left, right, constant_number(node.right))
        return self._of_other(node, function, depth)

    def _is_rest(self, operator: cst.BaseBinaryOp, factor: cst.BaseExpression, origin: Origin) -> bool:
        """Whether a time is multiplied by the number of steps that are left: `spent / done * (total - done)`."""
        if not isinstance(operator, cst.Multiply):
            return False
        if not (isinstance(factor, cst.BinaryOperation) and isinstance(factor.operator, cst.Subtract)):
            return origin.reason is Reason.OF_COUNTER
        return origin.kind in ("counter", "size") or not COUNTERS.isdisjoint(all_words(identifiers(factor)))

    def _of_other(self, node: cst.CSTNode, function: Function, depth: int) -> Origin:
        match node:
            case cst.UnaryOperation() | cst.Await():
                return self.of(node.expression, function, depth)
            case cst.NamedExpr():
                return self.of(node.value, function, depth)
            case cst.IfExp():
                return self.strongest([(node.body, function), (node.orelse, function)], depth)
            case cst.BooleanOperation():
                return self.strongest([(node.left, function), (node.right, function)], depth)
            case cst.Comparison():
                return Origin(Reason.COMPARISON)
            case cst.ListComp() | cst.SetComp() | cst.GeneratorExp():
                return self.of(node.elt, function, depth)
            case cst.List() | cst.Tuple() | cst.Set() if node.elements:
                return self.strongest([(value, function) for value in _items(node)], depth)
            case cst.Lambda():
                return Origin(Reason.FUNCTION)
        return UNKNOWN

    def strongest(self, arguments: Iterable[Argument], depth: int) -> Origin:
        """The origin that decides among several expressions."""
        return strongest(self.of(*argument, depth) for argument in list(arguments)[:MOST_ITEMS])

    def changing_line(self, node: cst.CSTNode, function: Function) -> int | None:
        """Line of the innermost loop that reassigns a name of an expression in each iteration."""
        for part in walk(node):
            if isinstance(part, cst.Name):
                _, bindings = self.resolver.find(part.value, function)
                for binding in bindings:
                    loops = self.nodes.loops_around(binding.node) if binding.how in ("assign", "add") else []
                    if loops:
                        return self.nodes.line(loops[-1])
        return None

    # ------------------------------------------------------------ names

    def _of_name(self, node: cst.Name, function: Function, depth: int) -> Origin:
        name = node.value
        if name in ("True", "False", "None", "__name__", "__file__"):
            return Origin(Reason.CONSTANT)
        scope, bindings = self.resolver.find(name, function)
        if name.lower() in SETTINGS and not any(binding.how == "stars" for binding in bindings):
            return Origin(Reason.OPTIONS, name)
        inner = self._in_comprehension(node, bindings)
        if inner is not None:
            scope, bindings = function, [inner]
        key = (scope, name, inner)
        if key in self.known:
            return self.known[key]
        if key in self.active:
            self.met.add(key)
            return Origin(Reason.CYCLE)
        self.active.add(key)
        origin = self._of_bindings(name, scope, bindings, depth)
        if origin.kind in ("unknown", "constant"):
            origin = self._of_fillings(node, function, bindings, depth) or origin
        self.active.discard(key)
        self.met.discard(key)
        if not self.met:  # otherwise the answer holds only inside the cycle
            self.known[key] = origin
        return origin

    def _in_comprehension(self, node: cst.Name, bindings: list[Binding]) -> Binding | None:
        """The binding by the comprehension around a name: other loops may use the same name."""
        inner: dict[cst.CSTNode, Binding] = {
            binding.node: binding for binding in bindings if isinstance(binding.node, cst.CompFor)
        }
        if not inner:
            return None
        for parent in self.nodes.ancestors(node):
            if isinstance(parent, cst.BaseSmallStatement | cst.BaseCompoundStatement):
                return None
            if isinstance(parent, COMPREHENSIONS):
                for part in walk(parent.for_in):
                    if part in inner:
                        return inner[part]
        return None

    def _of_fillings(self, node: cst.Name, function: Function, bindings: list[Binding], depth: int) -> Origin | None:
        """The origin of the items of a variable's list or dict."""
        if not any(binding.how == "assign" and _is_list(binding) for binding in bindings):
            return None
        items = [
            (value, where)
            for value, where in self.resolver.items(node, function)
            if isinstance(value, cst.BaseExpression)
        ]
        return self.strongest(items, depth) if items else None

    def _of_bindings(self, name: str, scope: Function, bindings: list[Binding], depth: int) -> Origin:
        counting = [binding for binding in bindings if binding.how not in (*PUTTING, "declared")]
        outer = [binding for binding in counting if not isinstance(binding.node, cst.CompFor)] or counting
        origins = [self._of_binding(name, binding, scope, depth) for binding in outer]
        telling = [origin for origin in origins if origin.kind not in ("constant", "cycle")]
        if telling:
            return strongest(telling)
        if not origins:
            return UNKNOWN
        line = self.nodes.line(outer[0].node)
        if (scope.is_module and name.isupper()) or len(outer) == 1:
            return Origin(Reason.SINGLE_CONSTANT, line)
        return Origin(Reason.ONLY_CONSTANTS, line)

    def _of_binding(self, name: str, binding: Binding, scope: Function, depth: int) -> Origin:
        """The origin of the value of one binding."""
        value, where = binding.value, self.nodes.line(binding.node)
        if binding.how == "parameter":
            return self._of_parameter(name, binding, scope, depth)
        if binding.how == "define":
            return Origin(Reason.DEFINED, where)
        if binding.how == "caught":
            return Origin(Reason.EXCEPTION, where)
        if value is None:
            return UNKNOWN
        if binding.how == "for":
            return self._of_loop_target(value, binding, scope, depth, where)
        if binding.how == "add":
            return self._of_addition(name, binding, value, scope, depth, where)
        if binding.how == "assign":
            return self._of_assignment(value, binding.position, scope, depth)
        return UNKNOWN

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
        if operator is not None and not isinstance(operator, cst.AddAssign | cst.SubtractAssign):
            return Origin(Reason.CHANGED, where)
        number = constant_number(value)
        if number is not None and not number.is_integer():
            return Origin(Reason.CHANGED, where)
        if number is not None:
            is_conditional = any(isinstance(parent, cst.If) for parent in self.nodes.ancestors(binding.node))
            is_telling = is_conditional and QUALITY.intersection(split_identifier(name))
            if is_conditional and not is_telling and not COUNTERS.intersection(split_identifier(name)):
                return Origin(Reason.CONDITIONAL, where)
            return Origin(Reason.COUNTED_QUALITY if is_telling else Reason.COUNTED, where)
        added = self.of(value, scope, depth)
        if added.kind in ("setting", "size", "counter"):
            return Origin(Reason.SIZES_ADDED, where)
        return added

    def _of_parameter(self, name: str, binding: Binding, function: Function, depth: int) -> Origin:
        if name not in function.parameters:
            return UNKNOWN
        origins = []
        for edge in self.graph.edges_into(function)[:MOST_CALLS]:
            argument = edge.argument(name)
            if argument is not None:
                origins.append(UNKNOWN if self._is_chance(edge) else self.of(*argument, depth))
            elif edge.how in ("handed", "named"):
                origins.append(UNKNOWN)
        if not origins and binding.value is not None:
            return self.of(binding.value, function, depth)
        return strongest(origins)

    def _is_chance(self, edge: Edge) -> bool:
        """Whether a call leads to a function only because too little is known of what is called.

        What it passes is meant for one of many functions, hardly for this one.
        """
        if not isinstance(edge.node, cst.Call) or edge.how != "call":
            return False
        key = id(edge.node)
        if key not in self._chances:
            callees = {reference.function for reference in self.resolver.functions(edge.node.func, edge.caller)}
            self._chances[key] = len(callees) > MOST_MEANT
        return self._chances[key]

    # ------------------------------------------------------------ loops

    def _of_loop_target(
        self, iterable: cst.CSTNode, binding: Binding, scope: Function, depth: int, where: int
    ) -> Origin:
        position = binding.position
        while isinstance(iterable, cst.Call) and last_name(iterable.func) in WRAPPINGS and iterable.args:
            iterable = iterable.args[0].value
        if isinstance(iterable, cst.Call):
            called = last_name(iterable.func)
            is_first = not position or position[0] == 0
            if called in ENUMERATIONS and is_first:
                return Origin(Reason.LOOP_COUNTER, where)
            if called in ("items", "keys") and isinstance(iterable.func, cst.Attribute) and is_first:
                return Origin(Reason.KEY, where)
            if called in ("items", "values") and isinstance(iterable.func, cst.Attribute):
                inner = self.of(iterable.func.value, scope, depth)
                return inner if inner.kind in (*SHARED, "duration", "speed") else UNKNOWN
        if isinstance(iterable, cst.Tuple | cst.List):
            items = [item.value for item in iterable.elements if isinstance(item, cst.Element)]
            if items and all(constant_text(item) is not None for item in items):
                return Origin(Reason.ONE_OF_TEXTS, where)
            if items and all(constant_number(item) is not None for item in items):
                return Origin(Reason.LOOP_COUNTER, where)
        if not isinstance(iterable, cst.BaseExpression):
            return UNKNOWN
        members = [
            (value, function)
            for value, function in self.resolver.loop_items(iterable, position, scope)
            if isinstance(value, cst.BaseExpression)
        ]
        if members:
            return self.strongest(members, depth)
        if isinstance(iterable, cst.Name | cst.Attribute | cst.Call) and not position:
            whole = self.of(iterable, scope, depth)
            return whole if whole.kind in ("rate", "setting", "duration") else UNKNOWN
        return UNKNOWN

    # ------------------------------------------------------------ attributes

    def _of_attribute(self, node: cst.Attribute, function: Function, depth: int) -> Origin:
        """The origin of `base.name`."""
        name = node.attr.value
        if name in SIZE_PARTS or (name.startswith(COUNTING) and QUALITY.isdisjoint(split_identifier(name))):
            return Origin(Reason.SHAPE)
        if name in TEXT_PARTS:
            return Origin(Reason.NAME_OR_TEXT)
        if name.lower() in SETTINGS:
            return Origin(Reason.OPTIONS, dotted_name(node))
        classes = self.resolver.classes(node.value, function)
        if any(self._is_clock(cls, name) for cls in classes):  # that of a meter, too: it measures time by itself
            return Origin(Reason.CLOCK, dotted_name(node))
        fed = self._of_meter(node.value, name, function, depth)
        if fed is not None:
            return fed
        if len(classes) > MOST_MEANT:
            return UNKNOWN
        if classes:
            return self._of_attribute_bindings(classes, name, depth)
        base = self.of(node.value, function, depth)
        if base.kind == "setting":
            return Origin(Reason.READ_FROM, dotted_name(node.value))
        if base.kind in ("quality", "size", "memory", "clock", "text"):
            return base
        if name in STOPWATCHES:
            return Origin(Reason.STOPWATCH, dotted_name(node))
        return UNKNOWN

    def _is_clock(self, cls: Class, name: str) -> bool:
        """Whether an attribute holds the time at which something began."""
        values = [
            (binding.whole("assign"), where)
            for base in self.resolver.order(cls)[0]
            for binding, where in base.attributes.get(name, ())
        ]
        return any(
            isinstance(value, cst.Call) and self.resolver.qualified_name(value.func, where) in CLOCKS
            for value, where in values
        )

    def _of_meter(self, node: cst.BaseExpression, name: str, function: Function, depth: int) -> Origin | None:
        """The origin of an attribute of a meter, from the values fed to it; None for other objects."""
        if name in FEEDS or not isinstance(node, cst.Name | cst.Attribute | cst.Subscript):
            return None
        if not any(map(self._is_fed, self.resolver.classes(node, function))):
            return None
        key = (node, "fed")
        if key in self.active:
            return None
        self.active.add(key)
        sources = [item for item in self.meters.fed_values(node, function) if isinstance(item, ReportedValue)]
        origins = [self.of(value.source, value.function, depth) for value in sources]
        self.active.discard(key)
        if not origins:
            return None
        if COUNTERS.intersection(split_identifier(name)):
            return Origin(Reason.VALUES_FED, dotted_name(node))
        result = strongest(origins)
        return result if result.kind != "constant" else None

    def _is_fed(self, cls: Class) -> bool:
        return any(name in FEEDS for base in self.resolver.order(cls)[0] for name in base.methods)

    def _of_attribute_bindings(self, classes: list[Class], name: str, depth: int) -> Origin:
        """The origin of the values assigned to `self.name` in a class, or of a property."""
        origins: list[Origin] = []
        is_fixed = True
        for base in dict.fromkeys(base for cls in classes for base in self.resolver.order(cls)[0]):
            if (base, name) in self.active:
                origins.append(Origin(Reason.CYCLE))
                continue
            self.active.add((base, name))
            for binding, where in base.attributes.get(name, ()):
                if binding.how not in (*PUTTING, "declared"):
                    origins.append(self._of_binding(name, binding, where, depth))
            method = base.methods.get(name)
            if method is not None:
                origins += [self.of(value, method, depth) for value in method.returns]
                is_fixed = False
            self.active.discard((base, name))
        moving = [origin for origin in origins if origin.kind not in ("constant", "cycle")]
        if moving:
            return strongest(moving)
        if len(origins) == 1 and origins[0].kind == "constant" and is_fixed and not self._is_set_outside(name):
            return Origin(Reason.FIXED_ATTRIBUTE, name)
        return UNKNOWN

    def _is_set_outside(self, name: str) -> bool:
        """Whether an attribute of that name is assigned more than once."""
        targets = [
            target for function in self.graph.functions for target, _ in function.assigned if target.attr.value == name
        ]
        return len(targets) > 1

    # ------------------------------------------------------------ items

    def _of_subscript(self, node: cst.Subscript, function: Function, depth: int) -> Origin:
        """The origin of `base[key]`."""
        path = dotted_name(node)
        if "param_groups" in path:
            if RATES.intersection(split_identifier(" ".join(identifiers(node)))):
                return Origin(Reason.OPTIMIZER_RATE)
            return Origin(Reason.READ_FROM, "the optimizer")
        if path.startswith(("os.environ", "sys.argv")):
            return Origin(Reason.READ_FROM, "the environment")
        key = constant_key(node)
        if key is not None and self._is_group(node.value, function):
            is_rate = RATES.intersection(split_identifier(key))
            return Origin(Reason.OPTIMIZER_RATE) if is_rate else Origin(Reason.READ_FROM, "the optimizer")
        assigned = self._assigned_to_item(node, function) if key is not None else []
        origin = self.strongest(assigned, depth) if assigned else UNKNOWN
        if origin.kind not in ("unknown", "constant", "cycle"):
            return origin
        if key is not None:
            under_key = self._under_key(node.value, key, function)
            if under_key:
                origin = self.strongest(under_key, depth)
                if origin.kind != "constant":
                    return origin
                base = self.of(node.value, function, depth)
                return base if base.kind == "setting" else UNKNOWN  # may be reassigned by any holder of the mapping
        one = self._element_of_tensor(node, function)
        if one is not None:
            origin = self.of(*one, depth)
            return UNKNOWN if origin.kind in ("constant", "cycle") else origin
        base = self.of(node.value, function, depth)
        return base if key is None or base.kind in SHARED else UNKNOWN

    def _is_group(self, node: cst.BaseExpression, function: Function) -> bool:
        """Whether a variable takes the parameter groups of an optimizer one by one."""
        if not isinstance(node, cst.Name):
            return False
        return any(
            binding.how == "for" and any(name == "param_groups" for name in identifiers(binding.value))
            for binding in self.resolver.find(node.value, function)[1]
            if binding.value is not None
        )

    def _element_of_tensor(self, node: cst.Subscript, function: Function) -> Placed | None:
        """The element `sums[0]` of an array that a call makes of a list: `sums = torch.tensor([loss_sum, count])`."""
        index = index_of(node)
        if not isinstance(index, cst.Integer) or not isinstance(node.value, cst.Name):
            return None
        scope, bindings = self.resolver.find(node.value.value, function)
        values = [value for binding in bindings if (value := binding.whole("assign")) is not None]
        if len(values) != 1 or not isinstance(values[0], cst.Call) or last_name(values[0].func) not in ARRAYS:
            return None
        arguments = positional(values[0])
        part = element(arguments[0], int(index.evaluated_value)) if arguments else None
        return None if part is None else (part, scope)

    def _assigned_to_item(self, node: cst.Subscript, function: Function) -> list[Argument]:
        """The values assigned anywhere in the file to the item spelled like this: `args["best"]["loss"] = loss`."""
        code = self.nodes.code(node)
        return [
            (value, scope)
            for scope in function.module.scopes
            for place, value in scope.stored
            if self.nodes.code(place) == code
        ]

    def _under_key(self, node: cst.BaseExpression, key: str, function: Function) -> list[Placed]:
        """The values under a constant key: in a dict display, or assigned later."""
        values = self.resolver.values_under_key(node, key, function)
        if isinstance(node, cst.Name):
            scope, bindings = self.resolver.find(node.value, function)
            values += [
                (value, scope)
                for binding in bindings
                if (value := binding.whole("item")) is not None and constant_text(binding.key) == key
            ]
        return values

    # ------------------------------------------------------------ calls

    def _of_call(self, node: cst.Call, function: Function, depth: int) -> Origin:
        """The origin of the result of a call."""
        qualified = self.resolver.qualified_name(node.func, function) or ""
        name = last_name(node.func)
        if qualified in FRAMES and node.args:
            argument_origin = self.of(node.args[0].value, function, depth)
            return argument_origin if argument_origin.kind in ("quality", "duration", "speed") else UNKNOWN
        origin = self._by_callee_name(node, qualified, name) or self._of_writing(node, qualified, function, depth)
        if origin is not None:
            return origin
        origin = self._of_return_values(node, function, depth)
        if isinstance(node.func, cst.Attribute) and (origin is None or origin.kind not in ("text", "duration")):
            origin = self._of_meter(node.func.value, name, function, depth) or origin
        if origin is not None:
            return origin
        if name in PASSING or name in NUMBERS:
            inner = strongest(self.of(value, function, depth) for value in self._passed_on(node, function))
            open_kinds = {"unknown", "object", "text"} if name in NUMBERS else {"unknown", "object"}
            return Origin(Reason.COMPUTED_BY, name) if inner.kind in open_kinds else inner
        if _is_measuring(name) or _is_measuring(qualified.rpartition(".")[2]):
            return Origin(Reason.RESULT, f"{dotted_name(node.func)}()")
        return UNKNOWN

    def _by_callee_name(self, node: cst.Call, qualified: str, name: str) -> Origin | None:
        """The origin that follows from the name of a callee."""
        spelled = f"{dotted_name(node.func)}()"
        chosen = self._chosen_by_name(node, name, spelled)
        if chosen is not None:
            return chosen
        if qualified in CLOCKS or name in CLOCK_NAMES:
            return Origin(Reason.CLOCK, spelled)
        if qualified in SIZES or name in SIZE_PARTS:
            return Origin(Reason.LENGTH, self.nodes.code(node))
        if qualified in TEXTS or qualified.startswith("os.path."):
            return Origin(Reason.NAME_OR_TEXT)
        if name in PARSERS:
            return Origin(Reason.READ_BY, spelled)
        if name in GRIDS:
            return Origin(Reason.CANDIDATE, spelled)
        if name in MEMORY_CALLS:
            return Origin(Reason.MEMORY, spelled)
        if name in STOPWATCHES and not self._is_of_project(node):
            return Origin(Reason.STOPWATCH, spelled)
        if qualified.startswith(MEASURES):
            return Origin(Reason.RESULT, f"{spelled}, from {qualified.partition('.')[0]}")
        if name[:1].isupper() and not name.isupper() and name not in NUMBERS and not self._is_of_project(node):
            return Origin(Reason.MADE_BY, spelled)
        return None

    def _chosen_by_name(self, node: cst.Call, name: str, spelled: str) -> Origin | None:
        """The origin of what optimizers and schedules tell, and of places in a list of values."""
        if name in RATE_CALLS:
            return Origin(Reason.SCHEDULER_RATE)
        if name in SCALE_CALLS:
            return Origin(Reason.READ_BY, spelled)
        if name in INDEX_CALLS:
            return Origin(Reason.INDEX, spelled)
        owner, _, method = dotted_name(node.func).rpartition(".")
        if SCHEDULES.intersection(split_identifier(owner.rpartition(".")[2])) and method in SCHEDULED:
            return Origin(Reason.SCHEDULED, spelled)
        return None

    def _is_of_project(self, node: cst.Call) -> bool:
        referents = self.resolver.resolve(node.func, self.nodes.function_of(node))
        return any(isinstance(referent, ClassRef | FunctionRef | Instance) for referent in referents)

    def _of_writing(self, node: cst.Call, qualified: str, function: Function, depth: int) -> Origin | None:
        """The origin of a string formatted by a library; a formatted duration stays a duration."""
        name = last_name(node.func)
        arguments = positional(node)
        if qualified in WRITING or name in WRITING:
            values = [*arguments, *keywords(node).values()]
            origins = [self.of(value, function, depth) for value in values]
            return next((origin for origin in origins if origin.kind in ("duration", "estimate")), TEXT)
        if name == "format" and isinstance(node.func, cst.Attribute):
            template = constant_text(node.func.value)
            if template is not None:
                return self._of_shown(
                    [*arguments, *keywords(node).values()], _literal_text(format_fields(template)), function, depth
                )
        if name in ("get", "getattr", "pop") and len(arguments) > 1 and constant_text(arguments[-1]) is not None:
            return Origin(Reason.NAME_OR_TEXT)  # what takes its place where it is missing is a text
        is_text = name in TEXT_PARTS or name in DECODING or (name == "decode" and _decodes_text(node))
        return Origin(Reason.NAME_OR_TEXT) if is_text else None

    def _passed_on(self, node: cst.Call, function: Function) -> list[cst.BaseExpression]:
        """The arguments whose kind the result of a call has."""
        arguments, name = positional(node), last_name(node.func)
        if isinstance(node.func, cst.Attribute) and not self._is_module(node.func.value, function):
            return [node.func.value]
        return arguments if name in JOINING else arguments[:1]

    def _is_module(self, node: cst.BaseExpression, function: Function) -> bool:
        if not isinstance(node, cst.Name | cst.Attribute):
            return False
        root: cst.BaseExpression = node
        while isinstance(root, cst.Attribute):
            root = root.value
        if not isinstance(root, cst.Name):
            return False
        _, bindings = self.resolver.find(root.value, function)
        return bool(bindings) and bindings[0].how == "import"

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
            handed = self._handed_back(part, callee, call)
            if handed is not None:
                origins.append(self.of(*handed, depth))
            elif part is not None and len(item) > 1:
                origins.append(self._of_assignment(part, item[1:], callee, depth))
            else:
                origins.append(self.of(part, callee, depth) if part is not None else UNKNOWN)
        self.active.discard(callee)
        result = strongest(origins)
        if result.kind == "constant" and len(origins) > 1:
            result = Origin(Reason.ONE_OF_RESULTS, callee.name)
        if result.kind in {"unknown", "computed"} and not item:
            name_words = all_words(name for value in callee.returns for name in telling_identifiers(value))
            if _is_measuring(callee.name) or (MEASURING - LAYERS).intersection(name_words):
                return Origin(Reason.RESULT, f"{callee.name}()")
        return result if origins else None

    def _handed_back(self, returned: cst.CSTNode | None, callee: Function, call: cst.Call) -> Argument | None:
        """The argument of one call, where its function returns a parameter as it is; other calls do not matter then."""
        if not isinstance(returned, cst.Name) or returned.value not in callee.parameters:
            return None
        if len(callee.bindings.get(returned.value, ())) != 1:
            return None
        edge = next((edge for edge in self.graph.edges_into(callee) if edge.node is call), None)
        return edge.argument(returned.value) if edge is not None else None

    # ------------------------------------------------------------ texts

    def _of_text(self, node: cst.CSTNode, function: Function, depth: int) -> Origin | None:
        """The origin of a literal, of a filled `%` template or of concatenated strings; None otherwise."""
        match node:
            case cst.FormattedString():
                literals = [part.value for part in node.parts if isinstance(part, cst.FormattedStringText)]
                shown_values = [
                    part.expression for part in node.parts if isinstance(part, cst.FormattedStringExpression)
                ]
                return self._of_shown(shown_values, " ".join(literals), function, depth)
            case cst.BaseString():
                return TEXT
            case cst.BinaryOperation(operator=cst.Modulo(), left=cst.BaseString()):
                values = _items(node.right) if isinstance(node.right, cst.Tuple) else [node.right]
                return self._of_shown(
                    values, _literal_text(percent_fields(constant_text(node.left) or "")), function, depth
                )
            case cst.BinaryOperation(operator=cst.Add()) if _is_text(node):
                return self._of_shown([node.left, node.right], "", function, depth)
            case cst.BinaryOperation(operator=cst.Add()) if _holds_texts(node.left) or _holds_texts(node.right):
                return TEXT
        return None

    def _of_shown(self, values: Sequence[cst.BaseExpression], text: str, function: Function, depth: int) -> Origin:
        """The origin of a string that consists of values and words."""
        text += " ".join(constant_text(value) or "" for value in values)
        if not set(split_identifier(text)) <= UNITS:
            return TEXT
        origins = [self.of(value, function, depth) for value in values if constant_text(value) is None]
        telling = [origin for origin in origins if origin.kind not in ("text", "constant", "cycle")]
        kinds = {origin.kind for origin in telling}
        return telling[0] if kinds == {"duration"} or (kinds and kinds <= {"setting", "rate"}) else TEXT


def _is_measuring(name: str) -> bool:
    """Whether the name of a callable says that it measures; `ensure_correct_name` corrects something."""
    called = split_identifier(name)
    inside = set(MEASURING.intersection(called))
    if {"to", "from"}.intersection(called):
        return False  # `reward_hf_to_tune` converts
    if AVERAGING.isdisjoint(called):
        inside.discard("map")  # `tree_map` and `dataset.map` apply a function
    return bool(inside - {"correct"} or "correct" in called[-1:])


def _items(node: cst.Tuple | cst.List | cst.Set) -> list[cst.BaseExpression]:
    return [item.value for item in node.elements if isinstance(item, cst.Element)]


def _is_list(binding: Binding) -> bool:
    value = binding.value
    for number in binding.position:
        value = element(value, number) if isinstance(value, cst.BaseExpression) else None
    is_made = isinstance(value, cst.Call) and last_name(value.func) in LISTS
    return is_made or isinstance(value, cst.List | cst.Dict)


def _literal_text(parts: Sequence[object]) -> str:
    return " ".join(part for part in parts if isinstance(part, str))


def _is_text(node: cst.BaseExpression) -> bool:
    """Whether a sum has a string among its terms."""
    while isinstance(node, cst.BinaryOperation) and isinstance(node.operator, cst.Add):
        if _is_text(node.right):
            return True
        node = node.left
    return isinstance(node, cst.BaseString) or (isinstance(node, cst.Call) and last_name(node.func) == "str")


def _decodes_text(call: cst.Call) -> bool:
    """Whether a call of `decode` is one of bytes or of a tokenizer, and not one of an autoencoder."""
    owner = split_identifier(dotted_name(call.func).rpartition(".")[0])
    arguments = [argument.value for argument in call.args]
    return not TOKENIZERS.isdisjoint(owner) or all(constant_text(value) is not None for value in arguments)


def _holds_texts(node: cst.BaseExpression) -> bool:
    """Whether a list or tuple consists of literal strings: names of columns, for example."""
    items = _items(node) if isinstance(node, cst.List | cst.Tuple) else []
    return bool(items) and all(constant_text(item) is not None for item in items)


# ---------------------------------------------------------------- arithmetic

SHARED_OUT = {"counter", "size", "setting", "unknown", "computed"}
COUNTED = {"counter", "size", "setting", "rate", "constant", "cycle"}


def combine(operator: cst.BaseBinaryOp, left: Origin, right: Origin, step: float | None) -> Origin:
    """The origin of `left operator right`.

    Args:
        step: the right side if it is a number literal.
    """
    kinds = {left.kind, right.kind}
    is_quotient = isinstance(operator, cst.Divide | cst.FloorDivide)
    if isinstance(operator, cst.Divide) and "text" in kinds:
        return Origin(Reason.PATH)
    is_difference = "clock" in kinds and kinds <= DIFFERENCES
    is_own = left.kind == "clock" and right.kind == "cycle"  # `spent = time.time() - spent`
    if isinstance(operator, cst.Subtract) and (is_difference or is_own):
        return Origin(Reason.ELAPSED)
    if is_quotient and right.kind == "duration" and left.kind != "duration":
        return Origin(Reason.PER_TIME)
    if is_quotient and left.kind == "duration":
        return left
    if "cycle" in kinds and kinds <= {"cycle", "constant"}:
        counts = isinstance(operator, cst.Add | cst.Subtract) and step is not None and step.is_integer()
        return Origin(Reason.COUNTS_UP if counts else Reason.CHANGED_IN_STEPS)
    if kinds == {"constant"}:
        return Origin(Reason.CONSTANT)
    if is_quotient and left.reason is Reason.CONDITIONAL and right.kind in SHARED_OUT:
        return Origin(Reason.SHARE, left.sentence)
    if kinds <= COUNTED and kinds - {"constant", "cycle"}:
        return _of_counts(left, right, is_quotient=is_quotient)
    if is_quotient and left.kind in ("counter", "size") and right.kind in ("unknown", "cycle"):
        return UNKNOWN
    return _mix(left if is_quotient else strongest([left, right]), kinds)


DIFFERENCES = {"clock", "unknown", "constant", "setting", "computed"}


def _of_counts(left: Origin, right: Origin, *, is_quotient: bool) -> Origin:
    kinds = {left.kind, right.kind}
    if "counter" in kinds:
        source = left if left.kind == "counter" else right
        is_told = source.reason in (Reason.OF_COUNTER, Reason.INDEX)
        return source if is_told else Origin(Reason.OF_COUNTER, source.sentence)
    if is_quotient and "size" in kinds and "setting" in kinds:
        return Origin(Reason.OF_SIZES)
    return strongest([left, right])


def _mix(result: Origin, kinds: set[str]) -> Origin:
    """A mixture with unknown values counts as computed."""
    if result.kind in ("unknown", "cycle", "setting", "constant", "size", "counter") and kinds & {
        "unknown",
        "computed",
    }:
        return Origin(Reason.COMPUTED)
    return result
