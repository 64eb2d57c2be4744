"""Lightning, Transformers and Accelerate seed and load in ways of their own: streams hold and vary with them."""

from pathlib import Path

import pytest
from varied import Script, moved, replicates

COMMON = """\
import hashlib, logging, warnings
import torch
from torch import nn
from torch.utils.data import DataLoader, Dataset
warnings.filterwarnings("ignore")

def digest(*tensors):
    return hashlib.sha256(b"".join(t.detach().numpy().tobytes() for t in tensors)).hexdigest()[:12]

class Data(Dataset):
    def __len__(self):
        return 16
    def __getitem__(self, index):
        return {"x": torch.full((4,), index / 16), "labels": index % 2, "index": index}

class Net(BASE):
    def __init__(self):
        super().__init__()
        self.net = nn.Sequential(nn.Linear(4, 8), nn.Dropout(0.5), nn.Linear(8, 2))
        self.order = []
    def forward(self, x, labels, index):
        if self.training:
            self.order.append(index.clone())
        logits = self.net(x)
        return {"loss": nn.functional.cross_entropy(logits, labels), "logits": logits}

def show(net):
    print("order", digest(*net.order))
    print("final", digest(*net.parameters()))
"""
LIGHTNING = """\
import lightning as L
logging.getLogger("lightning").setLevel(logging.ERROR)
logging.getLogger("lightning.pytorch").setLevel(logging.ERROR)

class Wide(Net):
    def __init__(self, width=4, *, depth=2):
        super().__init__()
        self.save_hyperparameters()
    def training_step(self, batch, index):
        return self(**batch)["loss"]
    def validation_step(self, batch, index):
        self.log("loss", self(**batch)["loss"])
    def configure_optimizers(self):
        return torch.optim.SGD(self.parameters(), 0.1)

class Wider(Wide):
    def __init__(self, width=5, extra=1):
        super().__init__(width, depth=3)

if __name__ == "__main__":
    L.seed_everything(5, workers=True, verbose=False)
    net = Wider()
    print("arguments", sorted(net.hparams.items()))
    print("init", digest(*net.parameters()))
    options = dict(enable_checkpointing=False, enable_progress_bar=False, enable_model_summary=False)
    L.Trainer(max_epochs=2, logger=False, accelerator="cpu", **options).fit(
        net, DataLoader(Data(), 4, shuffle=True, num_workers=1), DataLoader(Data(), 8)
    )
    show(net)
"""
TRANSFORMERS = """\
import transformers
from transformers import Trainer, TrainingArguments, set_seed
transformers.logging.set_verbosity_error()
transformers.Trainer.log = lambda *args, **kwargs: None
set_seed(11)
net = Net()
print("init", digest(*net.parameters()))
arguments = TrainingArguments(
    "out", num_train_epochs=2, per_device_train_batch_size=4, save_strategy="no", report_to=[], disable_tqdm=True,
    use_cpu=True, eval_strategy="epoch", remove_unused_columns=False, seed=3,
    accelerator_config={"use_seedable_sampler": SEEDABLE},
)
Trainer(net, arguments, train_dataset=Data(), eval_dataset=Data()).train()
show(net)
"""
ACCELERATE = """\
from accelerate import Accelerator
from accelerate.utils import set_seed
set_seed(4)
accelerator = Accelerator(cpu=True)
net = Net()
print("init", digest(*net.parameters()))
optimizer = torch.optim.SGD(net.parameters(), 0.1)
model, optimizer, loader = accelerator.prepare(net, optimizer, DataLoader(Data(), 4, shuffle=True))
for epoch in range(2):
    for batch in loader:
        optimizer.zero_grad()
        accelerator.backward(model(**batch)["loss"])
        optimizer.step()
show(net)
"""
MOVED = {
    "": set(),
    "init": {"init", "final", "weights"},
    "shuffle": {"order", "final", "weights"},
    "dropout": {"final", "weights"},
    "other": set(),
}


@pytest.mark.parametrize(
    ("needed", "text", "base"),
    [
        pytest.param("lightning", LIGHTNING, "__import__('lightning').LightningModule", marks=pytest.mark.slow),
        pytest.param("transformers", TRANSFORMERS.replace("SEEDABLE", "True"), "nn.Module", marks=pytest.mark.slow),
        ("accelerate", ACCELERATE, "nn.Module"),
    ],
)
def test_streams_hold_and_vary(tmp_path: Path, require, needed: str, text: str, base: str) -> None:  # type: ignore[no-untyped-def]
    require("torch")
    require(needed)
    script = Script(COMMON.replace("BASE", base) + text)
    runs = replicates(tmp_path, script, 1, tuple(MOVED)[1:])
    assert moved(runs) == MOVED
    [held] = runs[""]
    assert {event[4] for event in held.of("seed")} == {"replaced"}
    assert {event[0] for event in held.of("seed")} >= {"random.seed", "numpy.random.seed", "torch.manual_seed"}
    if needed == "lightning":
        assert "('depth', 3), ('extra', 1), ('width', 5)" in held.stdout
    if needed != "accelerate":
        assert [event[2] for event in held.of("evaluation")] == [16]
