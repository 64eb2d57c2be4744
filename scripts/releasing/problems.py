"""What stands in the way of a tag."""

import re
import subprocess
from collections.abc import Iterator
from pathlib import Path

from scripts.releasing.changelog import FILE, FOLDER, fragments, released_versions, section_of
from scripts.releasing.derived import stale_files
from scripts.releasing.facts import TABLE, VERSION_FILE, Author, Facts, Publication

CONTACT = re.compile(r"https://\S+|[^@\s]+@[^@\s]+\.[^@\s]+")
FORMS = {
    "distribution": (
        re.compile(r"[a-z0-9]+(-[a-z0-9]+)*"),
        "a name that is free on PyPI and conda-forge, in lower case",
    ),
    "repository": (
        re.compile(r"https://[^\s/]+/\S*[^\s/]"),
        "the https address of the repository, without a slash at its end",
    ),
    "doi": (re.compile(r"10\.\d{4,9}/\S+"), "a DOI such as 10.…/…, without https://doi.org/"),
    "security": (CONTACT, "an e-mail or https address"),
    "conduct": (CONTACT, "an e-mail or https address"),
}
ORCID = re.compile(r"https://orcid\.org/((?:\d{4}-){3}\d{3}[\dX])")
INSTALLATION = re.compile(r"pip install deviate(?![\w-])|\"deviate>=")
PLACEHOLDER = re.compile(r"git\+ADDRESS|\bADDRESS/|OWNER/deviate@TAG")
"""Stands for the address of the repository on pages, which only a person can replace."""
OTHER_PAGES = ("README.md", ".gitlab/deviate-check.yml", "examples/plugin/pyproject.toml")
"""Beside the manual, files that users copy."""
SHOWN = 5
"""Files that one message names."""


def problems(root: Path, facts: Facts, tag: str | None = None) -> Iterator[str]:
    """One line for each problem, with what to do about it.

    Args:
        tag: the tag that the checked-out commit has already; without one, the tag of the version must not exist.
    """
    yield from publication_problems(facts.publication)
    yield from page_problems(root, facts)
    yield from changelog_problems(root, facts.version)
    if stale := stale_files(root, facts):
        yield f"{_join_names(stale)}: not what pyproject.toml says; write them again: scripts/release --derive"
    yield from working_tree_problems(root)
    if tag is None:
        yield from tag_problems(root, facts.version)
    elif tag != f"v{facts.version}":
        yield f"the tag is {tag}, and {VERSION_FILE} has version {facts.version}"


def publication_problems(publication: Publication) -> Iterator[str]:
    """Values of the table that are empty, or have the wrong form."""
    for name, (form, words) in FORMS.items():
        value = getattr(publication, name)
        if not value:
            yield f"{name} is empty in {TABLE}: {words}"
        elif not form.fullmatch(value):
            yield f"{name} is {value!r} in {TABLE}: it must be {words}"
    if not publication.authors:
        yield f"authors is empty in {TABLE}: the persons to cite, with their ORCID"
    for author in publication.authors:
        if not author.given_names or not author.family_names or not is_orcid(author.orcid):
            yield (
                f"{_name(author)} in {TABLE}: an author needs given-names, family-names and a correct ORCID, "
                f"https://orcid.org/…"
            )
    if not publication.maintainers:
        yield f"maintainers is empty in {TABLE}: names on GitHub of those who maintain the recipe of conda-forge"


def page_problems(root: Path, facts: Facts) -> Iterator[str]:
    """Pages that install another project, the package `deviate` of PyPI, or lack the address of the repository."""
    pages = [root / name for name in OTHER_PAGES if (root / name).exists()] + sorted((root / "docs").rglob("*.md"))
    texts = {str(page.relative_to(root)): page.read_text(encoding="utf-8") for page in pages}
    wrong = [name for name, text in texts.items() if INSTALLATION.search(text)]
    if wrong and facts.name != "deviate":
        yield f"{_join_names(wrong)}: the package `deviate` of PyPI is another project; write {facts.name}"
    address = facts.publication.repository
    blank = [name for name, text in texts.items() if PLACEHOLDER.search(text)]
    if blank and address:
        yield f"{_join_names(blank)}: the address of the repository is missing; write {address}"


def changelog_problems(root: Path, version: str) -> Iterator[str]:
    if names := [path.name for path in fragments(root)]:
        yield f"{FOLDER} still holds {_join_names(names)}: scripts/release VERSION moves them to {FILE}"
    released = released_versions(root)
    if not released or released[0] != version:
        newest = f"the newest section of {FILE} is {released[0]}" if released else f"{FILE} has no section of a version"
        yield f"{VERSION_FILE} has version {version}, and {newest}: scripts/release VERSION writes both"
    elif not section_of(root, version).strip():
        yield f"the section {version} of {FILE} is empty: say what changed, as fragments in {FOLDER} before the release"


def working_tree_problems(root: Path) -> Iterator[str]:
    if lines := _git(root, "status", "--porcelain").splitlines():
        yield f"{_join_names([line[3:] for line in lines])}: changed and not committed"


def tag_problems(root: Path, version: str) -> Iterator[str]:
    if _git(root, "tag", "--list", f"v{version}"):
        yield f"the tag v{version} exists: a version is released once; choose the next one"


def is_orcid(address: str) -> bool:
    """Whether it is the address of an ORCID whose last character, a checksum, agrees with the others.

    Source: ISO/IEC 7064, MOD 11-2.
    """
    match = ORCID.fullmatch(address)
    if not match:
        return False
    *digits, check = match[1].replace("-", "")
    total = 0
    for digit in digits:
        total = (total + int(digit)) * 2
    return "0123456789X"[(12 - total % 11) % 11] == check


def _name(author: Author) -> str:
    return f"{author.given_names} {author.family_names}".strip() or "an author without a name"


def _join_names(names: list[str]) -> str:
    further = len(names) - SHOWN
    return ", ".join(names[:SHOWN]) + (f" and {further} more" if further > 0 else "")


def _git(root: Path, *arguments: str) -> str:
    return subprocess.run(["git", *arguments], cwd=root, capture_output=True, text=True, check=True).stdout.rstrip("\n")
