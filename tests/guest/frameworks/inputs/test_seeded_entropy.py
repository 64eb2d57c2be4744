"""Numbers of the operating system that the host gives again: for places in folders, and after a state is put back."""

from pathlib import Path

import pytest
from harness import Child

NOISE = "import random\nsystem = random.SystemRandom()\ndef noise():\n    return system.random()\n"
CALLS = "from parts.noise import noise\nprint(noise())\n"
RESTORED = {
    "torch": "import torch\nwith torch.random.fork_rng():\n    torch.manual_seed(0)\nprint(torch.rand(1))\n",
    "numpy": "import numpy as np\nkept = np.random.get_state(); np.random.seed(0)\nnp.random.set_state(kept)\n"
    "print(np.random.rand())\n",
    "random": "import random\nkept = random.getstate(); random.seed(0)\nrandom.setstate(kept)\n"
    "print(random.random())\n",
}


def printed(folder: Path, level: str) -> str:
    child = Child(folder, CALLS)
    child.files["parts/noise.py"] = NOISE
    result = child.run(seeds={}, controls={"entropy": level})
    assert result.code == 0, result.stderr
    return result.stdout


def test_a_place_in_a_folder_has_its_numbers_again(tmp_path: Path) -> None:
    first, second = printed(tmp_path / "0", "1"), printed(tmp_path / "1", "2")
    assert first != second
    assert printed(tmp_path / "2", "2/1/parts/noise.py:4/") == first


@pytest.mark.parametrize("library", RESTORED)
def test_a_generator_that_is_put_back_to_its_first_state_counts_as_unseeded(library: str, tmp_path: Path) -> None:
    if library == "torch":
        pytest.importorskip("torch")
    controls = {"entropy": f"26/26//{library}"}
    result = Child(tmp_path, RESTORED[library]).run(seeds={}, controls=controls, is_cold=True)
    chance = [event[1:] for event in result.events if event[0] == "chance"]
    assert sorted(chance) == [["drawn", library, "", 0], ["first", library, "train.py", 4]], result.stderr
