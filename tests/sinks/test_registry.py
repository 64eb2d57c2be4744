import shutil
import subprocess
from collections import Counter
from pathlib import Path

import pytest

import deviate.sinks
from deviate.sinks import SINKS, Sink, find_by_key, find_sink, registry


@pytest.fixture
def sinks() -> list[Sink]:
    find_sink(None, "")
    return list(SINKS.values())


@pytest.mark.parametrize(
    ("qualified", "spelling", "name"),
    [
        ("builtins.print", "print", "print"),
        (None, "accelerator.print", "print"),
        ("logging.info", "logging.info", "logging"),
        ("logging.getLogger().info", "log.info", "logging"),
        (None, "self.logger.warning", "logging"),
        (None, "self.logger.experiment.add_scalar", "tensorboard"),
        (None, "WRITER.add_scalar", "tensorboard"),
        (None, "?.add_scalar", "tensorboard"),
        (None, "npt_run[].append", "neptune"),
        (None, "sys.stdout.write", "stdout"),
        ("pytorch_lightning.LightningModule().log", "self.log", "lightning"),
    ],
)
def test_sinks_are_found_by_qualified_name_or_spelling(qualified: str | None, spelling: str, name: str) -> None:
    found = find_sink(qualified, spelling)
    assert found is not None
    assert found.name == name


@pytest.mark.parametrize(
    ("qualified", "spelling"),
    [
        ("math.log", "math.log"),
        ("numpy.log", "np.log"),
        (None, "torch.log"),
        (None, "self.log"),
        (None, "self.log_dict"),
        (None, "dist.Normal().log_prob"),
        (None, "prune[].append"),
        (None, "losses.append"),
        (None, "history[].append"),
        (None, "self.buffer.write"),
        (None, "pdf.write"),
        (None, "meter.update"),
        (None, "pbar.update"),
        (None, "print_table"),
        (None, ""),
    ],
)
def test_what_only_looks_like_a_sink_is_none(qualified: str | None, spelling: str) -> None:
    assert find_sink(qualified, spelling) is None


def test_an_exact_name_beats_a_pattern_and_a_pattern_beats_a_spelling() -> None:
    exact = find_sink("jsonlines.open().write", "log.write")
    pattern = find_sink("gzip.open().write", "sys.stdout.write")
    spelling = find_sink("project.make().write", "sys.stdout.write")
    assert [found and found.key for found in (exact, pattern, spelling)] == [
        "tables.jsonlines_open_write",
        "file._open_write",
        "file.sys_stdout_write",
    ]


def test_of_several_spellings_the_longest_counts() -> None:
    # `*out.write` is a file's and `*.print` anything's.
    found = [find_sink(None, spelling) for spelling in ("fout.write", "self.stdout.write", "debug.print", "x.print")]
    assert [sink and sink.name for sink in found] == ["file", "stdout", "jax-debug", "print"]


def test_every_key_finds_its_sink(sinks: list[Sink]) -> None:
    assert len(sinks) > 60
    for sink in sinks:
        assert find_by_key(sink.key) is sink


@pytest.mark.parametrize("key", ["print", "print.nothing", "nothing.report", "registry.find_sink"])
def test_an_unknown_key_is_told(key: str) -> None:
    with pytest.raises(KeyError):
        find_by_key(key)


def test_no_name_and_no_spelling_stands_for_two_sinks(sinks: list[Sink]) -> None:
    for kind in ("names", "spellings"):
        counted = Counter(name for sink in sinks for name in getattr(sink, kind))
        assert [name for name, count in counted.items() if count > 1] == []


def test_names_and_spellings_can_be_looked_up(sinks: list[Sink]) -> None:
    for sink in sinks:
        assert [name for name in (*sink.names, *sink.spellings) if "*" in name.rpartition(".")[2]] == []
        assert [spelling for spelling in sink.spellings if spelling != spelling.lower()] == []


def test_a_callee_with_another_last_name_is_compared_with_no_pattern() -> None:
    find_sink(None, "")
    before = registry._compile_pattern.cache_info()
    assert find_sink("torch.nn.Module().forward", "self.logger.writer.forward") is None
    assert find_sink("builtins.print", "print") is not None
    assert registry._compile_pattern.cache_info() == before


def test_every_sink_ignores_keywords_of_other_versions_or_carries_nothing(sinks: list[Sink]) -> None:
    # Neither an error nor a value that no one asked for: a call that does not fit is no report.
    for sink in sinks:
        assert isinstance(sink.carried(["a", "b"], {"of_another_version": 1}), list)
        assert sink.carried([object()] * 40, {"tag": 1, "key": 1, "msg": 1, "of_another_version": 1}) is not None


GUEST = """
import sys
from guest.sinks import find_by_key
carried = find_by_key("progress.set_postfix").carried([], {"loss": 0.5})
print([(item.name, item.value) for item in carried])
print(sorted(name for name in sys.modules if name.startswith("guest.sinks.")))
from guest.sinks import SINKS, find_sink
find_sink(None, "")
print(len(SINKS))
"""


@pytest.mark.parametrize("version", ["3.8", "3.13"])
def test_sinks_travel(version: str, tmp_path: Path, sinks: list[Sink], interpreters) -> None:  # type: ignore[no-untyped-def]
    shutil.copytree(Path(deviate.sinks.__file__).parent, tmp_path / "guest/sinks")
    (tmp_path / "guest/__init__.py").touch()
    command = [interpreters(version), "-c", GUEST]
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, check=True)
    values, loaded, count = done.stdout.splitlines()
    assert values == "[('loss', 0.5)]"
    # Only the file that was asked for: the others would cost every process of the user.
    assert loaded == str([f"guest.sinks.{name}" for name in ("kinds", "progress", "registry")])
    assert int(count) == len(sinks)
