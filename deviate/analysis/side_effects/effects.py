"""Fixed paths that a run of the script writes."""

import libcst as cst

from deviate.analysis.resolve.calls import CallGraph
from deviate.analysis.resolve.index import Function
from deviate.analysis.resolve.tree import constant_text, keywords, last_name, positional, walk
from deviate.model.metric_vocabulary import word_set

WRITERS = {
    "torch.save": (1, "f"),
    "numpy.save": (0, "file"),
    "numpy.savez": (0, "file"),
    "numpy.savez_compressed": (0, "file"),
    "numpy.savetxt": (0, "fname"),
    "matplotlib.pyplot.savefig": (0, "fname"),
    "joblib.dump": (1, "filename"),
}
WRITING_METHODS = word_set("save save_weights to_csv to_json savefig save_pretrained to_pickle")
READERS = word_set(
    "load load_model load_weights read_csv read_json restore from_pretrained exists isfile isdir load_state_dict "
    "loadtxt"
)


def output_paths(graph: CallGraph) -> tuple[str, ...]:
    """Constant relative paths that the script writes and never reads, in source order."""
    written: list[str] = []
    read: set[str] = set()
    for call, function in graph.calls:
        qualified = graph.resolver.qualified_name(call.func, function) or ""
        target = _target(call, qualified)
        if target is not None:
            path = _constant(target, function, graph)
            if path:
                written.append(path)
        elif qualified in ("builtins.open", "io.open") or last_name(call.func) in READERS:
            for node in walk(call):
                path = _constant(node, function, graph) if isinstance(node, cst.Name | cst.BaseString) else None
                if path:
                    read.add(path)
    return tuple(dict.fromkeys(path for path in written if path not in read and not path.startswith(("/", "~"))))


def _target(call: cst.Call, qualified: str) -> cst.BaseExpression | None:
    arguments, by_name = positional(call), keywords(call)
    if qualified in ("builtins.open", "io.open"):
        mode = constant_text(by_name.get("mode", arguments[1] if len(arguments) > 1 else None)) or "r"
        if not set("wax") & set(mode):
            return None
        return arguments[0] if arguments else by_name.get("file")
    if qualified in WRITERS:
        place, name = WRITERS[qualified]
        return arguments[place] if len(arguments) > place else by_name.get(name)
    if isinstance(call.func, cst.Attribute) and call.func.attr.value in WRITING_METHODS and arguments:
        return arguments[0]
    return None


def _constant(node: cst.CSTNode, function: Function, graph: CallGraph) -> str | None:
    text = constant_text(node)
    if text is None and isinstance(node, cst.Name):
        _, bindings = graph.resolver.find(node.value, function)
        if len(bindings) == 1:
            return constant_text(bindings[0].whole("assign"))
    return text
