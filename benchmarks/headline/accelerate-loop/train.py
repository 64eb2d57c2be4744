import torch
from accelerate import Accelerator
from sklearn.datasets import load_breast_cancer
from sklearn.metrics import accuracy_score, f1_score
from sklearn.model_selection import train_test_split
from sklearn.preprocessing import StandardScaler
from torch.utils.data import DataLoader, TensorDataset


def get_dataloaders(batch_size):
    X, y = load_breast_cancer(return_X_y=True)
    X_train, X_eval, y_train, y_eval = train_test_split(X, y, test_size=0.3)
    scaler = StandardScaler().fit(X_train)
    sets = [
        TensorDataset(torch.tensor(scaler.transform(a), dtype=torch.float32), torch.tensor(b))
        for a, b in ((X_train, y_train), (X_eval, y_eval))
    ]
    return DataLoader(sets[0], batch_size, shuffle=True), DataLoader(sets[1], 64)


def training_function(config):
    accelerator = Accelerator(cpu=True)
    train_dataloader, eval_dataloader = get_dataloaders(config["batch_size"])
    model = torch.nn.Sequential(torch.nn.Linear(30, 16), torch.nn.Tanh(), torch.nn.Dropout(0.2), torch.nn.Linear(16, 2))
    optimizer = torch.optim.AdamW(model.parameters(), lr=config["lr"])
    lr_scheduler = torch.optim.lr_scheduler.LinearLR(optimizer, 1.0, 0.1, total_iters=config["num_epochs"])
    model, optimizer, train_dataloader, eval_dataloader, lr_scheduler = accelerator.prepare(
        model, optimizer, train_dataloader, eval_dataloader, lr_scheduler
    )
    for epoch in range(config["num_epochs"]):
        model.train()
        total_loss = 0.0
        for features, labels in train_dataloader:
            loss = torch.nn.functional.cross_entropy(model(features), labels)
            accelerator.backward(loss)
            optimizer.step()
            optimizer.zero_grad()
            total_loss += loss.detach().float()
        lr_scheduler.step()

        model.eval()
        predictions, references = [], []
        for features, labels in eval_dataloader:
            with torch.no_grad():
                outputs = model(features)
            p, r = accelerator.gather_for_metrics((outputs.argmax(dim=-1), labels))
            predictions += p.tolist()
            references += r.tolist()
        eval_metric = {"accuracy": accuracy_score(references, predictions), "f1": f1_score(references, predictions)}
        # Use accelerator.print to print only on the main process.
        accelerator.print(f"epoch {epoch}:", eval_metric)
        accelerator.print({"train_loss": total_loss.item() / len(train_dataloader), "lr": optimizer.param_groups[0]["lr"]})
    accelerator.end_training()


if __name__ == "__main__":
    training_function({"lr": 1e-3, "num_epochs": 5, "batch_size": 16})
