"""Which files of a project are its training scripts: ranked by what they show, each with the reasons."""

import posixpath
import re
from collections import defaultdict
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

from deviate.analysis.resolve.project_files import ProjectFiles, project_files
from deviate.analysis.script_features import Signs, read_signs
from deviate.model.metric_vocabulary import split_identifier, word_set

TRAINING_NAME = re.compile(r"(pre|fine)?_?(train|tune)(er|ing|val)?|pretrain(ing)?|fit|learn")
STARTING_NAMES = word_set("main run start launch experiment")
OTHER_NAMES = word_set(
    "test tests eval evaluate evaluation evaluator validate val predict prediction infer inference demo plot plotting "
    "visualize visualise vis sample sampling generate generation download preprocess preprocessing prepare prep "
    "convert export extract setup conftest util utils helper helpers dataset datasets data loader hubconf benchmark "
    "benchmarks profile attack score metrics metric losses loss layers submit submitit slurm sweep play render "
    "server serve app api deploy quantize calibrate config configs create make build"
)
ASIDE = word_set("test tests testing doc docs third_party thirdparty vendor external extern build dist")
EXAMPLES = word_set("example examples benchmark benchmarks tutorial tutorials notebooks demo demos legacy deprecated")
COMMAND = re.compile(
    r"(?:python[\d.]*|torchrun|launch|accelerate|deepspeed|horovodrun|srun|%run)\b[^\n`|;&]*?"
    r"(?:\s-m\s+(?P<module>[A-Za-z_][\w.]*)|(?P<file>[\w./-]+\.py)\b)"
)
MOST_HOPS = 3
LARGEST_DOCUMENT = 500_000
CLEAR = 2.0
"""Lead in points from which the best file counts as clearly the training script."""


@dataclass(frozen=True, slots=True)
class Entry:
    """A file that may be a training script.

    Attributes:
        file: name relative to the folder, with forward slashes.
        reasons: what speaks for it, most telling first, then what speaks against it.
    """

    file: str
    score: float
    reasons: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Entries:
    """The likely training scripts of a folder, best first.

    Attributes:
        notebooks: notebooks of the folder, which have to be converted first.
        n_files: Python files that were looked at.
    """

    folder: Path
    scripts: tuple[Entry, ...]
    notebooks: tuple[str, ...]
    n_files: int

    @property
    def is_clear(self) -> bool:
        """Whether the best file is clearly the training script."""
        return len(self.scripts) == 1 or (
            len(self.scripts) > 1 and self.scripts[0].score - self.scripts[1].score >= CLEAR
        )


def rank_scripts(folder: Path) -> Entries:
    """Rank the Python files of a folder; those that nothing marks as a training script are left out."""
    files = project_files(folder)
    signs = {name: read_signs(folder / name) for name in files.scripts}
    project = _Project(signs)
    commands = _commands(folder, files)
    entries = [project.judge(name, commands.get(name, "")) for name in files.scripts]
    likely = sorted((entry for entry in entries if entry.score > 0), key=lambda entry: (-entry.score, entry.file))
    return Entries(folder, tuple(likely), files.notebooks, len(files.scripts))


