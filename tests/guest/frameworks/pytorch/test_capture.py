"""PyTorch: what is captured of an evaluation is what the script computed its metrics from, and nothing else changes."""

import ast
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest
from harness import Result
from tiers import slow_but
from varied import Script, seeds

from deviate.guest.frameworks.pytorch.predictions import NO_NUMPY

EXAMPLES = Path(__file__).parents[4] / "examples"
WANTED = {"predictions": "on", "weights": "on"}

CASES = """\
import copy, torch
from torch import nn
import torch.nn.functional as F
from torch.utils.data import DataLoader, TensorDataset, Dataset, Subset
torch.manual_seed(0)
X = torch.randn(60, 6); Y = (X[:, 0] > 0).long() + (X[:, 1] > 1).long()
train = TensorDataset(X[:40], Y[:40])
def net(out=3): return nn.Sequential(nn.Linear(6, 16), nn.BatchNorm1d(16), nn.ReLU(), nn.Dropout(), nn.Linear(16, out))
def fit(model, steps=2):
    opt = torch.optim.SGD(model.parameters(), 0.1)
    model.train()
    for x, y in DataLoader(train, 20, shuffle=True):
        opt.zero_grad(); F.cross_entropy(model(x), y).backward(); opt.step()
@torch.no_grad()
def accuracy(model, loader):
    model.eval(); right = n = 0
    for x, y in loader:
        right += (model(x).argmax(1) == y).sum().item(); n += len(y)
    return right / n
def say(name, value): print(name, value)

def plain():
    model = net(); valid_loader = DataLoader(TensorDataset(X[40:50], Y[40:50]), 4)
    p_test_loader = DataLoader(TensorDataset(X[50:], Y[50:]), 3, shuffle=True)
    train_loader = DataLoader(train, 16)
    for epoch in range(2):
        fit(model)
        say("valid", accuracy(model, valid_loader)); say("train", accuracy(model, train_loader))
    say("p_test", accuracy(model, p_test_loader)); say("p_test", accuracy(model, p_test_loader))
def inline():
    model = net(); fit(model)
    holdout_set = TensorDataset(X[40:], Y[40:])
    say("holdout", accuracy(model, DataLoader(holdout_set, 7, drop_last=True)))
def whole():
    model = net(); fit(model); X_w, y_w = X[40:], Y[40:]
    model.eval()
    with torch.inference_mode():
        say("w", (model(X_w).argmax(1) == y_w).sum().item() / 20)
def phases():
    model = net()
    loaders = {"ph_train": DataLoader(train, 20, shuffle=True), "ph_val": DataLoader(TensorDataset(X[40:], Y[40:]), 7)}
    opt = torch.optim.Adam(model.parameters())
    for epoch in range(2):
        for phase in ["ph_train", "ph_val"]:
            model.train(phase == "ph_train"); right = n = 0
            for inputs, labels in loaders[phase]:
                opt.zero_grad()
                with torch.set_grad_enabled(phase == "ph_train"):
                    out = model(inputs); loss = F.cross_entropy(out, labels)
                    if phase == "ph_train": loss.backward(); opt.step()
                right += (out.argmax(1) == labels).sum().item(); n += len(labels)
            if phase == "ph_val": say(phase, right / n)
def fgsm():
    model = net(); fit(model); adv_loader = DataLoader(TensorDataset(X[40:], Y[40:]), 5)
    model.eval(); right = clean = n = 0
    for x, y in adv_loader:
        x = x.clone().requires_grad_()
        out = model(x); clean += (out.argmax(1) == y).sum().item(); n += len(y)
        F.cross_entropy(out, y).backward()
        adv = (x + 0.5 * x.grad.sign()).detach()
        right += (model(adv).argmax(1) == y).sum().item()
    say("adv", clean / n); say("adv_again", right / n)
def ensemble():
    models = [net() for _ in range(3)]
    for m in models: fit(m)
    ens_loader = DataLoader(TensorDataset(X[40:], Y[40:]), 5)
    for i, m in enumerate(models): say("ens" if not i else "ens_%d" % (i + 1), accuracy(m, ens_loader))
def ema():
    model = net(); fit(model); average = copy.deepcopy(model)
    fit(model); ema_loader = DataLoader(TensorDataset(X[40:], Y[40:]), 5)
    say("ema", accuracy(model, ema_loader)); say("ema_2", accuracy(average, ema_loader))
def parts():
    encoder, head = nn.Sequential(nn.Linear(6, 5), nn.ReLU()), nn.Linear(5, 3)
    opt = torch.optim.SGD([*encoder.parameters(), *head.parameters()], 0.1)
    for x, y in DataLoader(train, 20):
        opt.zero_grad(); F.cross_entropy(head(torch.tanh(encoder(x))), y).backward(); opt.step()
    encoder.eval(); head.eval()
    parts_loader = DataLoader(TensorDataset(X[40:], Y[40:]), 5); right = 0
    with torch.no_grad():
        for x, y in parts_loader:
            right += (head(torch.tanh(encoder(x))).argmax(1) == y).sum().item()
    say("parts", right / 20)
def middle():
    model = net(); mid_loader = DataLoader(TensorDataset(X[40:], Y[40:]), 5)
    opt = torch.optim.SGD(model.parameters(), 0.1)
    for i, (x, y) in enumerate(DataLoader(train, 10)):
        model.train(); opt.zero_grad(); F.cross_entropy(model(x), y).backward(); opt.step()
        model.eval()
        with torch.no_grad(): model(x)
        if i % 2: last = accuracy(model, mid_loader)
    say("mid", last)
def two_sets():
    model = net(); fit(model)
    for n, name in ((40, "test"), (50, "test_2")):
        say(name, accuracy(model, DataLoader(TensorDataset(X[n:], Y[n:]), 5)))
class Dicts(Dataset):
    def __len__(self): return 20
    def __getitem__(self, i): return {"id": i, "x": X[40 + i], "label": Y[40 + i]}
class Out(nn.Module):
    def __init__(self): super().__init__(); self.net = net()
    def forward(self, x, labels=None):
        logits = self.net(x)
        return None if labels is None else F.cross_entropy(logits, labels), {"aux": 0}, logits
def dicts():
    model = Out(); opt = torch.optim.SGD(model.parameters(), 0.1)
    for x, y in DataLoader(train, 20):
        opt.zero_grad(); model(x, labels=y)[0].backward(); opt.step()
    model.eval(); dict_loader = DataLoader(Dicts(), 6); right = 0
    for batch in dict_loader:
        with torch.no_grad():
            right += (model(batch["x"], labels=batch["label"])[2].argmax(1) == batch["label"]).sum().item()
    say("dict", right / 20)
def bf16():
    model = net(); fit(model); half_loader = DataLoader(TensorDataset(X[40:], Y[40:]), 6); right = 0
    model.eval()
    with torch.no_grad(), torch.autocast("cpu", dtype=torch.bfloat16):
        for x, y in half_loader: right += (model(x).argmax(1) == y).sum().item()
    say("half", right / 20)
def transformed():
    torch.jit.trace(net().eval(), X[:4])
    torch.func.vmap(nn.Linear(6, 3))(X)
for case in (plain, inline, whole, phases, fgsm, ensemble, ema, parts, middle, two_sets, dicts, bf16, transformed):
    case()
"""

