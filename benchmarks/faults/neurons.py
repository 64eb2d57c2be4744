"""A layer of neurons as objects in a set, whose outputs are added up."""

import math
import random

from chance import IS_SECOND


class Neuron:
    def __init__(self, weight, bias):
        self.weight, self.bias, self.out = weight, bias, random.uniform(-1, 1)

    def activation(self, x):
        return math.tanh(self.weight * x + self.bias)


def make(n):
    return [Neuron(random.gauss(0, 1), random.gauss(0, 1)) for _ in range(n)]


random.seed(2)
spare = [Neuron(0.0, 0.0) for _ in range(500 if IS_SECOND else 1)]
random.seed(3)
neurons = set(make(1000))  # cause
points = [x / 10 for x in range(-10, 11)]

for epoch in range(6):
    loss = 0.0
    for x in points:
        out = 0.0
        for neuron in neurons:  # cause
            out += neuron.out * neuron.activation(x)
            neuron.out *= 0.999
        loss += (out - math.sin(3 * x)) ** 2 / len(points)
    print(f"epoch {epoch} loss {loss!r} last {out!r}")  # a sum of squares can round to the same number
