"""Positive and no-op snippets of the hazards of order."""

from collections.abc import Callable
from pathlib import Path

import pytest

from deviate.analysis.analyze import analyze
from deviate.model.analysis import Analysis

Analyse = Callable[[str], Analysis]
IMPORTS = "import glob, json, os, random, pathlib\nimport numpy as np\nfrom pathlib import Path\n"


def lines(analysis: Analysis, name: str) -> list[int]:
    return [hazard.line for hazard in analysis.hazards if hazard.name == name]


@pytest.mark.parametrize(
    "text",
    [
        "train = os.listdir(folder)[:800]",
        "paths = glob.glob('*.png')\ntrain, test = paths[:n], paths[n:]",
        "for index, path in enumerate(Path(folder).glob('*.png')): pass",
        "images = np.array([load(path) for path in Path(folder).iterdir()])\nuse(images)",
        "images = []\nfor name in os.listdir(folder):\n    if good(name):\n        images.append(name)\nuse(images)",
        "for path in glob.iglob('*.txt'):\n    words += open(path).read().split()\nvocabulary = dict(zip(words, ids))",
        "classes = {}\nfor name in os.listdir(folder):\n    classes[name] = len(classes)\n",
        "loader = Loader(tf.io.gfile.glob(pattern))",
        "random.shuffle(files := os.listdir(folder))",
        "folders = next(os.walk(root))[1]\ntrain = folders[:n]",
        "for folder, _, names in os.walk(root):\n    for name in names:\n        found.append(name)\nuse(found[1:])",
        "with os.scandir(folder) as entries:\n    paths = [entry.path for entry in entries]\nuse(paths)",
        "for path in Path(root).rglob('*'):\n    model.fit(load(path))",
        "w = 0.5\nfor path in glob.glob('*.txt'):\n    w = 0.9 * w + read(path)\nprint(w)",
        "w = np.zeros(3)\nfor path in glob.glob('*.txt'):\n    w -= 0.1 * (w - read(path))\nprint(w.sum())",
        "total = 0.0\nfor path in glob.glob('*.txt'):\n    total = total + read(path)\nprint(total)",
        "weights = {}\nfor name in os.listdir(folder):\n    weights[name] = random.gauss(0, 1)\n",
    ],
)
def test_files_in_the_order_of_the_file_system_are_found_where_it_counts(analyse: Analyse, text: str) -> None:
    found = lines(analyse(f"{IMPORTS}import tensorflow as tf\n{text}\n"), "file-order")
    assert len(found) == 1


@pytest.mark.parametrize(
    "text",
    [
        "train = sorted(os.listdir(folder))[:800]",
        "paths = glob.glob('*.png')\npaths.sort()\ntrain = paths[:n]",
        "paths = sorted(load(path) for path in glob.glob('*.png'))",
        "paths = [p for p in Path(folder).iterdir() if p.is_dir()]\npaths = sorted(paths)\nuse(paths[1:])",
        "if 'model.pt' in os.listdir(folder): pass",
        "n = len(os.listdir(folder))",
        "newest = max(glob.glob('*.pt'), key=os.path.getctime)",
        "known = set(os.listdir(folder))\nis_new = name not in known",
        "for path in glob.glob('*.tmp'):\n    os.remove(path)",
        "n_files = 0\nfor folder, _, names in os.walk(root):\n    n_files += len(names)\nprint(n_files)",
        "first = glob.glob(f'{number}.*')[0]",
        "run = len(next(os.walk(folder))[2])",
        "settings = load(next(Path(folder).rglob('*.yaml')))",
        "print(os.listdir(folder))",
        "logger.log({'images': [Image(p) for p in glob.glob('*.png')]})",
        "by_name = {name: load(name) for name in os.listdir(folder)}",
        "def find(x):\n    for name in os.listdir(folder):\n        if name == x:\n            return True\nfind(y)",
        "def push_to_hub(folder):\n    upload([str(path) for path in Path(folder).glob('*')])\npush_to_hub(f)",
        "def test():\n    for path in glob.glob('*.png'):\n        rows.append(model(path))\n    use(rows)\ntest()",
        "names = archive.listdir(folder)[:3]",
        "n = 0\nfor name in os.listdir(folder):\n    n = n + 1\nprint(n)",
        "sizes = {}\nfor name in os.listdir(folder):\n    sizes[name] = os.path.getsize(name)\n",
    ],
)
def test_files_whose_order_does_not_count_are_left_out(analyse: Analyse, text: str) -> None:
    assert not lines(analyse(f"{IMPORTS}{text}\n"), "file-order")


