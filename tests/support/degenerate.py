"""Scores of which most figures cannot be computed, or only just."""

import math

ULP = math.ulp(0.5)
CASES: dict[str, list[float]] = {
    "nothing": [],
    "only NaN": [math.nan, math.nan],
    "one": [0.5],
    "two": [0.5, 0.75],
    "two equal": [0.5, 0.5],
    "three": [0.5, 0.75, 0.625],
    "four": [1.0, 2.0, 3.0, 4.0],
    "eight equal": [0.5] * 8,
    "eight others equal": [0.75] * 8,
    "an ulp apart": [0.5] * 7 + [0.5 + ULP],
    "two ulp apart": [0.5] * 11 + [0.5 + 2 * ULP],
    "eight": [0.9, 0.91, 0.92, 0.93, 0.94, 0.95, 0.96, 0.99],
    "eight with ties": [0.9, 0.9, 0.91, 0.91, 0.93, 0.95, 0.95, 0.95],
    "two levels": [0.0, 1.0] * 6,
    "some missing": [0.9, math.nan, 0.8, math.inf, 0.7, 0.6, 0.5, 0.65],
    "zeros": [0.0] * 8,
    "around zero": [-1.0, 1.0, -2.0, 2.0, 0.5, -0.5],
    "tiny": [1e-149, 2e-149, 3e-149, 5e-149, 4e-149, 9e-149, 7e-149, 8e-149, 1.5e-149, 6e-149],
    "below": [1e-200, 2e-200, 3e-200, 5e-200, 4e-200],
    "subnormal": [5e-324, 1e-323, 5e-324, 1.5e-323, 5e-324, 2e-323],
    "huge": [1e149, 2e149, 3e149, 5e149, 4e149, 9e149, 7e149, 8e149, 1.5e149, 6e149],
    "far away": [1e9 + i * 1e-6 for i in range(12)],
    "beyond": [1e151] * 5,
    "whole numbers": [1, 2, 3, 4, 5, 7],
    "many": [i * 0.37 % 1 for i in range(60)],
}
