"""scikit-learn: every splitter and every maker of data belongs to `split`, whatever its `random_state` is."""

from pathlib import Path

import pytest
from varied import Script, hashes, seeds

pytestmark = pytest.mark.requires("sklearn")

SCRIPT = """\
import hashlib, inspect, warnings
warnings.simplefilter("ignore")
import numpy as np
import sklearn.model_selection as selection
from sklearn.datasets import make_classification
from sklearn.utils import resample, shuffle

x, y, groups = np.arange(120).reshape(60, 2), np.arange(60) % 3, np.arange(60) // 2

def tell(name, *arrays):
    text = b"".join(np.ascontiguousarray(array).tobytes() for array in arrays)
    print(name, hashlib.sha256(text).hexdigest()[:12])

def splitters(random_state):
    for name, made in sorted(vars(selection).items()):
        if not inspect.isclass(made) or not hasattr(made, "split"):
            continue
        known = inspect.signature(made).parameters
        if "random_state" in known:
            chosen = {"n_splits": 2, "shuffle": True, "random_state": random_state}
            yield name, made(**{key: value for key, value in chosen.items() if key in known})

seeds = {
    "number": lambda: 42,
    "state": lambda: np.random.RandomState(42),
    "none": lambda: None,
    "global": lambda: np.random.mtrand._rand,
}
for kind, make in seeds.items():
    tell("train_test_split." + kind, *selection.train_test_split(x, y, random_state=make()))
    tell("make_classification." + kind, *make_classification(random_state=make()))
    tell("shuffle." + kind, shuffle(x, random_state=make()))
    tell("resample." + kind, resample(x, random_state=make()))
    for name, splitter in splitters(make()):
        tell("%s.%s" % (name, kind), *(rows for pair in splitter.split(x, y, groups) for rows in pair))
state = np.random.RandomState(7)
folds = selection.KFold(shuffle=True, random_state=state)
tell("one state for two", *selection.train_test_split(x, random_state=state), *next(folds.split(x)))
print("drawn", state.rand())
for step in range(2):
    pass
"""


@pytest.fixture(scope="module")
def printed(tmp_path_factory: pytest.TempPathFactory, require) -> dict[str, dict[str, str]]:  # type: ignore[no-untyped-def]
    require("sklearn")
    folder, script = tmp_path_factory.mktemp("splitters"), Script(SCRIPT)
    return {
        "as-is": hashes(script.run(folder / "as-is", None)),
        "held": hashes(script.run(folder / "held", seeds())),
        "other": hashes(script.run(folder / "other", seeds(other=1), varied=("other",))),
        "split": hashes(script.run(folder / "split", seeds(split=1), varied=("split",))),
        "again": hashes(script.run(folder / "again", seeds(split=2), varied=("split",))),
    }


def test_every_splitter_with_a_random_state_is_tried(printed: dict[str, dict[str, str]]) -> None:
    assert {name.partition(".")[0] for name in printed["held"]} >= {
        "train_test_split", "KFold", "StratifiedKFold", "RepeatedKFold", "RepeatedStratifiedKFold", "ShuffleSplit",
        "StratifiedShuffleSplit", "GroupShuffleSplit", "StratifiedGroupKFold", "make_classification", "resample",
    }  # fmt: skip


def test_a_division_moves_with_split_alone(printed: dict[str, dict[str, str]]) -> None:
    divisions = printed["held"].keys() - {"drawn"}
    assert {name for name in divisions if printed["other"][name] != printed["held"][name]} == set()
    assert {name for name in divisions if printed["split"][name] == printed["held"][name]} == set()
    assert {name for name in divisions if printed["split"][name] == printed["again"][name]} == set()
    assert printed["split"]["drawn"] != printed["held"]["drawn"], "it is drawn before the training"
    assert printed["other"]["drawn"] == printed["held"]["drawn"]


def test_a_division_that_the_script_fixes_by_a_number_is_the_scripts_own_where_split_is_held(
    printed: dict[str, dict[str, str]],
) -> None:
    fixed = [name for name in printed["held"] if name.endswith(".number")]
    assert len(fixed) > 10
    assert {name for name in fixed if printed["held"][name] != printed["as-is"][name]} == set()


def test_a_seed_of_a_splitter_is_recorded_with_what_became_of_it(tmp_path: Path) -> None:
    text = (
        "from sklearn.model_selection import KFold, train_test_split\n"
        "train_test_split(range(9), random_state=42)\nlist(KFold(2, shuffle=True, random_state=3).split(range(9)))\n"
    )
    told = {
        kind: Script(text, "").run(tmp_path / kind, seeds(), varied=varied).of("seed")
        for kind, varied in (("held", ()), ("varied", ("split",)))
    }
    for kind, action in (("held", "kept"), ("varied", "replaced")):
        assert told[kind] == [
            ["sklearn.ShuffleSplit.random_state", "42", "train.py", 2, action],
            ["sklearn.KFold.random_state", "3", "train.py", 3, action],
        ]


def test_what_an_estimator_divides_for_itself_is_none_of_the_scripts_divisions(tmp_path: Path) -> None:
    text = """\
import hashlib
import numpy as np
from sklearn.linear_model import SGDClassifier
from sklearn.model_selection import RandomizedSearchCV
x, y = np.arange(120.0).reshape(60, 2), np.arange(60) % 2
net = SGDClassifier(early_stopping=True, random_state=np.random.RandomState(3), max_iter=5, tol=None).fit(x, y)
print("net", hashlib.sha256(net.coef_.tobytes()).hexdigest())
net, rates = SGDClassifier(random_state=0), {"alpha": np.linspace(1, 2, 999)}
search = RandomizedSearchCV(net, rates, n_iter=1, cv=2, random_state=0)
print("chosen", search.fit(x, y).best_params_["alpha"])
"""
    script = Script(text, "")
    held = hashes(script.run(tmp_path / "held", seeds()))
    split = hashes(script.run(tmp_path / "split", seeds(split=1), varied=("split",)))
    other = hashes(script.run(tmp_path / "other", seeds(other=1), varied=("other",)))
    assert split == held
    assert other["chosen"] != held["chosen"]
