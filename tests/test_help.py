"""The command line tells how it is used: help with examples that exist, and completion of what is on record."""

import os
import re
import shlex
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from deviate.cli.app import VERBS, load_command, run_arguments
from deviate.cli.options.groups import TITLES
from deviate.cli.options.help import COMMON

COMMANDS = {name: load_command(name) for name in VERBS}


@pytest.mark.parametrize("name", COMMANDS)
def test_the_help_of_a_verb_has_an_example_of_that_verb(name: str) -> None:
    examples = re.findall(r"(?:deviate|or:) ([a-z]+)", COMMANDS[name].epilog or "")

    assert examples
    assert set(examples) == {name} or (name == "worker")


@pytest.mark.parametrize("name", COMMANDS)
def test_flags_of_an_example_are_flags_of_the_verb(name: str) -> None:
    command = COMMANDS[name]
    ours = command.epilog.partition(" -- ")[0]

    used = {word for word in shlex.split(ours) if word.startswith("-")}

    assert used <= {flag for parameter in command.params for flag in parameter.opts}


@pytest.mark.parametrize("name", COMMANDS)
def test_a_line_says_what_a_verb_is_for(name: str) -> None:
    assert "..." not in COMMANDS[name].get_short_help_str(limit=60)


@pytest.mark.parametrize("name", COMMANDS)
def test_every_flag_is_explained(name: str) -> None:
    assert [it.name for it in COMMANDS[name].params if not getattr(it, "help", "")] == []


def test_a_long_help_shows_the_common_options_and_says_how_many_more_there_are(
    capsys: pytest.CaptureFixture[str],
) -> None:
    for name in COMMON:
        run_arguments([name, "--help"])
        short = capsys.readouterr().out
        run_arguments([name, "--help-all"])
        long = capsys.readouterr().out
        flags = [set(re.findall(r"^  (?:-\w, )?(--[a-z-]+)", text, re.MULTILINE)) for text in (short, long)]
        common, everything = (each - {"--help", "--help-all", "--debug"} for each in flags)

        assert everything == {option.opts[0] for option in titled(name)}, name
        assert common < everything
        assert len(common) == len(COMMON[name].split()) <= 14
        assert short.endswith(f"  deviate {name} --help-all shows {len(everything - common)} more options.\n")
        assert "more options" not in long


def test_every_long_help_has_a_short_form_and_every_title_is_in_the_order_of_all(
    capsys: pytest.CaptureFixture[str],
) -> None:
    for name, command in COMMANDS.items():
        assert len(titled(name)) <= 14 or name in COMMON, name
        run_arguments([name, "--help-all"])
        titles = [title for title in re.findall(r"^(\w.*):$", capsys.readouterr().out, re.MULTILINE) if title in TITLES]
        assert titles == [title for title in TITLES if title in titles]
        assert {option.rich_help_panel for option in command.options()} == set(titles)


def titled(name: str) -> list[Any]:
    """The options of a verb besides those that all verbs have."""
    return [option for option in COMMANDS[name].options() if option.rich_help_panel != "Help"]


def complete(folder: Path, *words: str) -> list[str]:
    """What bash is offered for the last of the words."""
    asked = {"COMP_WORDS": " ".join(("deviate", *words)), "COMP_CWORD": str(len(words))}
    done = subprocess.run(
        [sys.executable, "-c", "import sys; sys.argv[0] = 'deviate'; from deviate.cli import main; main()"],
        cwd=folder, env={**os.environ, **asked, "_DEVIATE_COMPLETE": "complete_bash"}, capture_output=True, text=True,
        check=False,
    )  # fmt: skip
    assert not done.stderr
    return done.stdout.split()


def test_names_on_record_are_completed_and_files_where_they_can_be_named(tmp_path: Path) -> None:
    (tmp_path / "scores.csv").write_text("run,acc\n0,0.5\n1,0.6\n", encoding="utf-8")
    (tmp_path / "scores").mkdir()
    subprocess.run(
        [sys.executable, "-m", "deviate", "import", "scores.csv", "--name", "small"], cwd=tmp_path, check=True
    )

    assert complete(tmp_path, "show", "s") == ["small"]
    assert complete(tmp_path, "compare", "s") == ["small", "scores/", "scores.csv"]
    assert complete(tmp_path, "show", "sc") == []


def test_where_nothing_is_on_record_nothing_is_offered(tmp_path: Path) -> None:
    assert complete(tmp_path, "show", "") == []


def test_verbs_stand_in_the_order_of_the_work(tmp_path: Path) -> None:
    verbs = complete(tmp_path, "")

    assert verbs[:4] == ["analyze", "run", "resume", "worker"]
    assert set(verbs) == set(COMMANDS)