NEITHER_MODE_NOR_NO_GRAD = """\
import torch
from torch import nn
import torch.nn.functional as F
from torch.utils.data import DataLoader, TensorDataset
torch.manual_seed(0)
X = torch.randn(60, 6); Y = (X[:, 0] > 0).long() + (X[:, 1] > 1).long()
net = nn.Sequential(nn.Linear(6, 16), nn.ReLU(), nn.Linear(16, 3))
opt = torch.optim.SGD(net.parameters(), 0.1, momentum=0.9)
train_loader = DataLoader(TensorDataset(X[:40], Y[:40]), 8, shuffle=True)
test_loader = DataLoader(TensorDataset(X[40:], Y[40:]), 8)
X_val, y_val = X[30:45], Y[30:45]
for epoch in range(2):
    for i, (x, y) in enumerate(train_loader):
        F.cross_entropy(net(x), y).backward()
        if i % 2: opt.step(); opt.zero_grad()
    opt.step(); opt.zero_grad()
    right = 0
    for x, y in test_loader: right += (net(x).argmax(1) == y).sum().item()
    print("test", right / 20)
    print("val", (net(X_val).argmax(1) == y_val).sum().item() / 15)
"""

OWN_BATCHES = """\
import torch
from torch import nn
torch.manual_seed(0)
inputs = torch.randn(60, 6); labels = (inputs[:, 0] > 0).long()
data = {"train": (inputs[:40], labels[:40]), "val": (inputs[40:], labels[40:])}
class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.layer = nn.Linear(6, 2)
    def forward(self, x, targets=None):
        out = self.layer(x)
        return out, None if targets is None else nn.functional.cross_entropy(out, targets)
net = Net()
def get_batch(split):
    rows = torch.randint(len(data[split][0]), (10,))
    return data[split][0][rows], data[split][1][rows]
@torch.no_grad()
def estimate():
    net.eval()
    for split in ("train", "val"):
        right = 0
        for _ in range(3):
            X, Y = get_batch(split)
            right += (net(X, Y)[0].argmax(1) == Y).sum().item()
        print(split, right / 30)
    net.train()
opt = torch.optim.SGD(net.parameters(), 0.1)
for step in range(4):
    if step % 2 == 0: estimate()
    loss = net(*get_batch("train"))[1]
    opt.zero_grad(); loss.backward(); opt.step()
features = torch.randn(30, 6); adj = torch.eye(30).to_sparse()
class Graph(nn.Module):
    def __init__(self):
        super().__init__()
        self.layer = nn.Linear(6, 2)
    def forward(self, x, a): return torch.sparse.mm(a, self.layer(x))
def graph(labels):
    graph = Graph(); opt = torch.optim.SGD(graph.parameters(), 0.1)
    opt.zero_grad(); nn.functional.cross_entropy(graph(features, adj)[:10], labels[:10]).backward(); opt.step()
    graph.eval()
    print("test", (graph(features, adj).argmax(1) == labels).sum().item() / 30)
labels = (features[:, 1] > 0).long()
graph(labels)
"""

