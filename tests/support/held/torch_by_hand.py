import hashlib

import numpy as np
import torch


def digest(*arrays):
    return hashlib.sha256(b"".join(np.ascontiguousarray(array).tobytes() for array in arrays)).hexdigest()[:16]


torch.manual_seed(1)
true_w = torch.tensor([2.0, -3.4])
features = torch.randn(50, 2)
labels = features @ true_w + 4.2
labels += torch.normal(0, 0.01, labels.shape)
picked = torch.randperm(50)
train, test = picked[:40], picked[40:]
print("data", digest(features.numpy(), labels.numpy(), picked.numpy()))
w = torch.normal(0, 0.01, size=(2,), requires_grad=True)
b = torch.zeros(1, requires_grad=True)
print("weights", digest(w.detach().numpy()))
seen = []
for epoch in range(2):
    order = train[torch.randperm(40)]
    seen.append(order.numpy())
    for start in range(0, 40, 10):
        batch = order[start : start + 10]
        loss = ((features[batch] @ w + b - labels[batch]) ** 2).mean()
        loss.backward()
        with torch.no_grad():
            for p in (w, b):
                p -= 0.1 * p.grad
                p.grad.zero_()
    print("loss%d" % epoch, loss.item())
print("order", digest(*seen))
print("test_loss", ((features[test] @ w + b - labels[test]) ** 2).mean().item())
