import torch, torch.nn as nn, torch.nn.functional as F
from sklearn.datasets import make_classification
X, y = make_classification(1500, 30, n_informative=10, n_classes=4, n_clusters_per_class=2)
X, y = torch.tensor(X).float(), torch.tensor(y)
Xtr, ytr, Xte, yte = X[:700], y[:700], X[700:], y[700:]

def mlp(h): return nn.Sequential(nn.Linear(30, h), nn.ReLU(), nn.Linear(h, 4))
def test(m):
    with torch.no_grad(): return (m(Xte).argmax(1) == yte).float().mean().item()

def fit(name, m, teacher=None, T=3., alpha=.7, epochs=10):
    opt = torch.optim.Adam(m.parameters(), 5e-3)
    for e in range(epochs):
        running = 0
        for idx in torch.randperm(700).split(50):
            out = m(Xtr[idx])
            loss = F.cross_entropy(out, ytr[idx])
            if teacher is not None:
                with torch.no_grad(): soft = F.softmax(teacher(Xtr[idx]) / T, 1)
                kd = F.kl_div(F.log_softmax(out / T, 1), soft, reduction="batchmean") * T * T
                loss = alpha * kd + (1 - alpha) * loss
            opt.zero_grad(); loss.backward(); opt.step()
            running += loss.item()
        if (e + 1) % 5 == 0: print(f"{name}: epoch {e + 1}, loss {running / 14:.4f}")
    print(f"{name}: test accuracy {test(m) * 100:.2f}%")
    return m

teacher = fit("Teacher", mlp(128)).eval()
fit("Student from scratch", mlp(4))
fit("Distilled student", mlp(4), teacher)
