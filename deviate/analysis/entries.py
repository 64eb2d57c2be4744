"""Which files of a project are its training scripts: ranked by what they show, each with the reasons."""

import ast
import os
import posixpath
import re
import shutil
import subprocess
import warnings
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path, PurePosixPath

from deviate.analysis.resolve.identifier_words import all_words
from deviate.base.git import SAFE, git_environment
from deviate.model.metric_vocabulary import split_identifier, word_set

# ---------------------------------------------------------------- features of a file
# They show its purpose: training, a main part, imports. Fast: from text and `ast`.

LARGEST = 2_000_000
"""Maximum file size in bytes: larger files are data."""

TRAINING_CALLS = word_set(
    "backward zero_grad apply_gradients GradientTape value_and_grad grad train_on_batch partial_fit minimize fit "
    "fit_generator manual_backward train_step training_step train_epoch train_one_epoch train_and_evaluate "
    "compute_gradients compute_loss_and_gradients"
)
OPTIMIZERS = word_set("optimizer optim opt optimizers solver scaler sgd adam")
TRAINERS = word_set("trainer solver learner estimator agent model engine experiment runner")
SCALERS = word_set("scaler encoder vectorizer tokenizer pca tsne imputer binarizer transformer preprocessor normalizer")
PARSERS = word_set(
    "argparse click typer fire hydra absl docopt tyro jsonargparse simple_parsing configargparse gin sacred optparse"
)
TESTING = word_set("pytest unittest nose hypothesis")
EPOCHS = word_set("epoch epochs ep epo")
STEPS = word_set("step steps iter iters iteration iterations it itr episode episodes update round")
GUARD = re.compile(r"""^if\s*\(?\s*__name__\s*==\s*["']__main__["']""", re.MULTILINE)
CALLED = re.compile(r"\b(\w+)\(")
SETTING_UP = re.compile(r"print|input|exit|_?(set|seed|register|init|setup|install|load|config|def)\w*", re.IGNORECASE)
STARTING_CALLS = word_set("run main Fire train fit start launch spawn cli")
AT_TOP = re.compile(r"^(?:for\b|while\b|with\b|(?:\w+ *= *[\w.]*(?:fit|train)\w*|[\w.]*\w)\()", re.MULTILINE)
"""Beginnings of top-level lines that do work; most library files have none and need not be parsed."""
COUNTING = re.compile(r"^[ \t]*for[ \t]+\W*(\w+)", re.MULTILINE)
TELLING = re.compile(
    rb"\b(?:backward|GradientTape|value_and_grad|apply_gradients|minimize|train\w*|fit\w*|epochs?|__main__|trainer)\b",
    re.IGNORECASE,
)
IMPORTS = re.compile(r"^[ \t]*(?:from[ \t]+(\w+)|import[ \t]+([\w., \t]+))", re.MULTILINE)


@dataclass(frozen=True, slots=True)
class Signs:
    """Features of one file that does more than define names.

    Attributes:
        training: names of the calls that train, in source order.
        loop: word for the counter of its training loop, "epoch" or "step"; empty without one.
        parser: package that reads its command line; empty for none.
        error: why it cannot be read as Python 3; empty when it can.
    """

    training: tuple[str, ...]
    loop: str
    has_guard: bool
    parser: str
    error: str = ""


def read_signs(path: Path) -> Signs | None:
    """The features of a file; None for tests, files that only define names, and those that never mention training."""
    try:
        content = path.read_bytes() if path.stat().st_size <= LARGEST else b""
    except OSError:
        return None
    text = content.decode("utf-8", errors="replace")
    packages = frozenset(_packages(text))
    has_guard, parser = bool(GUARD.search(text)), min(packages & PARSERS, default="")
    is_start = TELLING.search(content) and (has_guard or AT_TOP.search(text))
    if not is_start or packages & TESTING or "absl.testing" in text:
        return None
    try:
        with warnings.catch_warnings(action="ignore"):  # "\d": a problem of the script
            tree = ast.parse(content)
    except (SyntaxError, ValueError, RecursionError, MemoryError) as error:
        line = f" at line {error.lineno}" if isinstance(error, SyntaxError) and error.lineno else ""
        reason = f"is no valid Python 3{line}"
        return Signs(_spelling(text), _loop(COUNTING.findall(text)), has_guard, parser, reason)
    if not has_guard and not any(map(_does_something, tree.body)):
        return None
    nodes = [node for node in ast.walk(tree) if isinstance(node, ast.Call | ast.For)]
    nodes.sort(key=lambda node: (node.lineno, node.col_offset))
    return Signs(tuple(dict.fromkeys(_training_calls(nodes))), _loop(_counters(nodes)), has_guard, parser)


