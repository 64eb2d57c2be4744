from collections.abc import Callable
from pathlib import Path

import pytest

from deviate.analysis.analyze import analyze
from deviate.model.analysis import Analysis

Analyse = Callable[[str], Analysis]

BODY = """
    loss = criterion(model(x), y)
    loss.backward()
    optimizer.step()
    print(f"{epoch} loss {loss.item():.4f}")
"""


def main_loop(analysis: Analysis) -> tuple[int, str, str | None] | None:
    loop = analysis.main_loop
    return None if loop is None else (loop.line, loop.kind, loop.variable)


@pytest.mark.parametrize(
    ("header", "kind"),
    [
        ("for epoch in range(10):", "for"),
        ("for epoch in 1, 2, 3:", "for"),
        ("for epoch, x in enumerate(loader):", "for"),
        ("for epoch in tqdm(range(10)):", "for"),
        ("for epoch in itertools.count():", "for"),
        ("while epoch < 10:\n    epoch += 1", "while"),
        ("while True:\n    epoch += 1\n    if epoch > 9: break", "while"),
        ("while (epoch := epoch + 1) < 9:", "while"),
    ],
)
def test_for_and_while_loops_are_found_with_their_counter(analyse: Analyse, header: str, kind: str) -> None:
    analysis = analyse("epoch = 0\n" + header + BODY)
    variable = None if ":=" in header else "epoch"
    assert main_loop(analysis) == (2, kind, variable)
    assert [metric.expression for metric in analysis.metrics] == ["loss.item()"]


def test_the_outermost_loop_over_steps_or_epochs_wins_and_repeats_around_it_do_not(analyse: Analyse) -> None:
    analysis = analyse(
        """
        for seed in range(5):
            for epoch in range(10):
                for i, (x, y) in enumerate(loader):
                    loss.backward()
                    print(epoch, i, "loss", loss)
        """
    )
    assert main_loop(analysis) == (3, "for", "epoch")
    assert [loop.line for loop in analysis.loops] == [2, 3, 4]


def test_update_epochs_inside_a_loop_over_iterations_are_not_the_main_loop(analyse: Analyse) -> None:
    analysis = analyse(
        """
        for iteration in range(100):
            collect()
            for epoch in range(4):
                loss.backward()
            print("return", episode_return, "at", iteration)
        """
    )
    assert main_loop(analysis) == (2, "for", "iteration")


def test_data_preparation_evaluation_and_plotting_loops_are_not_the_main_loop(analyse: Analyse) -> None:
    analysis = analyse(
        """
        for path in paths:
            print("reading", path, len(path))
        def train():
            try:
                with session():
                    for step in range(100):
                        optimizer.zero_grad()
                        print(f"loss {loss.item():.3f}")
            except KeyboardInterrupt:
                pass
        def test():
            for x, y in loader:
                print(f"batch accuracy {accuracy(x, y):.3f}")
        if __name__ == "__main__":
            train()
            test()
            for ax in axes:
                ax.plot(losses)
        """
    )
    assert main_loop(analysis) == (7, "for", "step")
    assert [metric.line for metric in analysis.metrics] == [9, 14]


def test_a_loop_may_train_in_functions_called_from_it(analyse: Analyse) -> None:
    analysis = analyse(
        """
        def run_epoch(data):
            for x in data:
                loss = criterion(x)
                loss.backward()
            print(f"loss {loss:.3f}")
        def main(argv):
            for e in range(3):
                run_epoch(data)
        app.run(main)
        """
    )
    assert main_loop(analysis) == (8, "for", "e")
    assert [metric.name for metric in analysis.metrics] == ["loss"]


def test_the_else_of_a_loop_is_no_part_of_it(analyse: Analyse) -> None:
    analysis = analyse(
        "for epoch in range(3):\n    loss.backward()\n    print('loss', loss)\nelse:\n    print('loss', loss)\n"
    )
    assert analysis.main_loop is not None
    assert analysis.main_loop.end_line == 3
    assert [metric.line for metric in analysis.metrics] == [3, 5]


def test_a_script_without_training_has_no_main_loop(analyse: Analyse) -> None:
    assert analyse("for name in names:\n    print(name)\n").main_loop is None
    assert analyse("print('loss', sum([1.0 for _ in range(3)]))\n").main_loop is None


