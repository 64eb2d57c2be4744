"""Commands as people have them: scripts, modules, launchers, shell scripts, what comes before and after, containers."""

import json
import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

TRAIN = """\
import os, random, sys
for epoch in range(3):
    acc = 0.5 + random.random() / 10
    print(f"epoch {epoch} acc {acc:.4f}")
with open("model.txt", "w") as file:
    print(acc, file=file)
"""
EVAL = """\
import sys
test_acc = float(open("model.txt").read()) - 0.25
print(f"test_acc {test_acc:.4f}")
sys.exit(len(sys.argv) - 1)
"""
SHOW = """\
import os, random, sys
for epoch in range(2):
    acc = random.random()
    print("acc", acc)
names = ("RUN", "REPLICATE", "VARIANT", "EXPERIMENT")
print("told", *[os.environ["DEVIATE_" + name] for name in names], *sys.argv[1:])
for name in ("PLAIN", "WANDB_API_KEY", "CUDA_VISIBLE_DEVICES", "OMP_NUM_THREADS", "TMPDIR", "MASTER_PORT"):
    print(name, os.environ.get(name))
"""
RUNNER = """\
#!{python} -ISE
import os, sys
program, words = os.path.basename(sys.argv[0]), sys.argv[1:]
inside, folders, cwd, user = {{"PATH": os.environ["PATH"], "IMAGE": "yes"}}, [], "/", None
inside.update({{k[13:]: v for k, v in os.environ.items() if program == "apptainer" and k.startswith("APPTAINERENV_")}})
words.pop(0)
while words[0] != "image":
    word, value = words.pop(0), words.pop(0)
    if word == "-v":
        folders.append(value.split(":")[0])
    elif word == "--bind":
        folders += value.split(",")
    elif word in ("-w", "--pwd"):
        cwd = value
    elif word == "-u":
        user = value
    elif word == "-e" and value in os.environ:
        inside[value] = os.environ[value]
    else:
        sys.exit("unknown option " + word)
for path in [cwd, inside["TMPDIR"], *inside["PYTHONPATH"].split(":"), *words]:
    if path.startswith("/") and not any(path == it or path.startswith(it + "/") for it in folders):
        sys.exit(path + " is not in the container")
assert user == "{user}" or program == "apptainer", user
os.chdir(cwd)
os.execvpe(words[1], words[1:], inside)
"""
"""A stand-in for docker and apptainer: inside there is nothing but what was handed in."""


@pytest.fixture
def deviate(project: Path, deviate_in):  # type: ignore[no-untyped-def]
    """Runs `deviate …` in a project that has a script for training and one for evaluation."""
    (project / "train.py").write_text(TRAIN)
    (project / "eval.py").write_text(EVAL)
    (project / "show.py").write_text(SHOW)
    return deviate_in(project)


def outputs(project: Path, name: str) -> list[str]:
    """What each run wrote to its standard output, in order of replicate."""
    runs = (project / ".deviate/experiments" / name / "runs").glob("*")
    found = {json.loads((run / "spec.json").read_text())["replicate"]: run for run in runs}
    return [(found[replicate] / "attempt-1/stdout.log").read_text() for replicate in sorted(found)]


def told(text: str) -> dict[str, str]:
    return dict(line.split(" ", 1) for line in text.splitlines() if line.split(" ")[0].isupper())