def _spelling(text: str) -> tuple[str, ...]:
    """The training calls in a text that is not parsed; names in strings and comments count too."""
    return tuple(dict.fromkeys(name for name in CALLED.findall(text) if name in TRAINING_CALLS))


def _packages(text: str) -> Iterator[str]:
    """The first parts of the names that a file imports."""
    for package, names in IMPORTS.findall(text):
        yield from [package] if package else [re.split(r"[.\s]", name.strip())[0] for name in names.split(",")]


def _calls(call: ast.Call) -> list[str]:
    """The dotted parts of a callee, outermost object first; [""] for one without a name."""
    names: list[str] = []
    node: ast.expr = call.func
    while isinstance(node, ast.Attribute):
        names.append(node.attr)
        node = node.value
    if isinstance(node, ast.Name):
        names.append(node.id)
    return names[::-1] or [""]


def _training_calls(nodes: Iterable[ast.AST]) -> Iterator[str]:
    for node in nodes:
        if not isinstance(node, ast.Call):
            continue
        names = _calls(node)
        last, before = names[-1], set(split_identifier(names[-2])) if len(names) > 1 else set()
        if last in ("fit", "partial_fit") and (before & SCALERS or len(names) == 1):
            continue
        if last in TRAINING_CALLS:
            yield last
        elif last == "step" and before & OPTIMIZERS:
            yield f"{names[-2]}.step"
        elif last == "train" and before & TRAINERS and (node.args or node.keywords or "model" not in before):
            yield f"{names[-2]}.train"


def _loop(counters: Iterable[str]) -> str:
    """The unit of a loop over epochs, else over steps; empty if there is neither."""
    counter_words = set(all_words(counters))
    return "epoch" if counter_words & EPOCHS else "step" if counter_words & STEPS else ""


def _counters(nodes: Iterable[ast.AST]) -> Iterator[str]:
    for node in nodes:
        if isinstance(node, ast.For):
            yield from (part.id for part in ast.walk(node.target) if isinstance(part, ast.Name))


def _does_something(statement: ast.stmt) -> bool:
    """Whether a top-level statement does more than import, define and set up."""
    match statement:
        case ast.Expr(value=ast.Call() as call) | ast.Assign(value=ast.Call() as call):
            names = _calls(call)
            if any(_training_calls([call])) or names[-1] in STARTING_CALLS:
                return True
            return isinstance(statement, ast.Expr) and len(names) == 1 and not SETTING_UP.fullmatch(names[0])
        case ast.For() | ast.While() | ast.With():
            return True
        case ast.If() | ast.Try():
            return any(_does_something(inner) for inner in statement.body)
    return False


# ---------------------------------------------------------------- files of a folder
# The hand-written ones, without ignored files, environments, caches and packages.

LEFT = word_set("venv env node_modules site-packages dist-packages __pycache__ wandb mlruns lightning_logs")
ENVIRONMENT = "pyvenv.cfg"
DOCUMENTS = (".md", ".rst", ".txt", ".sh", ".bash", ".toml")
MOST_FILES = 5_000
"""Limit of files of one kind, those nearest to the root first."""


@dataclass(frozen=True, slots=True)
class ProjectFiles:
    """Names relative to the folder, with forward slashes, those nearest to the top first.

    Attributes:
        documents: files that contain commands: readme files, shell scripts, makefiles.
    """

    scripts: tuple[str, ...]
    notebooks: tuple[str, ...]
    documents: tuple[str, ...]


def project_files(folder: Path) -> ProjectFiles:
    """Files in a folder; symbolic links to folders are not followed."""
    names = sorted(_list_by_git(folder) or _walk(folder), key=lambda name: (name.count("/"), name))
    return ProjectFiles(
        scripts=tuple(name for name in names if name.endswith(".py"))[:MOST_FILES],
        notebooks=tuple(name for name in names if name.endswith(".ipynb"))[:MOST_FILES],
        documents=tuple(name for name in names if _is_document(name))[:MOST_FILES],
    )


def _list_by_git(folder: Path) -> list[str]:
    """Files that git does not ignore; none without git, or if it ignores the folder itself."""
    if not shutil.which("git"):
        return []
    command = [*SAFE, "ls-files", "-z", "--cached", "--others", "--exclude-standard"]
    listing = subprocess.run(command, cwd=folder, env=git_environment(), capture_output=True, check=False)
    names = {os.fsdecode(name) for name in listing.stdout.split(b"\0") if name}
    answers: dict[str, bool] = {}
    return [name for name in names if not _is_left(name, folder, answers) and (folder / name).is_file()]


def _is_left(name: str, folder: Path, answers: dict[str, bool]) -> bool:
    """Whether a file is in a folder that is skipped."""
    parent = name.rpartition("/")[0]
    if not parent:
        return False
    if parent not in answers:
        answers[parent] = _is_foreign(folder, parent) or _is_left(parent, folder, answers)
    return answers[parent]