def test_a_loop_that_reports_its_counter_with_metrics_is_the_main_loop_where_nothing_shows_training(
    analyse: Analyse,
) -> None:
    text = "for gen in range(9):\n    scores = pool.map(work, data)\n    print(f'{gen}: fitness {max(scores):.3f}')\n"
    assert main_loop(analyse(text)) == (1, "for", "gen")
    assert main_loop(analyse(text + "for epoch in range(10):" + BODY)) == (4, "for", "epoch")
    assert main_loop(analyse(text.replace("{gen}: ", ""))) is None


def test_an_asynchronous_loop_is_not_listed_for_it_cannot_be_wrapped(analyse: Analyse) -> None:
    analysis = analyse("async def main():\n    async for x in s:\n        print('loss', x)\nasyncio.run(main())\n")
    assert analysis.loops == ()


STEP = "loss.backward()\n"


def nested(*headers: str, body: str = STEP) -> str:
    """Loops one in the other, the body in the innermost."""
    lines = ["    " * depth + header for depth, header in enumerate(headers)]
    return "\n".join([*lines, "    " * len(headers) + body])


@pytest.mark.parametrize(
    ("headers", "main"),
    [
        (("for _ in trange(10, desc='Epoch'):", "for step, batch in enumerate(loader):"), 1),
        (("for _ in range(args.num_epochs):", "for step in range(100):"), 1),
        (("for i in range(args.max_iters):", "for k in range(n_critic):"), 1),
        (("for pass_num in range(n_passes):", "for step_num in range(steps):"), 1),
        (("for attempt in range(3):", "for epoch in range(3):"), 2),
        (("for _ in range(n_runs):", "for epoch in range(3):"), 2),
        (("for train, test in KFold(5).split(x):", "for epoch in range(3):"), 2),
        (("for i in range(len(seeds)):", "for batch in loader:"), 2),
        (("for stage in stages:", "for epoch in range(stage.n):"), 2),
        (("for rate in (0.1, 0.2):", "for step in range(100):"), 2),
        (("for task in tasks:", "for batch in task:"), 1),
        (("for x, y in loader:", "for k in range(3):"), 1),
        (("for round in range(50):", "for client in clients:", "for epoch in range(local):"), 1),
        (("for episode in range(50):", "while not done:"), 1),
        (("while True:", "for batch in loader:"), 1),
    ],
)
def test_of_nested_loops_the_outermost_that_counts_epochs_or_steps_is_the_main_loop(
    analyse: Analyse, headers: tuple[str, ...], main: int
) -> None:
    found = analyse(nested(*headers)).main_loop
    assert found is not None
    assert found.line == main


def test_a_loop_that_only_tries_again_is_not_the_main_loop(analyse: Analyse) -> None:
    analysis = analyse(
        """
        fitting = True
        while fitting:
            try:
                for epoch in range(3):
                    loss.backward()
                fitting = False
            except MemoryError:
                batch_size -= 2
        """
    )
    assert main_loop(analysis) == (5, "for", "epoch")


def test_what_a_loop_goes_through_may_have_a_name(analyse: Analyse) -> None:
    text = (
        "bar = trange(int(args.num_train_epochs))\nfor _ in bar:\n    for step in range(9):\n        loss.backward()\n"
    )
    assert main_loop(analyse(text)) == (2, "for", "_")


def test_a_loop_over_tasks_that_also_trains_beside_the_steps_of_each_is_the_main_loop(analyse: Analyse) -> None:
    meta = nested("for task in tasks:", "for step in range(5):", body="inner = inner - lr * grad\n")
    assert main_loop(analyse(meta)) == (2, "for", "step")
    assert main_loop(analyse(meta + "    outer_loss.backward()\n")) == (1, "for", "task")


