"""Cures are tried: two runs of a script with a source differ, and with the cure at its line they are equal."""

import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from deviate.analysis.analyze import analyze
from deviate.sources.catalogue import SOURCES
from deviate.sources.cures import cured_line, instead, with_arguments

SCRIPTS = {
    "changing-seed": "import random, time\nrandom.seed(time.time_ns())\nprint(random.random())\n",
    "drawn-seed": "import random\nrandom.seed(random.randint(1, 10**9))\nprint(random.random())\n",
    "entropy": "import os, random\nprint(os.urandom(4))\n",
    "hash-value": "import zlib\nprint([name for name in map(str, range(99)) if hash(name) % 10 == 0])\n",
    "set-order": "labels = [str(i) for i in range(20)]\nclasses = list(set(labels))\nprint(classes[:9])\n",
    "loader-workers": (
        "import numpy as np\nnp.random.seed(0)\nclass Noisy:\n    def __getitem__(self, index):\n"
        "        return np.random.default_rng().normal()\nprint(Noisy()[0])\n"
    ),
    "unseeded-split": (
        "from sklearn.model_selection import train_test_split\ntrain, test = train_test_split(list(range(99)))\n"
        "print(test)\n"
    ),
    "unordered-results": (
        "import random, time\nfrom multiprocessing.pool import ThreadPool\ndef nap(i):\n"
        "    time.sleep(random.random() / 9)\n    return i\nwith ThreadPool(9) as pool:\n"
        "    rows = list(pool.imap_unordered(nap, range(9)))\nprint(rows[:9])\n"
    ),
    "seed-after-model": "import torch\nnet = torch.nn.Linear(3, 1)\ntorch.manual_seed(1)\nprint(net.weight.sum())\n",
    "active-dropout": (
        "import torch\nimport torch.nn as nn\nimport torch.nn.functional as F\nclass Net(nn.Module):\n"
        "    def forward(self, x):\n        return F.dropout(x, 0.5)\nnet = Net().eval()\nprint(net(torch.ones(99)))\n"
    ),
}


SLOW = [pytest.param(name, marks=pytest.mark.slow) if "torch" in text else name for name, text in SCRIPTS.items()]


@pytest.mark.parametrize("name", SLOW)
def test_two_runs_differ_and_with_the_cure_they_are_equal(name: str, tmp_path: Path) -> None:
    for module in ("torch", "sklearn", "numpy"):
        if module in SCRIPTS[name]:
            pytest.importorskip(module)
    script = tmp_path / "train.py"
    script.write_text(SCRIPTS[name], encoding="utf-8")
    assert len(outputs(script)) == 2
    lines = SCRIPTS[name].splitlines()
    for hazard in analyze(script, tmp_path).hazards:
        cure = SOURCES[hazard.name].cure_of(hazard.code) if hazard.name == name else ""
        if SOURCES[hazard.name].line and cure:
            lines.insert(hazard.line - 1, cure)
        elif cure:
            lines[hazard.line - 1] = lines[hazard.line - 1].replace(hazard.code, cure)
    assert lines != SCRIPTS[name].splitlines()
    script.write_text("\n".join(lines), encoding="utf-8")
    assert len(outputs(script)) == 1


def outputs(script: Path) -> set[str]:
    """What two runs print."""
    environment = {"PATH": ""}
    command = [sys.executable, str(script)]
    return {subprocess.run(command, env=environment, capture_output=True, text=True, check=True).stdout for _ in "ab"}


@pytest.mark.parametrize(
    ("cure", "code", "expected"),
    [
        (instead("0"), "time.time()", "0"),
        (
            with_arguments(random_state=0),
            "KFold(5, shuffle=True, random_state=None)",
            "KFold(5, shuffle=True, random_state=0)",
        ),
        (with_arguments(random_state=0), "folds", ""),
        (instead(list="sorted({first})"), "list(set(a), *b)", "sorted(set(a))"),
        (instead(join="{callee}(sorted({first}){rest})"), "' '.join(names)", "' '.join(sorted(names))"),
        (instead(sample="{owner}.seed(0)"), "env.action_space.sample()", "env.action_space.seed(0)"),
        (instead("2", a=instead("1")), "a(3)", "1"),
        (instead(a="1"), "b(3)", ""),
        (instead("0"), "part of a", ""),
    ],
)
def test_a_cure_is_written_in_the_words_of_the_script(cure: Callable[..., str], code: str, expected: str) -> None:
    assert cured_line(cure, code) == expected
