"""No adapter reaches into what another one, or the guest around it, keeps to itself."""

import ast
from pathlib import Path

from deviate.guest import frameworks

FRAMEWORKS = Path(frameworks.__file__).parent
GUEST = FRAMEWORKS.parent


def owner_of(path: Path) -> str:
    """The adapter that a file belongs to; "" for the guest around them."""
    if FRAMEWORKS not in path.parents:
        return ""
    return path.relative_to(FRAMEWORKS).parts[0].removesuffix(".py")


def private_definitions(tree: ast.AST) -> set[str]:
    """Names with one underscore that are methods, or attributes of `self`."""
    classes = [node for node in ast.walk(tree) if isinstance(node, ast.ClassDef)]
    names = {node.name for owner in classes for node in owner.body if isinstance(node, ast.FunctionDef)}
    names |= {
        node.attr
        for node in ast.walk(tree)
        if isinstance(node, ast.Attribute)
        and isinstance(node.ctx, ast.Store)
        and isinstance(node.value, ast.Name)
        and node.value.id == "self"
    }
    return {name for name in names if name.startswith("_") and not name.startswith("__")}


def test_no_private_name_of_another_adapter_is_used() -> None:
    trees = {path: ast.parse(path.read_text(encoding="utf-8")) for path in GUEST.rglob("*.py")}
    definitions: dict[str, set[str]] = {}
    for path, tree in trees.items():
        definitions.setdefault(owner_of(path), set()).update(private_definitions(tree))
    reaches = []
    for path, tree in trees.items():
        owner = owner_of(path)
        if not owner:
            continue
        of_others = set().union(*(names for other, names in definitions.items() if other != owner))
        foreign = of_others - definitions[owner]
        for node in ast.walk(tree):
            # What a class inherits it may use.
            if isinstance(node, ast.Attribute) and node.attr in foreign and ast.unparse(node.value) != "self":
                reaches.append(f"{path.relative_to(GUEST)}:{node.lineno} {ast.unparse(node)}")
            elif isinstance(node, ast.ImportFrom) and node.level:
                names = [alias.name for alias in node.names if alias.name.startswith("_")]
                reaches += [f"{path.relative_to(GUEST)}:{node.lineno} {name}" for name in names]
    assert reaches == []
