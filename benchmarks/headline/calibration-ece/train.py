import numpy as np, torch
import torch.nn as nn
from sklearn.datasets import load_digits
from sklearn.model_selection import train_test_split

def ece(probs, labels, bins=10):
    conf, pred = probs.max(1)
    hit = (pred == labels).float()
    edges = torch.linspace(0, 1, bins + 1)
    total = 0.0
    for lo, hi in zip(edges[:-1], edges[1:]):
        m = (conf > lo) & (conf <= hi)
        if m.any():
            total += m.float().mean().item() * abs(hit[m].mean().item() - conf[m].mean().item())
    return total

X, y = load_digits(return_X_y=True)
X = X / 16 + np.random.normal(0, .35, X.shape)
Xt, Xh, yt, yh = train_test_split(torch.tensor(X).float(), torch.tensor(y), test_size=0.5)
Xc, Xe, yc, ye = Xh[:300], Xh[300:], yh[:300], yh[300:]
net = nn.Sequential(nn.Linear(64, 100), nn.ReLU(), nn.Linear(100, 10))
opt = torch.optim.Adam(net.parameters(), 1e-2)
print("TRAINING")
for it in range(1, 61):
    loss = nn.functional.cross_entropy(net(Xt), yt)
    opt.zero_grad(); loss.backward(); opt.step()
    if it % 20 == 0:
        print(f"  iter {it:3d} .... loss {loss.item():.4f}")
net.eval()
with torch.no_grad():
    logits_c, logits_e = net(Xc), net(Xe)
print("TEST RESULTS")
print("  Accuracy ............ %.4f" % (logits_e.argmax(1) == ye).float().mean())
print("  ECE ................. %.4f" % ece(logits_e.softmax(1), ye))
T = torch.ones(1, requires_grad=True)
lbfgs = torch.optim.LBFGS([T], lr=0.1, max_iter=50)
def closure():
    lbfgs.zero_grad(); l = nn.functional.cross_entropy(logits_c / T, yc); l.backward(); return l
lbfgs.step(closure)
print("TEMPERATURE SCALING")
print("  Temperature ......... %.4f" % T.item())
print("  ECE ................. %.4f" % ece((logits_e / T.detach()).softmax(1), ye))
