import argparse
import torch
import torch.nn as nn
from sklearn.datasets import load_digits

parser = argparse.ArgumentParser()
parser.add_argument("--eps", type=float, default=0.1)
parser.add_argument("--epochs", type=int, default=6)
args = parser.parse_args()
d = load_digits()
perm = torch.randperm(len(d.data))
x, t = torch.tensor(d.data).float()[perm] / 16, torch.tensor(d.target)[perm]
x_train, t_train, x_test, t_test = x[:1300], t[:1300], x[1300:], t[1300:]
net = nn.Sequential(nn.Linear(64, 64), nn.ReLU(), nn.Linear(64, 10))
opt = torch.optim.SGD(net.parameters(), lr=0.2)
ce = nn.CrossEntropyLoss()

def fgsm(x, t, eps):
    x = x.clone().requires_grad_(True)
    g, = torch.autograd.grad(ce(net(x), t), x)
    return (x + eps * g.sign()).clamp(0, 1).detach()

def acc(x, t):
    return (net(x).argmax(1) == t).float().mean().item()

def pgd(x, t, eps, steps=5):
    adv = x.clone()
    for _ in range(steps):
        adv = torch.max(torch.min(fgsm(adv, t, eps / 3), x + eps), x - eps)
    return adv

for epoch in range(args.epochs):
    for idx in torch.randperm(1300).split(64):
        adv = fgsm(x_train[idx], t_train[idx], args.eps)
        loss = .5 * ce(net(x_train[idx]), t_train[idx]) + .5 * ce(net(adv), t_train[idx])
        opt.zero_grad(); loss.backward(); opt.step()
    print(f"Epoch {epoch}: loss = {loss.item():.4f}, clean = {acc(x_test, t_test):.4f}, FGSM = {acc(fgsm(x_test, t_test, args.eps), t_test):.4f}")
print(f"Clean accuracy: {acc(x_test, t_test):.4f}")
print(f"Robust accuracy (FGSM, eps={args.eps}): {acc(fgsm(x_test, t_test, args.eps), t_test):.4f}")
print(f"Robust accuracy (PGD-5, eps={args.eps}): {acc(pgd(x_test, t_test, args.eps), t_test):.4f}")
