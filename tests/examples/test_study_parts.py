"""Parts of the studies are those of the papers: the learning rate, and the networks with and without batch norm."""

import ast
import importlib.util
import math
from collections.abc import Callable
from pathlib import Path
from types import ModuleType

import pytest

Require = Callable[[str], None]


@pytest.fixture(scope="module")
def rate(examples: Path) -> Callable[..., float]:
    """The function of the study alone, for which no framework need be there."""
    tree = ast.parse((examples / "studies/sources/train.py").read_text(encoding="utf-8"))
    tree.body = [it for it in tree.body if isinstance(it, ast.FunctionDef) and it.name == "rate"]
    names: dict[str, object] = {"math": math}
    exec(compile(tree, "train.py", "exec"), names)
    return names["rate"]  # type: ignore[return-value]


@pytest.mark.parametrize(
    ("cycles", "epoch", "expected"),
    [
        (1, 0, 0.0),
        (1, 1.5, 0.2),
        (1, 3, 0.4),
        (1, 4, 0.399937),
        (1, 125, 0.341421),
        (1, 250, 0.2),
        (1, 375, 0.058579),
        (1, 500, 0.0),
        (5, 50, 0.2),
        (5, 99, 9.8688e-5),
        (5, 99.99, 9.87e-9),
        (5, 100, 0.0),
        (5, 103, 0.4),
        (5, 150, 0.2),
        (5, 500, 0.0),
    ],
)
def test_the_learning_rate_is_that_of_the_paper(
    rate: Callable[..., float], cycles: int, epoch: float, expected: float
) -> None:
    """Of Summers & Dinneen: 500 epochs, a peak of 0.4 after 3 of warm-up, one cosine or five."""
    assert rate(epoch, 500, cycles, 0.4, 3) == pytest.approx(expected, rel=1e-4, abs=5e-7)


def module(path: Path) -> ModuleType:
    spec = importlib.util.spec_from_file_location(f"study_{path.parent.name}", path)
    assert spec is not None
    assert spec.loader is not None
    made = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(made)
    return made


def test_the_small_network_differs_by_batch_norm_alone(examples: Path, require: Require) -> None:
    """Of Zhuang et al.: three convolutions of 16, 32 and 32 channels, dense layers of 32 and 10."""
    require("torch")
    from torch import nn

    small = module(examples / "studies/factors/train.py").small
    without, within = small(lambda _: [], 32), small(lambda channels: [nn.BatchNorm2d(channels)], 32)
    sizes = [(type(it).__name__, it.weight.shape[0]) for it in without if hasattr(it, "weight")]
    assert sizes == [("Conv2d", 16), ("Conv2d", 32), ("Conv2d", 32), ("Linear", 32), ("Linear", 10)]
    kinds = [type(it).__name__ for it in within]
    assert kinds.count("BatchNorm2d") == 3
    assert [it for it in kinds if it != "BatchNorm2d"] == [type(it).__name__ for it in without]


def test_the_residual_network_has_the_layers_of_resnet_14(examples: Path, require: Require) -> None:
    """Three stages of two blocks with 16, 32 and 64 channels, and the layers before and behind them."""
    require("torch")
    made = module(examples / "studies/sources/train.py").ResNet(width=16, blocks=2, dropout=0.0)
    layers = [name for name, it in made.named_parameters() if it.dim() > 1 and "short" not in name]
    assert len(layers) == 14
    assert [it.conv2.out_channels for it in made.blocks] == [16, 16, 32, 32, 64, 64]
