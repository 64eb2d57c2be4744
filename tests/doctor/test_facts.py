from pathlib import Path

from deviate.doctor.children import ChildFacts, ChildResult, describe_death, read_facts

OK = ChildResult(0, "", "", 1.0)


def test_a_torn_line_is_dropped(tmp_path: Path) -> None:
    path = tmp_path / "facts"
    path.write_text('{"doing": "importing it"}\n{"fact": "version", "value": "1"}\n{"fact": "path", "val')
    facts = read_facts(path)
    assert (facts.text("version"), facts.text("path"), facts.doing) == ("1", "", "importing it")
    assert not facts.is_whole


def test_a_file_that_was_never_written_has_no_facts(tmp_path: Path) -> None:
    assert read_facts(tmp_path / "none") == ChildFacts()


def test_a_later_fact_stands_for_an_earlier_one_of_the_same_name(tmp_path: Path) -> None:
    path = tmp_path / "facts"
    path.write_text('{"fact": "version", "value": ""}\n{"fact": "version", "value": "2"}\n')
    assert read_facts(path).text("version") == "2"


def test_a_fact_of_another_type_is_as_good_as_none() -> None:
    facts = ChildFacts({"version": 3, "n_cpus": "two", "gpus": "one", "cpu": [], "is_done": 1})
    assert (facts.text("version"), facts.count("n_cpus"), facts.texts("gpus"), facts.table("cpu")) == ("", None, (), {})
    assert not facts.is_whole


def test_an_import_that_failed_is_told_even_where_the_process_ended_well() -> None:
    facts = ChildFacts({"import_fault": "ImportError: no", "is_done": True})
    assert describe_death(OK, facts, 60) == "the import failed: ImportError: no"


def test_whoever_said_all_has_not_died_whatever_its_exit_code() -> None:
    assert describe_death(ChildResult(-11, "", "", 1.0), ChildFacts({"is_done": True}), 60) == ""


def test_the_last_line_of_the_complaint_is_told() -> None:
    told = describe_death(
        ChildResult(134, "", "one\nUnknown flag in XLA_FLAGS\n\n", 1.0), ChildFacts(doing="starting its backend"), 60
    )
    assert told == "the process ended with exit code 134 while starting its backend (Unknown flag in XLA_FLAGS)"
