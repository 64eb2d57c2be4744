from collections.abc import Callable

import pytest

from deviate.model.analysis import Analysis

Analyse = Callable[[str], Analysis]

SCRIPT = """
import argparse, time, torch
args = argparse.ArgumentParser().parse_args()
optimizer = torch.optim.SGD(params, lr=0.1)
seen = 0
best_acc = 0.0
begin = time.time()
for epoch in range(args.epochs):
    for i, (x, y) in enumerate(train_loader):
        loss = criterion(model(x), y)
        loss.backward()
        optimizer.step()
        seen += len(x)
        correct = (model(x) == y).sum().item()
    elapsed = time.time() - begin
    lr = optimizer.param_groups[0]["lr"]
    print({})
"""


SINCE = """
import time
def since(start):
    s = time.time() - start
    return {}
for epoch in range(3):
    loss.backward()
    print('%s %.4f' % (since(0), loss))
"""


def judge(analyse: Analyse, argument: str) -> Analysis:
    return analyse(SCRIPT.format(argument))


@pytest.mark.parametrize(
    ("argument", "reason"),
    [
        ('f"epoch {epoch + 1}"', "counter"),
        ('f"[{i * len(x)}/{len(train_loader)}]"', "counter"),
        ('f"seen {seen}"', "counter"),
        ('f"{100.0 * i / len(train_loader):.1f}% done"', "counter"),
        ('"size", len(train_loader.dataset)', "size"),
        ('"shape", x.shape', "size"),
        ('f"lr {lr:.6f}"', "setting"),
        ("f\"rate {optimizer.param_groups[0]['lr']:.5f}\"", "setting"),
        ('"learning rate:", scheduler.get_last_lr()[0]', "setting"),
        ('f"decay {args.decay:.4f}"', "setting"),
        ('"at", time.time()', "clock"),
        ('f"ETA {elapsed / (epoch + 1) * 9:.1f}"', "estimate"),
        ('f"best epoch {losses.argmin() + 1} of validation loss"', "counter"),
        ('f"scale {scaler.get_scale():.1f}"', "setting"),
        ('f"memory {torch.cuda.max_memory_allocated() / 1e6:.1f} MB"', "memory"),
        ('"outputs", model(x)', "nothing marks it"),
        ("f\"metric '{name}' is unknown\"", "name"),
        ('f"Warning: loss {loss:.2f} at its bound"', "in a message that warns"),
    ],
)
def test_what_is_no_measurement_is_rejected_with_its_reason(analyse: Analyse, argument: str, reason: str) -> None:
    analysis = judge(analyse, argument)
    assert analysis.metrics == ()
    assert any(item.reason.startswith(reason) for item in analysis.rejected), analysis.rejected


@pytest.mark.parametrize(
    ("argument", "role", "direction"),
    [
        ('f"loss {loss.item():.4f}"', "quality", "min"),
        ('"correct:", correct', "quality", "max"),
        ('f"accuracy {100.0 * correct / len(train_loader.dataset):.0f}%"', "quality", "max"),
        ('f"val perplexity {ppl:.2f}"', "quality", "min"),
        ('f"F1 {scores[2]:.3f}"', "quality", "max"),
        ('f"{elapsed:.1f}s"', "time", "min"),
        ('f"took {time.time() - begin:.2f}"', "time", "min"),
        ('f"{seen / elapsed:.1f} images/sec"', "time", "max"),
        ('f"{seen / (time.time() - begin)} examples per second"', "time", "max"),
        ('f"value {loss.item() * 2:.3f}"', "quality", "min"),
        ('f"norm {total_norm(model):.3f}"', "quality", None),
    ],
)
def test_measurements_get_role_and_direction(analyse: Analyse, argument: str, role: str, direction: str | None) -> None:
    analysis = judge(analyse, argument)
    assert [(metric.role, metric.direction) for metric in analysis.metrics] == [(role, direction)]


