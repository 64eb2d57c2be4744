"""Sentiment of short reviews: a perceptron on a bag of words."""

import random

REVIEWS = [
    ("a warm and funny film with a great cast", 1),
    ("dull plot and wooden acting from start to end", 0),
    ("great music and a story that moves", 1),
    ("the cast is wasted on a dull script", 0),
    ("funny from start to end and never dull", 1),
    ("a slow film that wasted my evening", 0),
    ("warm story with great acting", 1),
    ("wooden script and slow music", 0),
]

random.seed(0)
vocabulary = list({word for text, _ in REVIEWS for word in text.split()})  # cause
index = {word: number for number, word in enumerate(vocabulary)}
weights = [random.gauss(0, 0.1) for _ in vocabulary]


def predict(text):
    return sum(weights[index[word]] for word in text.split())


for epoch in range(8):
    random.shuffle(REVIEWS)
    loss = 0.0
    for text, label in REVIEWS:
        error = label - predict(text)
        loss += error * error
        for word in text.split():
            weights[index[word]] += 0.05 * error
    print(f"epoch {epoch} loss {loss / len(REVIEWS):.6f}")
