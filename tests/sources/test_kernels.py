"""Positive and no-op snippets of the hazards of kernels."""

from collections.abc import Callable

import pytest

from deviate.model.analysis import Analysis

Analyse = Callable[[str], Analysis]
IMPORTS = """\
import os
import torch, torch_scatter, flash_attn
import torch.nn as nn
import torch.nn.functional as F
import tensorflow as tf
import jax, jax.numpy as jnp
import flax.linen
from torch.backends import cudnn
from torch_geometric.nn import GCNConv, global_mean_pool
from torchvision.ops import RoIAlign, roi_pool
from tensorflow import keras
"""
LINE = IMPORTS.count("\n") + 1
DETERMINISTIC = "torch.use_deterministic_algorithms(True)\n"
OP_DETERMINISM = "tf.config.experimental.enable_op_determinism()\n"


def named(analysis: Analysis) -> list[str]:
    return [hazard.name for hazard in analysis.hazards]


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("scatter", "x.index_add_(0, i, y)"),
        ("scatter", "torch.zeros(3).scatter_add(0, i, y)"),
        ("scatter", "x.index_put_((i,), y, accumulate=True)"),
        ("scatter", "y = torch_scatter.scatter_mean(x, i)"),
        ("scatter", "layer = GCNConv(3, 4)"),
        ("scatter", "y = global_mean_pool(x, batch)"),
        ("scatter", "y = tf.math.unsorted_segment_sum(x, i, 3)"),
        ("scatter", "y = jnp.zeros(3).at[i].add(x)"),
        ("scatter", "y = jax.ops.segment_sum(x, i)"),
        ("no-deterministic-kernel", "up = nn.Upsample(scale_factor=2, mode='bilinear')"),
        ("no-deterministic-kernel", "up = nn.Upsample(None, 2, 'bicubic')"),
        ("no-deterministic-kernel", "up = nn.UpsamplingBilinear2d(2)"),
        ("no-deterministic-kernel", "F.interpolate(y, size=8, mode='trilinear').sum().backward()"),
        ("no-deterministic-kernel", "MODE = 'linear'\nF.interpolate(y, 8, None, MODE).sum().backward()"),
        ("no-deterministic-kernel", "up = keras.layers.UpSampling2D(interpolation='bilinear')"),
        ("no-deterministic-kernel", "F.grid_sample(x, grid).sum().backward()"),
        ("no-deterministic-kernel", "pool = nn.AdaptiveAvgPool2d((2, 1))"),
        ("no-deterministic-kernel", "pool = nn.AdaptiveMaxPool2d(1)"),
        ("no-deterministic-kernel", "pool = nn.AvgPool3d(2)"),
        ("no-deterministic-kernel", "y = nn.MaxUnpool2d(2)"),
        ("no-deterministic-kernel", "F.adaptive_avg_pool2d(x, (7, 7)).sum().backward()"),
        ("no-deterministic-kernel", "pad = nn.ReflectionPad2d(1)"),
        ("no-deterministic-kernel", "F.pad(y, (1, 1), 'reflect').sum().backward()"),
        ("no-deterministic-kernel", "loss = F.ctc_loss(x, y, a, b)"),
        ("no-deterministic-kernel", "loss = tf.nn.ctc_loss(y, x, a, b)"),
        ("no-deterministic-kernel", "loss = nn.NLLLoss2d()"),
        ("no-deterministic-kernel", "loss = nn.CrossEntropyLoss(ignore_index=255)"),
        ("no-deterministic-kernel", "bag = nn.EmbeddingBag(10, 3, mode='max')"),
        ("no-deterministic-kernel", "h = torch.histc(x, bins=10)"),
        ("no-deterministic-kernel", "h = torch.bincount(x, w)"),
        ("no-deterministic-kernel", "h = tf.math.bincount(x, weights=w)"),
        ("no-deterministic-kernel", "y = torch.cumsum(x, 0)"),
        ("no-deterministic-kernel", "y = torch.softmax(x, -1).cumsum(-1)"),
        ("recurrent", "rnn = nn.GRU(3, 4)"),
        ("convolution", "layer = nn.Conv2d(3, 4, 3)"),
        ("convolution", "layer = keras.layers.Conv2D(3, 4)"),
        ("convolution", "layer = flax.linen.Conv(3, (3, 3))"),
        ("attention", "F.scaled_dot_product_attention(q, k, v).sum().backward()"),
        ("attention", "layer = nn.TransformerEncoderLayer(8, 2)"),
        ("attention", "flash_attn.flash_attn_func(q, k, v).sum().backward()"),
        ("no-deterministic-kernel", "pool = RoIAlign((7, 7), 1.0, 2)"),
        ("no-deterministic-kernel", "roi_pool(x, boxes, 7).sum().backward()"),
    ],
)
def test_kernels_that_add_in_no_fixed_order_are_found(analyse: Analyse, name: str, text: str) -> None:
    assert named(analyse(f"{IMPORTS}{text}\n")) == [name]


