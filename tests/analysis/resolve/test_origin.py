"""Where reported values come from, over files, objects and containers."""

import textwrap
from collections.abc import Callable
from pathlib import Path

import pytest

from deviate.analysis.analyze import analyze
from deviate.model.analysis import Analysis

Analyse = Callable[[str], Analysis]

SCRIPT = """
import datetime, time, torch, torchmetrics
from tools import Meter, Timer, evaluate, hms
def main(cfg):
    optimizer = torch.optim.SGD(params, lr=cfg.lr)
    scheduler = torch.optim.lr_scheduler.StepLR(optimizer, 3)
    accuracy = torchmetrics.Accuracy(task="binary")
    losses, times = Meter(), Meter()
    history, best, results = [], 0.0, {{}}
    start = datetime.datetime.now()
    begin = time.time()
    for epoch in range(cfg.epochs):
        tick = time.perf_counter()
        for x, y in loader:
            with Timer() as timer:
                out = model(x)
            loss = criterion(out, y)
            loss.backward()
            losses.update(loss.item())
            accuracy.update(out, y)
            history.append(loss.item())
            times.update(time.perf_counter() - tick)
        found = evaluate(model)
        best = max(best, found)
        rates = scheduler.get_last_lr()
        results["a"] = loss.item()
        results["b"] = epoch
        print({})
main(cfg)
"""
TOOLS = """
import time
class Meter:
    def __init__(self):
        self.sum, self.count, self.avg = 0, 0, 0
    def update(self, value, n=1):
        self.sum += value * n
        self.count += n
        self.avg = self.sum / self.count
class Timer:
    def __enter__(self):
        self.start = time.perf_counter()
        return self
    def __exit__(self, *rest):
        self.interval = time.perf_counter() - self.start
    def elapsed(self):
        return time.perf_counter() - self.start
def evaluate(model):
    with torch.no_grad():
        return compare(model(x), y)
def hms(seconds):
    m, s = divmod(seconds, 60)
    h, m = divmod(m, 60)
    return h, m, s
"""


@pytest.fixture
def shown(tmp_path: Path) -> Callable[[str], Analysis]:
    """The analysis of a project of two files that prints some arguments."""

    def run(argument: str) -> Analysis:
        (tmp_path / "tools.py").write_text(TOOLS)
        script = tmp_path / "train.py"
        script.write_text(textwrap.dedent(SCRIPT).format(argument))
        return analyze(script, tmp_path)

    return run


@pytest.mark.parametrize(
    ("argument", "role"),
    [
        ('"a", losses.avg', "quality"),
        ('"a", times.avg', "time"),
        ('"a", accuracy.compute()', "quality"),
        ('"a", [h * 2 for h in history]', "quality"),
        ('"a", best', "quality"),
        ('"a", results["a"]', "quality"),
        ('"a", timer.interval', "time"),
        ('"a", timer.elapsed()', "time"),
        ('"a", datetime.datetime.now() - start', "time"),
        ('"a", str(datetime.timedelta(seconds=int(time.time() - begin)))', "time"),
        ('"a", time.strftime("%H:%M:%S", time.gmtime(time.time() - begin))', "time"),
        ('"a", hms(time.time() - begin)', "time"),
        ('"a", len(x) / (time.time() - begin)', "time"),
    ],
)
def test_measurements_are_known_by_where_they_come_from(
    shown: Callable[[str], Analysis], argument: str, role: str
) -> None:
    assert [metric.role for metric in shown(argument).metrics] == [role]


@pytest.mark.parametrize(
    ("argument", "reason"),
    [
        ('"a", losses.count', "counter"),
        ('"a", results["b"]', "counter"),
        ('"a", cfg.train.decay', "setting"),
        ('"a", "%g" % cfg.decay', "setting"),
        ('"a", sum(p.numel() for p in model.parameters())', "size"),
        ('"a", f"{sum(p.numel() for p in model.parameters()) / 1e6:.2f}"', "size"),
    ],
)
def test_what_is_chosen_or_counted_is_known_by_where_it_comes_from(
    shown: Callable[[str], Analysis], argument: str, reason: str
) -> None:
    analysis = shown(argument)
    assert analysis.metrics == ()
    assert [item.reason.partition(":")[0].split()[0] for item in analysis.rejected] == [reason]


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ('f"metrics failed: {error}"', "name: an exception, caught at line 9"),
        ('f"metrics -> {folder / name}"', "name: a path"),
    ],
)
def test_exceptions_and_paths_are_no_measurements(analyse: Analyse, text: str, reason: str) -> None:
    analysis = analyse(
        f"""
        from pathlib import Path
        folder = Path("results")
        for epoch in range(3):
            loss.backward()
            name = f"{{epoch}}.json"
            try:
                evaluate(model)
            except OSError as error:
                print({text})
            print("loss", loss.item())
        """
    )
    assert [metric.expression for metric in analysis.metrics] == ["loss.item()"]
    assert [rejected.reason for rejected in analysis.rejected] == [reason]


def test_what_is_added_to_the_items_of_a_mapping_tells_where_they_come_from(analyse: Analyse) -> None:
    analysis = analyse("""
        import torch, wandb
        def train(batches):
            sums = {}
            sums["a"] = 0
            for batch in batches:
                loss = torch.nn.functional.mse_loss(net(batch), batch)
                loss.backward()
                sums["a"] += loss.item()
            return sums
        def report(sums):
            for key, value in sums.items():
                wandb.log({key: value})
        for epoch in range(3):
            sums = train(load())
            report(sums)
    """)
    assert [metric.expression for metric in analysis.metrics] == ["value"]
