"""What a release states about deviate: the version, pyproject.toml, and the values that only a person can fill in."""

import re
import tomllib
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from scripts.releasing.changelog import release_date

TABLE = "[tool.deviate.release] in pyproject.toml"
VERSION_FILE = "deviate/__init__.py"
VERSION = re.compile(r'^__version__ = "(?P<version>[^"]+)"$', re.MULTILINE)


@dataclass(frozen=True, slots=True)
class Author:
    """A person to cite."""

    given_names: str
    family_names: str
    orcid: str


@dataclass(frozen=True, slots=True)
class Publication:
    """The values of `[tool.deviate.release]`; a value that is not known yet is empty."""

    distribution: str
    repository: str
    doi: str
    security: str
    conduct: str
    authors: tuple[Author, ...]
    maintainers: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Facts:
    """What files of a release are written from.

    Attributes:
        name: of the distribution.
        date: of the release, from its heading in CHANGELOG.md; None while the version is not released.
        requires_python: the lowest version of Python, such as "3.11".
    """

    name: str
    version: str
    date: str | None
    description: str
    keywords: tuple[str, ...]
    license: str
    requires_python: str
    dependencies: tuple[str, ...]
    build_requires: tuple[str, ...]
    publication: Publication


def read_facts(root: Path) -> Facts:
    """The facts of the repository in that folder.

    Raises:
        ValueError: if the version or the table is not written as this program expects it.
    """
    content = tomllib.loads((root / "pyproject.toml").read_text(encoding="utf-8"))
    project = content["project"]
    version = read_version(root)
    publication = _publication(content)
    return Facts(
        name=publication.distribution or project["name"],
        version=version,
        date=release_date(root, version),
        description=project["description"],
        keywords=tuple(project["keywords"]),
        license=project["license"],
        requires_python=project["requires-python"].removeprefix(">="),
        dependencies=tuple(project["dependencies"]),
        build_requires=tuple(content["build-system"]["requires"]),
        publication=publication,
    )


def read_version(root: Path) -> str:
    match = VERSION.search((root / VERSION_FILE).read_text(encoding="utf-8"))
    if not match:
        raise ValueError(f'{VERSION_FILE} has no line `__version__ = "…"`')
    return match["version"]


def write_version(root: Path, version: str) -> None:
    path = root / VERSION_FILE
    text = path.read_text(encoding="utf-8")
    path.write_text(VERSION.sub(f'__version__ = "{version}"', text), encoding="utf-8")


def _publication(content: dict[str, Any]) -> Publication:
    try:
        table = content["tool"]["deviate"]["release"]
        authors = [
            Author(author["given-names"], author["family-names"], author["orcid"]) for author in table["authors"]
        ]
        return Publication(**(table | {"authors": tuple(authors), "maintainers": tuple(table["maintainers"])}))
    except KeyError as error:
        raise ValueError(f"{TABLE}: {error.args[0]} is missing; leave it empty while it is not known") from error
    except TypeError as error:
        raise ValueError(f"{TABLE} is not written as its comments show: {error}") from error