class _Project:
    """Import relations between the files of a project, and the score of each file."""

    def __init__(self, signs: Mapping[str, Signs]) -> None:
        self.signs = signs
        self.by_end: dict[str, str] = {}
        for name in signs:  # those nearest to the top first
            for end in _ends(name):
                self.by_end.setdefault(end, name)
        self.uses = {name: frozenset(self._file_used(name)) for name in signs}
        self.users: dict[str, list[str]] = defaultdict(list)
        for name, used in self.uses.items():
            for other in used:
                self.users[other].append(name)

    def judge(self, name: str, command: str) -> Entry:
        """The reasons for and against a file being a training script.

        Args:
            command: the document that gives the command to run it; empty for none.
        """
        signs = self.signs[name]
        points = [*self._for_training(name), *self._for_a_start(name), *self._against(name)]
        trains = any(value > 0 for value, _ in self._for_training(name))
        if command and (trains or not _import_names(name)):
            points.append((2.0, f"run by a command in {command}"))
        if not trains and not _is_named_for_training(name):
            points.append((-4.0, "no training in sight"))
        if signs.error:
            points.append((-2.0, signs.error))
        points.append((-0.5 * name.count("/"), ""))
        reasons = [reason for value, reason in sorted(points, key=lambda point: -point[0]) if reason]
        return Entry(name, round(sum(value for value, _ in points), 2), tuple(reasons))

    def _for_training(self, name: str) -> Iterator[tuple[float, str]]:
        signs = self.signs[name]
        if signs.training:
            yield 4.0, f"calls {', '.join(signs.training[:3])}"
        else:
            training = self._trains_through(name)
            if training is not None:
                hops, where = training
                yield 3.5 - 0.5 * hops, f"trains through {where}"
        if signs.loop:
            yield (2.0 if signs.loop == "epoch" else 1.0), f"has a loop over {signs.loop}s"

    def _trains_through(self, name: str) -> tuple[int, str] | None:
        """The nearest imported file that trains, and the number of imports to it."""
        seen, users = {name}, [name]
        for hops in range(1, MOST_HOPS + 1):
            users = sorted({used for user in users for used in self.uses[user]} - seen)
            seen.update(users)
            training = next((file for file in users if self.signs[file].training), None)
            if training is not None:
                return hops, training
        return None

    def _for_a_start(self, name: str) -> Iterator[tuple[float, str]]:
        signs = self.signs[name]
        if _is_named_for_training(name):
            is_second = any(word.endswith(("tune", "tuning", "tuner")) for word in split_identifier(_base(name)))
            yield (1.25 if is_second else 3.0), "named for training"
        elif STARTING_NAMES & set(split_identifier(_base(name))):
            yield 1.5, f"named {_base(name)}"
        if signs.has_guard:
            yield 1.5, "has a main guard"
        elif signs.starts:
            yield 1.0, "works at its top level"
        if signs.parser:
            yield 1.0, f"reads its command line ({signs.parser})"
        if signs.framework:
            yield 0.5, f"imports {signs.framework}"
        if signs.saves:
            yield 0.5, "saves what it has"

    def _against(self, name: str) -> Iterator[tuple[float, str]]:
        signs = self.signs[name]
        if not signs.starts and not signs.error:
            yield -6.0, "does nothing by itself: only defines"
        if signs.is_test:
            yield -4.0, "is a test"
        if users := self.users[name]:
            reason = f"imported by {users[0]}" + (f" and {len(users) - 1} more" if len(users) > 1 else "")
            yield (-0.25 if signs.has_guard else -2.5), reason
        if _import_names(name):
            yield -3.0, f"named {_base(name)}"
        folders = {word for part in name.split("/")[:-1] for word in (part.lower(), *split_identifier(part))}
        if aside := folders & ASIDE:
            yield -5.0, f"stands under {min(aside)}"
        elif aside := folders & EXAMPLES:
            yield -0.5, f"stands under {min(aside)}"

    def _file_used(self, name: str) -> Iterator[str]:
        """The files of the project that a file imports."""
        for target in self.signs[name].imports:
            file = self._find(target, name)
            if file is not None and file != name:
                yield file

    def _find(self, target: str, user: str) -> str | None:
        """The file of a dotted name: beside its user, else where the end of its path fits and is nearest."""
        stripped = target.lstrip(".")
        stem = stripped.replace(".", "/")
        above = posixpath.dirname(user)
        dots = len(target) - len(stripped)
        if dots:
            for _ in range(dots - 1):
                above = posixpath.dirname(above)
            return self._at(posixpath.join(above, stem))
        return self._at(posixpath.join(above, stem)) or self.by_end.get(stem)

    def _at(self, stem: str) -> str | None:
        names = (f"{stem}.py", posixpath.join(stem, "__init__.py"))
        return next((name for name in names if name in self.signs), None)


def _ends(name: str) -> Iterator[str]:
    """The names under which a file can be imported, from any search folder: a/b and b for a/b.py."""
    stem = name.removesuffix(".py").removesuffix("/__init__")
    while stem:
        yield stem
        stem = stem.partition("/")[2]


def _commands(folder: Path, files: ProjectFiles) -> dict[str, str]:
    """Scripts for which a document of the project gives a command, each with the first such document."""
    commands: dict[str, str] = {}
    for document in files.documents:
        try:
            path = folder / document
            text = path.read_text(encoding="utf-8", errors="replace") if path.stat().st_size < LARGEST_DOCUMENT else ""
        except OSError:
            continue
        for match in COMMAND.finditer(text):
            file_name = match["file"] or f"{match['module'].replace('.', '/')}.py"
            for script in _scripts_meant(file_name.removeprefix("./"), document, files.scripts):
                commands.setdefault(script, document)
    return commands


def _scripts_meant(file_name: str, document: str, scripts: tuple[str, ...]) -> list[str]:
    """The scripts that a command may mean: relative to the folder, to the document, or by the end of its path."""
    beside = posixpath.normpath(posixpath.join(posixpath.dirname(document), file_name))
    exact = [script for script in scripts if script in (beside, file_name)]
    return exact or [script for script in scripts if script.endswith(f"/{file_name}")][:1]


def _base(name: str) -> str:
    return posixpath.basename(name).removesuffix(".py")


def _is_named_for_training(name: str) -> bool:
    name_words = split_identifier(_base(name))
    return any(TRAINING_NAME.fullmatch(word) for word in name_words) and not (
        name_words and name_words[0] in OTHER_NAMES
    )


def _import_names(name: str) -> bool:
    return bool(OTHER_NAMES & set(split_identifier(_base(name)))) and not _is_named_for_training(name)
