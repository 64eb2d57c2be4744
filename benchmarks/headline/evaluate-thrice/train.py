import torch
from sklearn.datasets import load_digits
from torch import nn

X, y = load_digits(return_X_y=True)
X, y = torch.tensor(X / 16, dtype=torch.float32), torch.tensor(y)
order = torch.randperm(len(X))
X, y = X[order], y[order]
model = nn.Sequential(nn.Linear(64, 32), nn.ReLU(), nn.Linear(32, 10))
averaged = torch.optim.swa_utils.AveragedModel(model)
optimizer = torch.optim.SGD(model.parameters(), lr=0.4)


@torch.no_grad()
def evaluate(net):
    logits = net(X[1200:])
    loss = nn.functional.cross_entropy(logits, y[1200:]).item()
    acc = (logits.argmax(1) == y[1200:]).float().mean().item()
    print(f"eval: loss={loss:.4f}, acc={acc:.4%}")
    return acc


evaluate(model)  # before training: chance
for epoch in range(5):
    for idx in torch.randperm(1200).split(32):
        loss = nn.functional.cross_entropy(model(X[idx]), y[idx])
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
    averaged.update_parameters(model)
    print(f"[{epoch + 1:>2}/5] loss={loss.item():.4f}")
    evaluate(model)
evaluate(averaged)  # the model that is kept
torch.save(averaged.module.state_dict(), "final.pt")
