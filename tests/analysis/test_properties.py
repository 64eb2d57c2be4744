"""Programs that nobody would write: whatever parses is answered, and the answer keeps its promises."""

import ast
import re
import tempfile
import warnings
from collections.abc import Callable
from pathlib import Path
from random import Random

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from installed import examine, installed_files

NAMES = ("a", "b", "f", "g", "A", "B", "self", "loss", "epoch", "log", "other", "step")


def forms(text: str) -> list[str]:
    return re.split(r"\s{3,}", text.strip())


EXPRESSIONS = forms("""
    {}   {}.{}   {}({})   {}({}, *{}, **{})   {}({}={})   {}[{}]   {}[0]   {} + {}   {} if {} else {}   ({}, {})
    [{}, {}]   {{'loss': {}, {}: {}}}   {{**{}, **{}}}   dict({}={})   [{} for {} in {}]   lambda {}: {}
    f'loss {{{}}} {{{}:.3f}}'   f'{{{}=}}'   'loss %.4f %s' % ({}, {})   'acc %(a)s' % {}
    '{{}} {{:.2f}}'.format({}, {})   '{{0.loss}}'.format({})   '{{a}}'.format(**{})   {}.format({})   str({})
    sum({}) / len({})   ({} := {})   zip({}, {})   enumerate({})   {}.items()   {}.append({})   super().{}({})
    partial({}, {})   getattr({}, 'loss')   locals()   ' '.join({})   {}.update({})   time.time() - {}
""")
STATEMENTS = forms("""
    {} = {}   {}.{} = {}   {}[{}] = {}   {}, {} = {}   *{}, {} = {}   {} += {}   {}: {} = {}   {}: {}   print({})
    print({}, {})   print({}, file={})   logging.info({}, {})   {}.add_scalar('loss', {}, {})   {}.write({})
    wandb.log({})   tqdm({}).set_postfix({}={})   return {}   yield {}   global {}   del {}   assert {}, {}
    {}({})   from other import {}   from other import *   from train import *   import other as {}
    import other.{}   pass   raise {}   from . import {}   import logging, time, wandb, sys
    from functools import partial as {}
""")
BLOCKS = forms("""
    for {} in {}:   for {}, {} in {}:   for {} in tqdm(range({})):   while {}:   while True:   if {}:
    with {} as {}:   def {}({}, {}={}):   def {}({}: {}, *{}, **{}) -> {}:   class {}:   class {}({}):
    class {}({}, metaclass={}):   def __init__(self, {}):   def __call__(self, {}):   def __str__(self):
    @{}\ndef {}({}):   @property\ndef {}(self):   if __name__ == '__main__':   async def {}({}):
""")


def expression(random: Random, depth: int) -> str:
    form = random.choice(EXPRESSIONS) if depth else "{}"
    return form.format(*(expression(random, depth - 1) for _ in range(5))) if depth else random.choice(NAMES)


def simple(random: Random) -> str:
    form = random.choice(STATEMENTS)
    parts = [random.choice(NAMES) for _ in range(5)]
    parts[form.count("{}") - 1] = expression(random, 2)
    return form.format(*parts)


def block(random: Random, depth: int) -> list[str]:
    lines = []
    for _ in range(random.randint(1, 5)):
        if depth and random.random() < 0.5:
            names = random.sample(NAMES, 6)
            inner = block(random, depth - 1)
            lines += [*random.choice(BLOCKS).format(*names).split("\n"), *(f"    {line}" for line in inner)]
        else:
            lines.append(simple(random))
    return lines


def program(random: Random) -> str:
    """A file of statements that Python can parse, with few names, so that they depend on each other in circles."""
    kept = []
    for _ in range(random.randint(1, 8)):
        text = "\n".join(block(random, 3)) + "\n"
        if parses(text):
            kept.append(text)
    return "".join(kept)


def shuffled(path: Path, random: Random) -> str:
    """A file some statements of which are left out, doubled or exchanged, wherever they stand; none of an empty one."""
    tree = ast.parse(path.read_bytes())
    bodies = [body for node in ast.walk(tree) for body in vars(node).values() if is_body(body)]
    if not bodies:
        return ""
    for _ in range(random.randint(1, 20)):
        body, other = random.choice(bodies), random.choice(bodies)
        here, there = random.randrange(len(body)), random.randrange(len(other))
        change: Callable[[], object] = random.choice((
            lambda body=body, here=here: body.insert(here, body[here]),
            lambda body=body, here=here: body.__setitem__(here, ast.Pass()),
            lambda body=body, here=here, other=other, there=there: body.insert(here, ast.Expr(other[there].value))
            if isinstance(other[there], ast.Expr)
            else None,
            lambda body=body: body.reverse(),
        ))  # fmt: skip
        change()
    return ast.unparse(ast.fix_missing_locations(tree))


def is_body(value: object) -> bool:
    return isinstance(value, list) and bool(value) and isinstance(value[0], ast.stmt)


def parses(text: str) -> bool:
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            ast.parse(text)
    except SyntaxError:
        return False
    return True


def check(files: dict[str, str]) -> None:
    with tempfile.TemporaryDirectory() as name:
        for file, text in files.items():
            (Path(name) / file).write_text(text, encoding="utf-8")
        answer = examine(Path(name) / "train.py")
    assert not answer.fault, answer.fault + "\n\n".join(files.values())


always = settings(max_examples=60, deadline=None, derandomize=True, suppress_health_check=list(HealthCheck))


@always
@given(st.randoms(use_true_random=True))
def test_generated_projects_are_answered(random: Random) -> None:
    check({"train.py": program(random), "other.py": program(random)})


@pytest.mark.slow
@settings(always, max_examples=30)
@given(st.randoms(use_true_random=True), st.deferred(lambda: st.sampled_from(installed_files(1_020)[::40])))
def test_installed_files_in_disorder_are_answered(random: Random, path: Path) -> None:
    check({"train.py": shuffled(path, random)})
