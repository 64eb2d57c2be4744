"""Runs scripts in processes that a fork server has begun, where that changes nothing but the time it takes.

The text of a script tells which frameworks it imports. A process is begun anew, as a user's would be, where its
interpreter is another one, where its variables cannot be those of a server, or where `--cold` asks for that.
"""

import atexit
import json
import os
import re
import socket
import subprocess
import sys
import threading
from collections import Counter, OrderedDict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from selectors import EVENT_READ, DefaultSelector

COLD = "DEVIATE_TEST_COLD"
"""Frameworks that no server imports, with commas between; `all` for all of them."""

TORCH = ("torch", "torch._dynamo", "tabulate")
"""PyTorch, with what the first optimizer imports."""
SCIPY = ("scipy.stats", "scipy.optimize", "scipy.sparse.csgraph", "scipy.interpolate", "joblib", "pandas")
"""What scikit-learn imports, and Keras with it."""
KERAS = (*SCIPY, "matplotlib.pyplot", "IPython", "rich.console", "PIL.Image", "optree", "-keras")
GROUPS = {
    "transformers": (*TORCH, "transformers", "transformers.trainer"),
    "lightning": (*TORCH, "lightning.pytorch"),
    "tensorflow": ("tensorflow", *KERAS),
    "keras": KERAS,
    "jax": ("jax", "jax.numpy", "jaxlib.mlir.dialects.mhlo", "IPython", "rich.console", "yaml", "tabulate"),
    "torch": TORCH,
    "sklearn": SCIPY,
    "numpy": ("numpy",),
}
"""What a server imports, by its name. A script has the first one of which it imports a member.

Not all of a framework can be imported early: some functions and classes that the guest puts in the place of others are
used as soon as the next module of a package is imported. So scikit-learn, Flax, Haiku, Optax and Keras, which has a
dash, are imported anew in each script, and servers have what they are built on.
"""
MEMBERS = {
    **{name: (name,) for name in GROUPS},
    "lightning": ("lightning", "pytorch_lightning"),
    "jax": ("jax", "flax", "haiku", "optax"),
    "torch": ("torch", "stable_baselines3"),
    "sklearn": ("sklearn", "lightgbm", "xgboost", "catboost", "scipy", "pandas"),
}
"""Packages that ask for a server."""

MOST_SERVERS = 4
"""That live at a time: one takes up to 0.8 GB."""

FREE = (
    "PYTHONPATH",
    "PATH",
    "PWD",
    "OLDPWD",
    "COLUMNS",
    "LINES",
    "PYTEST_CURRENT_TEST",
    "CUBLAS_WORKSPACE_CONFIG",
    "RANK",
    "WORLD_SIZE",
    "SETS",
)
"""Variables that no framework reads at its import; SETS is of scripts of the tests, and those of deviate count as well.

Others are a server's from its beginning.
"""

IMPORT = re.compile(r"(?:^|;)[ \t]*(?:from[ \t]+(\w+)|import[ \t]+([\w., \t]+))", re.MULTILINE)
"""The package of `from`, or all that follows `import`."""
SET = re.compile(r"""^os\.environ\["(\w+)"\] = "([^"{}]*)"$""", re.MULTILINE)
CHANGE = re.compile(
    r"\bos\.environ\[[^]]+\]\s*\S?=(?!=)|\bputenv\b|\benviron\.(?:update|setdefault|pop)\b|\bdel os\.env"
)

COMPILES = re.compile(r"\btorch\.(?:compile|export|_dynamo|_inductor)\b")
"""The compiler of PyTorch is one of these: it copies functions, and every server has it for the first optimizer."""


class Server:
    """A process that forks, from this side.

    Attributes:
        names: packages and modules that it has imported.
        is_able: whether its processes miss no thread that an import had begun.
    """

    def __init__(self, modules: Sequence[str], environment: Mapping[str, str]) -> None:
        self.socket, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        command = [sys.executable, Path(__file__).with_name("fork_server.py"), *modules]
        self.process = subprocess.Popen(command, stdin=theirs, env=environment)
        theirs.close()
        self.sending = threading.Lock()
        hello = self.socket.recv(1 << 20)  # empty where an import failed: a process of its own then says how
        facts = json.loads(hello) if hello else {"threads": 0, "names": []}
        self.is_able = facts["threads"] == 1
        self.names = frozenset(facts["names"])

    def run(
        self, words: Sequence[str], folder: Path, environment: Mapping[str, str]
    ) -> subprocess.CompletedProcess[bytes]:
        """A process to its end, and to the end of all that have its output in hand."""
        message = json.dumps({"words": words, "folder": str(folder), "environment": dict(environment)}).encode()
        pipes = [os.pipe() for _ in range(3)]
        try:
            with self.sending:
                socket.send_fds(self.socket, [message], [0, *(write for _, write in pipes)])
        finally:
            for _, write in pipes:
                os.close(write)
        out, err, code = read_all([read for read, _ in pipes])
        if not code:
            raise RuntimeError(f"the fork server of {sorted(self.names)} has ended")
        return subprocess.CompletedProcess(words, int(code), out, err)

    def end(self) -> None:
        """It ends when nobody can ask any more."""
        self.socket.close()
        self.process.wait()