LIGHTNING = """\
import logging, warnings
warnings.filterwarnings("ignore")
import torch
import lightning.pytorch as L
from torch.utils.data import DataLoader, TensorDataset
logging.getLogger("lightning.pytorch").setLevel(logging.ERROR)
torch.manual_seed(0)
X = torch.randn(60, 6); Y = (X[:, 0] > 0).long()
class Lit(L.LightningModule):
    def __init__(self):
        super().__init__(); self.net = torch.nn.Linear(6, 2); self.right = 0
    def forward(self, x): return self.net(x)
    def training_step(self, batch, i): return torch.nn.functional.cross_entropy(self(batch[0]), batch[1])
    def validation_step(self, batch, i): self.right += (self(batch[0]).argmax(1) == batch[1]).sum().item()
    def on_validation_epoch_start(self): self.right = 0
    def test_step(self, batch, i): self.validation_step(batch, i)
    def on_test_epoch_start(self): self.right = 0
    def predict_step(self, batch, i): return self(batch[0])
    def configure_optimizers(self): return torch.optim.SGD(self.parameters(), 0.5)
class Data(L.LightningDataModule):
    def __init__(self):
        super().__init__()
        parts = [TensorDataset(X[a:b], Y[a:b]) for a, b in ((0, 40), (40, 50), (45, 60))]
        self.toy_train, self.toy_val, self.toy_test = parts
    def train_dataloader(self): return DataLoader(self.toy_train, 8, shuffle=True)
    def val_dataloader(self): return DataLoader(self.toy_val, 4)
    def test_dataloader(self): return DataLoader(self.toy_test, 4)
def main():
    model, data = Lit(), Data()
    trainer = L.Trainer(
        max_epochs=2, accelerator="cpu", logger=False, enable_progress_bar=False, enable_model_summary=False,
        enable_checkpointing=False,
    )
    trainer.fit(model, datamodule=data)
    print("toy_val", model.right / 10)
    trainer.test(model, datamodule=data, verbose=False)
    print("toy_test", model.right / 15)
    holdout_loader = DataLoader(TensorDataset(X[:20], Y[:20]), 8)
    out = torch.cat(trainer.predict(model, holdout_loader))
    print("holdout", (out.argmax(1) == Y[:20]).sum().item() / 20)
main()
"""

