import argparse

import torch
from data import load

parser = argparse.ArgumentParser()
parser.add_argument("--epochs", type=int, default=4)
parser.add_argument("--out", default="model.pt")
args = parser.parse_args()

(X, y), (X_val, y_val), _ = load()
model = torch.nn.Sequential(torch.nn.Linear(64, 32), torch.nn.ReLU(), torch.nn.Linear(32, 10))
opt = torch.optim.Adam(model.parameters(), lr=3e-3)
for epoch in range(args.epochs):
    for idx in torch.randperm(len(X)).split(64):
        loss = torch.nn.functional.cross_entropy(model(X[idx]), y[idx])
        opt.zero_grad()
        loss.backward()
        opt.step()
    with torch.no_grad():
        val_acc = (model(X_val).argmax(1) == y_val).float().mean().item()
    print(f"epoch {epoch:02d} | loss {loss.item():.4f} | val_acc {val_acc:.4f}")
torch.save(model.state_dict(), args.out)
print(f"saved {args.out}")