@pytest.mark.parametrize(
    "text",
    [
        "x.index_put_((i,), y)",
        "x.scatter_(1, labels, 1.0)",
        "scatter(x, i)",
        "y = jnp.zeros(3).at[i].set(x)",
        "y = jnp.zeros(3).at[i].add(x, unique_indices=True)",
        "up = nn.Upsample(scale_factor=2)",
        "y = F.interpolate(x, size=8, mode='bilinear')",  # nothing takes a gradient here
        "F.interpolate(images, size=8, mode='bilinear')\nloss.backward()",
        "with torch.no_grad():\n    y = F.interpolate(x, size=8, mode='bilinear')\nloss.backward()",
        "pool = nn.AdaptiveAvgPool2d(1)",
        "pool = nn.AdaptiveAvgPool2d(output_size=(1, 1))",
        "pool = nn.MaxPool2d(2)",
        "pad = nn.ZeroPad2d(1)",
        "F.pad(y, (1, 1)).sum().backward()",
        "loss = nn.CrossEntropyLoss(ignore_index=0)",
        "bag = nn.EmbeddingBag(10, 3)",
        "h = torch.bincount(x)",
        "n = torch.cumsum(mask.long(), 0)",
        "n = counts.cumsum(0)",
        "layer = flash_attn.flash_attn_func(q, k, v, deterministic=True)",
        "layer = nn.Linear(3, 4)",
    ],
)
def test_kernels_that_do_not_and_places_without_a_gradient_are_left_out(analyse: Analyse, text: str) -> None:
    assert not analyse(f"{IMPORTS}{text}\n").hazards


@pytest.mark.parametrize(
    ("switch", "text"),
    [
        (DETERMINISTIC, "x.index_add_(0, i, y)"),
        (DETERMINISTIC, "layer = nn.Conv2d(3, 4, 3)"),
        (DETERMINISTIC, "loss = nn.CTCLoss()"),
        ("torch.set_deterministic_debug_mode('error')\n", "loss = nn.CTCLoss()"),
        ("cudnn.deterministic = True\n", "layer = nn.Conv2d(3, 4, 3)"),
        ("if torch.cuda.is_available():\n    cudnn.deterministic = True\n", "layer = nn.Conv2d(3, 4, 3)"),
        (OP_DETERMINISM, "y = tf.math.unsorted_segment_sum(x, i, 3)"),
        (OP_DETERMINISM, "layer = keras.layers.Conv2D(3, 4)"),
        ("os.environ['TF_DETERMINISTIC_OPS'] = '1'\n", "layer = keras.layers.Conv2D(3, 4)"),
        ("os.environ['XLA_FLAGS'] = '--xla_gpu_deterministic_ops=true'\n", "y = jnp.zeros(3).at[i].add(x)"),
        ("os.environ['CUBLAS_WORKSPACE_CONFIG'] = ':4096:8'\n", "rnn = nn.LSTM(3, 4)"),
    ],
)
def test_what_the_script_itself_makes_deterministic_is_left_out(analyse: Analyse, switch: str, text: str) -> None:
    assert analyse(f"{IMPORTS}{text}\n").hazards
    assert not analyse(f"{IMPORTS}{switch}{text}\n").hazards


@pytest.mark.parametrize(
    "switch",
    [
        "if args.deterministic:\n    torch.use_deterministic_algorithms(True)\n",
        "def set_seed(seed):\n    torch.use_deterministic_algorithms(True)\nif args.seed:\n    set_seed(args.seed)\n",
        "cudnn.deterministic = True\n",
        OP_DETERMINISM,
    ],
)
def test_a_switch_on_conditions_or_for_something_else_does_not_count(analyse: Analyse, switch: str) -> None:
    assert named(analyse(f"{IMPORTS}{switch}x.index_add_(0, i, y)\n")) == ["scatter"]


def test_a_function_counts_where_a_model_calls_it(analyse: Analyse) -> None:
    analysis = analyse(
        """
        import torch.nn as nn
        import torch.nn.functional as F
        def enlarged(x):
            return F.interpolate(x, scale_factor=2, mode="bilinear")
        def prepared(x):
            return F.interpolate(x, scale_factor=2, mode="bilinear")
        class Model(nn.Module):
            def forward(self, x):
                return enlarged(self.layer(x))
        model = Model()
        model(prepared(load()))
        """
    )
    assert [(hazard.name, hazard.line) for hazard in analysis.hazards] == [("no-deterministic-kernel", 5)]


def test_one_convolution_of_a_file_stands_for_all(analyse: Analyse) -> None:
    analysis = analyse("from torch import nn\na = nn.Conv2d(1, 2, 3)\nb = nn.Conv2d(2, 2, 3)\nc = nn.Conv1d(2, 2, 3)\n")
    assert [(hazard.name, hazard.line) for hazard in analysis.hazards] == [("convolution", 2)]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("cudnn.benchmark = True", ["autotuning"]),
        ("torch.backends.cudnn.benchmark = args.benchmark", ["autotuning"]),
        ("cudnn.benchmark = False", []),
        ("model = torch.compile(model, mode='max-autotune')", ["autotuning"]),
        ("model = torch.compile(model)", []),
        ("settings.benchmark = True", []),
        ("torch.use_deterministic_algorithms(False)", ["determinism-off"]),
        ("torch.use_deterministic_algorithms(True, warn_only=True)", ["determinism-off"]),
        ("torch.use_deterministic_algorithms(True)", []),
        ("torch.set_deterministic_debug_mode(1)", ["determinism-off"]),
        ("cudnn.deterministic = False", ["determinism-off"]),
        ("cudnn.deterministic = args.deterministic", []),
    ],
)
def test_races_between_kernels_and_switches_that_are_turned_off_are_found(
    analyse: Analyse, text: str, expected: list[str]
) -> None:
    assert named(analyse(f"{IMPORTS}{text}\n")) == expected


def test_settings_of_a_trainer_count_too(analyse: Analyse) -> None:
    analysis = analyse("import lightning as L\ntrainer = L.Trainer(benchmark=True, deterministic=False)\n")
    assert sorted(named(analysis)) == ["autotuning", "determinism-off"]