HUGGING_FACE = """\
import torch
torch.manual_seed(0)
X = torch.randn(60, 6); Y = (X[:, 0] > 0).long()
import numpy as np
from transformers import Trainer, TrainingArguments
class Net(torch.nn.Module):
    def __init__(self):
        super().__init__(); self.layer = torch.nn.Linear(6, 2)
    def forward(self, x, labels=None):
        logits = self.layer(x); return {"loss": torch.nn.functional.cross_entropy(logits, labels), "logits": logits}
def hf():
    rows = [{"x": x, "labels": int(y)} for x, y in zip(X, Y)]
    args = TrainingArguments(
        "out", num_train_epochs=2, per_device_train_batch_size=8, per_device_eval_batch_size=8, eval_strategy="epoch",
        report_to=[], use_cpu=True, save_strategy="no", disable_tqdm=True, seed=3, logging_strategy="no",
    )
    hf_valid = rows[40:]
    accuracy = lambda p: {"accuracy": float(np.mean(p.predictions.argmax(-1) == p.label_ids))}
    trainer = Trainer(Net(), args, train_dataset=rows[:40], eval_dataset=hf_valid, compute_metrics=accuracy)
    trainer.train()
    print("hf_valid", trainer.evaluate()["eval_accuracy"])
    hf_test = rows[30:50]
    print("hf_test", trainer.predict(hf_test).metrics["test_accuracy"])
hf()
"""


@pytest.fixture(autouse=True)
def _needs_torch(require) -> None:  # type: ignore[no-untyped-def]
    require("torch")


SAME_PLACE = """\
import numpy as np, torch
from torch import nn
from torch.utils.data import DataLoader, TensorDataset
torch.manual_seed(0)
X = torch.randn(40, 6); Y = (X[:, 0] > 0).long()
place = np.zeros((5, 6), "float32")
def at_place(values):
    place[:] = values
    return torch.from_numpy(place)
def collate(items): return at_place(torch.stack([x for x, _ in items])), torch.stack([y for _, y in items])
model = nn.Linear(6, 2); optimizer = torch.optim.SGD(model.parameters(), 0.1)
for x, y in DataLoader(TensorDataset(X[:20], Y[:20]), 5, collate_fn=collate):
    optimizer.zero_grad(); nn.functional.cross_entropy(model(x), y).backward(); optimizer.step()
del x, y
model.eval(); clean = right = 0
adv_loader = DataLoader(TensorDataset(X[20:], Y[20:]), 5)
with torch.no_grad():
    for x, y in adv_loader:
        clean += (model(x).argmax(1) == y).sum().item()
        right += (model(at_place(x - 0.5)).argmax(1) == y).sum().item()
print("adv", clean / 20); print("adv_again", right / 20)
"""
"""Memory that a batch of the training had is given out again."""

ONE_AFTER_THE_OTHER = """\
import torch
from torch import nn
from torch.utils.data import DataLoader, TensorDataset
torch.manual_seed(0)
X = torch.randn(40, 6); Y = (X[:, 0] > 0).long(); states = []
def trained():
    model = nn.Linear(6, 2); optimizer = torch.optim.SGD(model.parameters(), 0.1)
    for x, y in DataLoader(TensorDataset(X[:20], Y[:20]), 5):
        optimizer.zero_grad(); nn.functional.cross_entropy(model(x), y).backward(); optimizer.step()
    return model
for _ in range(4): states.append(trained().state_dict())
member_loader = DataLoader(TensorDataset(X[20:], Y[20:]), 5)
def accuracy(state):
    model = nn.Linear(6, 2); model.load_state_dict(state); model.eval()
    with torch.no_grad(): return sum((model(x).argmax(1) == y).sum().item() for x, y in member_loader) / 20
for i, state in enumerate(states): print("member" if not i else "member_%d" % (i + 1), accuracy(state))
"""
"""Each model is gone when the next one is made, often at its address."""


