"""Flows: where the value of a call goes is told from the text, for frames that run and at the lines where they are."""

import re
import sys
from pathlib import Path

from deviate.guest.flows import Flows
from deviate.guest.project import GuestProject

SCRIPT = """\
def Variable(value, name=""): return value
class Data:
    def shuffle(self): ask(); return self
    def skip(self, n): return self
    def take(self, n): return self

Variable(value(), name="a")                          # into Variable
x = value()                                          # nowhere
def weight():
    initial = value()                                # into Variable
    return Variable(initial * 0.1)
weight()
def draw():
    return value()                                   # into Variable, then nowhere
made = draw()
pair = [made, 2]
w = Variable(pair)
other = draw()
several = [Variable(value()) for i in range(2)]      # into Variable
late = lambda: value()                               # into Variable
Variable(
    late(),
)
class Model:
    def __init__(self):
        self.initial = value()                       # into Variable
        self.data = value()                          # nowhere
        self.w = Variable(self.initial)
Model()
named = {}
named["w"] = value()                                 # into Variable
named["v"] = Variable(named["w"])

lines = Data().skip(1).take(2).shuffle()             # nowhere
data = (Data()
    .take(9)
    .shuffle()                                       # into skip
    .take(8))
test, train = data.take(3), data.skip(3)
rest = Data().shuffle().take(9).skip(3)              # into skip
def load():
    read = Data().shuffle()                          # into skip
    return read.take(5)
loaded = load()
for k in range(2):
    part = loaded.skip(k)
start = value(); first = Variable(start)             # into Variable
"""


def test_values_are_followed_into_the_calls_that_take_them(tmp_path: Path) -> None:
    file = tmp_path / "train.py"
    file.write_text(SCRIPT)
    flows = Flows(GuestProject(str(tmp_path), {"originals": "", "files": {}, "loops": {}, "sites": {}}))
    found: dict[int, list[str]] = {}

    def ask(*, is_shuffle: bool = True) -> int:
        frame = sys._getframe(2)
        name, calls = ("skip", frozenset({"shuffle"})) if is_shuffle else ("Variable", frozenset())
        goes = flows.reach(frame, frozenset({name}), calls)
        found.setdefault(frame.f_lineno, []).append(f"into {name}" if goes else "nowhere")
        return 1

    def value() -> int:
        return ask(is_shuffle=False)

    exec(compile(SCRIPT, str(file), "exec"), {"ask": ask, "value": value})
    expected = {
        number: re.split(", then ", line.partition("# ")[2])
        for number, line in enumerate(SCRIPT.splitlines(), 1)
        if "# " in line
    }
    expected[19] *= 2
    assert found == expected


def test_a_file_that_is_not_there_tells_nothing() -> None:
    flows = Flows(GuestProject("/", {"originals": "", "files": {}, "loops": {}, "sites": {}}))
    scope = {"sys": sys}
    exec(compile("def here():\n    return sys._getframe()\nframe = here()", "/gone/train.py", "exec"), scope)
    assert not flows.reach(scope["frame"], frozenset({"Variable"}))
