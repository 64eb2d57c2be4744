import torch, torch.nn as nn, torch.nn.functional as F
from sklearn.datasets import load_digits
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import train_test_split
from sklearn.neighbors import KNeighborsClassifier

X, y = load_digits(return_X_y=True)
X_tr, X_te, y_tr, y_te = train_test_split(X / 16., y, test_size=500)
X_tr, X_te = torch.tensor(X_tr).float(), torch.tensor(X_te).float()
encoder = nn.Sequential(nn.Linear(64, 64), nn.ReLU(), nn.Linear(64, 12))
projector = nn.Linear(12, 16)

def nt_xent(a, b, tau=0.2):
    z = F.normalize(torch.cat([a, b]), dim=1)
    sim = z @ z.T / tau
    sim.fill_diagonal_(-1e9)
    n = len(a)
    return F.cross_entropy(sim, torch.cat([torch.arange(n) + n, torch.arange(n)]))

def probe():
    with torch.no_grad():
        f_tr, f_te = encoder(X_tr).numpy(), encoder(X_te).numpy()
    lin = LogisticRegression(max_iter=300).fit(f_tr, y_tr).score(f_te, y_te)
    knn = KNeighborsClassifier(5).fit(f_tr, y_tr).score(f_te, y_te)
    return 100 * lin, 100 * knn

lin, knn = probe()
print(f"[random init] linear probe {lin:.1f}%  kNN {knn:.1f}%")
opt = torch.optim.AdamW(list(encoder.parameters()) + list(projector.parameters()), lr=1e-3)
for epoch in range(8):
    tot = 0.
    for idx in torch.randperm(len(X_tr)).split(128):
        x = X_tr[idx]
        v1, v2 = (x + 0.15 * torch.randn_like(x) for _ in range(2))
        loss = nt_xent(projector(encoder(v1)), projector(encoder(v2)))
        opt.zero_grad(); loss.backward(); opt.step()
        tot += loss.item()
    print(f"[pretrain] epoch {epoch} NT-Xent {tot / 11:.3f}")
lin, knn = probe()
print(f"[pretrained] linear probe {lin:.1f}%  kNN {knn:.1f}%")
