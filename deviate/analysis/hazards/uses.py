"""Whether the order of items matters at one place: decided from function names and syntax alone."""

import libcst as cst

from deviate.analysis.resolve.identifier_words import split_identifier
from deviate.analysis.resolve.index import Function, Nodes
from deviate.analysis.resolve.tree import keywords, last_name, walk
from deviate.model.metric_vocabulary import word_set

SORTING = word_set("sorted natsorted os_sorted humansorted sort")
INDIFFERENT = SORTING | word_set(
    "len set frozenset min max any all bool sum Counter unique isin in1d setdiff1d intersect1d union1d print pprint "
    "debug info warning error critical exception isinstance update difference difference_update intersection "
    "intersection_update union issubset issuperset isdisjoint symmetric_difference type id repr rmtree copytree dict "
    "fromkeys discard remove"
)
"""Functions whose result does not depend on the order of the items."""

KEEPING = word_set(
    "list tuple iter reversed filter map tqdm trange track array asarray chain from_iterable join copy deepcopy Series"
)
"""Functions that return their items in the same order."""

PICKING = word_set("choice choices sample enumerate zip pop popleft islice index")
ADDING = {"append": 0, "extend": 0, "appendleft": 0, "insert": 1}
WRITING = word_set("write writerow writerows writelines put put_nowait send")
TRAINING = word_set("backward step fit partial_fit train_on_batch minimize apply_gradients")
ASIDE = word_set(
    "push upload hub huggingface export clean cleanup prune backup archive zip plot plots video videos log logs logger "
    "logging raw"
)
"""Words in names of functions and files that do not affect the result of training."""

TESTING = word_set("test testing infer inference demo predict")
"""Words in names of test functions, which do not affect it unless the name also mentions training."""

REPORTING = word_set("print pprint log info debug warning error Image add_images log_image log_images")

COMPREHENSIONS = (cst.ListComp, cst.GeneratorExp, cst.SetComp, cst.DictComp)


def is_aside(function: Function) -> bool:
    """Whether a function does not affect the result of training, judged by its name and that of its file."""
    name_words = split_identifier(function.name)
    stem = function.module.file.rpartition("/")[2]
    is_test = not TESTING.isdisjoint(name_words) and {"train", "split"}.isdisjoint(name_words)
    return is_test or not ASIDE.isdisjoint((*name_words, *split_identifier(stem)))


def is_reported(node: cst.CSTNode, nodes: Nodes) -> bool:
    """Whether an expression is inside a call that prints or logs."""
    for parent in nodes.ancestors(node):
        if isinstance(parent, cst.Call) and last_name(parent.func) in REPORTING:
            return True
        if isinstance(parent, cst.BaseStatement | cst.BaseSmallStatement):
            return False
    return False


def is_sorted(node: cst.CSTNode, nodes: Nodes) -> bool:
    """Whether a list is sorted, in place or as a copy, or each value computed from its items is."""
    above = nodes.parents.get(node)
    if isinstance(above, cst.Attribute) and above.value is node and above.attr.value == "sort":
        return True
    for parent in nodes.ancestors(node):
        if isinstance(parent, cst.Call) and last_name(parent.func) in SORTING:
            return True
        if isinstance(parent, cst.Call) and last_name(parent.func) not in KEEPING:
            return False
        if isinstance(parent, cst.BaseStatement | cst.BaseSmallStatement):
            return False
    return False


def is_load(node: cst.CSTNode, nodes: Nodes) -> bool:
    """Whether a name or attribute is read here, not bound or only spelled."""
    parent = nodes.parents.get(node)
    match parent:
        case cst.Attribute():
            return node is parent.value
        case cst.Arg():
            return node is not parent.keyword
        case cst.AssignTarget() | cst.AugAssign() | cst.AnnAssign() | cst.NamedExpr():
            return node is getattr(parent, "value", None)
        case cst.For() | cst.CompFor():
            return node is not parent.target
        case cst.Param():
            return node is parent.default
        case cst.FunctionDef() | cst.ClassDef() | cst.AsName() | cst.NameItem() | cst.ImportAlias() | None:
            return False
    return True


def is_one_item(subscript: cst.Subscript) -> bool:
    """Whether one item is taken at a fixed index, as from a list with a single item."""
    piece = subscript.slice[0].slice
    return isinstance(piece, cst.Index) and isinstance(piece.value, cst.Integer | cst.UnaryOperation)


def is_constant(node: cst.CSTNode) -> bool:
    return isinstance(node, cst.BaseNumber | cst.BaseString) or (
        isinstance(node, cst.Name) and node.value in ("True", "False", "None")
    )


def is_count(node: cst.BaseExpression) -> bool:
    """Whether integers are added, whose sum is the same in every order."""
    return isinstance(node, cst.Integer) or (
        isinstance(node, cst.Call) and last_name(node.func) in ("len", "int", "getsize", "count")
    )


def is_numbered(node: cst.CSTNode, counters: set[str]) -> bool:
    """Whether a key or value depends on the number of earlier iterations."""
    for part in walk(node):
        if isinstance(part, cst.Name) and part.value in counters:
            return True
        if isinstance(part, cst.Call) and last_name(part.func) == "len" and not keywords(part):
            return True
    return False
