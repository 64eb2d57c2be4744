from collections.abc import Callable

import pytest

from deviate.model import Analysis

Analyse = Callable[[str], Analysis]

PROGRAM = """
def report(model, data=None, tb=True, ema=False, k=1, mode=None):
    accuracy = score(model, data)
    print(f"accuracy {{accuracy:.4f}}")
    return accuracy, accuracy
for epoch in range(3):
    loss.backward()
{calls}
"""


def names_of(analyse: Analyse, calls: str) -> list[str]:
    return [metric.name for metric in analyse(PROGRAM.format(calls=calls)).metrics]


@pytest.mark.parametrize(
    ("calls", "names"),
    [
        (("report(model, 'train')", "report(model, 'test')"), ["train_accuracy", "test_accuracy"]),
        (("report(model, trainset)", "report(model, valid_loader)"), ["train_accuracy", "val_accuracy"]),
        (("train_acc, _ = report(model, a)", "dev_acc, _ = report(model, b)"), ["train_accuracy", "val_accuracy"]),
        (("if testing: report(model)", "report(model)"), ["test_accuracy", "accuracy"]),
        (("report(teacher)", "report(student)"), ["teacher_accuracy", "student_accuracy"]),
        (("report(model)", "report(model, ema=True)"), ["accuracy", "ema_accuracy"]),
        (("report(model, k=1)", "report(model, k=10)"), ["k_1_accuracy", "k_10_accuracy"]),
        (("report(model, a)", "report(model, b)"), ["first_accuracy", "second_accuracy"]),
        (("report(model, test)", "report(model, test, tb=False)"), ["accuracy"]),
        (("report(model)", "report(model)"), ["accuracy"]),
        (
            ("report(model, test)", "report(ema, test)", "report(model, train)"),
            ["test_accuracy", "test_ema_accuracy", "train_accuracy"],
        ),
    ],
)
def test_ways_to_one_report_are_named_by_what_a_reader_understands(
    analyse: Analyse, calls: tuple[str, ...], names: list[str]
) -> None:
    assert sorted(names_of(analyse, "".join(f"    {call}\n" for call in calls))) == sorted(names)


def test_the_same_call_after_the_training_is_the_final_one(analyse: Analyse) -> None:
    calls = "    report(model, test)\nreport(model, test, tb=False)\n"
    assert names_of(analyse, calls) == ["accuracy", "final_accuracy"]


def test_a_phase_says_enough_of_a_final_result(analyse: Analyse) -> None:
    calls = "    report(model, val_loader)\nreport(model, test_loader)\n"
    assert names_of(analyse, calls) == ["val_accuracy", "test_accuracy"]


def test_calls_before_the_training_do_not_count(analyse: Analyse) -> None:
    analysis = analyse(
        "def report():\n    print(f'acc {score():.3f}')\nreport()\n" + PROGRAM.format(calls="    report()")
    )
    assert [(metric.name, metric.path) for metric in analysis.metrics if metric.line == 2] == [("acc", ())]


def test_functions_on_the_way_tell_phases(analyse: Analyse) -> None:
    analysis = analyse(
        """
        def show(value):
            print(f"loss {value:.4f}")
        def train_epoch():
            loss.backward()
            show(loss)
        def validate():
            show(score())
        for epoch in range(3):
            train_epoch()
            validate()
        """
    )
    assert {metric.name for metric in analysis.metrics} == {"train_loss", "val_loss"}


def test_ways_that_none_can_tell_apart_are_one_metric_beside_those_that_one_can(analyse: Analyse) -> None:
    analysis = analyse(
        """
        def show(value):
            print(f"loss {value:.4f}")
        def train_epoch():
            loss.backward()
            show(loss)
            show(loss)
        def validate():
            show(score())
        for epoch in range(3):
            train_epoch()
            validate()
        """
    )
    assert {metric.name: [place.line for place in metric.path] for metric in analysis.metrics} == {
        "train_loss": [],
        "val_loss": [12, 9],
    }


def test_how_the_script_came_to_its_main_loop_makes_no_second_metric(analyse: Analyse) -> None:
    analysis = analyse(
        """
        import torch.multiprocessing as mp
        def worker(rank):
            for epoch in range(3):
                loss = model.step()
                loss.backward()
                validate(train_data)
                validate(test_data)
        def validate(data):
            print(f"accuracy {score(data):.3f}")
        def main():
            if distributed:
                mp.spawn(worker, nprocs=2)
            else:
                worker(0)
        main()
        """
    )
    assert [(metric.name, [place.line for place in metric.path]) for metric in analysis.metrics] == [
        ("train_accuracy", [7]),
        ("test_accuracy", [8]),
    ]


def test_a_process_beside_that_of_the_training_reports_too(analyse: Analyse) -> None:
    analysis = analyse(
        """
        import torch.multiprocessing as mp
        def train(rank):
            for epoch in range(3):
                loss = model.step()
                loss.backward()
        def test(rank):
            while True:
                print(f"accuracy {score():.3f}")
        print(f"first accuracy {score():.3f}")
        mp.Process(target=test, args=(0,)).start()
        mp.Process(target=train, args=(1,)).start()
        """
    )
    assert [(metric.name, metric.line) for metric in analysis.metrics] == [("test_accuracy", 9)]