@pytest.mark.parametrize(
    ("files", "words", "name"),
    [
        ({"pkg/__init__.py": "", "pkg/fit.py": TRAIN}, ("--", "python", "-m", "pkg.fit"), "fit"),
        ({"run.sh": "set -e\npython train.py --x 1\npython eval.py\n"}, ("--", "bash", "run.sh"), "train"),
        (
            {
                "first.py": "rows = 5\nprint('rows', rows)\n",
                "run.sh": "python first.py; python train.py\npython eval.py",
            },
            ("--", "sh", "run.sh"),
            "train",
        ),
        ({}, ("--", "bash", "-c", "python train.py && python eval.py"), "train"),
        (
            {
                "Makefile": "fit:\n\tpython train.py\n",
                "deviate.toml": '[experiment]\ntrain = "train.py"\ncommand = "make fit"\nthen = ["python eval.py"]\n',
            },
            (),
            "train",
        ),
    ],
    ids=["module", "shell script", "three scripts", "shell text", "make"],
)
def test_every_form_of_a_command_is_run_and_recorded(
    files: dict[str, str], words: tuple[str, ...], name: str, project: Path, deviate
) -> None:  # type: ignore[no-untyped-def]
    for file, text in files.items():
        (project / file).parent.mkdir(exist_ok=True)
        (project / file).write_text(text)
    answer = deviate("run", "--runs", "2", *words)
    assert answer.code == 0, answer.both
    assert f"Experiment {name} " in answer.out
    assert "2/2 completed" in answer.out
    assert re.search(r"^(Result: )?acc ", answer.out, re.MULTILINE)
    if name == "train":
        assert "test_acc (mean" in answer.out
        assert all("test_acc" in text for text in outputs(project, name))


def test_a_command_without_a_script_says_where_to_name_it(project: Path, deviate) -> None:  # type: ignore[no-untyped-def]
    answer = deviate("run", "--", "make", "fit")
    assert answer.code == 1
    assert "no Python script in the command make fit" in answer.err
    assert '[experiment] train = "train.py"' in answer.err
    nothing = deviate("run")
    assert nothing.code == 1
    assert "no script or command" in nothing.err


def test_places_and_variables_tell_a_command_which_run_it_is(
    project: Path, deviate, monkeypatch: pytest.MonkeyPatch
) -> None:  # type: ignore[no-untyped-def]
    monkeypatch.setenv("TMPDIR", "/tmp")  # what deviate makes there has a short path; that of this machine may be long
    answer = deviate(
        "run", "show.py", "--runs", "2", "--variants", "algo", "--env", "PLAIN=seen", "--env", "WANDB_API_KEY=geheim77",
        "--", "{run}/{replicate}-{variant}", "{x} {{replicate}} ${HOME}",
    )  # fmt: skip
    assert answer.code == 0, answer.both
    runs = {path.name for path in (project / ".deviate/experiments/show/runs").glob("*")}
    for replicate, text in enumerate(outputs(project, "show")):
        words = next(line for line in text.splitlines() if line.startswith("told")).split()
        assert words[1] in runs
        assert words[2:5] == [str(replicate), "algo", "show"]
        assert words[5:] == [f"{words[1]}/{replicate}-algo", "{x}", f"{{{replicate}}}", "${HOME}"]
        found = told(text)
        assert (found["PLAIN"], found["WANDB_API_KEY"]) == ("seen", "geheim77")
        assert not Path(found["TMPDIR"]).exists()
        assert len(found["TMPDIR"]) < 40
    assert len({told(text)["TMPDIR"] for text in outputs(project, "show")}) == 2
    keeping = [
        path.name for path in (project / ".deviate").rglob("*") if path.is_file() and b"geheim77" in path.read_bytes()
    ]
    assert set(keeping) == {"stdout.log"}, "the script itself printed it"


def test_what_prepares_runs_once_and_only_in_copies(project: Path, deviate) -> None:  # type: ignore[no-untyped-def]
    (project / "get.py").write_text(
        "import os, sys\nos.makedirs('data', exist_ok=True)\nopen('data/small.txt', 'w').write('42')\n"
        "open('data/large.bin', 'wb').write(bytes(2_000_000))\nopen('notes.txt', 'w').write('changed')\n"
        "open(sys.argv[1], 'a').write('x')\n"
    )
    (project / "notes.txt").write_text("mine")
    (project / "fit.py").write_text(
        "import os, random\nos.makedirs('data', exist_ok=True)\nopen('data/cache.txt', 'a').write('c')\n"
        "print(open('notes.txt').read(), open('data/small.txt').read(), os.path.getsize('data/large.bin'))\n"
        "print(os.path.getsize('data/cache.txt'))\nopen('data/large.bin', 'ab').write(b'more')\n"
        "for epoch in range(2):\n    acc = random.random()\n    print('acc', acc)\n"
    )
    before = {path: path.read_bytes() for path in project.rglob("*") if path.is_file()}
    counted = project.parent / "counted.txt"
    prepares = ("--prepare", f"get.py {counted}")
    assert deviate("run", "fit.py", "--runs", "2", *prepares, "--quiet").code == 0
    more = deviate("run", "fit.py", "--runs", "3", *prepares)
    assert "3/3 completed" in more.out
    assert f"Prepare    once: {Path(more.out.split('once: ')[1].split()[0])} get.py" in more.out
    assert counted.read_text() == "x"
    assert all("changed 42 2000000\n1\n" in text for text in outputs(project, "fit"))
    assert {path: path.read_bytes() for path in before} == before
    assert not (project / "data").exists()
    other = deviate("run", "fit.py", "--runs", "1", "--prepare", f"python get.py {counted}", "--quiet")
    assert "Experiment fit-2" in other.out
    assert counted.read_text() == "xx"
    refused = deviate("run", "fit.py", "--runs", "1", "--name", "fit")
    assert refused.code == 1
    assert "with another --prepare" in refused.err


