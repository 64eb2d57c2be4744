import sys, time
import numpy as np

rng = np.random.default_rng()
X = rng.normal(size=(600, 10)); w_true = rng.normal(size=10)
y = (X @ w_true + rng.normal(scale=2.0, size=600) > 0).astype(float)
X, Xv, y, yv = X[:400], X[400:], y[:400], y[400:]
w = np.zeros(10)
sig = lambda z: 1 / (1 + np.exp(-z))
bce = lambda p, t: -np.mean(t * np.log(p + 1e-9) + (1 - t) * np.log(1 - p + 1e-9))
EPOCHS = 6
for e in range(EPOCHS):
    start = time.time()
    print(f"Epoch {e + 1}/{EPOCHS}")
    order = rng.permutation(400)
    for b in range(20):
        i = order[b * 20:(b + 1) * 20]
        w -= 0.1 * X[i].T @ (sig(X[i] @ w) - y[i]) / 20
        time.sleep(0.002)
        done = (b + 1) * 30 // 20
        sys.stdout.write(f"\r{b + 1:2d}/20 [{'=' * done}{'.' * (30 - done)}] - loss: {bce(sig(X[i] @ w), y[i]):.4f}")
        sys.stdout.flush()
    p, pv = sig(X @ w), sig(Xv @ w)
    print(f" - {time.time() - start:.0f}s - loss: {bce(p, y):.4f} - acc: {np.mean((p > .5) == y):.4f} - val_loss: {bce(pv, yv):.4f} - val_acc: {np.mean((pv > .5) == yv):.4f}")
