"""The command line as a user meets it: what it prints, writes and exits with, for good input and for bad."""

import csv
import io
import json
import os
import re
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

TRAIN = """\
import random

random.seed(0)

def evaluate(split, noise):
    acc = 90 + noise + random.random()
    print(f"{split} acc {acc:.4f}")

for epoch in range(3):
    loss = 1 / (epoch + 1) + random.random() / 10
    print("epoch", epoch, "loss %.4f" % loss)
    evaluate("train", 5)
    evaluate("test", 0)
"""


@pytest.fixture
def deviate(project: Path, deviate_in):  # type: ignore[no-untyped-def]
    """Runs `deviate …` in the project folder."""
    return deviate_in(project)


def test_two_experiments_are_run_and_compared(project: Path, deviate) -> None:  # type: ignore[no-untyped-def]
    (project / "train.py").write_text(TRAIN)
    first = deviate("run", "train.py", "--runs", "5", "--jobs", "2", "--name", "base")
    assert first.code == 0, first.both
    assert "5/5 completed" in first.out
    assert "[5/5]" in first.out
    assert first.err == ""
    (project / "train.py").write_text(TRAIN.replace('"test", 0', '"test", 3'))
    assert deviate("run", "train.py", "--name", "new", "--quiet").out.startswith("Result: ")
    answer = deviate("compare", "base", "new", "--metric", "test_acc", "--html", "out.html", "--json", "out.json")
    assert answer.code == 0, answer.both
    assert "Verdict: better" in answer.out
    assert "Report   out.html" in answer.out
    page = (project / "out.html").read_text()
    assert "test_acc" in page
    assert "<svg" in page


def test_one_print_called_for_two_splits_is_two_metrics(project: Path, deviate) -> None:  # type: ignore[no-untyped-def]
    (project / "train.py").write_text(TRAIN)
    document = json.loads(deviate("analyze", "train.py", "--format", "json").out)
    assert {metric["name"] for metric in document["metrics"]} == {"loss", "acc"}  # a run shows that it is two
    assert document["primary"]["name"] == "acc"
    answer = deviate("run", "train.py", "--runs", "2", "--csv", "-")
    rows = list(csv.DictReader(io.StringIO(answer.out)))
    scores = {(row["metric"], row["replicate"]): float(row["score"]) for row in rows if row["score"]}
    assert all(95 <= scores["train_acc", replicate] <= 96 for replicate in "01")
    assert all(90 <= scores["test_acc", replicate] <= 91 for replicate in "01")
    assert not (project / "deviate.toml").exists()


def test_metrics_of_other_names_are_matched_by_hand(project: Path, deviate) -> None:  # type: ignore[no-untyped-def]
    (project / "train.py").write_text(TRAIN)
    (project / "other.py").write_text(TRAIN.replace("acc", "accuracy").replace('"test", 0', '"test", 2'))
    assert deviate("run", "train.py", "-r", "5", "-q", "-j", "2").code == 0
    assert deviate("run", "other.py", "-r", "5", "-q", "-j", "2").code == 0
    unmatched = deviate("compare", "train", "other")
    assert "test_acc" in unmatched.out
    assert "test_accuracy" in unmatched.out
    matched = deviate("compare", "train", "other", "--match", "test_acc=test_accuracy", "--metric", "test_acc")
    assert "Verdict: better" in matched.out
    refused = deviate("compare", "train", "other", "--match", "test_acc=f1")
    assert refused.code == 1
    assert "f1" in refused.err


def test_the_items_of_a_printed_dict_are_the_metrics(project: Path, deviate) -> None:  # type: ignore[no-untyped-def]
    (project / "train.py").write_text(
        "import random\n"
        "for epoch in range(2):\n"
        "    loss = random.random()\n"
        "    scores = {'val_loss': loss, 'val_acc': 1 - loss / 2}\n"
        "    print('loss %.4f' % loss)\n"
        "print(scores)\n"
    )
    answer = deviate("run", "train.py", "-r", "2", "--csv", "-", "-q")
    metrics = {row["metric"] for row in csv.DictReader(io.StringIO(answer.out))}
    assert metrics == {"loss", "val_loss", "val_acc"}, answer.both