def test_what_prepares_and_fails_is_told_and_can_be_repaired(project: Path, deviate) -> None:  # type: ignore[no-untyped-def]
    (project / "get.py").write_text("import sys\nsys.exit('no such host')\n")
    failed = deviate("run", "train.py", "--runs", "1", "--prepare", "get.py", "--quiet")
    assert failed.code == 1
    assert "get.py ended with code 1; its last lines:\n  no such host\n" in failed.err
    assert not list((project / ".deviate/experiments/train").glob("runs/*"))
    missing = deviate("run", "train.py", "--runs", "1", "--prepare", "fetch-it data", "--quiet")
    assert missing.code == 1
    assert "'fetch-it'" in missing.err
    (project / "get.py").write_text("print('there')\n")
    assert deviate("run", "train.py", "--runs", "1", "--prepare", "get.py", "--quiet").code == 0


def test_what_follows_is_recorded_and_its_failure_is_the_failure_of_the_run(project: Path, deviate) -> None:  # type: ignore[no-untyped-def]
    shared = "def evaluate(split):\n    acc = sum(range(len(split))) / 90\n    print(f'{split} acc {acc:.4f}')\n"
    (project / "shared.py").write_text(shared)
    (project / "fit.py").write_text("from shared import evaluate\nfor epoch in range(2):\n    evaluate('val')\n")
    (project / "final.py").write_text("from shared import evaluate\nevaluate('test')\n")
    answer = deviate("run", "fit.py", "--runs", "1", "--then", "python final.py", "--then", "final.py x")
    assert answer.code == 0, answer.both
    assert "Then       python final.py\n" in answer.out
    assert re.search(r"^val_acc +1 +0.0333333", answer.out, re.MULTILINE)
    assert "Result: test_acc  0.0666667" in answer.out
    failed = deviate("run", "train.py", "--runs", "1", "--then", "python eval.py", "--then", "python eval.py wrong")
    assert failed.code == 3
    assert "crashed, exit code 1 · --then python eval.py wrong: exit code 1" in failed.out
    (project / "wait.py").write_text("import time\ntime.sleep(600)\n")
    for patience in (1, 5, 25, 125):  # on a busy machine train.py itself may take longer than the shortest ones
        late = deviate(
            "run", "train.py", "--runs", "1", "--name", f"late-{patience}", "--then", "python wait.py",
            "--timeout", f"{patience}s", "--quiet",
        )  # fmt: skip
        told_late = f"timed out · --then python wait.py: took longer than {patience} s"
        if told_late in late.out:
            break
    assert told_late in late.out


def test_several_interpreters_are_compared(project: Path, deviate) -> None:  # type: ignore[no-untyped-def]
    for name in ("old", "new"):
        subprocess.run([sys.executable, "-m", "venv", "--without-pip", project.parent / name], check=True)
    pythons = [str(project.parent / name / "bin/python") for name in ("old", "new")]
    (project / "which.py").write_text("import random, sys\n" + TRAIN + "print('by', sys.prefix)\n")
    answer = deviate("run", "which.py", "--runs", "2", "--python", pythons[0], "--python", pythons[1])
    assert answer.code == 0, answer.both
    assert "Baseline   which-old" in answer.out
    assert "Candidate  which-new" in answer.out
    assert f"by {project.parent / 'old'}" in outputs(project, "which-old")[0]
    assert f"by {project.parent / 'new'}" in outputs(project, "which-new")[0]


