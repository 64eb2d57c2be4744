import math
import time

import torch
from torch import nn

text = "".join(f"{a} plus {b} is {a + b}. " for a in range(30) for b in range(12))
vocab = sorted(set(text))
data = torch.tensor([vocab.index(c) for c in text])
n = len(data)
train_data, val_data, test_data = data[: int(0.8 * n)], data[int(0.8 * n) : int(0.9 * n)], data[int(0.9 * n) :]
bptt, batch = 24, 16


class RNNModel(nn.Module):
    def __init__(self):
        super().__init__()
        self.emb, self.rnn, self.out = nn.Embedding(len(vocab), 24), nn.GRU(24, 48, batch_first=True), nn.Linear(48, len(vocab))

    def forward(self, x):
        return self.out(self.rnn(self.emb(x))[0])


model = RNNModel()
optimizer = torch.optim.Adam(model.parameters(), lr=5e-3)
criterion = nn.CrossEntropyLoss()


def sample(source):
    starts = torch.randint(0, len(source) - bptt - 1, (batch,)).tolist()
    return torch.stack([source[s : s + bptt] for s in starts]), torch.stack([source[s + 1 : s + bptt + 1] for s in starts])


def evaluate(source):
    k = (len(source) - 1) // bptt * bptt
    x, y = source[:k].view(-1, bptt), source[1 : k + 1].view(-1, bptt)
    with torch.no_grad():
        out = model(x)
    return criterion(out.flatten(0, 1), y.flatten()).item(), (out.argmax(-1) == y).float().mean().item()


for epoch in range(1, 4):
    t0, total = time.time(), 0.0
    for i in range(1, 61):
        x, y = sample(train_data)
        loss = criterion(model(x).flatten(0, 1), y.flatten())
        optimizer.zero_grad()
        loss.backward()
        torch.nn.utils.clip_grad_norm_(model.parameters(), 0.25)
        optimizer.step()
        total += loss.item()
        if i % 20 == 0:
            cur = total / 20
            print("| epoch {:3d} | {:5d}/{:5d} batches | lr {:05.3f} | ms/batch {:5.2f} | loss {:5.2f} | ppl {:8.2f}".format(
                epoch, i, 60, 5e-3, (time.time() - t0) * 1000 / i, cur, math.exp(cur)))
            total = 0.0
    val_loss, val_acc = evaluate(val_data)
    print("-" * 89)
    print("| end of epoch {:3d} | time: {:5.2f}s | valid token accuracy {:5.3f} | valid loss {:5.3f} | valid ppl {:8.3f}".format(
        epoch, time.time() - t0, val_acc, val_loss, math.exp(val_loss)))
    print("-" * 89)
test_loss, test_acc = evaluate(test_data)
print("=" * 89)
print("| End of training | test token accuracy {:5.3f} | test loss {:6.4f} | test ppl {:8.3f}".format(test_acc, test_loss, math.exp(test_loss)))
print("=" * 89)
