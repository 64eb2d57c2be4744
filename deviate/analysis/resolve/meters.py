"""Meters: objects of the project with their own `__str__`, and the calls that feed them values."""

from collections.abc import Iterator
from dataclasses import replace

import libcst as cst

from deviate.analysis.resolve.calls import CallGraph
from deviate.analysis.resolve.index import Class, Function
from deviate.analysis.resolve.message_items import FormatStyle, MessageItem, ReportedValue
from deviate.analysis.resolve.tree import constant_key, constant_text, keywords, positional
from deviate.model.metric_vocabulary import split_identifier, word_set

WRITERS = ("__str__", "__repr__", "__format__")
FEEDS = word_set("update add append push record observe put log __call__ accumulate step set")
SHOWN = ("global_avg", "avg", "average", "mean", "smoothed", "value", "val", "median", "last", "total", "sum")
"""Attributes that a meter most likely prints as its value, best first."""

Home = tuple[Function | Class, str]
"""Where an object is kept: (function, variable) or (class, attribute)."""

DEEPEST = 8
MOST_KINDS = 2
"""Of how many classes the object of a variable may be and yet be a meter of one of them."""


class Meters:
    """Finds the values fed to an object that is printed through its own `__str__`."""

    def __init__(self, graph: CallGraph) -> None:
        self.graph = graph
        self.resolver = graph.resolver
        self._fed: dict[Home, list[tuple[cst.Call, Function]]] | None = None
        self._classes: dict[Class, dict[Home, None]] = {}
        self._passed: dict[object, int] = {}

    def writes_itself(self, cls: Class) -> bool:
        """Whether a class defines how its objects are printed, and stores the printed values."""
        return any(self.resolver.method(cls, name) is not None for name in WRITERS) and any(
            name in FEEDS for base in self.resolver.order(cls)[0] for name in base.methods
        )

    def fed_values(self, node: cst.BaseExpression, function: Function) -> list[MessageItem]:
        """The values fed to the object of an expression, each with the name of the object."""
        feeding = self._feeding()
        items: list[MessageItem] = []
        for home in self._homes_of(node, function):
            title = self._title(home)
            for call, where in feeding.get(home, ()):
                items += self._values(call, where, title)
        return items

    # ------------------------------------------------------------ inside

    def _values(self, call: cst.Call, function: Function, title: str) -> Iterator[MessageItem]:
        """The values of a feeding call. The first argument goes into the meter, whose printed value is recorded."""

        def feed(value: cst.BaseExpression, name: str = "") -> ReportedValue:
            return ReportedValue(
                value, value, function, self.graph.nodes.code(value), style=FormatStyle.METER, name=name
            )

        for name, value in keywords(call).items():
            yield f"{title} {name}: "
            yield feed(value, name)
        values = positional(call)
        named = constant_text(values[0]) if len(values) > 1 else None
        if named is not None:  # `monitor.update("loss", loss)`
            yield f"{named}: "
            yield feed(values[1], named)
            return
        attributes = self._shown_attributes(call, function)
        for value in values[:1]:
            yield f"{title} "
            item = feed(value, title or self._key(call))
            is_shown = attributes and isinstance(call.func, cst.Attribute)
            yield replace(item, node=call.func, form="meter", fields=attributes) if is_shown else item

    def _shown_attributes(self, call: cst.Call, function: Function) -> tuple[str, ...]:
        if not isinstance(call.func, cst.Attribute):
            return ()
        classes = self.resolver.classes(call.func.value, function)
        names = {
            name
            for cls in classes
            for base in self.resolver.order(cls)[0]
            for name in (
                *base.attributes,
                *(attribute for attribute, method in base.methods.items() if "property" in method.marks),
            )
        }
        return tuple(name for name in SHOWN if name in names)

    def _key(self, call: cst.Call) -> str:
        """The key that names the value, as in `meters["acc"].update(…)`."""
        receiver = call.func.value if isinstance(call.func, cst.Attribute) else call.func
        return (constant_key(receiver) or "") if isinstance(receiver, cst.Subscript) else ""

    def _feeding(self) -> dict[Home, list[tuple[cst.Call, Function]]]:
        if self._fed is None:
            self._fed = {}
            for call, function in self.graph.calls:
                receiver = call.func.value if isinstance(call.func, cst.Attribute) else call.func
                is_feeding = isinstance(call.func, cst.Attribute) and call.func.attr.value in FEEDS
                if not is_feeding or not call.args or self._is_handed_on(function):
                    continue
                for home in self._homes_of(receiver, function):
                    self._fed.setdefault(home, []).append((call, function))
        return self._fed

    def _is_handed_on(self, function: Function) -> bool:
        """Whether a function is a meter's own feeding method, whose inner calls would count values twice."""
        return function.owner is not None and function.name in FEEDS and self.writes_itself(function.owner)

    def _homes_of(self, node: cst.CSTNode, function: Function) -> dict[Home, None]:
        """Where the object of an expression is stored."""
        self._passed = {}
        return dict.fromkeys(self._homes(node, function, DEEPEST))

    def _is_passed(self, key: object, depth: int) -> bool:
        """Whether one search came by as far from its end, or further: what lies behind is the same again."""
        if self._passed.get(key, 0) >= depth:
            return True
        self._passed[key] = depth
        return False

    def _homes(self, node: cst.CSTNode, function: Function, depth: int) -> Iterator[Home]:
        if self._is_passed(id(node), depth):
            return
        if isinstance(node, cst.Subscript):
            yield from self._homes(node.value, function, depth - 1)
            for thing_node, where in self.resolver.items(node.value, function):
                yield from self._homes(thing_node, where, depth - 1)
        elif isinstance(node, cst.Attribute):
            is_meter = any(map(self.writes_itself, self.resolver.classes(node, function)))
            for cls in self.resolver.classes(node.value, function):
                yield from self._attribute_homes(cls, node.attr.value, depth)
                # `logger.meters[…]`: a part of what the logger prints
                if self.writes_itself(cls) and not is_meter:
                    yield from self._homes(node.value, function, depth - 1)
        elif isinstance(node, cst.Name):
            yield from self._variable_homes(node.value, function, depth)

    def _attribute_homes(self, cls: Class, name: str, depth: int) -> Iterator[Home]:
        for base in self.resolver.order(cls)[0]:
            for binding, where in base.attributes.get(name, ()):
                if isinstance(binding.value, cst.Name):
                    yield from self._homes(binding.value, where, depth - 1)
                elif binding.how in ("assign", "item"):
                    yield (base, name)

    def _variable_homes(self, name: str, function: Function, depth: int) -> Iterator[Home]:
        scope, bindings = self.resolver.find(name, function)
        if self._is_passed((scope, name), depth):
            return
        for binding in bindings:
            value = binding.value
            if binding.how == "parameter":
                if name == scope.receiver and scope.owner is not None:
                    yield from self._homes_of_class(scope.owner)
                    continue
                for edge in self.graph.edges_into(scope):
                    argument = edge.argument(name)
                    if argument is not None:
                        yield from self._homes(*argument, depth - 1)
            elif not isinstance(value, cst.BaseExpression):
                continue
            elif binding.how == "for":
                for item, where in self.resolver.loop_items(value, binding.position, scope):
                    yield from self._homes(item, where, depth - 1)
            elif binding.how == "assign" and isinstance(value, cst.Name | cst.Attribute | cst.Subscript):
                yield from self._homes(value, scope, depth - 1)
            elif binding.how == "assign":
                yield (scope, name)

    def _homes_of_class(self, cls: Class) -> Iterator[Home]:
        """Every place where an object of a class is stored: `str(self)` in the class can mean any of them."""
        if cls in self._classes:
            yield from self._classes[cls]
            return
        homes: dict[Home, None] = {}
        self._classes[cls] = homes
        for function in self.graph.functions:
            for name, bindings in function.bindings.items():
                for binding in bindings:
                    if binding.how == "assign" and isinstance(binding.value, cst.Call) and not binding.position:
                        classes = self.resolver.classes(binding.value, function)
                        is_told = len(classes) <= MOST_KINDS
                        if is_told and any(cls in self.resolver.order(derived)[0] for derived in classes):
                            homes[(function, name)] = None
        yield from homes

    def _title(self, home: Home) -> str:
        """The name passed to an object's constructor: `AverageMeter("Loss", ":.4e")`."""
        holder, name = home
        if isinstance(holder, Function):
            bindings = holder.bindings.get(name, [])
        else:
            bindings = [binding for binding, _ in holder.attributes.get(name, ())]
        for binding in bindings:
            if isinstance(binding.value, cst.Call):
                for value in (*positional(binding.value), *keywords(binding.value).values()):
                    text = constant_text(value)
                    if text and any(len(word) > 1 for word in split_identifier(text)):
                        return text
        return name
