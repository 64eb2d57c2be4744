import re
import subprocess
import sys
import textwrap
from collections.abc import Callable, Sequence
from pathlib import Path

import pytest
from each import check_each

import deviate
from deviate.analysis.analyze import analyze
from deviate.analysis.document import to_document
from deviate.diverge.holds import HOLDS
from deviate.model.analysis import Analysis, Hazard
from deviate.replay.gpus import on_this_machine
from deviate.replay.variants import NAMES
from deviate.sources.catalogue import GROUPS, SOURCES, Source

Analyse = Callable[[str], Analysis]


FOUND = {name: kind for name, kind in SOURCES.items() if kind.pattern is not None}
"""The sources that code shows."""


@pytest.mark.parametrize("kind", FOUND.values(), ids=FOUND)
def test_the_example_of_a_source_has_it_and_its_cure_removes_it(analyse: Analyse, kind: Source) -> None:
    found = analyse(kind.example).hazards
    assert {hazard.name for hazard in found} == {kind.name}
    assert bool(kind.remedy) != any(kind.cure_of(hazard.code) for hazard in found)
    remedy = kind.remedy or cured(kind, found)
    assert kind.name not in {hazard.name for hazard in analyse(remedy).hazards}, remedy


def cured(kind: Source, found: Sequence[Hazard]) -> str:
    """The example with the cure at each place, or with the line that is added after its imports."""
    lines = kind.example.splitlines()
    for hazard in found:
        code = textwrap.dedent(lines[hazard.line - 1])
        if not kind.line and not kind.cure_of(hazard.code).endswith(".seed(0)"):
            assert hazard.code in code
            lines[hazard.line - 1] = lines[hazard.line - 1].replace(hazard.code, kind.cure_of(hazard.code))
    if kind.line:
        n_imports = sum(line.startswith(("import", "from")) for line in lines)
        lines.insert(n_imports, kind.line)
    return "import os, torch\n" + "\n".join(lines)


def check_source(kind: Source) -> None:
    assert kind.group in GROUPS
    assert kind.title.endswith(".")
    assert min(map(len, (kind.reason, kind.reference))) > 20
    assert all(name in (*HOLDS, *NAMES, "split", "algo") for name in [kind.held] if name)
    assert kind.cure or kind.line or kind.advice


def test_a_source_tells_all_of_it() -> None:
    check_each(SOURCES.items(), check_source)


def test_a_hazard_has_its_place_its_expression_and_what_happens(analyse: Analyse) -> None:
    analysis = analyse(
        """
        from os import listdir as entries
        names = entries(
            "images")
        split = names[:800]
        """
    )
    message = "names are in the order of the file system"
    assert analysis.hazards == (Hazard("file-order", "train.py", 3, "entries('images')", message),)
    assert to_document(analysis)["hazards"] == [
        {"name": "file-order", "file": "train.py", "line": 3, "code": "entries('images')", "message": message}
    ]


def test_hazards_come_in_source_order_the_script_first_and_each_kind_once_in_a_line(tmp_path: Path) -> None:
    (tmp_path / "train.py").write_text(
        "import data\nimport os\nx = data.load()[1:]\na, b = os.urandom(1), os.urandom(1)\n"
    )
    (tmp_path / "data.py").write_text("import os\ndef load():\n    return os.urandom(2), list(set(names))\n")
    found = analyze(tmp_path / "train.py", tmp_path).hazards
    assert [(hazard.name, hazard.file, hazard.line) for hazard in found] == [
        ("entropy", "train.py", 4),
        ("entropy", "data.py", 3),
        ("set-order", "data.py", 3),
    ]


