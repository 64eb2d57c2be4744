"""What is written for strangers does not say who wrote it, where, and on what; other text stays as it is."""

import re
import string
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from deviate.base import anonymity
from deviate.base.anonymity import Identity, anonymize, fenced, find_identity

NAMES = st.text(string.ascii_letters + "äßéñ", min_size=3, max_size=12)
TOKEN = "ghp_" + "a1B2" * 8
PLACES = (
    "/home/{name}/project/train.py", "/home/{name}", "/Users/{name}/x", "~{name}", "~/{name}/deep/run.py",
    "/scratch/{name}/data", "{name}@{host}", "{name}@mail.example.org", "git@{host}:{name}/secret.git",
    "https://{name}:pass@{host}/x", "https://github.com/{name}/secret", "ssh://{name}@{host}:22/a", "{name}: hello",
    "host={host}", "{host}.cluster.example.org", "jobs of {name} on {host}", "{name}_project", "'{name}'", "C-{name}2",
    'File "/home/{name}/p/a.py", line 3, in f', "/data/{name}/.venv/lib/python3.11/site-packages/numpy/core.py",
    "file:///home/{name}/x.html", "({name})", "/mnt/nfs/{name}", "wandb-{name}.log", "--out=/home/{name}/out",
)  # fmt: skip


@given(
    name=NAMES,
    host=st.text(string.ascii_lowercase + string.digits, min_size=5, max_size=9),
    places=st.lists(st.sampled_from(PLACES), max_size=6),
)
def test_neither_a_user_nor_a_host_is_left_as_a_word(name: str, host: str, places: list[str]) -> None:
    identity = Identity((name,), (host,), (f"/home/{name}",), (f"/home/{name}/project",))
    text = anonymize("\n".join(place.format(name=name, host=host) for place in places), identity)
    words = {word.lower() for word in re.split(r"[\W\d_]+", text)}
    replacements = {"user", "host", "project", "address"}
    ours = {word.lower() for place in PLACES for word in re.split(r"[\W\d_]+", place.format(name=" ", host=" "))}
    assert name.lower() not in words or name.lower() in replacements | ours
    assert host not in text


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("torch.Tensor of editor tor, Tor2 and tor_x", "torch.Tensor of editor USER, USER2 and USER_x"),
        ("/home/tor/study/lab/a.py:3", "PROJECT/a.py:3"),
        ("/home/tor/study/laboratory/a.py", "…/a.py"),
        ("/home/tor", "~"),
        ("/home/torsten/x", "…"),
        ("File '/home/tor/my folder/x.csv' and \"/data/a b/c\"", "File '…/x.csv' and \"…\""),
        ("/opt/conda/bin/python -m pip", "/opt/conda/bin/python -m pip"),
        ("/home/tor/v/lib/python3.11/site-packages/numpy/x.py", "…/site-packages/numpy/x.py"),
        (f"https://oauth2:{TOKEN}@gitlab.example.org/a/b.git", "https://[address]"),
        ("git@box7:tor/lab.git and tor@box7", "[address] and [address]"),
        ("box7.example.org, BOX7, box70", "HOST.example.org, HOST, HOST0"),
        ("GPU-1b2c3d4e-0000-1111-2222-333344445555 at 192.168.0.7", "[address] at [address]"),
        (f"--api-key {TOKEN} lr=0.1", "--api-key [redacted] lr=0.1"),
        ("values 3/4, a/b, 9.1.0.70, x@y are not paths", "values 3/4, a/b, 9.1.0.70, [address] are not paths"),
        ("KeyError: 'lr'", "KeyError: 'lr'"),
        (anonymity.__file__, "…/deviate/base/anonymity.py"),
    ],
)
def test_a_text_keeps_what_says_nothing_of_a_person(text: str, expected: str) -> None:
    identity = Identity(("tor",), ("box7",), ("/home/tor",), ("/home/tor/study/lab",), (TOKEN,))
    assert anonymize(text, identity) == expected


def test_the_identity_of_this_process_is_that_of_its_variables_and_folders(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    home = tmp_path / "grace"
    project = home / "apollo"
    project.mkdir(parents=True)
    (tmp_path / "link").symlink_to(project)
    for name, value in {"HOME": str(home), "USER": "grace", "HOSTNAME": "node17.lab", "X_TOKEN": "0123456789"}.items():
        monkeypatch.setenv(name, value)
    monkeypatch.delenv("LOGNAME", raising=False)
    identity = find_identity([tmp_path / "link", home])
    assert (
        anonymize(f"{project}/a.py {tmp_path}/link/b.py {home}/c {home}", identity) == "PROJECT/a.py PROJECT/b.py … ~"
    )
    assert (
        anonymize("Grace on node17.lab and node17 with 0123456789", identity) == "USER on HOST and HOST with [redacted]"
    )
    assert "root" not in identity.users


def test_a_fence_is_longer_than_any_in_the_text() -> None:
    assert fenced("a\n```\n````b\n") == "`````text\na\n```\n````b\n`````"
