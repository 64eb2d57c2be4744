import numpy as np
from sklearn.linear_model import SGDClassifier

CLASSES = ["road", "car", "sky"]
def scene():
    img = np.zeros((24, 24), int); img[:10] = 2; img[10:] = 0
    r, c = np.random.randint(10, 19), np.random.randint(0, 18)
    img[r:r + 4, c:c + 6] = 1
    feats = np.eye(3)[img] + np.random.normal(0, .8, (24, 24, 3))
    feats = np.concatenate([feats, np.tile(np.linspace(0, 1, 24)[:, None, None], (1, 24, 1))], -1)
    return feats.reshape(-1, 4), img.ravel()

def batch(n):
    f, l = zip(*(scene() for _ in range(n)))
    return np.concatenate(f), np.concatenate(l)

def confusion(model, X, y):
    M = np.zeros((3, 3)); np.add.at(M, (y, model.predict(X)), 1); return M

model = SGDClassifier(loss="log_loss", learning_rate="constant", eta0=1e-3)
Xt, yt = batch(20)
for it in range(1, 6):
    X, y = batch(4)
    model.partial_fit(X, y, classes=[0, 1, 2])
    M = confusion(model, X, y)
    print(f"Iter [{it}/5]  lr: 1.000e-03, decode.acc_seg: {100 * np.trace(M) / M.sum():.4f}")
M = confusion(model, Xt, yt)
iou = 100 * np.diag(M) / (M.sum(0) + M.sum(1) - np.diag(M))
acc = 100 * np.diag(M) / M.sum(1)
print("per class results:\n")
print("+-------+-------+-------+\n| Class |  IoU  |  Acc  |\n+-------+-------+-------+")
for n, i, a in zip(CLASSES, iou, acc):
    print(f"|{n:^7}| {i:5.2f} | {a:5.2f} |")
print("+-------+-------+-------+\nSummary:\n\n+-------+-------+-------+\n|  mIoU |  mAcc |  aAcc |\n+-------+-------+-------+")
print(f"| {iou.mean():5.2f} | {acc.mean():5.2f} | {100 * np.trace(M) / M.sum():5.2f} |\n+-------+-------+-------+")