@pytest.mark.parametrize("wrap", ["docker run image", "apptainer exec image", "nice docker run image"])
def test_a_container_gets_the_folders_and_variables_of_a_run(
    wrap: str, project: Path, deviate, monkeypatch: pytest.MonkeyPatch
) -> None:  # type: ignore[no-untyped-def]
    tools = project.parent.parent / "tools"
    tools.mkdir()
    for name in ("docker", "apptainer"):
        (tools / name).write_text(RUNNER.format(python=sys.executable, user=f"{os.getuid()}:{os.getgid()}"))
        (tools / name).chmod(0o755)
    monkeypatch.setenv("PATH", f"{tools}{os.pathsep}{os.environ['PATH']}")
    (project / "get.py").write_text("import os\nopen('made.txt', 'w').write(os.environ['IMAGE'])\n")
    (project / "look.py").write_text(SHOW + "print(open('made.txt').read(), os.environ['IMAGE'])\n")
    answer = deviate(
        "run", "look.py", "--runs", "1", "--wrap", wrap, "--prepare", "get.py", "--then", "show.py",
        "--env", "PLAIN=seen", "--env", "WANDB_API_KEY=geheim77", "--quiet",
    )  # fmt: skip
    assert answer.code == 0, answer.both
    assert "1/1 completed" in answer.out
    assert "Result: acc" in answer.out
    (text,) = outputs(project, "look")
    assert "yes yes" in text
    assert text.count("PLAIN seen\nWANDB_API_KEY geheim77\n") == 2


def test_a_container_that_lets_nothing_in_ends_the_first_run_with_the_cause(
    project: Path, deviate, monkeypatch: pytest.MonkeyPatch
) -> None:  # type: ignore[no-untyped-def]
    tools = project.parent.parent / "tools"
    tools.mkdir()
    (tools / "docker").write_text("#!/bin/sh\nexec env -i PATH=$PATH python -c 'print(1)'\n")
    (tools / "docker").chmod(0o755)
    monkeypatch.setenv("PATH", f"{tools}{os.pathsep}{os.environ['PATH']}")
    answer = deviate("run", "train.py", "--runs", "5", "--wrap", "docker run image", "--quiet")
    assert answer.code == 1
    assert "no Python process of the first run reported" in answer.err
    assert "docker hides folders and variables: pass PYTHONPATH and DEVIATE_*" in answer.err
    assert len(list((project / ".deviate/experiments/train/runs").glob("*/attempt-*"))) <= 2


@pytest.mark.parametrize(
    ("launcher", "module"),
    [
        (("torchrun", "--nproc-per-node", "1"), "torch"),
        pytest.param(("accelerate", "launch"), "accelerate", marks=pytest.mark.slow),
    ],
)
def test_launchers_run_two_at_once_without_taking_the_same_port(
    launcher: tuple[str, ...], module: str, project: Path, deviate, require
) -> None:  # type: ignore[no-untyped-def]
    require(module)
    (project / "ranks.py").write_text(
        "import os, torch, torch.distributed as dist\nif 'RANK' in os.environ:\n    dist.init_process_group('gloo')\n"
        "for epoch in range(2):\n    loss = torch.rand(1)\n"
        "    if dist.is_initialized():\n        dist.all_reduce(loss)\n"
        "    if os.environ.get('RANK', '0') == '0':\n        print(f'loss {loss.item():.4f}', flush=True)\n"
        "if dist.is_initialized():\n    dist.destroy_process_group()\n"
    )
    more = ("--cpu", "--num_processes", "1") if module == "accelerate" else ()
    answer = deviate("run", "--runs", "2", "--jobs", "2", "--quiet", "--", *launcher, *more, "ranks.py")
    assert answer.code == 0, answer.both
    assert "2/2 completed" in answer.out
    assert "Result: loss (mean" in answer.out