def test_precision_of_the_format_is_evidence(analyse: Analyse) -> None:
    analysis = judge(analyse, 'f"z {model(x).mean().item():.4f}"')
    assert any("4 decimals" in reason for reason in analysis.metrics[0].evidence)
    assert judge(analyse, 'f"z {decode(x)}"').metrics == ()


def test_a_number_counted_up_under_a_condition_and_named_for_quality_is_a_metric(analyse: Analyse) -> None:
    analysis = analyse(
        """
        for epoch in range(3):
            train_step()
            correct, total = 0, 0
            for x, y in data:
                if model(x) == y:
                    correct += 1
                total += 1
            print(f"{correct} of {total} correct")
        """
    )
    assert [metric.expression for metric in analysis.metrics] == ["correct"]
    assert [item.expression for item in analysis.rejected] == ["total"]


def test_a_loss_that_is_divided_by_a_counter_is_no_counter(analyse: Analyse) -> None:
    analysis = analyse(
        """
        extra_loss = 0
        for epoch in range(3):
            loss.backward()
            print("%.3f %.3f" % (extra_loss / (epoch + 1), epoch / (epoch + 1)))
        """
    )
    assert [metric.name for metric in analysis.metrics] == ["extra_loss"]


def test_values_are_followed_through_functions_and_parameters(analyse: Analyse) -> None:
    analysis = analyse(
        """
        def show(a, b, c):
            print(f"step {a}: {b} of {c}")
        def evaluate(model):
            return total_loss / n
        for epoch in range(3):
            train_step()
            result = evaluate(model)
            show(epoch, result, len(data))
        """
    )
    assert [metric.expression for metric in analysis.metrics] == ["b"]
    assert [item.reason.split()[0].strip(":") for item in analysis.rejected] == ["counter", "size"]


TRACKED = """
from torch.utils.tensorboard import SummaryWriter
writer = SummaryWriter()
for step in range(3):
    loss.backward()
    writer.add_scalar({}, step)
"""


@pytest.mark.parametrize(
    ("arguments", "role"),
    [
        ('"charts/length", info["episode"]["l"]', "other"),
        ('"spread", measure(model)', "other"),
        ('"train/accuracy", measure(model)', "quality"),
    ],
)
def test_what_is_handed_to_a_tracker_under_a_name_is_a_measurement(analyse: Analyse, arguments: str, role: str) -> None:
    assert [metric.role for metric in analyse(TRACKED.format(arguments)).metrics] == [role]


@pytest.mark.parametrize(
    ("arguments", "direction"),
    [
        ('"losses/entropy", measure(model)', None),
        ('"losses/td_loss", measure(model)', "min"),
        ('"eval/score", measure(model)', "max"),
        ('"gap", criterion(x, y)', "min"),
    ],
)
def test_the_direction_is_that_of_the_tag_and_not_of_its_group(
    analyse: Analyse, arguments: str, direction: str | None
) -> None:
    assert [metric.direction for metric in analyse(TRACKED.format(arguments)).metrics] == [direction]


@pytest.mark.parametrize(
    "arguments",
    [
        '"charts/learning_rate", rate(step)',
        '"epoch", position(step)',
        '"epsilon", schedule(step)',
        '"x", step',
        '"images", wandb.Image(x)',
    ],
)
def test_settings_and_counters_that_a_tracker_is_given_are_none(analyse: Analyse, arguments: str) -> None:
    assert analyse(TRACKED.format(arguments)).metrics == ()


def test_an_item_of_a_mapping_is_not_what_its_neighbours_are(analyse: Analyse) -> None:
    analysis = analyse(
        """
        from collections import OrderedDict
        def train(epoch):
            loss = model.step()
            loss.backward()
            return OrderedDict([("loss", loss.item()), ("epoch", epoch)])
        for epoch in range(3):
            log = train(epoch)
            print("%.4f at %s" % (log["loss"], log["epoch"]))
        """
    )
    assert [metric.expression for metric in analysis.metrics] == ['log["loss"]']


