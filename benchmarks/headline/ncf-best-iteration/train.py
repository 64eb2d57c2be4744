from time import time
import numpy as np
import torch, torch.nn as nn

U, I, D = 80, 120, 8
pu, qi = np.random.randn(U, 4), np.random.randn(I, 4)
like = pu @ qi.T + np.random.randn(U, I)
ranked = np.argsort(-like, 1)
pos, held = ranked[:, 1:15], ranked[:, 0]
user, item = nn.Embedding(U, D), nn.Embedding(I, D)
nn.init.normal_(user.weight, std=.1); nn.init.normal_(item.weight, std=.1)
opt = torch.optim.Adam([*user.parameters(), *item.parameters()], lr=0.02)

def evaluate_model(K=10):
    hits, ndcgs = [], []
    for u in range(U):
        cand = np.append(np.random.choice(ranked[u, 15:], 50, replace=False), held[u])
        with torch.no_grad():
            s = (user.weight[u] * item.weight[torch.tensor(cand)]).sum(1).numpy()
        rank = (s > s[-1]).sum()
        hits.append(rank < K); ndcgs.append(1 / np.log2(rank + 2) if rank < K else 0)
    return np.mean(hits), np.mean(ndcgs)

t1 = time()
hr, ndcg = evaluate_model()
print("Init: HR = %.4f, NDCG = %.4f\t [%.1f s]" % (hr, ndcg, time() - t1))
best_hr, best_ndcg, best_iter = hr, ndcg, -1
for epoch in range(8):
    t1 = time()
    for _ in range(15):
        u = np.random.randint(U, size=256)
        p = pos[u, np.random.randint(14, size=256)]
        n = np.random.randint(I, size=256)
        ut = user(torch.tensor(u))
        loss = -torch.log(torch.sigmoid((ut * (item(torch.tensor(p)) - item(torch.tensor(n)))).sum(1))).mean()
        opt.zero_grad(); loss.backward(); opt.step()
    t2 = time()
    hr, ndcg = evaluate_model()
    print("Iteration %d [%.1f s]: HR = %.4f, NDCG = %.4f, loss = %.4f [%.1f s]" % (epoch, t2 - t1, hr, ndcg, loss.item(), time() - t2))
    if hr > best_hr:
        best_hr, best_ndcg, best_iter = hr, ndcg, epoch
print("End. Best Iteration %d:  HR = %.4f, NDCG = %.4f. " % (best_iter, best_hr, best_ndcg))