def read_all(pipes: Sequence[int]) -> list[bytes]:
    """What comes out of pipes that are written to at the same time; closes them."""
    texts = {pipe: bytearray() for pipe in pipes}
    with DefaultSelector() as selector:
        for pipe in pipes:
            selector.register(pipe, EVENT_READ)
        while selector.get_map():
            for key, _ in selector.select():
                part = os.read(key.fd, 1 << 16)
                texts[key.fd] += part
                if not part:
                    selector.unregister(key.fd)
                    os.close(key.fd)
    return [bytes(text) for text in texts.values()]


class Servers:
    """The servers of this process, begun when they are first asked for."""

    def __init__(self) -> None:
        self.begun: OrderedDict[tuple[str, frozenset[tuple[str, str]]], Server] = OrderedDict()
        self.in_use: Counter[Server] = Counter()
        self.lock = threading.Lock()

    @contextmanager
    def lend(self, group: str, environment: Mapping[str, str]) -> Iterator[Server]:
        """The server of a group with such variables, which lives at least as long as it is lent."""
        key = group, frozenset(environment.items())
        with self.lock:
            if key not in self.begun:
                self._make_room()
                backend = GROUPS.get(environment.get("KERAS_BACKEND", ""), ()) if group == "keras" else ()
                self.begun[key] = Server((*backend, *GROUPS[group]), environment)
            self.begun.move_to_end(key)
            server = self.begun[key]
            self.in_use[server] += 1
        try:
            yield server
        finally:
            with self.lock:
                self.in_use[server] -= 1

    def _make_room(self) -> None:
        idle = [key for key, server in self.begun.items() if not self.in_use[server]]
        for key in idle[: max(0, len(self.begun) - MOST_SERVERS + 1)]:
            self.begun.pop(key).end()

    def end(self) -> None:
        while self.begun:
            self.begun.popitem()[1].end()


SERVERS = Servers()
atexit.register(SERVERS.end)


def run(
    words: Sequence[str], folder: Path, environment: Mapping[str, str], texts: Iterable[str], *, is_cold: bool = False
) -> subprocess.CompletedProcess[bytes]:
    """Run a command to its end, and keep its output.

    Args:
        texts: sources of the script and of what it imports beside it.
        is_cold: whether an interpreter is to begin anew in any case.
    """
    texts = tuple(texts)
    variables = variables_at_import(environment, texts)
    if not is_cold and variables is not None and is_plain(words, folder, environment):
        group = find_group(texts, variables)
        if group is not None:
            with SERVERS.lend(group, variables) as server:
                if server.is_able and server.names.isdisjoint(path.stem for path in folder.iterdir()):
                    return server.run(words, folder, environment)
    return subprocess.run(list(words), cwd=folder, env=environment, capture_output=True, check=False)


def find_group(texts: Sequence[str], variables: Mapping[str, str]) -> str | None:
    """The name of the server that has what a script imports; None where that is nothing, or is to be imported anew."""
    packages = set().union(*map(packages_of, texts))
    group = next((name for name, members in MEMBERS.items() if not packages.isdisjoint(members)), None)
    if group == "keras" and variables.get("KERAS_BACKEND", "tensorflow") == "tensorflow":
        group = "tensorflow"
    cold = os.environ.get(COLD, "").split(",")
    is_cold = group in cold or "all" in cold or any(COMPILES.search(text) for text in texts)
    return None if is_cold else group


def packages_of(text: str) -> set[str]:
    """The packages that a script names in its imports."""
    found = IMPORT.findall(text)
    modules = [module.strip() for package, several in found for module in (package or several).split(",")]
    return {re.split(r"\W", module)[0] for module in modules}


def variables_at_import(environment: Mapping[str, str], texts: Sequence[str]) -> dict[str, str] | None:
    """What the variables of a script are when it imports frameworks; None where its text does not tell."""
    variables = {
        name: value for name, value in environment.items() if name not in FREE and not name.startswith("DEVIATE_")
    }
    for text in texts:
        if len(CHANGE.findall(text)) != len(SET.findall(text)):
            return None
        variables.update(SET.findall(text))
    return variables


def is_plain(words: Sequence[str], folder: Path, environment: Mapping[str, str]) -> bool:
    """Whether this interpreter runs a script that lies in the folder, with no more than the guest on its path."""
    path = environment.get("PYTHONPATH")
    return (
        hasattr(os, "pidfd_open")  # or there can be no server
        and words[0] == sys.executable
        and words[1].endswith(".py")
        and (folder / words[1]).parent == folder
        and (path is None or path == environment.get("DEVIATE_GUEST"))
    )