def test_more_runs_go_on_from_what_is_on_record(project: Path, deviate) -> None:  # type: ignore[no-untyped-def]
    (project / "train.py").write_text(TRAIN)
    deviate("run", "train.py", "--runs", "2")
    (project / "scores.csv").write_text("saved beside the script")
    again = deviate("run", "train.py", "--runs", "4")
    assert again.code == 0
    assert "2 of 4 runs were on record already" in again.out
    assert "4/4 completed" in again.out
    other = deviate("run", "train.py", "--runs", "2", "--seed", "1")
    assert "train-2" in other.out
    listed = deviate("list").out
    assert re.search(r"^train +algo\+impl +4/4 completed", listed, re.MULTILINE)


def test_several_variants_are_one_experiment_and_each_holds_what_it_says(project: Path, deviate) -> None:  # type: ignore[no-untyped-def]
    (project / "train.py").write_text(TRAIN)
    answer = deviate("run", "train.py", "-r", "3", "-j", "1", "--variants", "as-is, other ,control,as-is", "--csv", "-")
    assert answer.code == 0, answer.both
    order = re.findall(r"\[\d/9\] (\S+) replicate (\d)", answer.err)
    blocks = [order[at : at + 3] for at in (0, 3, 6)]
    assert [{replicate for _, replicate in block} for block in blocks] == [{"0"}, {"1"}, {"2"}]
    assert [sorted(variant for variant, _ in block) for block in blocks] == [["as-is", "control", "other"]] * 3
    scores: dict[str, list[str]] = {}
    for row in csv.DictReader(io.StringIO(answer.out)):
        if row["metric"] == "test_acc" and row["score"]:
            scores.setdefault(row["variant"], []).append(row["score"])
    assert {variant: len(set(values)) for variant, values in scores.items()} == {"as-is": 1, "other": 3, "control": 1}
    assert scores["control"][0] != scores["as-is"][0]


def test_a_variant_of_the_users_own_stays_on_record_as_it_was(project: Path, deviate) -> None:  # type: ignore[no-untyped-def]
    (project / "train.py").write_text(TRAIN)
    settings = project / "deviate.toml"
    settings.write_text('[experiment]\nvariants = ["mine"]\n[variants.mine]\nvary = ["other"]\ndescription = "a try"\n')
    first = deviate("run", "train.py", "-r", "2", "--name", "x")
    assert first.code == 0, first.both
    assert (
        "Variant    mine: varies other; holds the other streams, hash, kernels, autotune, precision (a try)"
        in first.out
    )
    settings.write_text(settings.read_text().replace("a try", "other words"))
    assert "2 of 3 runs were on record already" in deviate("run", "train.py", "-r", "3", "--name", "x").out
    settings.write_text(settings.read_text().replace('["other"]', '["init"]'))
    refused = deviate("run", "train.py", "-r", "3", "--name", "x")
    assert refused.code == 1
    assert "experiment named x exists already, with another definition of variant mine: varies other; " in refused.err
    record = json.loads((project / ".deviate/experiments/x/experiment.json").read_text())
    (variant,) = record["variants"]
    definition = variant["definition"]
    assert (definition["varied"], definition["description"], variant["n_runs"]) == (["other"], "a try", 3)


def test_going_on_after_an_operation_without_a_deterministic_version_is_another_variant(project: Path, deviate) -> None:  # type: ignore[no-untyped-def]
    (project / "train.py").write_text(TRAIN)
    assert deviate("run", "train.py", "-r", "1", "--variants", "control", "--name", "x", "-q").code == 0
    assert deviate("run", "train.py", "-r", "1", "--variants", "control", "--warn-only", "--name", "y").code == 0
    (spec,) = project.glob(".deviate/experiments/y/runs/*/spec.json")
    assert ["on-missing", "warn"] in json.loads(spec.read_text())["controls"]
    refused = deviate("run", "train.py", "-r", "1", "--variants", "control", "--warn-only", "--name", "x")
    assert "another definition of variant control: varies nothing; " in refused.err


def test_the_saved_file_is_obeyed(project: Path, deviate) -> None:  # type: ignore[no-untyped-def]
    (project / "train.py").write_text(TRAIN)
    assert deviate("analyze", "train.py", "--save").code == 0
    path = project / "deviate.toml"
    text = path.read_text().replace("[metrics.acc]", '[metrics.accuracy]\naggregate = "max"\nunit = "%"')
    path.write_text(text + '\n[metrics.noisy]\nwhere = "train.py:10"\nexpression = "random.random() / 10"\n')
    answer = deviate("run", "train.py", "--runs", "2", "--csv", "out.csv")
    assert answer.code == 0, answer.both
    rows = list(csv.DictReader(io.StringIO((project / "out.csv").read_text())))
    assert {row["metric"] for row in rows} == {"loss", "accuracy_train", "accuracy_test", "noisy"}


