"""What an expression can stand for, as far as the source tells: the values that names are resolved to."""

from dataclasses import dataclass

import libcst as cst

from deviate.analysis.resolve.index import Class, Function, Module

Placed = tuple[cst.BaseExpression, Function]
"""An expression, and the function in whose frame it is written."""
Argument = tuple[cst.BaseExpression | cst.FunctionDef, Function]
"""An argument, or the function that a decorator is given, and the function in whose frame it is written."""


@dataclass(frozen=True, slots=True)
class FunctionRef:
    """A function of the project.

    Attributes:
        receiver: the class of the instance that it is bound to.
        arguments: those that `functools.partial` and the like put before those of the call.
        by_name: the same for named ones.
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
    """Something of a library, by its full name: imports followed, results of calls as `module.Class()`."""

    name: str


@dataclass(frozen=True, slots=True)
class Container:
    """A list, tuple, dict or set, or what `*values` holds; its items are resolved when they are asked for."""

    node: cst.BaseExpression | cst.Param
    function: Function


@dataclass(frozen=True, slots=True)
class SuperRef:
    """What `super()` gives: the methods of a class of the project as seen behind one of its bases."""

    cls: Class
    behind: Class


@dataclass(frozen=True, slots=True)
class Edge:
    """One call, or the like, by which a function of the project comes to run.

    Attributes:
        node: the call, import statement or decorator where the caller is left.
        how: `call`; `import` (the top level of a module); `handed` (somebody else calls it, when and with what is not
            told); `named` (a call of a method of that name on an object whose class cannot be told).
        skipped: leading parameters that the call does not give: the instance of a method.
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
        """What goes into `*values` of the function."""
        return self.arguments[max(0, len(self.callee.parameters) - self.skipped) :]

    @property
    def named_rest(self) -> tuple[tuple[str, Argument], ...]:
        """What goes into `**options` of the function."""
        return tuple(pair for pair in self.by_name if pair[0] not in self.callee.parameters)

    def argument(self, parameter: str) -> Argument | None:
        """What the call gives to a parameter; None for its default, and where that cannot be told."""
        for name, argument in self.by_name:
            if name == parameter:
                return argument
        if parameter not in self.callee.parameters:
            return None
        position = self.callee.parameters.index(parameter) - self.skipped
        return self.arguments[position] if 0 <= position < len(self.arguments) else None


Value = SuperRef | FunctionRef | ClassRef | Instance | ModuleRef | External | Container
