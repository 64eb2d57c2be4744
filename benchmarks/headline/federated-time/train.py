"""FedAvg on synthetic non-iid clients."""
import time
import numpy as np
from sklearn.datasets import make_classification

K, ROUNDS = 4, 5
X, y = make_classification(2000, 20, n_informative=8, n_classes=3, flip_y=0.1)
test_X, test_y = X[1600:], y[1600:]
parts = np.array_split(np.argsort(y[:1600] + np.random.rand(1600) * 2), K)

def softmax(z):
    e = np.exp(z - z.max(1, keepdims=True)); return e / e.sum(1, keepdims=True)

def local(W, idx, epochs=3):
    W = W.copy()
    for _ in range(epochs):
        p = softmax(X[idx] @ W)
        W -= 0.2 * X[idx].T @ (p - np.eye(3)[y[idx]]) / len(idx)
    return W, -np.log(softmax(X[idx] @ W)[np.arange(len(idx)), y[idx]]).mean()

W = np.zeros((20, 3))
t0 = time.time()
for rnd in range(1, ROUNDS + 1):
    tic = time.time()
    print(f"--- Round {rnd} ---")
    updates = []
    for k in range(K):
        Wk, loss = local(W, parts[k])
        print(f"  client {k}: loss {loss:.3f} ({len(parts[k])} samples)")
        updates.append(Wk)
    W = np.mean(updates, 0)
    acc = (softmax(test_X @ W).argmax(1) == test_y).mean()
    print(f"  global acc {acc:.1%} in {time.time() - tic:.2f}s")
print(f"Finished {ROUNDS} rounds in {time.time() - t0:.1f}s. Final accuracy {acc:.2%}")