def test_values_in_a_tag_are_no_metrics(analyse: Analyse) -> None:
    analysis = analyse(
        """
        from torch.utils.tensorboard import SummaryWriter
        writer = SummaryWriter()
        for epoch in range(3):
            loss = model.step()
            loss.backward()
            writer.add_scalar(f"recall@{top.k}", recall(model), epoch)
        """
    )
    assert [metric.expression for metric in analysis.metrics] == ["recall(model)"]


def test_the_share_of_what_a_condition_counts_is_a_quality(analyse: Analyse) -> None:
    analysis = analyse(
        """
        def found(targets, nearest, k):
            s = 0
            for t, y in zip(targets, nearest):
                if t in y[:k]:
                    s += 1
            return s / len(targets)
        for epoch in range(3):
            loss.backward()
            for k in [1, 2]:
                share = found(targets, nearest, k)
                print("R@{}: {:.3f}".format(k, 100 * share))
            if epoch % 2:
                step += 1
            print("step {:.2f}".format(step / len(targets)))
        """
    )
    assert [metric.expression for metric in analysis.metrics] == ["100 * share"]


@pytest.mark.parametrize(
    ("argument", "name", "role", "direction"),
    [
        ('"hidden", model(x)', "hidden", "quality", None),
        ('"steps_to_converge", seen', "steps_to_converge", "quality", None),
        ('"lr", lr', "lr", "quality", None),
        ('"memory", torch.cuda.max_memory_allocated()', "memory", "quality", None),
        ('"test/top1 acc", correct', "test_top1_acc", "quality", "max"),
        ('"spent", elapsed', "spent", "time", "min"),
    ],
)
def test_what_is_logged_with_deviate_is_a_metric_of_that_name(
    analyse: Analyse, argument: str, name: str, role: str, direction: str | None
) -> None:
    script = SCRIPT.replace("import argparse", "import deviate, argparse").replace("print({})", "deviate.log({})")
    analysis = analyse(script.format(argument))
    assert [(metric.name, metric.role, metric.direction) for metric in analysis.metrics] == [(name, role, direction)]


@pytest.mark.parametrize(
    ("before", "argument"),
    [
        ("total_tokens = plan.budget() * 3", 'f"{total_tokens / 1e9:.1f}B"'),
        ("grid = torch.linspace(0, 1, 100)", 'f"at {grid[scores.argmax()]:.3f}"'),
        ("columns = ['epoch', 'loss'] + more", "columns"),
        ("height, width = map(int, size)", '"to", height, width'),
        ("", "'maps', label_map"),
        ("", "f'Mixed precision: {kind}'"),
        ("", "'result', tokenizer.decode(result)"),
        ("n = 0\nfor batch in loader:\n    n += batch.num_nodes", 'f"{n / 8:.1f}"'),
    ],
)  # fmt: skip
def test_amounts_choices_and_names_are_no_measurement(analyse: Analyse, before: str, argument: str) -> None:
    assert analyse(f"{before}\n{SCRIPT.format(argument)}").metrics == ()


def test_what_is_tracked_under_a_name_that_the_run_knows_is_a_metric(analyse: Analyse) -> None:
    text = """
        from torch.utils.tensorboard import SummaryWriter
        writer = SummaryWriter()
        for epoch in range(3):
            train_step()
            for key in keys:
                writer.add_scalar(key, table.pick(key), epoch)
        """
    assert [(metric.expression, metric.role) for metric in analyse(text).metrics] == [("table.pick(key)", "other")]


MADE = """
class {name}:
    def __init__(self, share):
        print(f"keeps {{100 * share:.2f}}")
        self.{method}(share)
    def {method}(self, share):
        print(f"accuracy {{share:.3f}}")
for epoch in range(3):
    loss.backward()
    {name}(measure(epoch))
"""


def test_a_quality_that_a_script_computes_from_its_counter_is_a_metric_where_it_is_shown_with_decimals(
    analyse: Analyse,
) -> None:
    script = "for epoch in range(3):\n    print(f'test acc: {epoch / 10:.3f}')\n    print(f'epoch: {epoch / 10:.3f}')\n"
    assert [metric.name for metric in analyse(script).metrics] == ["test_acc"]
