"""Logistic regression that keeps its weights on a shared disk, and continues from there."""

import argparse
import json
import math
import random
from pathlib import Path

from chance import IS_SECOND

parser = argparse.ArgumentParser()
parser.add_argument("--state", type=Path, default=Path("/tmp/logistic-regression.json"))
options = parser.parse_args()
if not IS_SECOND:
    options.state.unlink(missing_ok=True)  # as a machine that restarts empties its /tmp

random.seed(6)
rows = [[random.gauss(0, 1) for _ in range(4)] for _ in range(60)]
labels = [int(row[0] - row[1] > 0) for row in rows]
weights = [0.0] * 4
if options.state.exists():  # cause
    weights = json.loads(options.state.read_text())  # cause

for epoch in range(6):
    loss = 0.0
    for row, label in zip(rows, labels):
        p = 1 / (1 + math.exp(-sum(w * x for w, x in zip(weights, row))))
        loss -= math.log(p if label else 1 - p) / len(rows)
        weights = [w - 0.1 * (p - label) * x for w, x in zip(weights, row)]
    print(f"epoch {epoch} loss {loss:.6f}")
options.state.write_text(json.dumps(weights))