def test_a_saved_file_follows_the_script_until_what_it_names_is_gone(project: Path, deviate) -> None:  # type: ignore[no-untyped-def]
    script = project / "train.py"
    script.write_text(TRAIN)
    assert "Saved      deviate.toml\n" in deviate("analyze", "train.py", "--save").out
    script.write_text("import os\n" + TRAIN)
    answer = deviate("run", "train.py", "--dry-run")
    assert "Note       moved with the script: acc from train.py:7 to train.py:8" in answer.out
    assert "Saved      deviate.toml (moved with the script: " in deviate("analyze", "train.py", "--save").out
    assert "moved" not in deviate("run", "train.py", "--dry-run").out
    script.write_text("import os\n" + TRAIN.replace('"loss %.4f" % loss', '"cost %.4f" % cost'))
    answer = deviate("run", "train.py")
    assert answer.code == 1
    assert "train.py has changed, and deviate.toml no longer matches" in answer.err
    assert "deviate analyze train.py --edit" in answer.err


def test_steps_are_those_of_the_main_loop_that_the_user_names(project: Path, deviate) -> None:  # type: ignore[no-untyped-def]
    first = "for epoch in range(3):\n    loss = 1 + epoch\n    optimizer_step()\n    print('loss', loss)\n"
    second = (
        first.replace("epoch", "step").replace("loss", "cost").replace("1 +", "5 * (1 +").replace("+ step", "+ step)")
    )
    (project / "train.py").write_text("def optimizer_step(): backward()\ndef backward(): pass\n" + first + second)
    (project / "deviate.toml").write_text('[experiment]\nmain_loop = "train.py:7"\n')
    run = ("run", "train.py", "-r", "1", "--aggregate", "at:1", "--csv", "-", "-q")
    scores = {row["metric"]: row["score"] for row in csv.DictReader(io.StringIO(deviate(*run).out))}
    assert float(scores["cost"]) == 10
    assert scores["loss"] == ""


def test_one_run_shows_its_value_and_no_spread(project: Path, deviate) -> None:  # type: ignore[no-untyped-def]
    (project / "train.py").write_text(TRAIN)
    answer = deviate("run", "train.py", "--runs", "1", "--variants", "as-is")
    assert answer.code == 0
    assert "spread unknown" in answer.out


def test_a_crash_shows_its_last_words_and_the_others_go_on(project: Path, deviate) -> None:  # type: ignore[no-untyped-def]
    crash = 'import os\nif os.environ["DEVIATE_REPLICATE"] == "1":\n    raise RuntimeError("out of luck")\n'
    (project / "train.py").write_text(crash + TRAIN)
    answer = deviate("run", "train.py", "--runs", "3")
    assert answer.code == 3
    assert "2/3 completed" in answer.out
    assert "RuntimeError: out of luck" in answer.out
    assert "stderr.log" in answer.out
    assert deviate("run", "train.py", "--runs", "3").code == 3  # a training failure is never rolled again


def test_a_loss_that_is_no_number_is_a_diverged_run(project: Path, deviate) -> None:  # type: ignore[no-untyped-def]
    text = 'import os\nbad = os.environ["DEVIATE_REPLICATE"] == "0"\n' + TRAIN.replace(
        "random.random() / 10", 'random.random() / 10 + (float("nan") if bad and epoch == 2 else 0)'
    )
    (project / "train.py").write_text(text)
    answer = deviate("run", "train.py", "--runs", "3")
    assert answer.code == 3
    assert "1 diverged" in answer.out


def test_a_metric_that_a_run_never_reported_is_told(project: Path, deviate) -> None:  # type: ignore[no-untyped-def]
    text = "import os\n" + TRAIN.replace(
        '    evaluate("train", 5)\n', '    if os.environ["DEVIATE_REPLICATE"] != "1":\n        evaluate("train", 5)\n'
    )
    (project / "train.py").write_text(text)
    answer = deviate("run", "train.py", "--runs", "3", "--metric", "test_acc")
    assert "train_acc" in answer.out
    assert re.search(r"never reported|not reported", answer.out)
    assert re.search(r"^train_acc +2/3", answer.out, re.MULTILINE)


