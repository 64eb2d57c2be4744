import pickle
import torch, torch.nn as nn
from sklearn.datasets import load_digits
from sklearn.model_selection import train_test_split
from torch.utils.data import DataLoader, TensorDataset
from torch.utils.tensorboard import SummaryWriter

X, y = load_digits(return_X_y=True)
Xa, Xb, ya, yb = train_test_split(X / 16, y, test_size=0.25)
loaders = {
    "train": DataLoader(TensorDataset(torch.tensor(Xa).float(), torch.tensor(ya)), 64, shuffle=True),
    "val": DataLoader(TensorDataset(torch.tensor(Xb).float(), torch.tensor(yb)), 64),
}
net = nn.Sequential(nn.Linear(64, 48), nn.ReLU(), nn.Linear(48, 10))
opt = torch.optim.Adam(net.parameters(), 3e-3)
writer = SummaryWriter("runs/exp")
for epoch in range(6):
    for phase in ("train", "val"):
        net.train(phase == "train")
        total = hit = n = 0
        for xb, tb in loaders[phase]:
            with torch.set_grad_enabled(phase == "train"):
                out = net(xb)
                loss = nn.functional.cross_entropy(out, tb)
            if phase == "train":
                opt.zero_grad(); loss.backward(); opt.step()
            total += loss.item() * len(xb); n += len(xb)
            hit += (out.argmax(1) == tb).sum().item()
        stats = {"loss": total / n, "accuracy": hit / n}
        for k, v in stats.items():
            writer.add_scalar(f"{phase}/{k}", v, epoch)
    writer.add_scalar("lr", opt.param_groups[0]["lr"], epoch)
writer.close()
pickle.dump(stats["accuracy"], open("acc.pkl", "wb"))
print("done")
