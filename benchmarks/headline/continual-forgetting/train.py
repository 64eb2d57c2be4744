import numpy as np
import torch, torch.nn as nn
from pprint import pprint
from sklearn.datasets import load_digits

X, y = load_digits(return_X_y=True)
order = np.random.permutation(len(X))
X, y = torch.tensor(X[order]).float() / 16, torch.tensor(y[order])
tasks = [(0, 1), (2, 3), (4, 5), (6, 7)]
net = nn.Sequential(nn.Linear(64, 32), nn.ReLU(), nn.Linear(32, 10))
R = np.zeros((4, 4))

def pick(task, part):
    m = (y == task[0]) | (y == task[1])
    Xs, ys = X[m], y[m]
    return (Xs[:200], ys[:200]) if part == "train" else (Xs[200:], ys[200:])

for t, task in enumerate(tasks):
    opt = torch.optim.SGD(net.parameters(), lr=0.03)
    Xs, ys = pick(task, "train")
    for epoch in range(3):
        for i in torch.randperm(200).split(10):
            loss = nn.functional.cross_entropy(net(Xs[i]), ys[i])
            opt.zero_grad(); loss.backward(); opt.step()
    for k in range(t + 1):
        Xk, yk = pick(tasks[k], "test")
        R[t, k] = (net(Xk).argmax(1) == yk).float().mean()
    print(f"After task {t}: " + " ".join(f"{a:.3f}" for a in R[t, :t + 1]))

final = {"average_accuracy": round(float(R[-1].mean()), 4),
         "forgetting": round(float((R.max(0) - R[-1])[:-1].mean()), 4),
         "learning_accuracy": round(float(np.diag(R).mean()), 4)}
pprint(final)
