import copy, torch
from torch import nn
from sklearn.datasets import make_moons

torch.manual_seed(7)
def data(n):
    X, y = make_moons(n, noise=0.35)
    return torch.tensor(X).float(), torch.tensor(y)

train, val, test = data(200), data(200), data(400)

class Classifier(nn.Module):
    def __init__(self):
        super().__init__()
        self.layers = nn.Sequential(nn.Linear(2, 64), nn.Tanh(), nn.Linear(64, 2))
    def forward(self, x):
        return self.layers(x)

@torch.no_grad()
def evaluate(model, split):
    X, y = split
    out = model(X)
    return {"loss": nn.functional.cross_entropy(out, y).item(), "acc": (out.argmax(1) == y).float().mean().item()}

model = Classifier()
optimizer = torch.optim.Adam(model.parameters(), lr=0.05)
best, best_state, best_epoch, patience = float("inf"), None, 0, 0
for epoch in range(1, 101):
    optimizer.zero_grad()
    nn.functional.cross_entropy(model(train[0]), train[1]).backward()
    optimizer.step()
    v = evaluate(model, val)
    print(f"epoch {epoch:3d}: {v}")
    if v["loss"] < best:
        best, best_state, best_epoch, patience = v["loss"], copy.deepcopy(model.state_dict()), epoch, 0
    else:
        patience += 1
        if patience == 8:
            print(f"Early stopping. Restoring best weights from epoch {best_epoch} (val_loss {best:.4f})")
            break
model.load_state_dict(best_state)
results = {"train": evaluate(model, train), "val": evaluate(model, val), "test": evaluate(model, test)}
print(results)
