"""Files that a release writes from its facts, whole or in part, so that no fact is written down twice."""

import re
import textwrap
import tomllib
from collections.abc import Callable, Mapping
from pathlib import Path

import yaml
from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

from scripts.releasing.facts import Facts

RECIPE = "conda/recipe.yaml"
NO_DIGEST = "0" * 64
"""Stands for the digest of a source distribution that is not built yet: a digest in it could not be its own."""
CONDA_NAMES = {"matplotlib": "matplotlib-base"}
"""Packages with another name on conda-forge; matplotlib itself adds a graphical toolkit there."""
WRITTEN = "# Written by scripts/release from pyproject.toml and deviate/__init__.py."


def derived_files(root: Path, facts: Facts) -> dict[str, str]:
    """Contents that the files should have, by their path below the root."""
    contents = {}
    for name, write in WRITERS.items():
        path = root / name
        contents[name] = write(path.read_text(encoding="utf-8") if path.exists() else "", facts)
    return contents


def stale_files(root: Path, facts: Facts) -> list[str]:
    """Derived files that are missing, or differ from what they should hold."""

    def is_stale(name: str, content: str) -> bool:
        path = root / name
        return not path.exists() or path.read_text(encoding="utf-8") != content

    return [name for name, content in derived_files(root, facts).items() if is_stale(name, content)]


def write_derived(root: Path, facts: Facts) -> list[str]:
    """Writes what is stale, and returns the paths."""
    stale = stale_files(root, facts)
    contents = derived_files(root, facts)
    for name in stale:
        (root / name).parent.mkdir(parents=True, exist_ok=True)
        (root / name).write_text(contents[name], encoding="utf-8")
    return stale


def write_project(text: str, facts: Facts) -> str:
    """pyproject.toml with the name of the distribution, and with `project.urls` where the address is known."""
    former = tomllib.loads(text)["project"]["name"]
    address = facts.publication.repository
    urls = {
        "Documentation": f"{address}/tree/main/docs",
        "Repository": address,
        "Issues": f"{address}/issues",
        "Changelog": f"{address}/blob/main/CHANGELOG.md",
    }
    lines = "".join(f'{label} = "{url}"\n' for label, url in urls.items() if address)
    # By text: a TOML writer would put the lines below the comment of the next table.
    text = re.sub(r"(^\[project\.urls\].*\n)(\w+ = .*\n)*", lambda match: match[1] + lines, text, flags=re.MULTILINE)
    text = re.sub(rf'^name = "{re.escape(former)}"$', f'name = "{facts.name}"', text, count=1, flags=re.MULTILINE)
    return text.replace(f'"{former}[', f'"{facts.name}[')


def write_readme(text: str, facts: Facts) -> str:
    address = facts.publication.repository or "ADDRESS"
    comment = "" if facts.publication.repository else "    # ADDRESS: the address that git clones this repository from"
    if facts.date:
        lines = [f"pip install {facts.name}", f'pip install "git+{address}"    # what is not released yet']
        intro = "Linux, Python {} or newer:"
    else:
        lines = [f'pip install "git+{address}"{comment}', "pip install .                # in a clone"]
        intro = (
            "Linux, Python {} or newer. There is no release on PyPI yet, and the package `deviate` there is another "
            "project. Install from the repository, or from a clone of it:"
        )
    note = "<!-- not run: CI installs by the lines below -->"
    commands = "\n".join(lines)
    return _replace_part(
        text, "install", f"{_fill_paragraph(intro.format(facts.requires_python))}\n\n{note}\n```sh\n{commands}\n```"
    )


def write_security(text: str, facts: Facts) -> str:
    contact = facts.publication.security
    part = (
        f"To report a weakness, write to <{contact}>. Please open no issue about it before there is an answer."
        if contact
        else "To report a weakness, open an issue that only says where it is. Give the details to the person who "
        "answers."
    )
    return _replace_part(text, "contact", _fill_paragraph(part))


def write_conduct(text: str, facts: Facts) -> str:
    contact = facts.publication.conduct
    part = (
        f"Report a breach to <{contact}>."
        if contact
        else "There is no address for reports yet; it will stand here before the first release."
    )
    return _replace_part(text, "contact", part)


def write_citation(_text: str, facts: Facts) -> str:
    """CITATION.cff, format 1.2.0. A file without authors is invalid: the project stands for persons not yet named.

    Source: https://github.com/citation-file-format/citation-file-format/blob/1.2.0/schema-guide.md
    """
    publication = facts.publication
    persons = [
        {"given-names": author.given_names, "family-names": author.family_names, "orcid": author.orcid}
        for author in publication.authors
    ]
    content = {
        "cff-version": "1.2.0",
        "message": "If deviate contributed to a publication, please cite the version that you used.",
        "type": "software",
        "title": f"deviate: {facts.description[0].lower()}{facts.description[1:]}",
        "version": facts.version,
        "date-released": facts.date or "",
        "authors": persons or [{"name": "The deviate authors"}],
        "license": facts.license,
        "doi": publication.doi,
        "repository-code": publication.repository,
        "keywords": list(facts.keywords),
    }
    return f"{WRITTEN}\n{_yaml({name: value for name, value in content.items() if value})}"


