"""Kernels of two modes as the figure of an overhead draws them."""

import re

import pytest

from deviate.report.figures.write import page_figure
from deviate.report.plots import KernelLine, KernelPlot


def test_equal_factors_are_equally_long_whatever_the_time() -> None:
    lines = tuple(KernelLine(f"kernel {place}", 10.0**-place, 3 * 10.0**-place) for place in range(1, 6))
    ticks = ((1e-3, "1 ms"), (1e-2, "10 ms"))
    figure = page_figure(KernelPlot("kernels", "Kernels", "", "", "time", ticks, "impl", "control", lines))
    joins = re.findall(r'd="M ([\d.]+) ([\d.]+) L ([\d.]+) \2 " clip-path=\S+ style="[^"]*currentColor', figure)
    lengths = [float(end) - float(start) for start, _, end in joins]
    assert len(lengths) == 5
    assert lengths == [pytest.approx(lengths[0], abs=0.2)] * 5
    assert lengths[0] > 10
    assert [f">kernel {place}</text>" in figure for place in range(1, 6)] == [True] * 5