def captured(folder: Path) -> Iterator[tuple[str, dict[str, np.ndarray]]]:
    for path in sorted((folder / "attempt-1" / "artifacts").glob("predictions-*.npz")):
        with np.load(path) as arrays:
            yield path.name.split("-")[1], dict(arrays)


def accuracies(folder: Path) -> dict[str, float]:
    """By set, from the files alone."""
    found = {}
    for name, arrays in captured(folder):
        right = arrays["outputs"].argmax(1) == arrays["truth"]
        found[name] = right.sum().item() / len(right)
    return found


def printed(result: Result) -> dict[str, float]:
    """What the script says last of each set."""
    pairs = (line.split() for line in result.stdout.splitlines())
    return {pair[0]: float(pair[1]) for pair in pairs if len(pair) == 2}


def keep(folder: Path, text: str, main_loop: str = "", **more: str) -> Result:
    result = Script(text, main_loop).child(folder).run(capture={**WANTED, **more})
    assert (result.code, result.of("error")) == (0, []), (result.stderr, result.of("error"))
    return result


@pytest.fixture(scope="module")
def cases(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, Result]:
    folder = tmp_path_factory.mktemp("cases")
    return folder, keep(folder, CASES)


def test_accuracies_of_all_sets_follow_from_what_was_captured(cases: tuple[Path, Result]) -> None:
    folder, result = cases
    assert accuracies(folder) == printed(result)
    assert result.of("not captured") == []


def test_examples_of_a_shuffled_loader_have_the_keys_of_their_inputs(cases: tuple[Path, Result]) -> None:
    folder, _ = cases
    sets = dict(captured(folder))
    whole, shuffled = sets["test_2"], sets["p_test"]  # both are rows 50 to 60
    assert sorted(whole["keys"].tolist()) == sorted(shuffled["keys"].tolist())
    assert whole["keys"].tolist() != shuffled["keys"].tolist()
    by_key = dict(zip(whole["keys"].tolist(), whole["truth"].tolist(), strict=True))
    assert [by_key[key] for key in shuffled["keys"].tolist()] == shuffled["truth"].tolist()
    attacked, clean = sets["adv_again"], sets["adv"]
    assert attacked["keys"].tolist() == clean["keys"].tolist(), "an example is known by what the loader gave"


def test_inputs_are_not_taken_for_a_batch_whose_memory_they_have_got(tmp_path: Path) -> None:
    result = keep(tmp_path, SAME_PLACE)
    assert {name: len(arrays["outputs"]) for name, arrays in captured(tmp_path)} == {"adv": 20, "adv_again": 20}
    assert accuracies(tmp_path) == printed(result)


def test_models_that_are_loaded_one_after_the_other_have_sets_of_their_own(tmp_path: Path) -> None:
    result = keep(tmp_path, ONE_AFTER_THE_OTHER)
    assert len(printed(result)) == 4
    assert accuracies(tmp_path) == printed(result)


def test_a_script_without_evaluation_mode_is_read_by_where_no_optimizer_moves(tmp_path: Path) -> None:
    result = keep(tmp_path, NEITHER_MODE_NOR_NO_GRAD, "range(2)")
    assert accuracies(tmp_path) == printed(result)
    assert [event[:3] for event in result.of("artifact") if event[0] == "predictions"] == [
        ["predictions", "test", 1],
        ["predictions", "val", 1],
    ]


def test_batches_of_the_scripts_own_are_told_apart_by_the_word_that_its_function_was_given(tmp_path: Path) -> None:
    result = keep(tmp_path, OWN_BATCHES, "range(4)", every="1")
    found, told = accuracies(tmp_path), printed(result)
    assert {name: found[name] for name in told} == told
    steps = [
        event[1:3] for event in result.of("artifact") if event[0] == "predictions" and event[1] in ("train", "val")
    ]
    assert steps == [["train", 0], ["val", 0], ["train", 2], ["val", 2]]


