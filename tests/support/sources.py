"""Programs of every construct of the language, that tell in which order they evaluate what (see `noting`).

They end after few steps, and compute with small numbers.
"""

import textwrap
from collections.abc import Callable
from dataclasses import dataclass, replace

from hypothesis import strategies as st

PRELUDE = "from noting import *\na, b, é, meter, items = 1, 2.5, True, Meter(), [0.5, 1.5]\n"
HEADS = (
    "",
    '"""Doc."""\n',
    "from __future__ import annotations\n",
    "# -*- coding: utf-8 -*-\n\n'Doc.'; from __future__ import division\n",
    "def first(x=0): return x\n",
    "class First:\n    'Doc.'\n    def first(self): pass\n",
    "try:\n    import nothing_of_this_name\nexcept ImportError: pass\n",
    "for _ in ():\n    pass\n",
)
EXPRESSIONS = (
    "({} + {})",
    "-{} % 7",
    "({} if {} else {})",
    "({} and {} or {})",
    "({} < {} <= {})",
    "[{}, *[{}, {}]][1]",
    "{{'k': {}, **{{'j': {}}}}}['j']",
    "max({},\n {}, *[{}])",
    "max([{}, {}], key=lambda q, r=1: q - r)",
    "dict(k={}, **{{'j': {}}})['k']",
    "sum(x + {} for x in [{}, {}] if x != {})",
    "len([x for x in items if x > {}])",
    "sorted({{x: y for x, y in zip(items, [{}])}}.values())[0]",
    "(w := {})",
    "(lambda q={}: q - {})()",
    'len(f"{{{}:.2f}}")',
    "items[{} > {}:][0]",
    "meter.update({}, n=1)",
    "(meter).update(\n    {})",
    "float('%.2f' % {})",
    "float('{{:.2f}}'.format({}))",
    "(not {})",
    "sorted([*{{{}, {}}}, *(x for x in frozenset([{}]))], key=abs)[0]",
    "len({{{}, 'é', *{{'r', 's'}}}}) + hash(({}, 'x')) * 0",
    "len([k for k in {{{}, 'q'}} for _ in (k, *{{1, 'r'}})].pop() and 'z' or 'z') + id(None) * 0 + {}",
    "({}  # a comment\n  * 0.5)",
)
PRINTS = (
    "print('x', {}, {}, sep=', ')",
    "print(f'{{{0}}} {{{0}!r:>6}} {{{1} = }}')",
    'print(f"{{{0}=}} {{a=:.2f}} {{ é = !s:>{{3}}}}")',
    "print(f'''line {{{0}}}\nof {{{1}:.1f}}''')",
    "print('%s and %.2f' % ({}, {}))",
    "print('%(a).2f %(k)s' % {{'a': {}, 'k': {}}}, '%(b)s' % globals())",
    "print('{{0}} {{k:.2f}} {{m.avg}}'.format({}, k={}, m=meter))",
    "print('{{:.2f}} {{}}'\n      .format(*[{}, {}]))",
    "print(*[{}, {}], end=';\\n')",
    "print('é', str({}), repr(meter), meter) if False else print(meter, str({}))",
    "sys.stdout.write('%g\\n' % {})",
    "print('a'\n      'b %s'\n      % {}); print({})",
)
SIMPLE = (
    "a = {}",
    "b += {}",
    "é = a = {}",
    "a, b = {}, {}",
    "a, (b, *rest) = {}, [{}, 1]",
    "items[{} % 1 == 2] = {}",
    "v: float = {}",
    "assert {} != 9, {}",
    "pass; a = {}; b = {}  # é",
    "{}",
    "meter.avg = {}",
    "del [{}][:]",
)
SCOPES = ("a, b, é, w = 1, 2, 3, 4", "global a, b, é, w")
ENDINGS = ("pass", "break", "continue", "return {}", "raise ValueError({})", "a = {} / 0")


@dataclass(frozen=True)
class Where:
    """What may end a block: only loops are left by `break`, only functions by `return`."""

    function: bool = False
    loop: bool = False


@st.composite
def sources(draw: st.DrawFn) -> str:
    """The text of a program."""
    return _Writer(draw).program()


