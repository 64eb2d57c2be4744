"""Configuration files of a project: the texts under each key, and the dotted names of what they let a program create.

YAML, JSON and TOML are read line by line by their indentation, without a parser: enough for names, and a file that is
broken or a template does no harm. Of configuration in Python (`hooks = [dict(type="Saver")]`), the texts are read.
"""

import os
import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path

from deviate.model.metric_vocabulary import word_set

ENDINGS = (".yaml", ".yml", ".json", ".toml")
FOLDER = re.compile(r"conf|cfg")
"""Beginnings of the names of folders whose Python files are configuration."""
ASIDE = word_set(
    "data datasets dataset test tests doc docs third_party thirdparty vendor external extern node_modules venv env "
    "site-packages wandb mlruns outputs runs"
)
"""Names of folders without configuration files of the program itself."""

LARGEST = 50_000
"""Maximum size in bytes of a configuration file: longer ones hold data."""

MOST_FILES = 200
MOST_ENTRIES = 5_000
"""Limit of entries of folders that are looked at, those nearest to the root first."""

NAMING = frozenset({"_target_", "target", "class_path", "class", "cls", "type", "_type_", "name", "_name_"})
"""Keys beside which the thing to be created is described, so that the key above them says what it is for."""

LINE = re.compile(r"""^(?P<indent>[ \t]*(?:-[ \t]+)?)["']?(?P<key>[\w./-]+)["']?[ \t]*[:=][ \t]*(?P<value>.*)$""")
SECTION = re.compile(r"^[ \t]*\[+[ \t]*(?P<key>[\w.-]+)[ \t]*\]+[ \t]*$")
TEXT = re.compile(r"""^["']?(?P<text>[A-Za-z_][\w./-]*)["']?[ \t]*,?[ \t]*(?:[#].*)?$""")
INSIDE = re.compile(r"""["']?(?:_target_|target|class_path)["']?[ \t]*:[ \t]*["']?(?P<text>[A-Za-z_][\w.]*)""")
IN_PYTHON = re.compile(
    r"""(?:\b(?P<key>\w+)\s*=|["'](?P<quoted>\w+)["']\s*:)\s*["'](?P<text>[A-Za-z_][\w./-]*)["']|\#[^\n]*"""
)
DOTTED = re.compile(r"[A-Za-z_]\w*(?:\.[A-Za-z_]\w*)+")


@dataclass
class ConfigFiles:
    """The names in the configuration files below a folder, which are read when something is first looked up.

    Attributes:
        texts: by their key, the texts that look like names. targets: by the keys above them, dotted names.
    """

    root: Path
    is_read: bool = False
    texts: dict[str, dict[str, None]] = field(default_factory=dict)
    targets: dict[str, dict[str, None]] = field(default_factory=dict)

    def texts_under(self, key: str) -> tuple[str, ...]:
        """The texts under a key in any file."""
        self._read()
        return tuple(self.texts.get(key, ()))

    def targets_under(self, key: str) -> tuple[str, ...]:
        """The dotted names described under a key, or in files of this name or folder; all of them under no key."""
        self._read()
        if key in self.targets:
            return tuple(self.targets[key])
        return tuple({name: None for names in self.targets.values() for name in names})

    def _read(self) -> None:
        if self.is_read:
            return
        self.is_read = True
        for path in config_files(self.root):
            try:
                text = path.read_text(encoding="utf-8") if path.stat().st_size <= LARGEST else ""
            except (OSError, UnicodeDecodeError):
                continue
            if path.suffix == ".py":
                self._add_python(text)
            else:
                self._add(text, (path.parent.name, path.stem))

    def _add_python(self, text: str) -> None:
        for pair in IN_PYTHON.finditer(text):
            if pair["text"] is not None:
                self.texts.setdefault(pair["key"] or pair["quoted"], {})[pair["text"]] = None

    def _add(self, text: str, names: tuple[str, ...]) -> None:
        """Add what a text says.

        Args:
            names: of the folder and the file, which say what its outermost keys are for.
        """
        above: list[tuple[int, str]] = []
        for line in text.splitlines():
            section = SECTION.match(line)
            if section is not None:
                above = [(-1, section["key"].rpartition(".")[2])]
                continue
            entry = LINE.match(line)
            if entry is None:
                continue
            depth, key, value = len(entry["indent"].expandtabs()), entry["key"], entry["value"]
            while above and above[-1][0] >= depth:
                above.pop()
            constant = TEXT.match(value)
            if constant is not None:
                self.texts.setdefault(key, {})[constant["text"]] = None
            for name in [constant["text"]] if constant is not None else INSIDE.findall(value):
                if DOTTED.fullmatch(name):
                    around = (above[-1][1],) if above else names
                    for each in around if key in NAMING else (key,):
                        self.targets.setdefault(each, {})[name] = None
            above.append((depth, key))


def config_files(root: Path) -> Iterator[Path]:
    """The configuration files below a folder, those nearest to it first; those of data and of others are left out."""
    folders: dict[str, tuple[str, ...]] = {os.fspath(root): ENDINGS}
    n_files, n_entries = 0, 0
    while folders:
        inner: dict[str, tuple[str, ...]] = {}
        for folder, endings in folders.items():
            try:
                with os.scandir(folder) as scan:
                    entries = sorted(scan, key=lambda entry: entry.name)
            except OSError:
                continue
            for entry in entries:
                n_entries += 1
                if n_entries > MOST_ENTRIES or n_files >= MOST_FILES:
                    return
                if entry.name.startswith("."):
                    continue
                if entry.is_dir(follow_symlinks=False):
                    if entry.name not in ASIDE:
                        inner[entry.path] = (*ENDINGS, ".py") if FOLDER.match(entry.name) else endings
                elif entry.name.endswith(endings):
                    n_files += 1
                    yield Path(entry.path)
        folders = inner
