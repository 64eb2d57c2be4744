"""Streams: what is drawn for one purpose does not depend on what is drawn for another."""

import hashlib
import random
from pathlib import Path

import pytest
from harness import Child, Result

STREAMS = ("init", "shuffle", "augment", "dropout", "split", "other")


def seeds(**varied: int) -> dict[str, int]:
    """A seed set in which the named streams have other seeds."""
    return {stream: 100 + number for number, stream in enumerate(STREAMS)} | varied


def run(folder: Path, text: str, main_loop: tuple[str, int] | None = None, **varied: int) -> Result:
    child = Child(folder, text)
    if main_loop:
        child.loop(*main_loop)
    result = child.run(seeds=seeds(**varied))
    assert (result.code, result.of("error")) == (0, []), result.stderr
    return result


def documented(*parts: object) -> int:
    """The hash of docs/reference/variants.md, written down a second time."""
    return int.from_bytes(hashlib.sha256("\x1f".join(map(str, parts)).encode()).digest()[:4], "big")


def test_the_seed_of_a_stream_can_be_computed_outside(tmp_path: Path) -> None:
    text = "import random\na = random.random()\nrandom.seed(42)\nprint(a, random.random())\n"
    unseeded, seeded = run(tmp_path, text).stdout.split()
    assert float(unseeded) == random.Random(documented(105, "random", None)).random()
    assert float(seeded) == random.Random(documented(105, "random", "42")).random()


def test_ranks_draw_different_numbers_unless_the_script_seeds_them(tmp_path: Path) -> None:
    text = "import random\na = random.random()\nrandom.seed(42)\nprint(a, random.random())\n"
    result = Child(tmp_path, text).run(seeds=seeds(), environment={"RANK": "1"})
    unseeded, seeded = result.stdout.split()
    assert float(unseeded) == random.Random(documented(105, "random", "rank 1")).random()
    assert float(seeded) == random.Random(documented(105, "random", "42")).random()


def test_streams_that_were_drawn_from_are_told(tmp_path: Path) -> None:
    text = "import random\nx = list(range(9))\nrandom.shuffle(x)\nfor epoch in range(2):\n    random.shuffle(x)\n"
    assert run(tmp_path / "a", text, ("range(2)", 5)).of("draws") == [["random", ["shuffle", "split"]]]
    assert run(tmp_path / "b", text + "    random.random()\n", ("range(2)", 6)).of("draws") == [
        ["random", ["other", "shuffle", "split"]]
    ]
    assert run(tmp_path / "c", "import random\n").of("draws") == [["random", []]]


def test_nothing_is_told_or_routed_where_the_variant_leaves_seeds_alone(tmp_path: Path) -> None:
    text = "import random\nprint(random.random.__self__ is random._inst, type(random.Random(1)) is random.Random)\n"
    result = Child(tmp_path, text).run()
    assert (result.stdout, result.of("draws")) == ("True True\n", [])


OWN = """\
import random
import numpy as np
python, legacy, modern = random.Random(3), np.random.RandomState(3), np.random.default_rng(3)
def each(*args):
    for own in (random, np.random, python, legacy, modern):
        x = list(range(30))
        own.shuffle(x)
        print(*args, own.__class__.__name__, sum(i * j for i, j in enumerate(x)))
each("split")
for epoch in range(2):
    each("shuffle")
    print("other", python.random(), legacy.rand(), modern.random(), random.random(), np.random.rand())
"""


def lines(result: Result, purpose: str) -> list[str]:
    return [line for line in result.stdout.splitlines() if line.startswith(purpose)]


@pytest.mark.parametrize("varied", ["split", "shuffle", "other", "init"])
def test_only_what_is_drawn_for_a_stream_follows_it(tmp_path: Path, varied: str, require) -> None:  # type: ignore[no-untyped-def]
    require("numpy")
    base = run(tmp_path / "base", OWN, ("range(2)", 12))
    again = run(tmp_path / "again", OWN, ("range(2)", 12))
    other = run(tmp_path / "other", OWN, ("range(2)", 12), **{varied: 7})
    assert base.stdout == again.stdout
    for purpose in ("split", "shuffle", "other"):
        before, after = lines(base, purpose), lines(other, purpose)
        assert len(before) == len(after) > 1
        if purpose == varied:
            assert all(a != b for a, b in zip(before, after, strict=True)), purpose
        else:
            assert before == after, purpose