class _Writer:
    """Draws a program part by part; every `note` has a name of its own."""

    def __init__(self, draw: st.DrawFn) -> None:
        self.draw = draw
        self.count = 0

    def program(self) -> str:
        head = self.one(HEADS)
        body = [self.statement(3, Where()) for _ in range(self.up_to(4) + 1)]
        return head + PRELUDE + "\n".join(body) + "\n"

    def one(self, options: tuple[str, ...]) -> str:
        return self.draw(st.sampled_from(options))

    def up_to(self, largest: int) -> int:
        return self.draw(st.integers(0, largest))

    def name(self) -> str:
        self.count += 1
        return f"n{self.count}"

    # ------------------------------------------------------------ expressions

    def expression(self, depth: int = 2) -> str:
        kind = self.up_to(5 if depth else 3)
        if kind == 0:
            return self.one(("a", "b", "é", "0.25", "3"))
        if kind < 4:
            return f"note('{self.name()}', {self.one(('a', 'b', '1', '0.5', 'é'))})"
        template = self.one(EXPRESSIONS)
        return self.flat(template) if 'f"' in template else self.filled(template, depth - 1)

    def filled(self, template: str, depth: int = 1) -> str:
        return template.format(*[self.expression(depth) for _ in range(4)])

    def flat(self, template: str) -> str:
        """For a template with an f-string: expressions without quotes of their own."""
        return template.format(*[self.one(("a", "b", "é", "a + b", "len(items)", "(a, b)[0]")) for _ in range(4)])

    # ------------------------------------------------------------ statements

    def statement(self, depth: int, where: Where) -> str:
        kind = self.up_to(16 if depth else 4)
        if kind < 3:
            return self.printing()
        if kind < 5:
            return self.filled(self.one(SIMPLE))
        if kind == 5:
            return self.ending(where)
        below = depth - 1
        make: tuple[Callable[[], str], ...] = (
            lambda: self.branch(below, where),
            lambda: self.loop(below, where),
            lambda: self.loop(below, where),
            lambda: self.counting(below, where),
            lambda: self.counting(below, where),
            lambda: self.handling(below, where),
            lambda: (
                f"with context({self.expression()}) as c, context({self.expression()}):\n{self.block(below, where)}"
            ),
            lambda: self.function(below),
            lambda: self.generator(where),
            self.coroutine,
            self.klass,
        )
        return make[kind - 6]()

    def block(self, depth: int, where: Where) -> str:
        return textwrap.indent("\n".join(self.statement(depth, where) for _ in range(self.up_to(2) + 1)), "    ")

    def printing(self) -> str:
        template = self.one(PRINTS)
        return self.flat(template) if "f'" in template or 'f"' in template else self.filled(template)

    def ending(self, where: Where) -> str:
        ending = self.one(ENDINGS)
        if (ending in {"break", "continue"} and not where.loop) or (ending.startswith("return") and not where.function):
            ending = "pass"
        return f"if {self.expression()}: {self.filled(ending)}"

    def branch(self, depth: int, where: Where) -> str:
        parts = [f"if {self.expression()}:", self.block(depth, where)]
        if self.up_to(1):
            parts += [f"elif {self.expression()}:", self.block(depth, where)]
        return "\n".join([*parts, "else:", self.block(depth, where)])

    def loop(self, depth: int, where: Where) -> str:
        iterable = self.one(("range(2)", "items", "[note('{}', 1), 2]", "(x for x in items)", "enumerate(items)", "()"))
        parts = [f"for i{depth} in {iterable.format(self.name())}:", self.block(depth, replace(where, loop=True))]
        return "\n".join(parts + ["else:", self.block(depth, where)] * self.up_to(1))

    def counting(self, depth: int, where: Where) -> str:
        left = f"left{self.name()}"
        condition = self.one((f"{left} > 0", "True", left, f"note('{self.name()}', {left}) > 0"))
        parts = [f"{left} = {self.up_to(2)}", f"while {condition}:", f"    if {left} < 1: break", f"    {left} -= 1"]
        parts += [self.block(depth, replace(where, loop=True))]
        return "\n".join(parts + ["else:", self.block(depth, where)] * self.up_to(1))

    def handling(self, depth: int, where: Where) -> str:
        parts = ["try:", self.block(depth, where), "except (ValueError, ZeroDivisionError) as error:"]
        parts += ["    print('caught', type(error).__name__)", "else:", self.block(depth, where), "finally:"]
        return "\n".join([*parts, textwrap.indent(self.printing(), "    ")])

    def function(self, depth: int) -> str:
        name = self.name()
        decorator = f"@decorated({self.expression()})\n" * self.up_to(1)
        header = f"{decorator}def {name}(x={self.expression()}, *rest, y=2, **more):\n    {self.one(SCOPES)}\n"
        calls = f"\nprint({name}({self.expression()},\n  y={self.expression()}))" + f"\nprint({name}())" * self.up_to(1)
        return header + self.block(depth, Where(function=True)) + calls

    def generator(self, where: Where) -> str:
        name = self.name()
        lines = [
            f"def {name}():\n    {SCOPES[0]}\n    for k in range(2):",
            f"        got = yield {self.expression()}\n        {self.filled('b = {}')}",
            f"for g in {name}():\n{self.block(0, replace(where, loop=True))}",
        ]
        return "\n".join(lines)

    def coroutine(self) -> str:
        name = self.name()
        lines = [
            f"async def {name}():\n    {SCOPES[0]}",
            f"    x = await later({self.expression()})",
            f"    async for y in stream({self.expression()}):",
            f"        {self.filled('b = {} + y')}",
            f"    return x + [z async for z in stream(x)][{self.expression()} < 0]",
            f"print(run({name}()))",
        ]
        return "\n".join(lines)

    def klass(self) -> str:
        name = self.name().upper()
        lines = [
            f"class {name}(Meter):\n    'Doc.'\n    best = {self.expression()}",
            f"    def update(self, value, n=1):\n        return super().update(value, n) + {self.expression()}",
            f"print({name}().update({self.expression()}), {name}.best)",
        ]
        return "\n".join(lines)
