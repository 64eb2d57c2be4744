"""`scripts/release` refuses what may not be tagged, invents nothing, and leaves one version in every file."""

import re
import shutil
import subprocess
import sys
import tomllib
from collections.abc import Mapping
from pathlib import Path

import pytest
import yaml

from scripts.releasing.__main__ import main
from scripts.releasing.derived import stale_files, write_derived
from scripts.releasing.description import absolute_links
from scripts.releasing.facts import Author, Publication, read_facts
from scripts.releasing.prepare import prepare
from scripts.releasing.problems import is_orcid, page_problems, problems, publication_problems

ROOT = Path(__file__).parents[1]
MARK = "<!-- towncrier release notes start -->\n"
FILES = (
    "pyproject.toml",
    "deviate/__init__.py",
    "README.md",
    "SECURITY.md",
    "CODE_OF_CONDUCT.md",
    "CITATION.cff",
    "CHANGELOG.md",
    "changelog.d",
    "conda",
    "templates/references.bib",
)
FILLED = {
    "distribution": '"deviate-example"',
    "repository": '"https://git.example.org/team/deviate"',
    "doi": '"10.1234/example"',
    "security": '"security@example.org"',
    "conduct": '"https://example.org/conduct"',
    # The ORCID that its documentation uses.
    "authors": '[{ given-names = "A", family-names = "B", orcid = "https://orcid.org/0000-0002-1825-0097" }]',
    "maintainers": '["somebody"]',
}


def git(root: Path, *arguments: str) -> None:
    who = ["-c", "user.name=A", "-c", "user.email=a@example.org"]
    subprocess.run(["git", *who, *arguments], cwd=root, check=True, capture_output=True)


def commit(root: Path) -> None:
    git(root, "add", "--all")
    git(root, "commit", "--quiet", "--message", "x")


def write_table(root: Path, values: Mapping[str, str]) -> None:
    path = root / "pyproject.toml"
    before, header, table = path.read_text(encoding="utf-8").partition("[tool.deviate.release]\n")
    for name, value in values.items():
        former = rf'^{name} = ("[^"\n]*"|\[[^]]*\])'
        table, n_places = re.subn(former, f"{name} = {value}", table, count=1, flags=re.MULTILINE)
        assert n_places == 1, name
    path.write_text(before + header + table, encoding="utf-8")


def links(page: str) -> list[str]:
    return re.findall(r"\]\(([^)]+)\)", page)


@pytest.fixture
def repository(tmp_path: Path) -> Path:
    """The files that a release reads and writes as before the first release, committed."""
    for name in FILES:
        source, target = ROOT / name, tmp_path / name
        target.parent.mkdir(parents=True, exist_ok=True)
        if source.is_dir():
            shutil.copytree(source, target)
        else:
            shutil.copy(source, target)
    write_table(tmp_path, {name: "[]" if value[0] == "[" else '""' for name, value in FILLED.items()})
    changelog = (tmp_path / "CHANGELOG.md").read_text(encoding="utf-8").partition(MARK)
    (tmp_path / "CHANGELOG.md").write_text("".join(changelog[:2]), encoding="utf-8")
    (tmp_path / "changelog.d/+one.security.md").write_text("A sentence\nover two lines.\n", encoding="utf-8")
    write_derived(tmp_path, read_facts(tmp_path))
    git(tmp_path, "init", "--quiet", "--initial-branch", "main")
    commit(tmp_path)
    return tmp_path


def test_the_derived_files_are_what_the_project_says() -> None:
    assert stale_files(ROOT, read_facts(ROOT)) == [], "write them again: scripts/release --derive"


def test_the_recipe_has_the_dependencies_and_the_python_of_the_project() -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    recipe = yaml.safe_load((ROOT / "conda/recipe.yaml").read_text(encoding="utf-8"))
    run = [spec.replace(" ", "").replace("matplotlib-base", "matplotlib") for spec in recipe["requirements"]["run"]]
    assert f"python>={recipe['context']['python_min']}" == f"python{project['requires-python']}"
    assert run == ["python>=${{python_min}}", *(spec.replace(" ", "") for spec in project["dependencies"])]


def test_each_empty_value_is_one_line_that_names_it(repository: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["--check"], repository) == 1
    lines = capsys.readouterr().err.splitlines()
    assert [line.partition(" is empty in [tool.deviate.release]")[0] for line in lines[: len(FILLED)]] == list(FILLED)
    (changelog, version) = lines[len(FILLED) :]
    assert changelog.startswith("changelog.d still holds ")
    assert "CHANGELOG.md has no section of a version" in version


def test_pages_that_users_copy_name_the_project_and_its_address(repository: Path) -> None:
    write_table(repository, FILLED)
    write_derived(repository, read_facts(repository))
    page = repository / "docs/how-to/page.md"
    page.parent.mkdir(parents=True)
    page.write_text("pip install deviate\nuses: OWNER/deviate@TAG\n", encoding="utf-8")
    (other_name, no_address) = page_problems(repository, read_facts(repository))
    assert other_name == "docs/how-to/page.md: the package `deviate` of PyPI is another project; write deviate-example"
    assert no_address.startswith("docs/how-to/page.md: the address of the repository is missing; ")


