"""A regression on files of a temporary folder that are listed in order; each run has a name of its own."""

import json
import os
import random
import tempfile
import uuid
from pathlib import Path

run = f"{os.getpid()}-{uuid.uuid4().hex[:8]}"
print(f"run {run}")
random.seed(1)
with tempfile.TemporaryDirectory() as folder:
    for number in range(8):
        x = random.uniform(-1, 1)
        Path(folder, f"{number}.json").write_text(json.dumps([x, 3 * x - 1]))
    points = [json.loads(Path(folder, name).read_text()) for name in sorted(os.listdir(folder))]

slope, offset = 0.0, 0.0
os.makedirs("logs", exist_ok=True)
with open(f"logs/{run}.csv", "w") as log:
    for epoch in range(8):
        loss = 0.0
        for x, y in points:
            error = slope * x + offset - y
            slope, offset = slope - 0.1 * error * x, offset - 0.1 * error
            loss += error * error
        log.write(f"{epoch},{loss}\n")
        print(f"epoch {epoch} loss {loss:.8f}")