def _walk(folder: Path) -> Iterator[str]:
    for place, inner, files in os.walk(folder):
        below = Path(place).relative_to(folder)
        inner[:] = [name for name in inner if not _is_foreign(folder, (below / name).as_posix())]
        yield from ((below / name).as_posix() for name in files if os.path.isfile(os.path.join(place, name)))  # noqa: PTH113, PTH118


def _is_foreign(folder: Path, below: str) -> bool:
    """Whether a folder is hidden, a cache, a package or an environment, and so no code of the project."""
    name = PurePosixPath(below).name
    return name.startswith(".") or name in LEFT or (folder / below / ENVIRONMENT).exists()


def _is_document(name: str) -> bool:
    base = name.rpartition("/")[2].lower()
    return base == "makefile" or (base.endswith(DOCUMENTS) and not base.startswith("requirements"))


# ---------------------------------------------------------------- ranking

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
LARGEST_DOCUMENT = 500_000
CLEAR = 2.0
"""Lead in points from which the best file counts as clearly the training script."""


@dataclass(frozen=True, slots=True)
class EntryScript:
    """A file that may be a training script.

    Attributes:
        file: name relative to the folder, with forward slashes.
        reasons: what speaks for it, most telling first, then what speaks against it.
    """

    file: str
    score: float
    reasons: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class EntryScripts:
    """The likely training scripts of a folder, best first.

    Attributes:
        notebooks: notebooks of the folder, which have to be converted first.
        n_files: Python files that were looked at.
    """

    folder: Path
    scripts: tuple[EntryScript, ...]
    notebooks: tuple[str, ...]
    n_files: int

    @property
    def is_clear(self) -> bool:
        """Whether the best file is clearly the training script."""
        return len(self.scripts) == 1 or (
            len(self.scripts) > 1 and self.scripts[0].score - self.scripts[1].score >= CLEAR
        )


def rank_scripts(folder: Path) -> EntryScripts:
    """Rank the Python files of a folder; those that nothing marks as a training script are left out."""
    files = project_files(folder)
    commands = _commands(folder, files)
    entries = [
        _judge(name, signs, commands.get(name, ""))
        for name in files.scripts
        if (signs := read_signs(folder / name)) is not None
    ]
    likely = sorted((entry for entry in entries if entry.score > 0), key=lambda entry: (-entry.score, entry.file))
    return EntryScripts(folder, tuple(likely), files.notebooks, len(files.scripts))


def _judge(name: str, signs: Signs, command: str) -> EntryScript:
    """The reasons for and against a file being a training script.

    Args:
        command: the document that gives the command to run it; empty for none.
    """
    points = [*_by_content(signs), *_by_name(name)]
    if command and (signs.training or not _is_named_otherwise(name)):
        points.append((2.0, f"run by a command in {command}"))
    if not (signs.training or signs.loop or _is_named_for_training(name)):
        points.append((-2.0, "no training in sight"))
    points.append((-0.5 * name.count("/"), ""))
    reasons = [reason for value, reason in sorted(points, key=lambda point: -point[0]) if reason]
    return EntryScript(name, round(sum(value for value, _ in points), 2), tuple(reasons))


def _by_content(signs: Signs) -> Iterator[tuple[float, str]]:
    if signs.training:
        yield 4.0, f"calls {', '.join(signs.training[:3])}"
    if signs.loop:
        yield (2.0 if signs.loop == "epoch" else 1.0), f"has a loop over {signs.loop}s"
    yield (1.5, "has a main guard") if signs.has_guard else (1.0, "works at its top level")
    if signs.parser:
        yield 1.0, f"reads its command line ({signs.parser})"
    if signs.error:
        yield -2.0, signs.error


def _by_name(name: str) -> Iterator[tuple[float, str]]:
    base_words = split_identifier(_base(name))
    if _is_named_for_training(name):
        is_second = any(word.endswith(("tune", "tuning", "tuner")) for word in base_words)
        yield (1.25 if is_second else 3.0), "named for training"
    elif STARTING_NAMES & set(base_words):
        yield 1.5, f"named {_base(name)}"
    if _is_named_otherwise(name):
        yield -3.0, f"named {_base(name)}"
    folders = {word for part in name.split("/")[:-1] for word in (part.lower(), *split_identifier(part))}
    if aside := folders & ASIDE:
        yield -5.0, f"stands under {min(aside)}"
    elif aside := folders & EXAMPLES:
        yield -0.5, f"stands under {min(aside)}"


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


def _is_named_otherwise(name: str) -> bool:
    return bool(OTHER_NAMES & set(split_identifier(_base(name)))) and not _is_named_for_training(name)
