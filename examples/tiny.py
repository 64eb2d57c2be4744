"""Logistic regression by stochastic gradient descent, in plain Python: the smallest training script there is."""

import argparse
import math
import random
import time

N_FEATURES = 10

parser = argparse.ArgumentParser(description=__doc__)
parser.add_argument("--epochs", type=int, default=40)
parser.add_argument("--learning-rate", type=float, default=0.01)
parser.add_argument("--seed", type=int, default=0)
args = parser.parse_args()


def make_points(n, rng):
    """Points of two overlapping clouds; the last coordinate is the constant that carries the intercept."""
    points = []
    for _ in range(n):
        label = rng.randrange(2)
        center = 0.4 if label else -0.4
        points.append(([rng.gauss(center, 1.5) for _ in range(N_FEATURES)] + [1.0], label))
    return points


def predict(weights, features):
    return 1.0 / (1.0 + math.exp(-sum(w * x for w, x in zip(weights, features))))


def evaluate(weights, points):
    correct = sum((predict(weights, features) > 0.5) == bool(label) for features, label in points)
    return correct / len(points)


# The data stay the same whatever the seed of the training is.
data = make_points(5000, random.Random(42))
train, test = data[:4000], data[4000:]

random.seed(args.seed)
weights = [random.gauss(0.0, 1.0) for _ in range(N_FEATURES + 1)]

for epoch in range(args.epochs):
    start = time.perf_counter()
    random.shuffle(train)
    loss = 0.0
    for features, label in train:
        p = predict(weights, features)
        loss -= math.log(p if label else 1.0 - p)
        weights = [w + args.learning_rate * (label - p) * x for w, x in zip(weights, features)]
    loss /= len(train)
    accuracy = evaluate(weights, test)
    print(f"epoch {epoch} loss {loss:.4f} accuracy {accuracy:.4f} time {time.perf_counter() - start:.2f}s")
