import hashlib
import random


def digest(*values):
    return hashlib.sha256(repr(values).encode()).hexdigest()[:16]


def make_examples(n):
    examples = []
    for _ in range(n):
        x = [random.gauss(0, 1), random.gauss(0, 1)]
        examples.append((x, 1 if x[0] + x[1] + random.gauss(0, 0.2) > 0 else -1))
    return examples


def predict(weights, x):
    return 1 if weights[0] * x[0] + weights[1] * x[1] + weights[2] > 0 else -1


random.seed(4)
examples = make_examples(50)
random.shuffle(examples)
train, test = examples[:35], examples[35:]
print("data", digest(train, test))
weights = [random.uniform(-1, 1) for _ in range(3)]
print("weights", digest(weights))
order = []
for epoch in range(2):
    errors = 0
    batch = random.sample(train, len(train))
    order.append(batch)
    for x, label in batch:
        if predict(weights, x) != label:
            errors += 1
            weights = [w + 0.1 * label * v for w, v in zip(weights, [*x, 1])]
    print("errors%d" % epoch, errors)
print("order", digest(order))
print("test_accuracy", sum(predict(weights, x) == label for x, label in test) / len(test))
