"""Abstract values: what names and expressions resolve to, as far as the source shows."""

from dataclasses import dataclass

import libcst as cst

from deviate.analysis.resolve.index import Class, Function, Module

Placed = tuple[cst.BaseExpression, Function]
"""An expression, and the function in whose frame it is written."""
Argument = tuple[cst.BaseExpression | cst.FunctionDef | cst.ClassDef, Function]
"""An argument or decorated definition, and the function in whose frame it is written."""


@dataclass(frozen=True, slots=True)
class FunctionRef:
    """A function of the project.

    Attributes:
        receiver: the class of the instance it is bound to. arguments: positional arguments bound by `functools.partial`
            and the like. by_name: bound keyword arguments.
    """

    function: Function
    receiver: Class | None = None
    arguments: tuple[Argument, ...] = ()
    by_name: tuple[tuple[str, Argument], ...] = ()


@dataclass(frozen=True, slots=True)
class ClassRef:
    """A class of the project."""

    cls: Class


@dataclass(frozen=True, slots=True)
class Instance:
    """An object of a class of the project."""

    cls: Class


@dataclass(frozen=True, slots=True)
class ModuleRef:
    """A module of the project, or a folder that is a package without a file of its own (module None)."""

    file: str
    module: Module | None


@dataclass(frozen=True, slots=True)
class External:
    """A library object, by its full name with imports resolved; results of calls as `module.Class()`."""

    name: str


@dataclass(frozen=True, slots=True)
class Container:
    """A list, tuple, dict or set, or the value of `*values`; its items are resolved on demand."""

    node: cst.BaseExpression | cst.Param
    function: Function


@dataclass(frozen=True, slots=True)
class SuperRef:
    """The result of `super()`: the methods of a class of the project, looked up after one of its bases."""

    cls: Class
    behind: Class


@dataclass(frozen=True, slots=True)
class Edge:
    """A call, import or callback by which a function of the project runs.

    Attributes:
        node: the call, import statement or decorator where the caller is left.
        how: `call`; `import` (the top level of a module); `handed` (a callback: when and with which arguments it is
            called is unknown).
        skipped: leading parameters without an argument in the call: the instance of a method.
    """

    node: cst.CSTNode
    caller: Function
    callee: Function
    how: str = "call"
    arguments: tuple[Argument, ...] = ()
    by_name: tuple[tuple[str, Argument], ...] = ()
    skipped: int = 0

    @property
    def is_handed(self) -> bool:
        return self.how == "handed"

    @property
    def rest(self) -> tuple[Argument, ...]:
        """The arguments that go into `*values` of the function."""
        return self.arguments[max(0, self.callee.n_positional - self.skipped) :]

    def argument(self, parameter: str) -> Argument | None:
        """The argument for a parameter; None if its default is used or the argument is unknown."""
        for name, argument in self.by_name:
            if name == parameter:
                return argument
        if parameter not in self.callee.parameters[: self.callee.n_positional]:
            return None
        position = self.callee.parameters.index(parameter) - self.skipped
        return self.arguments[position] if 0 <= position < len(self.arguments) else None


Value = SuperRef | FunctionRef | ClassRef | Instance | ModuleRef | External | Container
