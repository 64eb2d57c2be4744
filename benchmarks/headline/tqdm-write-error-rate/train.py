import numpy as np
from sklearn.datasets import fetch_california_housing, load_digits
from sklearn.neural_network import MLPClassifier
from tqdm import tqdm, trange

digits = load_digits()
perm = np.random.permutation(len(digits.data))
X, y = digits.data[perm] / 16, digits.target[perm]
Xtr, ytr, Xva, yva = X[:1200], y[:1200], X[1200:], y[1200:]
net = MLPClassifier((30,), learning_rate_init=2e-3)
bar = trange(12, desc="train")
for ep in bar:
    idx = np.random.permutation(len(Xtr))
    for chunk in tqdm(np.array_split(idx, 20), leave=False, desc=f"epoch {ep}"):
        net.partial_fit(Xtr[chunk], ytr[chunk], classes=range(10))
    bar.set_postfix(loss=net.loss_)
    err = 100 * np.mean(net.predict(Xva) != yva)
    if ep % 3 == 2:
        tqdm.write(f"[{ep + 1:02d}] valid error rate {err:.2f}% | train loss {net.loss_:.4f}")