@pytest.mark.parametrize(
    "statement",
    [
        "w -= lr * grad",
        "w = w - learning_rate * dw",
        "sess.run([d_optim, d_loss], feed_dict=feed)",
        "sess.run(fetches)",
        "sess.run(step_op)",
        "train_op.run(feed)",
        "grads = slope(params, x)",
        "scaler.step(optimizer)",
        "clf.partial_fit(x, y)",
        "booster.update(data, it)",
        "nlp.update(docs, drop=0.5)",
    ],
)
def test_what_trains_is_told_without_a_call_of_backward(analyse: Analyse, statement: str) -> None:
    analysis = analyse(
        f"""
        import jax, spacy, xgboost
        import tensorflow as tf
        slope = jax.grad(objective)
        nlp, booster = spacy.blank("en"), xgboost.Booster()
        step_op = tf.train.AdamOptimizer(0.1).minimize(cost)
        fetches = [loss, train_op]
        for it in range(10):
            {statement}
        """
    )
    assert main_loop(analysis) == (8, "for", "it")


@pytest.mark.parametrize(
    "statement",
    [
        "model.train(True)",
        "scaler.fit(x)",
        "data = load_train_data(it)",
        "loss = sess.run(loss, feed_dict={x: train_x})",
        "total -= price * amount",
        "scheduler.step()",
        "callbacks.run('on_train_begin')",
        "cell = FitCell(it)",
    ],
)
def test_what_only_sounds_like_training_is_none(analyse: Analyse, statement: str) -> None:
    analysis = analyse(
        f"""
        from sklearn.preprocessing import StandardScaler
        class FitCell:
            pass
        scaler = StandardScaler()
        for it in range(10):
            {statement}
        """
    )
    assert analysis.main_loop is None


def test_other_loops_that_train_are_alternatives_with_reasons(analyse: Analyse) -> None:
    analysis = analyse(
        """
        def pretrain():
            for epoch in range(3):
                loss.backward()
                print(f"{epoch} loss {loss:.3f}")
        pretrain()
        for epoch in range(10):
            loss.backward()
            print(f"{epoch} loss {loss:.3f}")
        """
    )
    assert main_loop(analysis) == (7, "for", "epoch")
    assert analysis.main_loop
    assert "1 metric is reported in it" in analysis.main_loop.evidence
    (other,) = analysis.alternatives
    assert (other.line, other.is_main) == (3, False)
    assert other.evidence[:2] == ("trains: loss.backward() at train.py:4", "counts epochs (epoch)")
    assert other in analysis.loops
    assert [metric.line for metric in analysis.metrics] == [5, 9]


def test_code_that_no_run_with_training_reaches_reports_no_metrics(analyse: Analyse) -> None:
    analysis = analyse(
        """
        import sys
        def main(args):
            if args.evaluate:
                print(f"accuracy {evaluate(model):.3f}")
                sys.exit()
            if args.train:
                for epoch in range(3):
                    loss.backward()
                    print(f"loss {loss:.3f}")
                return
            print(f"test accuracy {evaluate(model):.3f}")
            raise SystemExit
            print(f"accuracy {evaluate(model):.3f}")
        main(parse())
        """
    )
    assert [metric.line for metric in analysis.metrics] == [10]
    assert [(item.line, item.reason.split(":")[0]) for item in analysis.rejected] == [
        (5, "reported before the main loop, or in a branch that never reaches it"),
        (12, "reported before the main loop, or in a branch that never reaches it"),
        (14, "not reached"),
    ]


def test_a_loop_that_turns_the_model_to_training_trains_where_nothing_else_is_seen(analyse: Analyse) -> None:
    text = "for x, y in data:\n    model.train()\n    model.observe(x, y)\n    print('accuracy', score(model))\n"
    assert main_loop(analyse(text)) == (1, "for", "x")
    assert main_loop(analyse(text + "for epoch in range(3):\n    loss.backward()\n")) == (5, "for", "epoch")


def test_a_loop_of_an_engine_that_runs_handlers_of_a_mapping_is_left_to_the_run_to_confirm(tmp_path: Path) -> None:
    script = tmp_path / "train.py"
    script.write_text("""\
class Engine:
    def __init__(self):
        self.handlers = {"epoch": []}
    def on(self, event):
        return self.handlers[event].append
    def run(self, max_epochs):
        self.epoch = 0
        while self.epoch < max_epochs:
            self.epoch += 1
            for handler in self.handlers["epoch"]:
                handler(self)
engine = Engine()
@engine.on("epoch")
def report(engine):
    print(f"reward {engine.output:.2f}")
engine.run(8)
""")
    assert 8 in [loop.line for loop in analyze(script, tmp_path, is_whole=True).loops]
