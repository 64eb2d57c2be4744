"""PyTorch: draws on a device type of a plug-in are reported with their lines, once each, and nothing else is."""

from pathlib import Path

import pytest
from harness import Child
from varied import seeds

STAND_IN = Path(__file__).parents[3] / "support/plugin_device.py"
SCRIPT = """\
import torch
from torch.nn import functional

print(hasattr(torch.Tensor.normal_, "__deviate__"))
import plugin_device

class Net(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.weight = torch.nn.Parameter(torch.rand(4, device="toy"))
        self.drop = torch.nn.Dropout(0.5)
        self.off = torch.nn.Dropout(0.0)
    def forward(self, x):
        x = functional.dropout(x * self.weight, p=0.25, training=self.training)
        x = self.off(x)
        return self.drop(x)

torch.manual_seed(1)
net = Net()
for step in range(2):
    x = torch.empty(3, 4, device="toy").normal_()
    net(x)
torch.rand(3)
net.eval()
net(torch.zeros(3, 4).uniform_().to("toy"))
print(functional.dropout(torch.zeros(3)))
"""
PHRASE = "draws on the device toy, whose generator deviate does not route"


@pytest.mark.slow
@pytest.mark.requires("torch>=2.13")  # which takes a device type that is written in Python
def test_each_line_that_draws_on_a_device_of_a_plugin_is_reported_once(tmp_path: Path) -> None:
    child = Child(tmp_path, SCRIPT)
    child.files["plugin_device.py"] = STAND_IN.read_text(encoding="utf-8")
    result = child.run(seeds=seeds())
    assert (result.code, result.of("error")) == (0, []), result.stderr
    assert result.stdout.startswith("False\n")
    assert result.of("uncontrolled") == [[PHRASE, "train.py", line] for line in (10, 21, 14, 16)]
