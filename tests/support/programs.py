"""Small programs of all shapes: loops, branches and errors, with prints in every style, and what they must report."""

import contextlib
import io
import itertools
from collections.abc import Iterator
from typing import Any

from hypothesis import strategies as st

PRINTS = (
    # the statement, the expression that is reported, and how often
    ('print(f"acc {acc:.3f}")', "acc", 1),
    ('print(f"{acc=} {acc = :.2e}")', "acc", 2),
    ('print("acc %.3f" % acc)', "acc", 1),
    ('print("acc %s" % (acc,), end="; ")', "acc", 1),
    ('print("acc", acc, sep=": ")', "acc", 1),
    ('print("acc {:.2f}".format(acc))', "acc", 1),
    ('print("acc {a:>8.2f}".format(a=acc))', "acc", 1),
    ('print("acc", format(acc, ".2f"))', "acc", 1),
    ('print("acc " + str(acc))', "acc", 1),
    ('print("acc", round(acc, 2))', "acc", 1),
    ("print(f\"acc {f'{acc:.1f}'!r}\")", "acc", 1),
    ('print(f"""loss\n  {loss:.{2}f}""")', "loss", 1),
    ("print('loss %.3f'\n% loss)", "loss", 1),
    ('print("loss", (loss := loss / 2 + 0.125))', "loss := loss / 2 + 0.125", 1),
    ('print("acc {a.real:.3f}".format(a=acc))', "a.real", 1),
)
REPORTED = {"loss := loss / 2 + 0.125": "loss", "a.real": "acc"}
LOOPS = frozenset(("for", "generator", "while", "while True"))
CHANGES = ("acc = acc / 2 + 0.25", "loss = loss / 2 + acc", "if loss > 0.6: pass")

Node = Any


def programs() -> st.SearchStrategy[list[Node]]:
    """The statements of a function that trains."""
    leaves = st.one_of(st.sampled_from(PRINTS), st.sampled_from(PRINTS), st.sampled_from(CHANGES))

    def around(inner: st.SearchStrategy[Node]) -> st.SearchStrategy[Node]:
        body = st.lists(inner, min_size=1, max_size=3)
        head = st.sampled_from(["for", "for", "generator", "while", "while True", "if", "try"])
        ending = st.sampled_from(["pass", "break", "continue", "return", "raise KeyError(step)"])
        return st.tuples(head, body, ending, body)

    return st.lists(st.recursive(leaves, around, max_leaves=10), min_size=2, max_size=5)


def program(nodes: list[Node]) -> tuple[str, str, dict[str, list[object]]]:
    """A script, what it prints, and the values that it reports, by expression."""
    seen: list[tuple[str, object]] = []
    out = io.StringIO()
    with contextlib.redirect_stdout(out):
        exec(_text(nodes, is_watched=True), {"seen": seen})
    values: dict[str, list[object]] = {}
    for expression, value in seen:
        values.setdefault(expression, []).append(value)
    return _text(nodes, is_watched=False), out.getvalue(), values


def _text(nodes: list[Node], *, is_watched: bool) -> str:
    count = itertools.count()
    body = [line for node in nodes for line in _lines(node, "    ", count, is_watched=is_watched, in_loop=False)]
    return "\n".join([
        "def numbers(n):",
        "    try:",
        "        for k in range(n):",
        "            yield k",
        "    finally:",
        "        print('closed')",
        "def train(epoch):",
        "    acc, loss, step = epoch / 3, 1.0, 0",
        *body,
        "for epoch in range(2):",
        "    try:",
        "        train(epoch)",
        "    except KeyError as error:",
        "        print('left by', repr(error))",
        "",
    ])  # fmt: skip


def _lines(node: Node, indent: str, count: Iterator[int], *, is_watched: bool, in_loop: bool) -> Iterator[str]:
    if isinstance(node, str):
        yield indent + node
        return
    if len(node) == 3:
        text, expression, times = node
        value = REPORTED.get(expression, expression)
        yield indent + text + f"; seen.extend([({expression!r}, {value})] * {times})" * is_watched
        return
    head, body, ending, other = node
    is_loop = head in LOOPS
    inner = indent + "    "
    yield from (indent + line for line in _head(head, f"n{next(count)}"))
    for child in body:
        yield from _lines(child, inner, count, is_watched=is_watched, in_loop=in_loop or is_loop)
    if ending not in {"break", "continue"} or in_loop or is_loop:
        yield f"{inner}if acc > 0.3 + step / 9: {ending}"
    if head == "try":
        yield f"{indent}except KeyError as error: print('caught', error)"
    yield f"{indent}else:"
    for child in other:
        yield from _lines(child, inner, count, is_watched=is_watched, in_loop=in_loop)
    if head == "try":
        yield f"{indent}finally: print('finally')"


def _head(head: str, name: str) -> tuple[str, ...]:
    """What a compound statement begins with; `while` counts down a name of its own."""
    counting = (f"    {name} -= 1; step += 1", f"    if {name} < 0: break")
    return {
        "if": ("if acc > 0.4:",),
        "try": ("try:",),
        "for": ("for step in range(3):",),
        "generator": ("for step in numbers(2):",),
        "while": (f"{name} = 3", f"while {name}:", *counting),
        "while True": (f"{name} = 3", "while True:", *counting),
    }[head]
