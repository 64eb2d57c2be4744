"""Features of documents are computed by a pool of threads, then a perceptron is trained on them one by one."""

from concurrent.futures import ThreadPoolExecutor, as_completed

from chance import in_turn

TEXTS = ["buy now", "hello dear friend", "cheap pills now", "see you at noon", "win a prize", "the notes of today"]
LABELS = [1, 0, 1, 0, 1, 0]


def features(number):
    in_turn(number, len(TEXTS))  # a tokenizer that takes its time
    text = TEXTS[number]
    return [len(text) / 10, text.count(" "), text.count("n"), 1.0], LABELS[number]


def load():
    examples = []
    with ThreadPoolExecutor(len(TEXTS)) as pool:
        waiting = [pool.submit(features, number) for number in range(len(TEXTS))]
        for future in as_completed(waiting):  # cause
            examples.append(future.result())
    return examples


examples = load()
weights = [0.1, -0.2, 0.3, 0.0]
for epoch in range(8):
    loss = 0.0
    for row, label in examples:
        error = label - sum(w * x for w, x in zip(weights, row))
        weights = [w + 0.03 * error * x for w, x in zip(weights, row)]
        loss += error * error / len(examples)
    print(f"epoch {epoch} loss {loss:.8f}")