def test_only_what_a_script_reaches_counts_and_items_of_a_data_set_are_reached(tmp_path: Path) -> None:
    (tmp_path / "data.py").write_text(
        "import os\n"
        "class Noisy:\n"
        "    def __getitem__(self, index):\n"
        "        return self.noise()\n"
        "    def noise(self):\n"
        "        return os.urandom(2)\n"
        "def unused():\n"
        "    return os.urandom(3)\n"
        'if __name__ == "__main__":\n'
        "    print(os.urandom(4))\n"
    )
    (tmp_path / "train.py").write_text("import sys\nfrom data import Noisy\nset_ = Noisy()\nprint(set_[0])\n")
    found = analyze(tmp_path / "train.py", tmp_path).hazards
    assert [(hazard.file, hazard.line) for hazard in found] == [("data.py", 6)]


def test_what_stands_behind_an_exit_does_not_count(analyse: Analyse) -> None:
    assert not analyse("import os, sys\nsys.exit()\nos.urandom(1)\n").hazards


def test_a_comment_leaves_a_line_out(analyse: Analyse) -> None:
    found = analyse("import os\na = os.urandom(1)  # deviate: ignore\nb = os.urandom(1)\n").hazards
    assert [hazard.line for hazard in found] == [3]


def test_a_plain_script_has_none(analyse: Analyse) -> None:
    analysis = analyse(
        """
        import random
        import numpy as np
        import torch
        from torch import nn
        torch.manual_seed(0)
        np.random.seed(0)
        random.seed(0)
        model = nn.Sequential(nn.Linear(4, 8), nn.ReLU(), nn.Linear(8, 2))
        optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
        for epoch in range(3):
            for x, y in torch.utils.data.DataLoader(data, shuffle=True, num_workers=2):
                loss = nn.functional.cross_entropy(model(x), y)
                loss.backward()
                optimizer.step()
            print(f"{epoch} loss {loss.item():.4f}")
        """
    )
    assert not analysis.hazards


def test_hazards_are_the_same_whatever_the_hash_seed(tmp_path: Path) -> None:
    (tmp_path / "train.py").write_text(
        "import random, time, torch\n"
        "seed = random.randint(1, 9) + int(time.time())\n"
        "random.seed(seed)\ntorch.manual_seed(seed)\ntorch.cuda.manual_seed(seed)\n"
        "x = torch.zeros(3).index_add_(0, i, torch.nn.functional.grid_sample(a, b))\nx.sum().backward()\n"
    )
    lines = [
        subprocess.run(
            [sys.executable, "-P", "-m", "deviate", "analyze", "train.py", "--format", "json"],
            cwd=tmp_path,
            env={"PYTHONHASHSEED": str(seed), "PATH": ""},
            capture_output=True,
            check=True,
        ).stdout
        for seed in (1, 2)
    ]
    assert lines[0] == lines[1]
    assert b"changing-seed" in lines[0]


def test_what_only_a_gpu_has_is_not_said_on_a_machine_without_one(analyse: Analyse, tmp_path: Path) -> None:
    analysis = analyse(
        "import torch, os\nloss = torch.nn.CTCLoss()\nx.index_put_((i,), y, accumulate=True)\nos.urandom(1)\n"
    )
    assert [hazard.name for hazard in analysis.hazards] == ["no-deterministic-kernel", "scatter", "entropy"]
    assert [hazard.name for hazard in on_this_machine(analysis, tmp_path).hazards] == ["scatter", "entropy"]
    (tmp_path / "dev").mkdir()
    (tmp_path / "dev/kfd").touch()
    assert on_this_machine(analysis, tmp_path) == analysis


def test_what_runs_record_is_what_the_catalogue_names() -> None:
    guest = Path(deviate.__file__).parent / "guest"
    texts = "".join(path.read_text(encoding="utf-8") for path in guest.rglob("*.py"))
    recorded = set(re.findall(r'inputs\.record\(\s*"([a-z-]+)"', texts))
    observed = {name for kind in SOURCES.values() for name in kind.observed}
    assert recorded == observed - {"seed"}  # which untraced runs record, too


def test_the_page_of_the_manual_stays_short() -> None:
    page = (Path(deviate.__file__).parents[1] / "docs/reference/sources.md").read_text(encoding="utf-8")
    assert all(f"### {name}\n" in page for name in SOURCES)
    assert len(page) < 22_500
