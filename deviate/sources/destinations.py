"""Paths and addresses of expressions that are the same in every work copy, as far as known."""

from functools import cached_property

import libcst as cst

from deviate.analysis.resolve.index import Function
from deviate.analysis.resolve.tree import constant_key, constant_text, keywords, last_name, positional
from deviate.model.metric_vocabulary import word_set
from deviate.sources.survey import Survey

DEEPEST = 6
REST = "…"
"""Placeholder for the unknown rest of a path."""
HOME = "~"
FOREIGN = ("/", HOME, "gs://", "s3://", "hdfs://")
HARMLESS = ("/dev/", "/proc/", "/sys/")
SAME = word_set("str fspath abspath realpath normpath Path PosixPath PurePath resolve absolute as_posix")
"""Functions that return a path unchanged or in another form."""
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
        if node is None:
            return None
        values = [value for value, _ in self.survey.values(node, function)]
        texts = [text for value in values if (text := _literal(value)) is not None]
        return texts[0] if len(texts) == 1 else None

    def _paths(self, node: cst.BaseExpression, function: Function, depth: int) -> list[str]:
        if depth < 0:
            return []
        paths = []
        for value, where in [*self.survey.values(node, function), *self._defaults(node, function)]:
            paths += self._spell_paths(value, where, depth - 1)
        return [path for path in paths if path]  # an empty constant will be assigned later

    def _spell_paths(self, node: cst.BaseExpression, function: Function, depth: int) -> list[str]:
        text = constant_text(node)
        if text is not None:  # the system does not expand `~`
            return [] if text.startswith(HOME) else [text]
        match node:
            case cst.FormattedString(parts=[cst.FormattedStringText() as first, *rest]):
                return [first.value + (REST if rest else "")]
            case cst.FormattedString(parts=[cst.FormattedStringExpression() as first, *_]):
                return _longer(self._paths(first.expression, function, depth), REST)
            case cst.BinaryOperation():
                is_joined = isinstance(node.operator, cst.Divide)
                more = (constant_text(node.right) or REST) if not isinstance(node.operator, cst.Modulo) else ""
                paths = self._paths(node.left, function, depth)
                return _longer(paths, more, is_folder=is_joined) if more else [_cut(path, "%") for path in paths]
            case cst.Subscript() if constant_key(node) == "HOME":
                return [HOME]
            case cst.Call():
                return self._paths_of_call(node, function, depth)
            case cst.Attribute() if node.attr.value in ("parent", "name"):
                return []
        return []

    def _paths_of_call(self, call: cst.Call, function: Function, depth: int) -> list[str]:
        arguments, last = positional(call), last_name(call.func)
        first = arguments[0] if arguments else None
        owner = call.func.value if isinstance(call.func, cst.Attribute) else None
        subject = first if first is not None else owner
        if last == "home" and first is None:
            return [HOME]
        if last in ("get", "getenv") and first is not None and constant_text(first) == "HOME":
            return [HOME]
        if last == "format" and owner is not None:
            return [_cut(path, "{") for path in self._paths(owner, function, depth)]
        if last in EXPANDING:
            return [] if subject is None else self._expand_home(subject, function, depth)
        if last in ("join", "joinpath"):
            parts = arguments if last == "join" else [owner, *arguments] if owner is not None else []
            if not parts or (last == "join" and owner is not None and constant_text(owner) is not None):
                return []
            more = "/".join(constant_text(part) or REST for part in parts[1:])
            return _longer(self._paths(parts[0], function, depth), more, is_folder=True)
        if last in SAME and subject is not None:
            paths = self._paths(subject, function, depth)
            return _longer(paths, "/".join(constant_text(part) or REST for part in arguments[1:]), is_folder=True)
        return []

    def _expand_home(self, node: cst.BaseExpression, function: Function, depth: int) -> list[str]:
        """The value of an expression in which `~` is expanded to the home folder."""
        paths = self._paths(node, function, depth)
        for value, _ in self.survey.values(node, function):
            parts = [value, *(positional(value) if isinstance(value, cst.Call) else ())]
            texts = [text for part in parts if (text := constant_text(part)) is not None]
            paths += [text.replace("$HOME", HOME, 1) for text in texts if text.startswith((HOME, "$HOME"))]
        return paths

    def _defaults(self, node: cst.BaseExpression, function: Function) -> list[tuple[cst.BaseExpression, Function]]:
        """The default of a command-line option."""
        options = [value for value, _ in self.survey.values(node, function) if isinstance(value, cst.Attribute)]
        return [self._options[option.attr.value] for option in options if option.attr.value in self._options]

    @cached_property
    def _options(self) -> dict[str, tuple[cst.BaseExpression, Function]]:
        defaults = {}
        for call in self.survey.method_calls("add_argument"):
            by_name, spelled = keywords(call.node), [constant_text(value) or "" for value in positional(call.node)]
            long = next((text for text in spelled if text.startswith("--")), spelled[0] if spelled else "")
            name = constant_text(by_name.get("dest")) or long.lstrip("-").replace("-", "_")
            if "default" in by_name:
                defaults[name] = (by_name["default"], call.function)
        return defaults


def _longer(paths: list[str], more: str, *, is_folder: bool = False) -> list[str]:
    if not more:
        return paths
    return [
        path if path.endswith(REST) else f"{path.rstrip('/')}/{more}" if is_folder else path + more for path in paths
    ]


def _cut(template: str, mark: str) -> str:
    """A template up to its first field."""
    return template.partition(mark)[0] + REST


def _literal(node: cst.BaseExpression) -> str | None:
    text = constant_text(node)
    return text if text is not None else node.value if isinstance(node, cst.Integer) else None
