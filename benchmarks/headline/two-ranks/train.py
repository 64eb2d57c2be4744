import os
import socket

import torch
import torch.distributed as dist
import torch.multiprocessing as mp
from sklearn.datasets import load_digits
from torch.nn.parallel import DistributedDataParallel as DDP


def main(rank, world_size, port):
    os.environ["MASTER_ADDR"], os.environ["MASTER_PORT"] = "127.0.0.1", str(port)
    torch.set_num_threads(1)
    dist.init_process_group("gloo", rank=rank, world_size=world_size)
    X, y = load_digits(return_X_y=True)
    X, y = torch.tensor(X / 16, dtype=torch.float32), torch.tensor(y)
    X_train, y_train, X_val, y_val = X[rank:1300:world_size], y[rank:1300:world_size], X[1300:], y[1300:]
    model = DDP(torch.nn.Sequential(torch.nn.Linear(64, 24), torch.nn.ReLU(), torch.nn.Linear(24, 10)))
    opt = torch.optim.Adam(model.parameters(), lr=4e-3)
    for epoch in range(4):
        total, batches = torch.zeros(1), 0
        for idx in torch.randperm(len(X_train)).split(32):
            loss = torch.nn.functional.cross_entropy(model(X_train[idx]), y_train[idx])
            opt.zero_grad()
            loss.backward()
            opt.step()
            total += loss.detach()
            batches += 1
        total /= batches
        dist.all_reduce(total)
        with torch.no_grad():
            part = slice(rank, None, world_size)
            hits = (model(X_val[part]).argmax(1) == y_val[part]).sum()
        dist.all_reduce(hits)
        print(f"epoch {epoch} - train loss: {total.item() / world_size:.4f} - val accuracy: {hits.item() / len(y_val):.4f}", flush=True)
    dist.destroy_process_group()


if __name__ == "__main__":
    with socket.socket() as s:
        s.bind(("127.0.0.1", 0))
        port = s.getsockname()[1]
    mp.start_processes(main, args=(2, port), nprocs=2, start_method="fork")
