"""Code blocks of the manual's pages: carried out one after the other in a folder of their own, as a reader would.

A block of `sh` is commands, a `text` block right after it what they print, a block with `title="train.py"` a file that
the reader saves. A comment `<!-- not run: REASON -->` before a block leaves it to the reader.
"""

import os
import re
import subprocess
import sysconfig
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path

ROOT = Path(__file__).parents[2]
FENCE = re.compile(
    r'(?P<skip><!-- (?:not run: [^>]*|main-job|tests) -->\n+)?^```(?P<language>\w+)(?: title="(?P<title>[^"]*)")?\n'
    r"(?P<text>.*?)^```$(?P<head>\n+```text\n(?P<shown>.*?)^```$)?",
    re.DOTALL | re.MULTILINE,
)
CLOCK = re.compile(r"(?<![\w.])\d+(\.\d+)?( h| min| s)( \d+(?: min| s))?(?!\w)")
KEPT = re.compile(r"(?<=[ ,])\d+(\.\d+)? [kM]B(?=, |\n)")
"""How much of a run is kept on disk; that depends on the machine, which is described in it."""
STANDING = re.compile(r"^\d+ of \d+ done · .*\n", re.MULTILINE)
"""A line about how things stand, said after a minute of silence: on a slow machine, and so on no page."""
CORES = sorted(os.sched_getaffinity(0))[:2] if hasattr(os, "sched_getaffinity") else []


@dataclass(frozen=True)
class Block:
    """A block of a page.

    Attributes:
        title: the name of the file that it is to be saved as; empty where it is none.
        shown: what the page says that its commands print; None where it does not say.
        is_run: whether the reader of a test carries it out.
    """

    language: str
    title: str
    text: str
    shown: str | None
    is_run: bool


def without_clock(text: str) -> str:
    """A text in which all durations, sizes of runs and widths of columns, which may depend on them, are the same."""
    return re.sub(" {2,}", "  ", KEPT.sub("1 kB", CLOCK.sub("1 s", text)))


def blocks(page: str) -> list[Block]:
    return [_block(found) for found in FENCE.finditer(page)]


def _block(found: re.Match[str]) -> Block:
    return Block(found["language"], found["title"] or "", found["text"], found["shown"], not found["skip"])


def alone(folder: Path) -> Path:
    """A new folder below, with nothing beside it."""
    below = folder / "apart/reader"
    below.mkdir(parents=True)
    return below


@dataclass(frozen=True)
class Reader:
    """Who carries out the blocks of a page in a folder, on two cores at most, so that as many runs go on at a time.

    Attributes:
        folder: with nothing beside it, for what stands there is a part of what runs can reach.
        variables: further variables of the environment.
        programs: the folder of `python` and `deviate`.
    """

    folder: Path
    variables: Mapping[str, str] = field(default_factory=dict)
    programs: Path = Path(sysconfig.get_path("scripts"))

    def save(self, block: Block) -> None:
        path = self.folder / block.title
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(block.text, encoding="utf-8")

    def run(self, commands: str) -> str:
        """What commands print, with the path of the interpreter as the page has it.

        Raises:
            AssertionError: one of them failed.
        """
        environment = {key: value for key, value in os.environ.items() if not key.startswith(("DEVIATE_", "PYTHON"))}
        done = subprocess.run(
            ["bash", "-euo", "pipefail", "-c", commands],
            cwd=self.folder,
            # Pages are written for a terminal of this width; workers of pytest say that theirs is narrower.
            env={**environment, "COLUMNS": "120", "PATH": f"{self.programs}:{environment['PATH']}", **self.variables},
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            check=False,
            preexec_fn=_on_two_cores,
        )
        assert done.returncode == 0, f"{commands}\n{done.stdout}"
        printed = done.stdout.replace(f"{self.programs}/", ".venv/bin/")
        # No editor keeps spaces at the end of a line.
        return "".join(f"{line.rstrip()}\n" for line in printed.rstrip().splitlines())

    def follow(self, page: str, alike: Callable[[str], str] = without_clock) -> str:
        """The page with what its commands print; where `alike` makes that equal to what it shows, it stays as it is."""

        def as_printed(found: re.Match[str]) -> str:
            block = _block(found)
            if block.title:
                self.save(block)
            if not block.is_run or block.language != "sh":
                return found[0]
            printed = STANDING.sub("", self.run(block.text))
            if block.shown is None or alike(printed) == alike(block.shown):
                return found[0]
            return found[0].removesuffix(f"{block.shown}```") + f"{printed}```"

        return FENCE.sub(as_printed, page)


def _on_two_cores() -> None:
    if CORES:
        os.sched_setaffinity(0, CORES)