def test_weights_are_kept_under_the_names_that_the_proof_has(tmp_path: Path) -> None:
    text = """\
import torch
net = torch.nn.Sequential(torch.nn.Linear(3, 2), torch.nn.BatchNorm1d(2)).to(torch.bfloat16)
opt = torch.optim.SGD(net.parameters(), 0.1)
for step in range(4):
    net(torch.full((2, 3), float(step), dtype=torch.bfloat16)).sum().backward()
    opt.step()
print({name: value.float().flatten().tolist() for name, value in net.state_dict().items()})
"""
    result = keep(tmp_path, text, "range(4)", every="2")
    assert [event[1:4] for event in result.of("artifact")] == [["step", 1, "torch"], ["loop", 3, "torch"]]
    [path] = (tmp_path / "attempt-1" / "artifacts").glob("weights-torch-loop-3-*.npz")
    with np.load(path) as arrays:
        kept = {name: arrays[name].astype(float).flatten().tolist() for name in arrays}
    assert {f"0.{name}": values for name, values in ast.literal_eval(result.stdout).items()} == kept


def test_without_numpy_the_script_runs_and_the_report_says_why_nothing_is_kept(tmp_path: Path) -> None:
    text = """\
import sys
sys.modules["numpy"] = None
import torch
net = torch.nn.Linear(3, 2); opt = torch.optim.SGD(net.parameters(), 0.1)
net(torch.ones(4, 3)).sum().backward(); opt.step()
with torch.no_grad(): print(net(torch.ones(4, 3)).shape)
"""
    result = Script(text, "").child(tmp_path).run(capture={"predictions": "on"}, is_cold=True)
    assert (result.code, result.of("error"), result.stdout) == (0, [], "torch.Size([4, 2])\n"), result.stderr
    assert [event[1:] for event in result.of("not captured")] == [["torch", NO_NUMPY]]


def test_lightning_is_captured_in_validation_test_and_prediction(tmp_path: Path, require) -> None:  # type: ignore[no-untyped-def]
    require("lightning")
    result = keep(tmp_path, LIGHTNING)
    assert accuracies(tmp_path) == printed(result)


def test_a_trainer_of_hugging_face_is_captured_in_evaluate_and_predict(tmp_path: Path, require) -> None:  # type: ignore[no-untyped-def]
    require("transformers")
    require("accelerate")
    result = keep(tmp_path, HUGGING_FACE)
    assert accuracies(tmp_path) == printed(result)


SEEDS = "import random, numpy; random.seed(0); numpy.random.seed(0)\n"
STATES = """
import hashlib
print(hashlib.sha256(bytes(torch.get_rng_state().tolist())).hexdigest())
print(hashlib.sha256(repr((numpy.random.get_state(), random.getstate())).encode()).hexdigest())
"""


@pytest.mark.parametrize(
    ("name", "variant"),
    slow_but(
        [("digits_torch", "as-is"), ("digits_torch", "control"), ("factors_torch", "control")],
        [("digits_torch", "control")],
    ),
)
def test_a_captured_run_is_bitwise_the_run_without_capture(tmp_path: Path, name: str, variant: str) -> None:
    text = SEEDS + (EXAMPLES / name / "train.py").read_text() + STATES
    arguments = ["--epochs", "2", *(["--workers", "0"] if name == "digits_torch" else [])]
    runs = []
    for number, capture in enumerate(({}, {**WANTED, "every": "1"})):
        child = Script(text, "range(args.epochs)").child(tmp_path / str(number))
        controls = {"kernels": "deterministic", "threads": "1"} if variant == "control" else {}
        result = child.run(
            *arguments, seeds=seeds() if variant == "control" else None, controls=controls, capture=capture
        )
        assert (result.code, result.of("error")) == (0, []), result.stderr
        lines = [line.split(" time ")[0] for line in result.stdout.splitlines()]
        files = {path.name: path.read_bytes() for path in result.work.iterdir() if path.is_file()}
        runs.append((lines, result.stderr, result.of("weights"), result.of("evaluation"), files))
    assert runs[0] == runs[1]
    assert len(result.of("artifact")) >= 4
