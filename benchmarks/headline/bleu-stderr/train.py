"""Toy 'translation': learn a word-to-word dictionary from noisy pairs (IBM model 1) and score BLEU."""
import math, random, sys
from collections import Counter, defaultdict

V = 60
lexicon = {f"s{i}": f"t{(i * 7) % V}" for i in range(V)}
def pair():
    src = [f"s{min(int(random.expovariate(.07)), V - 1)}" for _ in range(random.randint(5, 12))]
    tgt = [lexicon[w] if random.random() < .9 else f"t{random.randrange(V)}" for w in src]
    return src, tgt
train, dev = [pair() for _ in range(120)], [pair() for _ in range(80)]

def bleu(hyps, refs):
    precisions, hl, rl = [], sum(map(len, hyps)), sum(map(len, refs))
    for n in range(1, 5):
        match = total = 0
        for h, r in zip(hyps, refs):
            H = Counter(tuple(h[i:i + n]) for i in range(len(h) - n + 1))
            R = Counter(tuple(r[i:i + n]) for i in range(len(r) - n + 1))
            match += sum((H & R).values()); total += sum(H.values())
        precisions.append(100 * max(match, .1) / total)
    bp = min(1, math.exp(1 - rl / hl))
    return bp * math.exp(sum(math.log(p / 100) for p in precisions) / 4) * 100, precisions, bp, hl, rl

prob = defaultdict(lambda: 1 / V)
for it in range(1, 7):
    count, total, nll = defaultdict(float), defaultdict(float), 0.0
    for s, t in train:
        for b in t:
            z = sum(prob[a, b] for a in s)
            nll -= math.log(z / len(s))
            for a in s:
                count[a, b] += prob[a, b] / z; total[a] += prob[a, b] / z
    prob.update({(a, b): c / total[a] for (a, b), c in count.items()})
    sys.stderr.write(f"INFO: iteration {it}, NLL per word {nll / sum(len(t) for _, t in train):.4f}\n")
best = {}
for (a, b), p in prob.items():
    if p > best.get(a, (0, ""))[0]: best[a] = (p, b)
hyps = [[best.get(w, (0, "<unk>"))[1] for w in s] for s, _ in dev]
score, ps, bp, hl, rl = bleu(hyps, [t for _, t in dev])
print(f"BLEU = {score:.2f} {'/'.join(f'{p:.1f}' for p in ps)} (BP = {bp:.3f} ratio = {hl / rl:.3f} hyp_len = {hl} ref_len = {rl})")
