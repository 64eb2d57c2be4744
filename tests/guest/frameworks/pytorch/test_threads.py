"""PyTorch: what trains in another thread than the main one is recorded as in that, if an adapter says so."""

import json
from pathlib import Path

import pytest
from harness import Child

from deviate.guest.streams import STREAMS

SCRIPT = """\
import launcher
import torch
from torch import nn

def main():
    torch.manual_seed(1)
    model = nn.Sequential(nn.Linear(4, 4), nn.Dropout(0.5))
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    for step in range(2):
        optimizer.zero_grad()
        model(torch.randn(8, 4)).sum().backward()
        optimizer.step()
    print(model[0].weight.tolist())

launcher.run(main)
"""
LAUNCHER = "def run(function):\n    function()\n"
ADAPTER = """\
from threading import Thread

MODULES = ("launcher",)

def install(module, context):
    def run(function):
        def follow():
            with context.follow_thread():
                function()

        thread = Thread(target=follow)
        thread.start()
        thread.join()

    module.run = run
"""


@pytest.mark.requires("torch")
def test_a_followed_thread_draws_and_is_traced_as_the_main_thread(tmp_path: Path) -> None:
    traces, printed = [], []
    for name in ("main", "followed"):
        child = Child(tmp_path / name, SCRIPT)
        child.files = {"launcher.py": LAUNCHER}
        if name == "followed":
            plugins = tmp_path / name / "guest" / "_deviate_guest" / "plugins"
            plugins.mkdir(parents=True)
            (plugins / "adapter.py").write_text(ADAPTER)
            child.adapters = {"launcher": ["plugins.adapter"]}
        result = child.run(seeds={stream: number for number, stream in enumerate(STREAMS)}, capture={"trace": "4"})
        assert (result.code, result.of("error")) == (0, []), (result.stderr, result.of("error"))
        (file,) = (tmp_path / name).rglob("trace-*.jsonl")
        lines = [json.loads(line) for line in file.read_text().splitlines()]
        traces.append([line[:4] for line in lines if line[0] not in {"start", "step", "end", "place"}])
        printed.append(result.stdout)
    assert printed[0] == printed[1]
    assert len(traces[0]) > 30
    assert traces[0] == traces[1]
