"""Simulated annealing of a tour, seeded for each process of a farm."""

import math
import os
import random

CITIES = [(math.cos(7 * k), math.sin(5 * k)) for k in range(12)]


def length(tour):
    return sum(math.dist(CITIES[a], CITIES[b]) for a, b in zip(tour, tour[1:] + tour[:1]))


random.seed(1000 * (os.getpid() % 1000) + 7)  # cause
tour, temperature = list(range(len(CITIES))), 1.0
for epoch in range(8):
    for _ in range(40):
        i, j = sorted(random.sample(range(len(tour)), 2))
        other = tour[:i] + tour[i:j][::-1] + tour[j:]
        if random.random() < math.exp(min(0.0, (length(tour) - length(other)) / temperature)):
            tour = other
    temperature *= 0.7
    print(f"epoch {epoch} loss {length(tour):.6f}")