def test_generators_of_the_script_with_one_seed_are_twins_and_reseeding_begins_anew(
    tmp_path: Path,
    require,  # type: ignore[no-untyped-def]
) -> None:
    require("numpy")
    text = """\
import random
import numpy as np
for make in (random.Random, np.random.RandomState):
    one, two, three = make(3), make(3), make(4)
    a = [one.random(), one.random()]
    print(a == [two.random(), two.random()], a[0] == three.random())
    one.seed(3)
    print(a[0] == one.random(), one.random() == a[1])
    one.seed(5)
    print(one.random() in a)
rng, twin = np.random.default_rng(3), np.random.default_rng(3)
print(rng.random() == twin.random(), rng.normal() == twin.normal(), rng.integers(9) == twin.integers(9))
"""
    assert run(tmp_path, text).stdout.split() == ["True", "False", "True", "True", "False"] * 2 + ["True"] * 3


def test_generators_of_the_script_are_what_they_were_to_those_who_look(
    tmp_path: Path,
    require,  # type: ignore[no-untyped-def]
) -> None:
    require("numpy")
    text = """\
import copy, pickle, random
import numpy as np
python, legacy, modern = random.Random(3), np.random.RandomState(3), np.random.default_rng(3)
print(isinstance(python, random.Random), isinstance(legacy, np.random.RandomState))
print(isinstance(modern, np.random.Generator), isinstance(np.random.mtrand._rand, np.random.RandomState))
print(issubclass(np.random.RandomState, np.random.mtrand.RandomState))
for own in (python, legacy, modern):
    for twin in (pickle.loads(pickle.dumps(own)), copy.deepcopy(own)):
        print(twin.random() == copy.deepcopy(own).random())
class Derived(random.Random):
    pass
class Legacy(np.random.RandomState):
    pass
print(Derived(3).random() == Derived(3).random(), Legacy(3).rand() == Legacy(3).rand())
print(isinstance(Legacy(3), np.random.RandomState), not isinstance(legacy, Legacy), type(Legacy(3)) is Legacy)
print(np.random.RandomState(np.random.MT19937(3)).rand() == np.random.Generator(np.random.PCG64(3)).random() or True)
python.setstate(python.getstate())
legacy.set_state(legacy.get_state())
"""
    result = run(tmp_path, text)
    assert set(result.stdout.split()) == {"True"}, result.stdout


BITS = """\
import copy, pickle
import numpy as np
from numpy.random import Generator, PCG64, Philox, SFC64, MT19937, RandomState, SeedSequence, default_rng
rngs = [Generator(bits(3)) for bits in (PCG64, Philox, SFC64, MT19937)]
rngs += [default_rng(SeedSequence(3)), default_rng(PCG64(3)), RandomState(MT19937(3)), *default_rng(3).spawn(2)]
def each(*args):
    for number, rng in enumerate(rngs):
        print(*args, number, list(rng.permutation(30)))
each("split")
for epoch in range(2):
    each("shuffle")
    print("other", [rng.normal() for rng in rngs], PCG64(4).random_raw(), SeedSequence(4).generate_state(1))
"""


@pytest.mark.parametrize("varied", ["split", "shuffle", "other"])
def test_what_bit_generators_give_follows_the_stream_that_it_is_drawn_for(tmp_path: Path, varied: str, require) -> None:  # type: ignore[no-untyped-def]
    require("numpy")
    base = run(tmp_path / "base", BITS, ("range(2)", 12))
    other = run(tmp_path / "other", BITS, ("range(2)", 12), **{varied: 7})
    for purpose in ("split", "shuffle", "other"):
        before, after = lines(base, purpose), lines(other, purpose)
        assert len(before) == len(after) > 1
        assert all((a == b) == (purpose != varied) for a, b in zip(before, after, strict=True)), purpose
    assert [event[:4] for event in base.of("seed")][:6] == [
        ["numpy.random.PCG64", "3", "train.py", 4],
        ["numpy.random.Philox", "3", "train.py", 4],
        ["numpy.random.SFC64", "3", "train.py", 4],
        ["numpy.random.MT19937", "3", "train.py", 4],
        ["numpy.random.SeedSequence", "3", "train.py", 5],
        ["numpy.random.PCG64", "3", "train.py", 5],
    ]