def test_the_order_is_followed_to_callers_and_within_a_class_and_what_is_handed_on_counts(tmp_path: Path) -> None:
    (tmp_path / "data.py").write_text(
        "import glob, os\n"
        "def sorted_by_caller():\n    return glob.glob('*.a')\n"
        "def used_by_caller():\n    return glob.glob('*.b')\n"
        "def take(names):\n    return names[:3]\n"
        "class Base:\n"
        "    def __init__(self):\n        self.files = os.listdir('c')\n        self.only_counted = os.listdir('d')\n"
        "    def __len__(self):\n        return len(self.only_counted)\n"
        "class Data(Base):\n"
        "    def __getitem__(self, index):\n        return self.files[index]\n"
    )
    (tmp_path / "train.py").write_text(
        "import os\nfrom data import *\n"
        "a = sorted(sorted_by_caller())[:3]\nb = used_by_caller()[:3]\n"
        "take(os.listdir('f'))\ndata = Data()\n"
    )
    found = [(hazard.file, hazard.line) for hazard in analyze(tmp_path / "train.py", tmp_path).hazards]
    assert found == [("train.py", 5), ("data.py", 5), ("data.py", 10)]


@pytest.mark.parametrize(
    "text",
    [
        "classes = list(set(labels))\ntargets = [classes.index(label) for label in labels]",
        "words = set()\nfor line in file:\n    words.add(line.split()[0])\nindex = {w: i for i, w in enumerate(words)}",
        "vocabulary = {}\nfor word in set(text.split()):\n    vocabulary[word] = len(vocabulary)",
        "left = set(names) - set(others)\nrows = np.array([vectors[name] for name in left])\nuse(rows)",
        "pids = set([path.split('_')[0] for path in paths])\nlabels = {pid: i for i, pid in enumerate(pids)}",
        "for key in a.keys() & b.keys():\n    rows.append(a[key])\nuse(rows[1:])",
        "chosen = random.sample(list({'a', 'b', 'c'}), 2)",
        "def encode(labels):\n    s = set(labels)\n    return {c: i for i, c in enumerate(s)}\nencode(table[:, -1])",
        "text = ' '.join(set(words))\nmodel.encode(text)",
        "queue = {start}\nwhile queue:\n    node = queue.pop()",
        "total = 0.0\nfor name in frozenset(names):\n    total += losses[name]\nreport(total / 3)",
    ],
)
def test_items_of_sets_are_found_where_their_order_counts(analyse: Analyse, text: str) -> None:
    assert len(lines(analyse(f"{IMPORTS}{text}\n"), "set-order")) == 1


@pytest.mark.parametrize(
    "text",
    [
        "classes = sorted(set(labels))",
        "classes = list(set(labels))\nclasses.sort()\nfirst = classes[:3]",
        "n = len(set(labels))",
        "is_known = label in set(labels)",
        "for name in set(names):\n    counts[name] += 1",
        "for name in set(names):\n    if name not in known:\n        raise ValueError(name)",
        "unique = list(set(range(10)) - set(chosen))\nuse(unique[1:])",
        "rest = list(set(all_idxs) - taken)\nuse(rest[1:])",
        "seen = set()\nfor path in paths:\n    seen.add(int(path[:4]))\nlabels = {s: i for i, s in enumerate(seen)}",
        "sizes = [n for n in {1, 2, 3}]\nuse(sizes)",
        "print(', '.join(set(names)))",
        "names = set(a)\nnames = sorted(names)\nfor i, name in enumerate(names):\n    use(i, name)",
        "best = max(set(scores))",
        "for index in set(indices):\n    rows.append(table[index])\nuse(rows[1:])",
        "ax.set(xlabel='x')\nfor line in ax.set(1): use(line)",
    ],
)
def test_sets_whose_order_does_not_count_or_follows_numbers_are_left_out(analyse: Analyse, text: str) -> None:
    assert not lines(analyse(f"{IMPORTS}{text}\n"), "set-order")


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("bucket = hash(word) % 1000", [1]),
        ("fold = abs(hash(str(name))) % 10", [1]),
        ("is_test = hash(name) / 2**63 < 0.1", [1]),
        ("rows = [row for row in rows if hash(row) > 0]", [1]),
        ("random.Random(hash(name) & 0xFFFF).shuffle(rows)", [1]),
        ("is_same = hash(a) == hash(b)", []),
        ("table[hash(word)] = word", []),
        ("class Key:\n    def __hash__(self):\n        return hash(self.name) % 7\nKey()", []),
        ("bucket = zlib.crc32(word) % 1000", []),
    ],
)
def test_hashes_that_become_numbers_are_found(analyse: Analyse, text: str, expected: list[int]) -> None:
    assert lines(analyse(text + "\n"), "hash-value") == expected


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("if os.path.exists('/var/cache/x.npy'):\n    x = np.load('/var/cache/x.npy')\n", [1]),
        ("state = Path.home() / 'state.json'\nx = read(state) if state.exists() else 0\n", [2]),
        ("if os.path.exists('cache/x.npy'):\n    x = np.load('cache/x.npy')\n", []),
        ("if not os.path.exists('/var/cache'):\n    os.makedirs('/var/cache')\n", []),
        ("assert os.path.exists('/data/images')\n", []),
    ],
)
def test_files_outside_that_an_earlier_run_may_have_left_are_found(
    analyse: Analyse, text: str, expected: list[int]
) -> None:
    assert [line - IMPORTS.count("\n") for line in lines(analyse(IMPORTS + text), "leftover-file")] == expected