def write_bibliography(text: str, facts: Facts) -> str:
    """The entry of deviate in what `deviate report --paper` writes, with DOI and address where they are known."""
    members = {"doi": facts.publication.doi, "url": facts.publication.repository}
    lines = "".join(f"  {name} = {{{value}}},\n" for name, value in members.items() if value)
    entry = re.compile(r"(^@misc\{deviate,\n(?:  (?!doi|url)\w+ = .*\n)*)(?:  (?:doi|url) = .*\n)*", re.MULTILINE)
    return entry.sub(lambda match: match[1] + lines, text)


def write_recipe(_text: str, facts: Facts, digest: str = NO_DIGEST) -> str:
    """The recipe for conda-forge, in the format of rattler-build.

    Source: the documentation of conda-forge, "pure-Python packages".
    """
    address = facts.publication.repository or "ADDRESS"
    archive = canonicalize_name(facts.name).replace("-", "_")
    content = {
        "schema_version": 1,
        "context": {"version": facts.version, "python_min": facts.requires_python},
        "package": {"name": facts.name, "version": "${{ version }}"},
        "source": {
            "url": f"{address}/releases/download/v${{{{ version }}}}/{archive}-${{{{ version }}}}.tar.gz",
            "sha256": digest,
        },
        "build": {
            "number": 0,
            "noarch": "python",
            "script": "${{ PYTHON }} -m pip install . -vv --no-deps --no-build-isolation",
            "python": {"entry_points": ["deviate = deviate.cli:main"]},
        },
        "requirements": {
            "host": ["python ${{ python_min }}.*", "pip", *_conda(facts.build_requires)],
            "run": ["python >=${{ python_min }}", *_conda(facts.dependencies)],
        },
        "tests": [
            {
                "python": {
                    "imports": ["deviate"],
                    "pip_check": True,
                    "python_version": ["${{ python_min }}.*", "*"],
                }
            },
            {"script": ["deviate --version", "deviate plan --difference 0.5 --sd 0.7"]},
        ],
        "about": {
            "summary": facts.description,
            "homepage": address,
            "repository": address,
            "license": facts.license,
            "license_file": "LICENSE",
        },
        "extra": {"recipe-maintainers": list(facts.publication.maintainers)},
    }
    note = "# `scripts/release --recipe SDIST` prints it with the digest of a source distribution."
    return f"{WRITTEN}\n{note if digest == NO_DIGEST else ''}\n{_yaml(content)}".replace("\n\n", "\n")


WRITERS: Mapping[str, Callable[[str, Facts], str]] = {
    "pyproject.toml": write_project,
    "README.md": write_readme,
    "SECURITY.md": write_security,
    "CODE_OF_CONDUCT.md": write_conduct,
    "CITATION.cff": write_citation,
    "templates/references.bib": write_bibliography,
    RECIPE: write_recipe,
}


def _replace_part(text: str, name: str, part: str) -> str:
    """The text with another part between the comments `<!-- release: NAME -->` and `<!-- /release -->`.

    Raises:
        ValueError: if the text has no such comments.
    """
    comments = re.compile(rf"(<!-- release: {name} -->\n).*?(\n<!-- /release -->)", re.DOTALL)
    replaced, n_parts = comments.subn(lambda match: match[1] + part + match[2], text)
    if n_parts != 1:
        raise ValueError(f"{n_parts} parts of a page are between <!-- release: {name} --> and <!-- /release -->, not 1")
    return replaced


def _fill_paragraph(paragraph: str) -> str:
    return textwrap.fill(paragraph, width=120, break_long_words=False, break_on_hyphens=False)


def _conda(requirements: tuple[str, ...]) -> list[str]:
    """Requirements in the words of conda.

    Raises:
        ValueError: if one holds for some machines only, or for an extra: a package for all platforms cannot say that.
    """
    specs = []
    for requirement in map(Requirement, requirements):
        if requirement.marker or requirement.extras:
            raise ValueError(f"the recipe for conda-forge cannot express the dependency {requirement}")
        specs.append(f"{CONDA_NAMES.get(requirement.name, requirement.name)} {requirement.specifier}".strip())
    return specs


def _yaml(content: Mapping[str, object]) -> str:
    return yaml.safe_dump(content, sort_keys=False, allow_unicode=True, width=120)