def test_bit_generators_and_seed_sequences_are_what_they_were_to_those_who_look(
    tmp_path: Path,
    require,  # type: ignore[no-untyped-def]
) -> None:
    require("numpy")
    text = """\
import copy, pickle
import numpy as np
from numpy.random import BitGenerator, Generator, MT19937, PCG64, Philox, RandomState, SeedSequence, default_rng
bits, rng, words = PCG64(3), Generator(PCG64(3)), SeedSequence(3)
print(isinstance(bits, PCG64), isinstance(bits, BitGenerator), isinstance(rng, Generator))
print(isinstance(words, SeedSequence), isinstance(np.random.default_rng().bit_generator.seed_seq, SeedSequence))
print(not isinstance(bits, Philox), isinstance(np.random.mtrand._rand._bit_generator, MT19937))
print(issubclass(np.random.Generator, np.random._generator.Generator), str(rng) == str(default_rng(3)))
for made in (bits, rng, words):
    assert type(pickle.loads(pickle.dumps(made))).__name__ == type(made).__name__
for kind in (PCG64, Generator, SeedSequence, RandomState):
    print(pickle.loads(pickle.dumps(kind)) is kind)
for twin in (pickle.loads(pickle.dumps(rng)), copy.deepcopy(rng), default_rng(3), default_rng(PCG64(SeedSequence(3)))):
    print(twin.random() == copy.deepcopy(rng).random())
print(words.entropy == 3, [child.spawn_key for child in words.spawn(2)] == [(0,), (1,)], words.n_children_spawned == 2)
state = rng.bit_generator.state
first = rng.random()
rng.bit_generator.state = state
print(first == rng.random(), bits.advance(3) is bits, PCG64(3).jumped().random_raw() != PCG64(3).random_raw())
shared = PCG64(5)
one, two = Generator(shared), Generator(shared)
print(one.random() != two.random(), one.bit_generator is shared)
class Mine(Generator):
    pass
print(type(Mine(PCG64(3))) is Mine, Mine(PCG64(3)).random() == Mine(PCG64(3)).random())
with one.bit_generator.lock:
    print(shared.capsule is not None)
for wrong in (lambda: PCG64(-1), lambda: default_rng("a"), lambda: Generator(3), lambda: SeedSequence("a")):
    try:
        wrong()
        print(False)
    except (TypeError, ValueError, AttributeError):
        print(True)
"""
    result = run(tmp_path, text)
    assert set(result.stdout.split()) == {"True"}, result.stdout


def test_generators_that_other_libraries_make_are_left_alone_and_named(tmp_path: Path) -> None:
    library = tmp_path / "elsewhere"
    library.mkdir()
    (library / "dice.py").write_text(
        "import random\ndef roll(seed): return random.Random(seed).random()\nROLLED = random.Random(4).random()\n"
    )
    text = f"import sys\nsys.path.append({str(library)!r})\nimport dice\nprint(dice.roll(3), dice.ROLLED)\n"
    result = run(tmp_path, text)
    assert result.stdout.split() == [str(random.Random(3).random()), str(random.Random(4).random())]
    assert result.of("seed") == [["dice (random.Random)", "3", "train.py", 4, "fixed"]]


def test_to_make_a_generator_is_not_to_draw(tmp_path: Path, require) -> None:  # type: ignore[no-untyped-def]
    require("numpy")
    text = """\
import numpy as np
from numpy.random import Generator, MT19937, PCG64, RandomState, SeedSequence, default_rng
made = [Generator(PCG64(3)), default_rng(3), default_rng(SeedSequence(3)), RandomState(MT19937(3)), RandomState(3)]
print(made[0].spawn(1), made[1].bit_generator, PCG64(3).jumped(), RandomState(3))
for epoch in range(2):
    made[1].permutation(3)
"""
    assert dict(run(tmp_path, text, ("range(2)", 6)).of("draws")) == {
        "numpy": [],
        "numpy.default_rng": ["shuffle"],
        "random": [],
    }


def test_a_generator_that_another_thread_makes_is_named(tmp_path: Path, require) -> None:  # type: ignore[no-untyped-def]
    require("numpy")
    text = """\
import threading
import numpy as np
def draw():
    np.random.default_rng(3).random()
    np.random.default_rng().random()
thread = threading.Thread(target=draw)
thread.start()
thread.join()
"""
    result = run(tmp_path, text)
    assert result.of("seed") == [["numpy.random.default_rng in another thread", "3", "train.py", 4, "fixed"]]
    assert result.of("uncontrolled") == [["numpy.random.default_rng in another thread without a seed", "train.py", 5]]


