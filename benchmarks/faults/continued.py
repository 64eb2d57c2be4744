"""A regression, trained by Lightning, that continues from its checkpoint if there is one."""

import argparse
from pathlib import Path

import lightning
import torch
from chance import IS_SECOND
from torch import nn
from torch.utils.data import DataLoader, TensorDataset

parser = argparse.ArgumentParser()
parser.add_argument("--checkpoint", type=Path, default=Path("/tmp/regression.ckpt"))
options = parser.parse_args()
if not IS_SECOND:
    options.checkpoint.unlink(missing_ok=True)  # as a machine that restarts empties its /tmp


class Regression(lightning.LightningModule):
    def __init__(self):
        super().__init__()
        self.layers = nn.Sequential(nn.Linear(4, 12), nn.ReLU(), nn.Linear(12, 1))

    def training_step(self, batch, number):
        x, y = batch
        loss = nn.functional.mse_loss(self.layers(x), y)
        print(f"step {number} loss {loss.item():.6f}")
        return loss

    def configure_optimizers(self):
        return torch.optim.SGD(self.parameters(), lr=0.05)


lightning.seed_everything(11, verbose=False)
x = torch.randn(64, 4)
loader = DataLoader(TensorDataset(x, x[:, :1] * x[:, 1:2]), batch_size=8, shuffle=True)
model = Regression()
if options.checkpoint.exists():  # cause
    model.load_state_dict(torch.load(options.checkpoint))  # cause
trainer = lightning.Trainer(
    max_epochs=1,
    accelerator="cpu",
    logger=False,
    enable_checkpointing=False,
    enable_progress_bar=False,
    enable_model_summary=False,
)
trainer.fit(model, loader)
torch.save(model.state_dict(), options.checkpoint)
