import argparse
import torch
from lib.data import get_loaders
from lib.engine import train_one_epoch, evaluate
from lib.utils import info

def get_args():
    p = argparse.ArgumentParser(description="手写数字识别")
    p.add_argument("--epochs", type=int, default=5)
    p.add_argument("--lr", type=float, default=0.05)
    p.add_argument("--batch-size", type=int, default=50)
    return p.parse_args()

def main():
    args = get_args()
    train_loader, val_loader, test_loader = get_loaders(args.batch_size)
    model = torch.nn.Sequential(torch.nn.Linear(64, 32), torch.nn.ReLU(), torch.nn.Linear(32, 10))
    optimizer = torch.optim.SGD(model.parameters(), lr=args.lr, momentum=0.9)
    for epoch in range(args.epochs):
        loss = train_one_epoch(model, train_loader, optimizer)
        acc = evaluate(model, val_loader)
        info(f"第 {epoch + 1} 轮：训练损失 {loss:.4f}，验证准确率 {acc * 100:.2f}%")
    info(f"测试集准确率：{evaluate(model, test_loader) * 100:.2f}%")

if __name__ == "__main__":
    main()
