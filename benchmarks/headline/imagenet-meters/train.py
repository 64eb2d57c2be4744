import time
import torch, torch.nn as nn
from sklearn.datasets import load_digits
from torch.utils.data import DataLoader, TensorDataset, random_split

class AverageMeter:
    def __init__(self, name, fmt=":f"):
        self.name, self.fmt = name, fmt
        self.val = self.avg = self.sum = self.count = 0
    def update(self, val, n=1):
        self.val = val; self.sum += val * n; self.count += n
        self.avg = self.sum / self.count
    def __str__(self):
        return ("{name} {val" + self.fmt + "} ({avg" + self.fmt + "})").format(**self.__dict__)

def accuracy(output, target, topk=(1,)):
    _, pred = output.topk(max(topk), 1)
    correct = pred.eq(target.view(-1, 1))
    return [correct[:, :k].any(1).float().mean() * 100 for k in topk]

def run(loader, model, criterion, prefix, optimizer=None):
    batch_time, losses = AverageMeter("Time", ":6.3f"), AverageMeter("Loss", ":.4e")
    top1, top5 = AverageMeter("Acc@1", ":6.2f"), AverageMeter("Acc@5", ":6.2f")
    end = time.time()
    for i, (images, target) in enumerate(loader):
        output = model(images)
        loss = criterion(output, target)
        acc1, acc5 = accuracy(output, target, topk=(1, 5))
        for m, v in ((losses, loss), (top1, acc1), (top5, acc5)):
            m.update(v.item(), images.size(0))
        if optimizer:
            optimizer.zero_grad(); loss.backward(); optimizer.step()
        batch_time.update(time.time() - end); end = time.time()
        if i % 5 == 0:
            print("\t".join([prefix + f"[{i:2d}/{len(loader)}]"] + [str(m) for m in (batch_time, losses, top1, top5)]))
    if not optimizer:
        print(" * Acc@1 {top1.avg:.3f} Acc@5 {top5.avg:.3f}".format(top1=top1, top5=top5))
    return top1.avg

def main():
    X, y = load_digits(return_X_y=True)
    full = TensorDataset(torch.tensor(X).float() / 16, torch.tensor(y))
    train, val = random_split(full, [1300, 497])
    model = nn.Sequential(nn.Linear(64, 32), nn.ReLU(), nn.Linear(32, 10))
    criterion, optimizer = nn.CrossEntropyLoss(), torch.optim.SGD(model.parameters(), 0.1, momentum=0.9)
    for epoch in range(4):
        run(DataLoader(train, 64, shuffle=True), model, criterion, f"Epoch: [{epoch}]", optimizer)
        run(DataLoader(val, 64), model, criterion, "Test: ")

main()