def test_a_seed_that_the_script_reads_from_a_variable_is_told_as_it_was_read(tmp_path: Path) -> None:
    text = "import os, random\nprint(random.Random(int(os.environ['DEVIATE_REPLICATE'])).random())\n"
    results = [Child(tmp_path / n, text).run(seeds=seeds(), environment={"DEVIATE_REPLICATE": n}) for n in "01"]
    assert [result.of("seed")[0][:2] for result in results] == [["random.Random", "0"], ["random.Random", "1"]]


def test_a_seed_that_a_region_sets_is_its_own_affair(tmp_path: Path, require) -> None:  # type: ignore[no-untyped-def]
    require("numpy")
    text = """\
import random, sys
import numpy as np
guest = sys.modules["_deviate_guest.runtime"]._context
random.seed(1); np.random.seed(1)
before = guest.streams.enter("augment")
random.seed({inner}); np.random.seed({inner})
print("augment", random.random(), np.random.rand())
nested = guest.streams.enter("dropout")
print("augment", random.random(), np.random.rand())
guest.streams.leave(nested)
inside = guest.streams.enter("init")
print("init", random.random(), np.random.rand())
guest.streams.leave(inside)
print("augment", random.random(), np.random.rand())
guest.streams.leave(before)
before = guest.streams.enter("shuffle")
print("shuffle", random.random(), np.random.rand())
guest.streams.leave(before)
print("other", random.random(), np.random.rand())
"""
    one, two = (run(tmp_path / str(n), text.format(inner=n)) for n in (5, 6))
    assert [a == b for a, b in zip(one.stdout.splitlines(), two.stdout.splitlines(), strict=True)] == [
        False, False, True, False, True, True,
    ]  # fmt: skip
    drawn = ["augment", "init", "other", "shuffle"]
    assert one.of("draws") == [["numpy", drawn], ["random", drawn]]


def test_other_threads_draw_as_they_would(tmp_path: Path) -> None:
    text = """\
import random, sys, threading
guest = sys.modules["_deviate_guest.runtime"]._context
def elsewhere():
    print(guest.streams.enter("init"))
    random.seed(3)
    print(random.random())
threading.Thread(target=elsewhere).start()
"""
    result = run(tmp_path, text)
    assert result.stdout.split() == ["None", str(random.Random(3).random())]


def test_forked_processes_have_generators_of_their_own_that_repeat(tmp_path: Path) -> None:
    text = """\
import os, random
random.seed(3)
for number in range(2):
    if not os.fork():
        print(random.random(), flush=True)
        random.seed(4)
        print(random.random(), flush=True)
        os._exit(0)
    os.wait()
print(random.random())
"""
    one, again = (run(tmp_path / name, text).stdout.split() for name in "ab")
    assert one == again, "Python itself seeds a forked process from the system"
    assert len(set(one)) == 4
    assert (
        one[1]
        == one[3]
        == run(
            tmp_path / "c", "import random\nfor _ in range(0): pass\nrandom.seed(4)\nprint(random.random())"
        ).stdout.strip()
    )


PANDAS = """\
import pandas as pd
examples = pd.DataFrame({"x": range(20)})
print("split", list(examples.sample(frac=0.4).x))
for epoch in range(2):
    print("shuffle", list(examples.sample(frac=1).x))
"""


@pytest.mark.parametrize("varied", ["split", "shuffle", "other"])
def test_a_library_may_draw_a_permutation_for_the_project(tmp_path: Path, varied: str, require) -> None:  # type: ignore[no-untyped-def]
    require("pandas")
    base = run(tmp_path / "base", PANDAS, ("range(2)", 5))
    other = run(tmp_path / "other", PANDAS, ("range(2)", 5), **{varied: 7})
    for purpose in ("split", "shuffle"):
        assert (lines(base, purpose) == lines(other, purpose)) == (purpose != varied), purpose


def test_numbers_from_the_system_are_told_where_the_project_asks_for_them(tmp_path: Path) -> None:
    text = """\
import os, random, secrets, tempfile, uuid
from os import urandom
for _ in range(3):
    os.urandom(2), urandom(2)
    uuid.uuid4(), secrets.randbits(3)
tempfile.mkdtemp(dir=".")
print(random.SystemRandom().random() < 1)
"""
    assert run(tmp_path, text).of("uncontrolled") == [
        ["os.urandom", "train.py", 4],
        ["uuid.uuid4", "train.py", 5],
        ["secrets.randbits", "train.py", 5],
        ["random.SystemRandom", "train.py", 7],
    ]


