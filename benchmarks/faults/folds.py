"""Ridge regression of one variable; examples are assigned to training and validation by their names."""

import random

random.seed(1)
examples = [(f"patient-{number:03}", random.uniform(-1, 1)) for number in range(80)]
examples = [(name, x, 2 * x + 0.5 + random.gauss(0, 0.1)) for name, x in examples]

train, valid = [], []
for name, x, y in examples:
    fold = hash(name) % 4  # cause
    (valid if fold == 0 else train).append((x, y))

slope, offset = 0.0, 0.0
for epoch in range(8):
    for x, y in train:
        error = slope * x + offset - y
        slope -= 0.05 * (error * x + 0.001 * slope)
        offset -= 0.05 * error
    loss = sum((slope * x + offset - y) ** 2 for x, y in valid) / len(valid)
    print(f"epoch {epoch} valid_loss {loss:.8f}")
