"""Paths and addresses of expressions that are the same in every work copy, as far as known."""

import re
from functools import cached_property

import libcst as cst

from deviate.analysis.resolve.index import Function
from deviate.analysis.resolve.tree import constant_key, constant_text, keywords, last_name, positional
from deviate.model.metric_vocabulary import word_set
from deviate.sources.survey import Survey

DEEPEST = 6
REST = "…"
"""Placeholder for the rest of a path, behind what it begins with."""
HOME = "~"
FIELD = re.compile("[%{]")
"""Beginning of a field of a template."""
FOREIGN = ("/", HOME, "gs://", "s3://", "hdfs://")
HARMLESS = ("/dev/", "/proc/", "/sys/")
BEGINNING = word_set("str fspath abspath realpath normpath join Path PosixPath PurePath")
"""Functions that return a path which begins with their first argument …"""
OF_OWNER = word_set("resolve absolute as_posix joinpath format")
"""… and methods that return one which begins with their object."""
EXPANDING = word_set("expanduser expandvars")


class Destinations:
    """Resolves expressions to paths and addresses."""

    def __init__(self, survey: Survey) -> None:
        self.survey = survey

    def outside(self, node: cst.BaseExpression | None, function: Function) -> str | None:
        """The fixed path or address outside of any work copy that an expression can be; None if it has none.

        What follows a constant beginning is `…`; the home folder is `~`.
        """
        for path in self._paths(node, function, DEEPEST) if node is not None else ():
            if path.startswith(FOREIGN) and path.strip(f"/{REST}") and not path.startswith(HARMLESS):
                return path
        return None

    def constant(self, node: cst.BaseExpression | None, function: Function) -> str | None:
        """The string or number that an expression always is."""
        values = [value for value, _ in self.survey.values(node, function)] if node is not None else []
        texts = [value.value if isinstance(value, cst.Integer) else constant_text(value) for value in values]
        constants = [text for text in texts if text is not None]
        return constants[0] if len(constants) == 1 else None

    def _paths(self, node: cst.BaseExpression, function: Function, depth: int, *, is_home: bool = False) -> list[str]:
        """What an expression can be, up to its first part that is unknown.

        Args:
            is_home: whether `~` is the home folder here; the system does not expand it.
        """
        paths = []
        values = list(self.survey.values(node, function))
        names = [value.attr.value for value, _ in values if isinstance(value, cst.Attribute)]
        values += [self._options[name] for name in names if name in self._options]
        for value, where in values if depth else ():
            text, (first, more) = constant_text(value), _beginning(value)
            if text is not None:
                paths += [] if text.startswith(HOME) and not is_home else [text.replace("$HOME", HOME)]
            elif _is_home(value):
                paths.append(HOME)
            elif isinstance(first, str):
                paths.append(first + more)
            elif first is not None:
                is_expanded = is_home or (isinstance(value, cst.Call) and last_name(value.func) in EXPANDING)
                begun = self._paths(first, where, depth - 1, is_home=is_expanded)
                paths += [path if path.endswith(REST) or not more else FIELD.split(path)[0] + more for path in begun]
        return [path for path in paths if path.strip(REST)]  # an empty constant will be assigned later

    @cached_property
    def _options(self) -> dict[str, tuple[cst.BaseExpression, Function]]:
        """The defaults of command-line options."""
        defaults = {}
        for call in self.survey.method_calls("add_argument"):
            by_name, spelled = keywords(call.node), [constant_text(value) or "" for value in positional(call.node)]
            long = next((text for text in spelled if text.startswith("--")), spelled[0] if spelled else "")
            name = constant_text(by_name.get("dest")) or long.lstrip("-").replace("-", "_")
            if "default" in by_name:
                defaults[name] = (by_name["default"], call.function)
        return defaults


def _beginning(node: cst.BaseExpression) -> tuple[cst.BaseExpression | str | None, str]:
    """What the text of an expression begins with, and what stands for the rest of it."""
    match node:
        case cst.FormattedString(parts=[cst.FormattedStringText() as first, *_]):
            return first.value, REST
        case cst.FormattedString(parts=[cst.FormattedStringExpression() as first, *_]):
            return first.expression, REST
        case cst.BinaryOperation():
            return node.left, f"/{REST}" if isinstance(node.operator, cst.Divide) else REST
        case cst.Call():
            name, arguments = last_name(node.func), positional(node)
            if isinstance(node.func, cst.Attribute) and (name in OF_OWNER or (name in EXPANDING and not arguments)):
                return node.func.value, REST if arguments else ""
            first_argument = arguments[0] if arguments and name in BEGINNING | EXPANDING else None
            return first_argument, f"/{REST}" if len(arguments) > 1 else ""
    return None, ""


def _is_home(node: cst.BaseExpression) -> bool:
    """Whether an expression is the home folder: `Path.home()`, or the value of HOME."""
    match node:
        case cst.Subscript():
            return constant_key(node) == "HOME"
        case cst.Call(args=[]):
            return last_name(node.func) == "home"
        case cst.Call(args=[cst.Arg() as name, *_]):
            return last_name(node.func) in ("get", "getenv") and constant_text(name.value) == "HOME"
    return False
