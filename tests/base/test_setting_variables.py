"""Which settings have a variable, what is kept from runs, and what a misspelled variable is told."""

from deviate.base.setting_variables import OF_RUNS, SETTINGS, misspelled, variable_of, without_settings
from deviate.cli.app import VERBS, load_command


def test_every_variable_is_an_option_of_a_verb_and_none_has_a_name_that_runs_are_given() -> None:
    verbs_of: dict[str, set[str]] = {}
    for verb in VERBS:
        for option in load_command(verb).params:
            verbs_of.setdefault(option.name, set()).add(verb)
    for setting, others in SETTINGS.items():
        assert others < verbs_of[setting], setting
        assert variable_of(setting) not in OF_RUNS


def test_runs_get_every_variable_but_those_of_settings() -> None:
    variables = {"DEVIATE_RUNS": "3", "DEVIATE_DEBUG": "1", "DEVIATE_RUN": "a", "DEVIATE_CONTINUED": "1", "HOME": "/x"}
    assert without_settings(variables) == {"DEVIATE_RUN": "a", "DEVIATE_CONTINUED": "1", "HOME": "/x"}


def test_a_misspelled_variable_has_a_nearest_one_and_those_of_runs_tests_and_others_have_none() -> None:
    wrong = {
        "DEVIATE_EXECUTER": "DEVIATE_EXECUTOR",
        "DEVIATE_VARIANT": "DEVIATE_VARIANTS",
        "DEVIATE_RUN": "DEVIATE_RUNS",
    }
    right = [*map(variable_of, SETTINGS), "DEVIATE_TEST_RUNS", "DEVIATE_GOLDEN", "DEVIATE_HOME", "DEVIATE_SPEC", "RUNS"]
    variables = dict.fromkeys([*wrong, *right], "1")
    assert dict(misspelled(variables)) == wrong
    assert dict(misspelled({**variables, "DEVIATE_RUN_DIR": "/a"})) == {"DEVIATE_EXECUTER": "DEVIATE_EXECUTOR"}