def test_a_prepared_release_may_be_tagged_once(repository: Path) -> None:
    changes = [
        line
        for path in (repository / "changelog.d").glob("+*.md")
        for line in path.read_text(encoding="utf-8").splitlines()
    ]
    write_table(repository, FILLED)
    commit(repository)

    prepare(repository, "1.2.0")
    assert [line for line in problems(repository, read_facts(repository)) if "not committed" not in line] == []
    commit(repository)
    facts = read_facts(repository)
    assert list(problems(repository, facts)) == []

    changelog = (repository / "CHANGELOG.md").read_text(encoding="utf-8")
    assert [line for line in changes if line.removeprefix("- ") not in changelog] == []
    assert changelog.endswith("\n### Security\n\n- A sentence\n  over two lines.\n")
    assert list(problems(repository, facts, "v1.2.0")) == []
    assert len(list(problems(repository, facts, "v1.2.1"))) == 1
    citation = yaml.safe_load((repository / "CITATION.cff").read_text(encoding="utf-8"))
    assert (citation["version"], citation["doi"]) == ("1.2.0", "10.1234/example")
    assert citation["authors"] == [
        {"given-names": "A", "family-names": "B", "orcid": "https://orcid.org/0000-0002-1825-0097"}
    ]
    project = tomllib.loads((repository / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    assert (project["name"], project["urls"]["Repository"]) == (
        "deviate-example",
        "https://git.example.org/team/deviate",
    )
    assert "pip install deviate-example\n" in (repository / "README.md").read_text(encoding="utf-8")
    entry = (repository / "templates/references.bib").read_text(encoding="utf-8").partition("\n\n@inproceedings")[0]
    assert "\n  doi = {10.1234/example},\n  url = {https://git.example.org/team/deviate},\n}" in entry
    assert "security@example.org" in (repository / "SECURITY.md").read_text(encoding="utf-8")

    git(repository, "tag", "v1.2.0")
    (repository / "SECURITY.md").write_text("<!-- release: contact -->\nx\n<!-- /release -->\n", encoding="utf-8")
    (repository / "changelog.d/+late.fixed.md").write_text("Late.\n", encoding="utf-8")
    left, stale, changed, tag = problems(repository, facts)
    assert "+late.fixed.md" in left
    assert stale.startswith("SECURITY.md: ")
    assert "SECURITY.md, changelog.d/+late.fixed.md" in changed
    assert tag.startswith("the tag v1.2.0 exists")


def test_a_version_that_cannot_follow_is_refused_before_anything_is_written(
    repository: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = repository / "CHANGELOG.md"
    path.write_text(path.read_text(encoding="utf-8") + "\n## [0.9.0] - 2026-01-01\n\n- x\n", encoding="utf-8")
    commit(repository)
    for version in ("1.0", "v1.0.0", "1.0.0+local", "1.0.0.dev1", "01.0.0", "next", "0.9.0", "0.8.1", "0.9.0rc1"):
        assert main([version], repository) == 1
        error = capsys.readouterr().err
        assert "is no version" in error or "does not come after 0.9.0" in error, version
    (repository / "changelog.d/name-without-kind.md").write_text("x\n", encoding="utf-8")
    commit(repository)
    assert main(["1.0.0"], repository) == 1
    assert "name-without-kind.md" in capsys.readouterr().err
    git(repository, "diff", "--exit-code", "HEAD")


def test_values_with_a_wrong_form_are_named() -> None:
    author = Author("A", "B", "https://orcid.org/0000-0002-1825-0098")
    wrong = Publication("Deviate", "git.example.org/x", "https://doi.org/10.1/x", "me", "@", (author,), ("somebody",))
    names = [line.partition(" ")[0] for line in publication_problems(wrong)]
    assert names == ["distribution", "repository", "doi", "security", "conduct", "A"]
    assert is_orcid("https://orcid.org/0000-0002-1694-233X")


def test_links_of_the_long_description_lead_to_the_repository() -> None:
    readme = (ROOT / "README.md").read_text(encoding="utf-8")
    text = absolute_links(readme, "https://git.example.org/team/deviate/blob/v1.0.0")
    targets = links(text)
    assert len(targets) == len(links(readme)) > 10
    assert [target for target in targets if not target.startswith("https://")] == []
    assert "/blob/v1.0.0/docs/images/report-two-experiments.png?raw=true)" in text


def test_pages_beside_the_manual_link_and_copy_what_there_is() -> None:
    targets = {
        target.partition("#")[0]
        for page in ("README.md", "CONTRIBUTING.md", "SECURITY.md", "CODE_OF_CONDUCT.md")
        for target in links((ROOT / page).read_text(encoding="utf-8"))
        if not target.startswith(("https://", "#"))
    }
    copied = re.findall(r"^COPY (.+) \S+$", (ROOT / "Containerfile").read_text(encoding="utf-8"), flags=re.MULTILINE)
    paths = targets | {path for line in copied for path in line.split()}
    assert "pyproject.toml" in paths
    assert [path for path in sorted(paths) if not (ROOT / path).exists()] == []


@pytest.mark.slow
def test_the_program_prepares_a_clone_and_builds_what_it_checks(tmp_path: Path) -> None:
    clone = tmp_path / "clone"
    subprocess.run(["git", "clone", "--quiet", ROOT, clone], check=True)
    (clone / "changelog.d/+one.added.md").write_text("A sentence.\n", encoding="utf-8")
    commit(clone)
    environment = {"PATH": f"{Path(sys.executable).parent}:/usr/local/bin:/usr/bin:/bin", "HOME": str(tmp_path)}

    def release(*arguments: str) -> subprocess.CompletedProcess[str]:
        command = [clone / "scripts/release", *arguments]
        return subprocess.run(command, env=environment, capture_output=True, text=True, check=False)

    prepared = release("7.1.0")
    assert (prepared.returncode, prepared.stderr) == (0, "")
    wheel, sdist = sorted(path.name for path in (clone / "dist").iterdir())
    assert wheel.endswith("-7.1.0-py3-none-any.whl")
    recipe = yaml.safe_load(release("--recipe", f"dist/{sdist}").stdout)
    assert re.fullmatch(r"[0-9a-f]{64}", recipe["source"]["sha256"])
    assert release("--notes").stdout.startswith("### Added\n\n- ")
    assert release("--check").returncode == 1
