from collections.abc import Callable

import pytest

from deviate.model import Analysis

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
