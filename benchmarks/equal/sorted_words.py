"""A perceptron on a bag of words, with sets that are sorted, searched and counted, and a clock that is printed."""

import random
import time

REVIEWS = [("a warm and funny film", 1), ("dull plot and wooden acting", 0), ("great music", 1), ("a dull script", 0)]
STOP_WORDS = {"a", "and", "the"}

random.seed(0)
began = time.perf_counter()
words = {word for text, _ in REVIEWS for word in text.split() if word not in STOP_WORDS}
index = {word: number for number, word in enumerate(sorted(words))}
weights = [random.gauss(0, 0.1) for _ in index]
print(f"{len(words)} words in {time.perf_counter() - began:.6f} s")

for epoch in range(8):
    random.shuffle(REVIEWS)
    loss = 0.0
    for text, label in REVIEWS:
        numbers = [index[word] for word in text.split() if word in index]
        error = label - sum(weights[number] for number in numbers)
        for number in numbers:
            weights[number] += 0.05 * error
        loss += error * error
    print(f"epoch {epoch} loss {loss:.6f} time {time.perf_counter() - began:.3f}s")
