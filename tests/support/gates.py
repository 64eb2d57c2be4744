"""Gates under test: a project in git whose script can be made worse, and what JUnit XML may hold."""

import subprocess
import xml.etree.ElementTree as ET
from pathlib import Path

TRAIN = """\
import random, sys
shift = {shift}
for epoch in range(2):
    acc = 90 + shift + random.random()
    loss = 1 - shift + random.random() / 10
    print("acc", acc, "loss", loss)
"""


def git(folder: Path, *arguments: str) -> str:
    """Run git as somebody, whatever is configured on this machine."""
    who = ("-c", "user.name=a", "-c", "user.email=a@b", "-c", "init.defaultBranch=main", "-c", "commit.gpgsign=false")
    done = subprocess.run(["git", *who, *arguments], cwd=folder, capture_output=True, text=True, check=True)
    return done.stdout.strip()


def commit_all(folder: Path, message: str = "x") -> str:
    """Commit everything, beginning a repository where there is none; gives the commit."""
    if not (folder / ".git").exists():
        git(folder, "init", "--quiet")
    git(folder, "add", "--all")
    git(folder, "commit", "--quiet", "--message", message)
    return git(folder, "rev-parse", "HEAD")


CHILDREN = {
    "testsuites": ("testsuite",),
    "testsuite": ("properties", "testcase", "system-out", "system-err"),
    "properties": ("property",),
    "property": (),
    "testcase": ("skipped", "error", "failure", "system-out", "system-err"),
    "skipped": (),
    "error": (),
    "failure": (),
    "system-out": (),
    "system-err": (),
}
"""Elements of windyroad's JUnit.xsd and of Jenkins' junit-10.xsd, with what may stand in each, in this order."""
REQUIRED = {
    "testsuite": {"name", "timestamp", "hostname", "tests", "failures", "errors", "time"},
    "testcase": {"name", "classname", "time"},
    "property": {"name", "value"},
    "error": {"type"},
    "failure": {"type"},
}


def junit_cases(text: str) -> dict[str, str]:
    """Names of the test cases with what became of each, of XML that is as CI systems read it."""
    root = ET.fromstring(text)
    assert root.tag == "testsuites"
    for element in root.iter():
        assert element.tag in CHILDREN, element.tag
        assert REQUIRED.get(element.tag, set()) <= set(element.keys()), element.tag
        order = [CHILDREN[element.tag].index(child.tag) for child in element]
        assert order == sorted(order), f"{element.tag}: {[child.tag for child in element]}"
    found = {}
    for suite in root:
        cases = suite.findall("testcase")
        ends = [next((child.tag for child in case if child.tag != "system-out"), "passed") for case in cases]
        counted = {"tests": len(cases), **{it: ends.count(it[:-1]) for it in ("failures", "errors")}}
        counted["skipped"] = ends.count("skipped")
        assert {name: int(suite.get(name, -1)) for name in counted} == counted
        names = [f"{case.get('classname')}: {case.get('name')}" for case in cases]
        assert len(set(names)) == len(names), names
        found |= dict(zip(names, ends, strict=True))
    return found
