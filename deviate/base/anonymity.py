"""Texts that strangers may read: without secrets, and without what says who wrote them, where, and on what.

In doubt something is removed, as in `redaction`, which does the secrets.
"""

import getpass
import os
import pwd
import re
import socket
from collections.abc import Callable, Iterable, Iterator
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

from deviate.base.redaction import known_secrets, redact

USER, HOST, HOME, PROJECT, ADDRESS = "USER", "HOST", "~", "PROJECT", "[address]"
IMPERSONAL = frozenset((
    "root", "user", "nobody", "runner", "ubuntu", "debian", "ec2-user", "jovyan", "vscode", "docker", "codespace",
    "localhost",
))  # fmt: skip
"""Accounts of images and of services, and a host, which say nothing of a person."""
SHORTEST_NAME = 2
SYSTEM = ("/usr/", "/lib", "/opt/", "/bin/", "/etc/", "/proc/", "/sys/", "/dev/", "/nix/")
"""Folders whose paths say nothing of a person or a project."""
FILE = re.compile(r".+\.(?:py|pyc|pyi|so|ipynb|toml|jsonl?|ya?ml|cfg|ini|txt|log|csv|npz|pt|pth|ckpt|sh|html|md)")
PACKAGES = re.compile(r"/(?:site-packages|dist-packages|lib/python3\.\d+)(?=/)")
PACKAGE = str(Path(__file__).parents[1])

REMOTE = re.compile(r"\b([A-Za-z][A-Za-z0-9+.-]*)://[^\s'\"<>]+")
MAIL = re.compile(r"[\w.+%-]+@[\w-]+(?:\.[\w-]+)*(?::[^\s'\"<>]+)?")
"""An e-mail address, an account on a host, or a remote of git such as `git@host:group/project.git`."""
DEVICE = re.compile(r"\b(?:GPU|MIG)-[0-9a-f]{8}-[0-9a-f-]{20,}")
PRIVATE_ADDRESS = re.compile(
    r"\b(?:10(?:\.\d{1,3}){3}|192\.168(?:\.\d{1,3}){2}|172\.(?:1[6-9]|2\d|3[01])(?:\.\d{1,3}){2})\b"
)
PATH = re.compile(r"""
    (?<=')(?:~|/\w)[^'\n]*(?=') | (?<=")(?:~|/\w)[^"\n]*(?=")
    | (?<![\w.~/\]-]) (?:~(?=/) | /(?=[\w.~-])) [^\s:'"<>|,;()\[\]{}=]*
    """, re.VERBOSE)  # fmt: skip
"""A path; only one in quotes may contain blanks."""


@dataclass(frozen=True, slots=True)
class Identity:
    """What is removed from texts beside what has the form of an address.

    Attributes:
        users, hosts: names, which are removed as words, whatever case they are in.
        homes, projects: absolute paths of folders.
        secrets: values that are removed wherever they stand.
    """

    users: tuple[str, ...] = ()
    hosts: tuple[str, ...] = ()
    homes: tuple[str, ...] = ()
    projects: tuple[str, ...] = ()
    secrets: tuple[str, ...] = ()


def find_identity(projects: Iterable[Path]) -> Identity:
    """The identity of this process on this machine; what the system does not tell is left out."""
    homes = {
        os.environ.get("HOME", ""),
        *_ask_system(lambda: str(Path.home())),
        *_ask_system(lambda: _account().pw_dir),
    }
    homes = {form for home in homes for form in (home, os.path.realpath(home) if home else "")}
    users = {os.environ.get(name, "") for name in ("USER", "LOGNAME", "USERNAME", "SUDO_USER")}
    users |= {*_ask_system(getpass.getuser), *_ask_system(lambda: _account().pw_name)}
    users |= {*_ask_system(lambda: _account().pw_gecos.split(",")[0]), *(Path(home).name for home in homes)}
    hosts = {*_ask_system(socket.gethostname), os.environ.get("HOSTNAME", "")}
    hosts |= {host.split(".")[0] for host in hosts}
    folders = {form for path in projects for form in (str(path), os.path.realpath(path))}
    return Identity(
        tuple(filter(_is_telling, users)),
        tuple(filter(_is_telling, hosts)),
        tuple(home for home in homes if home not in {"", "/"}),
        tuple(folders - homes - {"/"}),
        known_secrets(os.environ),
    )


def anonymize(text: str, identity: Identity) -> str:
    """Remove secrets, addresses, names of persons and machines, and paths that are not of the system.

    >>> anonymize("/home/ada/x/train.py on ws1: git@host:ada/x.git", Identity(("ada",), ("ws1",), (), ("/home/ada/x",)))
    'PROJECT/train.py on HOST: [address]'
    """
    text = REMOTE.sub(rf"\1://{ADDRESS}", text)
    text = redact(text, identity.secrets)
    for folders, word in ((identity.projects, PROJECT), (identity.homes, HOME)):
        for folder in sorted(folders, key=len, reverse=True):
            text = re.sub(rf"(?<![\w.~-]){re.escape(folder)}(?![\w.-])", word, text)
    for pattern in (MAIL, DEVICE, PRIVATE_ADDRESS):
        text = pattern.sub(ADDRESS, text)
    text = PATH.sub(_shorten, text)
    for names, word in ((identity.hosts, HOST), (identity.users, USER)):
        for name in sorted(names, key=len, reverse=True):
            text = re.sub(rf"(?<![^\W\d_]){re.escape(name)}(?![^\W\d_])", word, text, flags=re.IGNORECASE)
    return text


def _shorten(match: re.Match[str]) -> str:
    """A path of the system or of the packages of Python; of others the name of a file."""
    path = match[0]
    if path.startswith(f"{PACKAGE}/"):
        return f"…/deviate{path.removeprefix(PACKAGE)}"
    if packages := list(PACKAGES.finditer(path)):
        return f"…{path[packages[-1].start() :]}"
    if path.startswith(SYSTEM) or path == HOME:
        return path
    name = path.rpartition("/")[2]
    return f"…/{name}" if FILE.fullmatch(name) else "…"


def _account() -> pwd.struct_passwd:
    return pwd.getpwuid(os.getuid())


def _ask_system(ask: Callable[[], str]) -> Iterator[str]:
    """The answer of the system, if it has one: a container may have no account for its user."""
    with suppress(OSError, KeyError, RuntimeError):
        yield ask()


def _is_telling(name: str) -> bool:
    return len(name) >= SHORTEST_NAME and name.lower() not in IMPERSONAL


def fenced(text: str) -> str:
    """A block of Markdown that shows a text as it is, whatever it contains."""
    fence = "`" * max(3, 1 + max(map(len, re.findall(r"`+", text)), default=0))
    return f"{fence}text\n{text.rstrip()}\n{fence}"
