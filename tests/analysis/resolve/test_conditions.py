"""Reports to which calls lead that never happen: switches that are off, other choices, parts that nothing runs."""

from collections.abc import Callable

import pytest

from deviate.model import Analysis, RejectionReason

Analyse = Callable[[str], Analysis]

TRAINING = """
    import argparse, torch
    parser = argparse.ArgumentParser()
    parser.add_argument("--search", action="store_true")
    args = parser.parse_args()

    def evaluate(model, verbose=False, data=None):
        is_training = data is not None
        if verbose:
            print(f"layer error {model.first():.3f}")
        if not is_training:
            print(f"test error {model.error():.3f}")
        show(model, verbose)
        print(f"error {model.error(data):.3f}")

    def show(model, verbose):
        if not verbose:
            return
        print(f"norm {model.norm():.3f}")

    def train(model):
        for epoch in range(3):
            model.step().backward()
            evaluate(model, CALL)

    if args.search:
        best = [train(model) for model in models]
        print(f"best error {min(best):.3f}")
    else:
        train(make())
"""


def expressions(analysis: Analysis) -> list[str]:
    return [metric.expression for metric in analysis.metrics]


@pytest.mark.parametrize(
    ("call", "more"),
    [
        ("data=torch.ones(3)", []),
        ("verbose=True, data=torch.ones(3)", ["model.first()", "model.norm()"]),
        ("verbose=args.verbose, data=torch.ones(3)", ["model.first()", "model.norm()"]),
        ("**options", ["model.first()", "model.norm()", "model.error()"]),
        ("", ["model.error()"]),
    ],
)
def test_arguments_and_defaults_turn_reports_off(analyse: Analyse, call: str, more: list[str]) -> None:
    analysis = analyse(TRAINING.replace("CALL", call))
    assert sorted(expressions(analysis)) == sorted(["model.error(data)", *more])
    off = {rejected.expression for rejected in analysis.rejected if rejected.cause is RejectionReason.TURNED_OFF}
    assert "min(best)" in off


@pytest.mark.parametrize("start", ["fire.Fire(train)", "click.command()(train)()", "train(first=True)"])
def test_arguments_that_no_call_shows_are_open(analyse: Analyse, start: str) -> None:
    analysis = analyse(f"""
        import click, fire
        def train(first=True):
            for epoch in range(3):
                model.step().backward()
                if not first:
                    print(f"error {{model.error():.3f}}")
            if epoch < 2:
                train(first=False)
        {start}
    """)
    assert expressions(analysis) == ["model.error()"]


def test_a_switch_that_is_set_again_is_open(analyse: Analyse) -> None:
    analysis = analyse("""
        def train(model, verbose=False):
            for epoch in range(3):
                model.step().backward()
                if verbose:
                    print(f"error {model.error():.3f}")
                verbose = epoch == 1
        train(make())
    """)
    assert expressions(analysis) == ["model.error()"]


def test_a_decorator_that_gives_back_what_it_gets_leads_nowhere_else(analyse: Analyse) -> None:
    analysis = analyse("""
        import torch

        def no_grad():
            def decorate(function):
                return torch.no_grad()(function)
            return decorate

        @no_grad()
        def export(model):
            print(f"export took {model.seconds:.1f}s, error {model.change():.3f}")

        @no_grad()
        def evaluate(model):
            print(f"error {model.error():.3f}")

        def train(model):
            for epoch in range(3):
                model.step().backward()
                evaluate(model)
        train(make())
    """)
    assert expressions(analysis) == ["model.error()"]


@pytest.mark.parametrize(("base", "n_metrics"), [("torch.nn.Module", 1), ("lightning.LightningModule", 2)])
def test_a_library_runs_the_forward_pass_of_a_module(analyse: Analyse, base: str, n_metrics: int) -> None:
    analysis = analyse(f"""
        import lightning, torch

        class Net({base}):
            def forward(self, batch):
                print(f"loss {{self.loss(batch):.3f}}")
            def summarize(self):
                print(f"mean error {{self.error():.3f}}")

        for epoch in range(3):
            torch.nn.DataParallel(Net())(batch).backward()
    """)
    assert len(analysis.metrics) == n_metrics