SKLEARN = """\
import warnings
warnings.simplefilter("ignore")
import numpy as np
from sklearn.datasets import make_classification
from sklearn.ensemble import RandomForestClassifier
from sklearn.linear_model import SGDClassifier
from sklearn.model_selection import KFold, train_test_split
from sklearn.utils import shuffle
x, y = make_classification(60, random_state=1)
print("split", x.sum(), make_classification(20)[0].sum(), train_test_split(np.arange(9))[1], shuffle(np.arange(9)))
print("split", [test.tolist() for _, test in KFold(3, shuffle=True).split(y)], shuffle(np.arange(9), random_state=2))
print("other", SGDClassifier(random_state=0).fit(x, y).coef_.sum(), SGDClassifier().fit(x, y).coef_.sum())
print("other", RandomForestClassifier(5, random_state=0).fit(x, y).predict_proba(x).cumsum(1).std(0))
for epoch in range(2):
    print("shuffle", shuffle(np.arange(20)), shuffle(np.arange(20), random_state=epoch))
"""


@pytest.mark.parametrize("varied", ["split", "shuffle", "other"])
def test_scikit_learn_draws_through_the_streams(tmp_path: Path, varied: str, require) -> None:  # type: ignore[no-untyped-def]
    require("sklearn")
    base = run(tmp_path / "base", SKLEARN, ("range(2)", 15))
    other = run(tmp_path / "other", SKLEARN, ("range(2)", 15), **{varied: 7})
    for purpose in ("split", "shuffle", "other"):
        assert (lines(base, purpose) == lines(other, purpose)) == (purpose != varied), purpose
    assert [(call, value, action) for call, value, *_, action in base.of("seed")] == [
        ("sklearn.make_classification.random_state", "1", "kept"),
        ("sklearn.resample.random_state", "2", "kept"),
        ("sklearn.SGDClassifier.random_state", "0", "replaced"),
        ("sklearn.RandomForestClassifier.random_state", "0", "replaced"),
        ("sklearn.resample.random_state", "0", "replaced"),
        ("sklearn.resample.random_state", "1", "replaced"),
    ]


FITTED = """\
import warnings
warnings.simplefilter("ignore")
from sklearn.datasets import load_iris
from sklearn.ensemble import RandomForestClassifier
from sklearn.neural_network import MLPClassifier
x, y = load_iris(return_X_y=True)
net = MLPClassifier((4,), max_iter=5)
for epoch in range(2):
    net.partial_fit(x, y, classes=[0, 1, 2])
forest = RandomForestClassifier(3).fit(x, y)
print(forest.predict_proba(x).sum(0), net.predict_proba(x).sum(0))
"""


def test_what_scikit_learn_has_fitted_is_hashed(tmp_path: Path, require) -> None:  # type: ignore[no-untyped-def]
    require("sklearn")
    base, again = (run(tmp_path / name, FITTED, ("range(2)", 9)).of("weights") for name in ("base", "again"))
    other = run(tmp_path / "other", FITTED, ("range(2)", 9), other=7).of("weights")
    assert [(moment, framework) for moment, framework, *_ in base] == [("loop", "sklearn"), ("exit", "sklearn")]
    assert base == again
    assert all(a[2] != b[2] for a, b in zip(base, other, strict=True))
    assert base[1][3] > base[0][3]


def test_a_state_that_is_set_again_gives_the_same_numbers_before_the_training(tmp_path: Path, require) -> None:  # type: ignore[no-untyped-def]
    require("numpy")
    text = """\
import copy, random
import numpy as np
x, y = np.arange(30), np.arange(30)
own = np.random.RandomState(3)
for made in (np.random, own):
    state = made.get_state()
    made.shuffle(x)
    made.set_state(state)
    made.shuffle(y)
    print((x == y).all())
for made in (random, random.Random(3)):
    state = made.getstate()
    first = made.random()
    made.setstate(state)
    print(first == made.random())
rng = np.random.default_rng(4)
print((copy.deepcopy(rng).permutation(9) == rng.permutation(9)).all())
for epoch in range(2):
    random.random()
"""
    result = run(tmp_path, text, ("range(2)", 19))
    assert set(result.stdout.split()) == {"True"}, result.stdout
