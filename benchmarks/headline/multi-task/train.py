import torch
from sklearn.datasets import load_digits
from torch import nn

X, y = load_digits(return_X_y=True)
X = torch.tensor(X / 16, dtype=torch.float32)
targets = {"digit": torch.tensor(y), "loop": torch.tensor([int(k in (0, 6, 8, 9)) for k in y])}
order = torch.randperm(len(X))
tr, va = order[:1300], order[1300:]


class MultiTask(nn.Module):
    def __init__(self):
        super().__init__()
        self.trunk = nn.Sequential(nn.Linear(64, 32), nn.ReLU())
        self.heads = nn.ModuleDict({"digit": nn.Linear(32, 10), "loop": nn.Linear(32, 2)})

    def forward(self, x):
        h = self.trunk(x)
        return {name: head(h) for name, head in self.heads.items()}


net = MultiTask()
opt = torch.optim.Adam(net.parameters(), lr=2e-3)
crit = nn.CrossEntropyLoss()
for epoch in range(1, 6):
    running = 0.0
    for idx in tr[torch.randperm(len(tr))].split(64):
        out = net(X[idx])
        loss = crit(out["digit"], targets["digit"][idx]) + 0.5 * crit(out["loop"], targets["loop"][idx])
        opt.zero_grad()
        loss.backward()
        opt.step()
        running += loss.item() * len(idx)
    print(f"--- epoch {epoch}/5 --- train loss {running / len(tr):.4f}")
    accs = {}
    with torch.no_grad():
        out = net(X[va])
        for name in targets:
            accs[name] = (out[name].argmax(1) == targets[name][va]).float().mean().item()
            print(f"    val acc [{name}]: {100 * accs[name]:.2f} %")
    print(f"    val acc [mean]: {100 * sum(accs.values()) / len(accs):.2f} %")
