"""Seeds of the script are recorded with their line, and replaced where the variant says so."""

from pathlib import Path

from harness import Child

SCRIPT = """\
import random
from random import seed as sow
random.seed(42)
a = random.random()
sow(7)
print(a, random.random(), random.Random(3).random())
"""


def test_as_is_keeps_seeds_and_tells_of_them(tmp_path: Path) -> None:
    result, plain = Child(tmp_path / "a", SCRIPT).run(), Child(tmp_path / "b", SCRIPT).run()
    assert result.stdout == plain.stdout
    assert result.of("seed") == [
        ["random.seed", "42", "train.py", 3, "kept"],
        ["random.seed", "7", "train.py", 5, "kept"],
    ]


def test_a_seed_set_replaces_the_seeds(tmp_path: Path) -> None:
    one = Child(tmp_path / "1", SCRIPT).run(seeds={"other": 1, "split": 5})
    again = Child(tmp_path / "2", SCRIPT).run(seeds={"other": 1, "split": 5})
    two = Child(tmp_path / "3", SCRIPT).run(seeds={"other": 2, "split": 5})
    assert one.stdout == again.stdout
    plain = Child(tmp_path / "4", SCRIPT).run()
    drawn = [set(result.stdout.split()) for result in (one, two, plain)]
    assert not drawn[0] & drawn[1]
    assert not drawn[0] & drawn[2]
    assert [event[4] for event in one.of("seed")] == ["replaced"] * 3


def test_an_unseeded_script_repeats_under_its_seed_set(tmp_path: Path) -> None:
    text = "import random\nprint(random.random())\n"
    runs = [
        Child(tmp_path / name, text).run(seeds={"other": seed, "split": 0}).stdout
        for name, seed in [("a", 1), ("b", 1), ("c", 2)]
    ]
    assert runs[0] == runs[1] != runs[2]


def test_a_seed_that_is_no_whole_number_counts_with_all_its_digits(tmp_path: Path) -> None:
    text = """\
import random
for seed in (0.25, 0.75, float("inf"), "a", b"a", 3, True):
    random.seed(seed)
    print(random.random())
"""
    result = Child(tmp_path, text).run(seeds={"other": 1, "split": 5})
    assert (result.code, result.stderr) == (0, "")
    assert len(set(result.stdout.split())) == 7


def test_numpy_is_seeded_however_it_is_named(tmp_path: Path, require) -> None:  # type: ignore[no-untyped-def]
    require("numpy")
    text = """\
from numpy.random import seed, default_rng
import numpy as np
seed(1)
print(np.random.rand())
print(default_rng(2).random(), default_rng().random())
print(np.random.RandomState(3).rand())
"""
    runs = [Child(tmp_path / str(n), text).run(seeds={"other": n, "split": 0}) for n in (1, 2)]
    again = Child(tmp_path / "again", text).run(seeds={"other": 1, "split": 0})
    assert again.stdout == runs[0].stdout
    lines = [result.stdout.split() for result in runs]
    assert [a == b for a, b in zip(*lines, strict=True)] == [False] * 4
    assert [event[:4] for event in runs[0].of("seed")] == [
        ["numpy.random.seed", "1", "train.py", 3],
        ["numpy.random.default_rng", "2", "train.py", 5],
        ["numpy.random.default_rng", "None", "train.py", 5],
        ["numpy.random.RandomState", "3", "train.py", 6],
    ]


def test_which_examples_test_is_held_where_the_script_leaves_it_open(tmp_path: Path, require) -> None:  # type: ignore[no-untyped-def]
    require("sklearn")
    text = """\
from sklearn.model_selection import train_test_split
import numpy as np
print(train_test_split(np.arange(20))[1], train_test_split(np.arange(20))[1], np.random.rand())
"""
    runs = [Child(tmp_path / str(n), text).run(seeds={"other": n, "split": 0}).stdout for n in (1, 2)]
    assert runs[0].rpartition("]")[0] == runs[1].rpartition("]")[0]
    assert runs[0] != runs[1]


SPLIT = """\
import random
import numpy as np
{seeding}
train = list(range(10))
random.shuffle(train)
print(train, random.sample(range(9), 4), list(np.random.permutation(7)))
rng, other = np.random.default_rng(3), np.random.default_rng()
print(list(rng.permutation(8)), list(other.permutation(8)), isinstance(rng, np.random.Generator), rng)
print(random.random(), np.random.rand(), rng.random(), other.random())
for epoch in range(2):
    random.shuffle(train)
    print(train, list(np.random.permutation(30)), list(rng.permutation(30)))
"""


def test_what_is_shuffled_outside_the_training_is_the_same_in_every_run(tmp_path: Path, require) -> None:  # type: ignore[no-untyped-def]
    require("numpy")
    text = SPLIT.format(seeding="random.seed(1); np.random.seed(2)")
    seeds = [{"other": 1, "split": 0}, {"other": 2, "split": 0}, {"other": 1, "split": 9}]
    runs = [
        Child(tmp_path / str(n), text).loop("range(2)", 12).run(seeds=chosen).stdout.splitlines()
        for n, chosen in enumerate(seeds)
    ]
    untapped = Child(tmp_path / "off", text).loop("range(2)", 12).run(seeds=seeds[0], is_tapped=False)
    assert untapped.stdout.splitlines() == runs[0]
    assert len(runs[0]) == 5
    assert runs[0][:3] == runs[1][:3], "what is drawn before the training"
    assert [a == b for a, b in zip(runs[0][3:], runs[1][3:], strict=True)] == [False] * 2
    assert runs[0][0] != runs[2][0]
    assert runs[0][2] != runs[2][2]
    assert "Generator(PCG64) True" not in runs[0][1]
    assert "True Generator(PCG64)" in runs[0][1]


def test_a_script_without_a_main_loop_varies_all_it_draws(tmp_path: Path) -> None:
    text = "import random\nx = list(range(20))\nrandom.shuffle(x)\nprint(x)\n"
    runs = [Child(tmp_path / str(n), text).run(seeds={"other": n, "split": 0}).stdout for n in (1, 2)]
    assert runs[0] != runs[1]


def test_generators_without_a_seed_are_no_twins(tmp_path: Path, require) -> None:  # type: ignore[no-untyped-def]
    require("numpy")
    text = "import numpy as np\nprint(np.random.default_rng().random())\nprint(np.random.default_rng().random())\n"
    runs = [Child(tmp_path / str(n), text).run(seeds={"other": 1, "split": 0}).stdout for n in (1, 2)]
    assert runs[0] == runs[1]
    assert len(set(runs[0].split())) == 2
