import hashlib

import numpy as np
import pandas as pd
from sklearn.linear_model import SGDClassifier


def digest(*arrays):
    return hashlib.sha256(b"".join(np.ascontiguousarray(array).tobytes() for array in arrays)).hexdigest()[:16]


np.random.seed(3)
frame = pd.DataFrame({"a": np.arange(60.0), "b": np.random.uniform(size=60)})
frame["a"] += np.random.normal(0, 2, len(frame))
frame["label"] = (frame["a"] > 30).astype(int)
frame = frame.sample(frac=1).reset_index(drop=True)
train = frame.sample(frac=0.7, random_state=5)
test = frame.drop(train.index)
print("data", digest(train.to_numpy(), test.to_numpy()))
model = SGDClassifier(random_state=11)
order = []
for epoch in range(2):
    shuffled = train.sample(frac=1)
    order.append(shuffled["b"].to_numpy())
    model.partial_fit(shuffled[["a", "b"]], shuffled["label"], classes=[0, 1])
    print("accuracy%d" % epoch, model.score(test[["a", "b"]], test["label"]))
print("order", digest(*order))
print("test_accuracy", model.score(test[["a", "b"]], test["label"]))
