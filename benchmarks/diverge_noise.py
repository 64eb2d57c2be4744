"""Whether `deviate diverge` names noise that is there, and none that is not.

    python benchmarks/diverge_noise.py [--check] [--times 10]

Noise: rows of a table taken by index, whose gradient two threads add up in the order in which they arrive; the ladder
has to end at `aten.index_put.default` and the line that takes the rows, and `--confirm` at equal runs. No noise: a
script on one thread full of memory that nothing has written yet, views, and changes in place, looked at down to its
operations; it has to be told equal on every rung. With `--check` the exit code is 1 where fewer than nine in ten of
the first, or any of the second, are right.
"""

import argparse
import json
import os
import subprocess
import sys
import tempfile
import time
from pathlib import Path

NOISY = """
import torch

torch.manual_seed(0)
table = torch.nn.Parameter(torch.randn(17, 64))
head = torch.nn.Linear(64, 10)
optimizer = torch.optim.SGD([table, *head.parameters()], lr=0.1)
index = torch.randint(0, 17, (65536,))
target = torch.randint(0, 10, (65536,))
for step in range(12):
    rows = table[index]
    loss = torch.nn.functional.cross_entropy(head(rows), target)
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    print(f"step {step} loss {loss.item():.9f}")
"""
LINE = "rows = table[index]"
QUIET = """
import torch
from torch import nn


class Padded(nn.Module):
    def __init__(self):
        super().__init__()
        self.conv = nn.Conv1d(3, 8, 3, padding=1)
        self.norm = nn.BatchNorm1d(8)
        self.head = nn.Linear(8, 4)

    def forward(self, x):
        room = torch.empty(x.shape[0], x.shape[1], x.shape[2] + 2)
        room[:, :, 1:-1] = x
        room[:, :, 0], room[:, :, -1] = 0.0, 0.0
        x = nn.functional.relu(self.norm(self.conv(room)), inplace=True)
        spare = torch.empty_like(x)
        spare.copy_(x).mul_(0.5)
        x = torch.cat([x, spare], dim=2).transpose(1, 2).reshape(x.shape[0], -1, 8)
        out = x.new_empty(x.shape[0], 8)
        torch.sum(x.detach(), dim=1, out=out)
        x = nn.functional.dropout(x, 0.2, self.training)
        return self.head(x.mean(dim=1) + 0.001 * out)


torch.manual_seed(0)
data, target = torch.randn(256, 3, 20), torch.randint(0, 4, (256,))
model = Padded()
optimizer = torch.optim.Adam(model.parameters(), lr=0.01)
for epoch in range(2):
    for batch in torch.randperm(256).split(64):
        loss = nn.functional.cross_entropy(model(data[batch]), target[batch])
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
    print(f"epoch {epoch} loss {loss.item():.9f}")
"""
LEAST = 0.9


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--check", action="store_true")
    parser.add_argument("--times", type=int, default=10)
    options = parser.parse_args()
    noisy, quiet = [], []
    for number in range(1, options.times + 1):
        began = time.monotonic()
        answer = asked(NOISY, ["--variant", "impl", "--confirm"], n_threads=2)
        named, removed = is_named(answer), is_removed(answer)
        noisy.append(named and removed)
        seconds = time.monotonic() - began
        print(f"noise {number}: {told(answer)}; named: {named}, removed by --confirm: {removed} ({seconds:.0f} s)")
    for number in range(1, options.times + 1):
        answer = asked(QUIET, ["--variant", "impl", "--rung", "operations"], n_threads=1)
        quiet.append(is_quiet(answer))
        compared = ", ".join(f"{it['rung']} {it['n_compared']}" for it in answer["rungs"])
        print(f"no noise {number}: {told(answer)}; compared: {compared}; right: {quiet[-1]}")
    print(f"noise named and removed: {sum(noisy)} of {len(noisy)}; equal told equal: {sum(quiet)} of {len(quiet)}")
    return 1 if options.check and (sum(noisy) < LEAST * len(noisy) or not all(quiet)) else 0


def asked(script: str, flags: list[str], *, n_threads: int) -> dict[str, object]:
    """The answer to `deviate diverge`, in a new folder."""
    with tempfile.TemporaryDirectory() as folder:
        (Path(folder) / "train.py").write_text(script.lstrip(), encoding="utf-8")
        words = [sys.executable, "-m", "deviate", "diverge", "train.py", *flags, "-q", "--json", "-"]
        environment = {**os.environ, "OMP_NUM_THREADS": str(n_threads)}
        done = subprocess.run(words, cwd=folder, env=environment, capture_output=True, text=True, check=False)
        if done.returncode:
            sys.exit(f"exit code {done.returncode}:\n{done.stdout}\n{done.stderr}")
        return json.loads(done.stdout)


def is_named(answer: dict) -> bool:
    first = answer["first"]
    return bool(first) and first["name"] == "aten.index_put.default" and (first["place"] or {}).get("text") == LINE


def is_removed(answer: dict) -> bool:
    return any(it["is_equal"] for it in answer["confirmations"])


def is_quiet(answer: dict) -> bool:
    return (
        answer["is_equal"] is True
        and [it["rung"] for it in answer["rungs"]][-1] == "operations"
        and all(it["difference"] is None and it["n_compared"] and not it["why_not"] for it in answer["rungs"])
    )


def told(answer: dict) -> str:
    first = answer["first"]
    return "equal" if first is None else f"update {first['step']}, {first['kind']} {first['name']}"


if __name__ == "__main__":
    sys.exit(main())
