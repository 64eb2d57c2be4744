"""Test-time augmentation: averaged outputs are those of a loop over the copies, and training never notices."""

from pathlib import Path

import numpy as np
import pytest
from varied import Script

from deviate.guest.observers.augmentations import Copies

TRAINING = """\
import torch
from torch import nn
from torch.utils.data import DataLoader, TensorDataset
torch.manual_seed(0)
x, y = torch.randn(24, 2, 8, 8), torch.arange(24) % 3
net = nn.Sequential(nn.Conv2d(2, 4, 3), nn.BatchNorm2d(4), nn.ReLU(), nn.AdaptiveAvgPool2d(1), nn.Flatten(),
                    nn.Dropout(), nn.Linear(4, 3))
optimizer = torch.optim.SGD(net.parameters(), lr=0.1)
test_loader = DataLoader(TensorDataset(x[16:], y[16:]), 3)
for epoch in range(2):
    net.train()
    for a, b in DataLoader(TensorDataset(x[:16], y[:16]), 8, shuffle=True):
        optimizer.zero_grad()
        nn.functional.cross_entropy(net(a), b).backward()
        optimizer.step()
    net.eval()
    with torch.no_grad():
        right = sum((net(a).argmax(1) == b).sum().item() for a, b in test_loader)
    print(right, net[-1].weight.sum().item().hex(), torch.rand(1).item().hex())
torch.save((net, x[16:]), "model.pt")
"""
NAMES = ("flip", "crop25", "crop_mnist", "flip_crop25", "crop_imagenet")


@pytest.fixture(autouse=True)
def _needs_torch(require) -> None:  # type: ignore[no-untyped-def]
    require("torch")


def by_hand(image: np.ndarray, name: str) -> list[np.ndarray]:
    """The image and its copies, one after the other; a border is as dark as the darkest place of the channel."""

    def crops(one: np.ndarray, border: int, stride: int) -> list[np.ndarray]:
        wide = np.stack([np.pad(channel, border, constant_values=channel.min()) for channel in one])
        return [
            wide[:, r : r + 8, c : c + 8]
            for r in range(0, 2 * border + 1, stride)
            for c in range(0, 2 * border + 1, stride)
        ]

    flipped = image[:, :, ::-1]
    copies = {
        "flip": lambda: [flipped],
        "crop25": lambda: crops(image, 4, 2),
        "crop_mnist": lambda: crops(image, 1, 1),
        "flip_crop25": lambda: crops(image, 4, 2) + crops(flipped, 4, 2),
        "crop_imagenet": lambda: [image[:, r : r + 7, c : c + 7] for r in (0, 0, 1) for c in (0, 0, 1)],
    }
    return [image, *copies[name]()]


def test_outputs_are_averaged_over_the_copies_and_training_goes_on_as_without(tmp_path: Path) -> None:
    import torch

    script = Script(TRAINING)
    plain = script.child(tmp_path / "plain").run()
    child = script.child(tmp_path / "captured")
    result = child.run(capture={"predictions": "on", "tta": ",".join(NAMES)})
    assert (result.code, result.of("error"), result.of("not captured")) == (0, [], [])
    assert result.stdout == plain.stdout
    files = {event[1]: event[4] for event in result.of("artifact")}
    assert set(files) == {"test", *(f"test+{name}" for name in NAMES)}
    net, images = torch.load(result.work / "model.pt", weights_only=False)
    kept = {name: np.load(next((tmp_path / "captured").rglob(f"artifacts/{file}"))) for name, file in files.items()}
    for name in NAMES:
        with torch.no_grad():
            wanted = np.stack([
                np.mean([net(torch.tensor(copy.copy())[None]).numpy()[0] for copy in by_hand(image, name)], axis=0)
                for image in images.numpy()
            ])  # fmt: skip
        np.testing.assert_allclose(kept[f"test+{name}"]["outputs"], wanted, rtol=2e-5, atol=2e-6)
        for array in ("truth", "keys"):
            assert (kept[f"test+{name}"][array] == kept["test"][array]).all()


def test_what_is_no_image_is_told_once(tmp_path: Path) -> None:
    text = TRAINING.replace("nn.Conv2d(2, 4, 3), nn.BatchNorm2d(4)", "nn.Flatten(), nn.Linear(128, 4)")
    text = text.replace("nn.AdaptiveAvgPool2d(1), ", "").replace("x[16:], y[16:]", "x[16:].flatten(1), y[16:]")
    result = Script(text).child(tmp_path).run(capture={"predictions": "on", "tta": "flip"})
    [[kind, name, reason]] = result.of("not captured")
    assert (kind, name) == ("predictions", "+flip")
    assert reason.startswith("the model is given no batch of images")
    assert [event[1] for event in result.of("artifact")] == ["test"]


@pytest.mark.parametrize(
    ("name", "copies"),
    [
        ("flip", 1),
        ("crop25", 25),
        ("crop81", 81),
        ("flip_crop25", 50),
        ("flip_crop81", 162),
        ("crop_mnist", 9),
        ("crop_imagenet", 9),
        ("flip_crop_imagenet", 18),
    ],
)
def test_copies_are_as_many_as_published(name: str, copies: int) -> None:
    assert len(Copies(name, 32, 32)) == copies


def test_an_augmentation_that_there_is_not_is_refused() -> None:
    with pytest.raises(ValueError, match="no test-time augmentation is named 'rotate'"):
        Copies("rotate", 8, 8)
