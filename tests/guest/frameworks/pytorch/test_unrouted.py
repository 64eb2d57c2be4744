"""PyTorch: a model on a device type of a plug-in is reported."""

from pathlib import Path

import pytest
from harness import Child
from varied import seeds

STAND_IN = Path(__file__).parents[3] / "support/plugin_device.py"
SCRIPT = """\
import torch
import plugin_device

class Net(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.weight = torch.nn.Parameter(torch.rand(4, device="toy"))
        self.drop = torch.nn.Dropout(0.5)
    def forward(self, x):
        return self.drop(x * self.weight)

net = Net()
for step in range(2):
    net(torch.zeros(3, 4).to("toy"))
"""


@pytest.mark.slow
@pytest.mark.requires("torch>=2.13")  # which takes a device type that is written in Python
def test_a_model_on_a_device_of_a_plugin_is_reported_once(tmp_path: Path) -> None:
    child = Child(tmp_path, SCRIPT)
    child.files["plugin_device.py"] = STAND_IN.read_text(encoding="utf-8")
    result = child.run(seeds=seeds())
    assert (result.code, result.of("error")) == (0, []), result.stderr
    assert result.of("uncontrolled") == [["the device type toy is not routed", "train.py", 14]]