def test_a_child_without_the_guest_ends_the_first_run_with_the_cause(project: Path, deviate) -> None:  # type: ignore[no-untyped-def]
    (project / "train.py").write_text(TRAIN)
    answer = deviate("run", "--runs", "4", "--", "env", "-i", sys.executable, "train.py")
    assert answer.code == 1
    assert "env -i" in answer.err
    assert "replicate 1 · completed" not in answer.out


def test_flags_that_hide_the_path_do_not_hide_the_guest(project: Path, deviate) -> None:  # type: ignore[no-untyped-def]
    (project / "train.py").write_text(TRAIN)
    answer = deviate("run", "--runs", "2", "--", sys.executable, "-I", "-S", "train.py")
    assert answer.code == 0, answer.both
    assert "2/2 completed" in answer.out


def test_a_large_checkpoint_of_the_user_survives(project: Path, deviate) -> None:  # type: ignore[no-untyped-def]
    (project / "train.py").write_text(
        TRAIN + 'with open("best.pt", "r+b") as file:\n    file.write(bytes(3_000_000))\nopen("new.txt", "w").close()\n'
    )
    before = os.urandom(3_000_000)
    (project / "best.pt").write_bytes(before)
    listing = sorted(path.name for path in project.iterdir())
    stamp = (project / "best.pt").stat().st_mtime_ns
    answer = deviate("run", "train.py", "--runs", "4", "--jobs", "2")
    assert answer.code == 0, answer.both
    assert (project / "best.pt").read_bytes() == before
    assert (project / "best.pt").stat().st_mtime_ns == stamp
    assert sorted(path.name for path in project.iterdir() if path.name != ".deviate") == listing


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM, signal.SIGHUP])
def test_a_signal_ends_the_run_too_and_the_same_command_goes_on(project: Path, deviate, number: int) -> None:  # type: ignore[no-untyped-def]
    script = project / "my train.py"
    script.write_text("import time\n" + TRAIN + "    time.sleep(0.3)\n")
    command = [sys.executable, "-m", "deviate", "run", script.name, "--runs", "2", "--quiet"]
    running = subprocess.Popen(command, cwd=project, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    while not (logs := list(project.glob(".deviate/experiments/my_train/runs/*/attempt-1/events-*"))):
        assert running.poll() is None
        time.sleep(0.02)
    running.send_signal(number)
    _, told = running.communicate(timeout=300)
    assert running.returncode == 130
    assert "Interrupted. What ran is on record" in told
    with pytest.raises(ProcessLookupError):
        os.kill(int(logs[0].name.split("-")[1]), 0)
    answer = deviate(*command[3:])
    assert answer.code == 0
    assert "2/2 completed" in answer.out
    assert "2/2 completed" in (listed := deviate("list").out)
    assert "'my train.py'" in listed


def test_a_metric_that_only_the_runs_may_show_is_waited_for_with_a_warning(project: Path, deviate) -> None:  # type: ignore[no-untyped-def]
    text = "import random\nfor epoch in range(2):\n    scores = {'f1': random.random()}\n    print('scores', scores)\n"
    (project / "train.py").write_text(text)
    answer = deviate("run", "train.py", "-r", "2", "--metric", "nothing")
    assert "Warning: --metric nothing is not among the metrics found" in answer.err
    assert (project / ".deviate").exists()


def test_a_dry_run_starts_and_writes_nothing(project: Path, deviate) -> None:  # type: ignore[no-untyped-def]
    (project / "train.py").write_text(TRAIN)
    answer = deviate("run", "train.py", "--dry-run")
    assert answer.code == 0
    assert "Result     acc is expected to lead; the first run decides" in answer.out
    assert not (project / ".deviate").exists()


@pytest.mark.parametrize(
    ("files", "arguments", "told"),
    [
        ({}, ("run", "train.py"), ["no script train.py"]),
        ({"train.py": "def f(:\n"}, ("run", "train.py"), ["train.py:1"]),
        ({"train.py": "x = 1\nfor i in (:\n"}, ("analyze", "train.py"), ["train.py:2"]),
        ({"train.py": "x = 1\n"}, ("run", "train.py"), ["reports no values", "deviate.toml"]),
        ({"train.py": TRAIN}, ("compare", "a", "b"), ["no experiment named 'a'"]),
        ({"train.py": TRAIN}, ("compare", "a"), ["no experiment named 'a'"]),
        ({"a.csv": "run,test_acc\n0,0.9\n1,0.8\n"}, ("compare", "a.csv"), ["baseline", "candidate"]),
        ({"train.py": TRAIN}, ("run", "train.py", "--variants", "contrl"), ["did you mean control?"]),
        (
            {"train.py": TRAIN, "deviate.toml": "[variants.x]\nvary = ['shufle']\n"},
            ("run", "train.py"),
            ["[variants.x] names the unknown stream or factor 'shufle'", "did you mean shuffle?"],
        ),
        (
            {"train.py": TRAIN, "deviate.toml": "[variants.algo]\nvary = ['init']\n"},
            ("analyze", "train.py"),
            ["[variants.algo]: there is a built-in variant of this name"],
        ),
        (
            {"train.py": TRAIN, "deviate.toml": "[metrics.x]\nwhere = 'train.py:1'\n"},
            ("run", "train.py"),
            ["metrics.x"],
        ),
        ({"train.py": TRAIN, "deviate.toml": "[metric.x]\n"}, ("run", "train.py"), ["metrics"]),
        ({"nb.ipynb": "{}"}, ("run", "nb.ipynb"), ["nb.ipynb is no notebook"]),
        ({"src/train.py": TRAIN, "src/util.py": "x = 1\n"}, ("run", "."), ["folder", "deviate run src/train.py"]),
        ({"src/util.py": "x = 1\n"}, ("analyze", "src"), ["1 Python file", "no likely training script"]),
    ],
)
def test_bad_input_gets_one_message_that_says_what_to_do(
    files: dict[str, str], arguments: tuple[str, ...], told: list[str], project: Path, deviate
) -> None:  # type: ignore[no-untyped-def]
    for name, text in files.items():
        (project / name).parent.mkdir(exist_ok=True)
        (project / name).write_text(text)
    answer = deviate(*arguments)
    assert answer.code == 1, answer.both
    errors = answer.err[answer.err.index("Error: ") :]
    assert all(words in errors for words in told), errors
    assert len(errors.strip().splitlines()) >= 2, "a message without what to do next"
    assert not (project / ".deviate").exists(), "nothing was started"


def test_a_folder_shows_its_training_scripts(project: Path, deviate) -> None:  # type: ignore[no-untyped-def]
    (project / "src").mkdir()
    (project / "src" / "train.py").write_text(TRAIN)
    (project / "util.py").write_text("x = 1\n")
    answer = deviate("analyze", ".")
    assert answer.code == 0, answer.both
    assert answer.out.endswith("Next       deviate analyze src/train.py\n")
    document = json.loads(deviate("analyze", "src", "--format", "json").out)
    assert [entry["file"] for entry in document["scripts"]] == ["train.py"]


def test_a_name_that_is_taken_by_other_code_is_refused(project: Path, deviate) -> None:  # type: ignore[no-untyped-def]
    (project / "train.py").write_text(TRAIN)
    assert deviate("run", "train.py", "--runs", "1", "--name", "x").code == 0
    (project / "train.py").write_text(TRAIN + "print('more')\n")
    answer = deviate("run", "train.py", "--runs", "1", "--name", "x")
    assert answer.code == 1
    assert "an experiment named x exists already, with another state of train.py" in answer.err
    assert "--name" in answer.err


def test_arguments_of_the_script_without_dashes_are_explained(project: Path, deviate) -> None:  # type: ignore[no-untyped-def]
    (project / "train.py").write_text(TRAIN)
    answer = deviate("run", "train.py", "--epochs", "5")
    assert answer.code == 2
    assert "after --" in answer.err


@pytest.mark.parametrize("verb", ["analyze", "run", "compare", "check", "report", "list"])
def test_every_verb_has_help_with_an_example(verb: str, deviate) -> None:  # type: ignore[no-untyped-def]
    answer = deviate(verb, "--help")
    assert answer.code == 0
    assert f"Example: deviate {verb}" in answer.out


def test_a_misspelt_verb_leads_to_the_help_of_all(deviate) -> None:  # type: ignore[no-untyped-def]
    done = deviate("analyz")
    assert done.code == 2
    assert "Did you mean 'analyze'?" in done.err
    assert done.err.endswith("  See: deviate --help\n")


def test_report_takes_the_option_of_run_for_less_words(project: Path, deviate) -> None:  # type: ignore[no-untyped-def]
    (project / "scores.csv").write_text("seed,test_acc\n" + "".join(f"{i},{0.9 + i / 100}\n" for i in range(6)))
    assert deviate("report", "scores.csv").out.startswith("Read     ")
    assert deviate("report", "scores.csv", "--quiet").out.startswith("Result: ")
