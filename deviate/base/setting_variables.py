"""Variables `DEVIATE_*` of the user: which settings have one, and how they are kept from runs.

They state how to run and how to judge, in all projects of a shell or of a CI job. Options that act once (`--dry-run`),
name a file or an experiment, or declare something about one comparison before its runs (`--until`, `--looks`,
`--paired`) have none: nobody would look for them in the environment.
"""

from collections.abc import Iterator, Mapping
from types import MappingProxyType

PREFIX = "DEVIATE_"
SEPARATOR = ";"
"""Between the values of an option that may be repeated: commands, and pairs KEY=VALUE, contain blanks and commas."""
SETTINGS: Mapping[str, frozenset[str]] = MappingProxyType({
    name: frozenset(others.split())
    for name, others in {
        "runs": "plan",
        "variants": "overhead",
        "seed": "",
        "budget": "",
        "strict": "",
        "then": "",
        "python": "",
        "wrap": "",
        "jobs": "",
        "gpus": "",
        "executor": "",
        "option": "",
        "timeout": "doctor",
        "stall_timeout": "",
        "retries": "",
        "max_failures": "",
        "requeue": "",
        "keep": "clean",
        "trackers": "",
        "capture": "",
        "capture_every": "",
        "capture_limit": "",
        "tta": "",
        "metric": "plan clean",
        "aggregate": "clean",
        "margin": "plan",
        "confidence": "",
        "undecided": "",
        "quiet": "",
        "debug": "",
    }.items()
})  # fmt: skip
"""Parameters of the command line that have a variable, and verbs in which the word asks for something else."""
OF_RUNS = frozenset(
    f"{PREFIX}{word}"
    for word in (
        "CONTINUED", "EXPERIMENT", "GUEST", "REPLICATE", "ROOT", "RUN", "RUN_DIR", "SECRETS", "SPEC", "VARIANT", "WORK",
    )
)  # fmt: skip
"""Variables that deviate sets in the processes of runs."""
OF_TESTS = (f"{PREFIX}TEST_", f"{PREFIX}GOLDEN")
ALIKE = 0.75


def variable_of(setting: str) -> str:
    """The name of the variable of a setting.

    >>> variable_of("stall_timeout")
    'DEVIATE_STALL_TIMEOUT'
    """
    return f"{PREFIX}{setting.upper()}"


def has_variable(setting: str, verb: str) -> bool:
    """Whether the option of this name has a variable in a verb."""
    return setting in SETTINGS and verb not in SETTINGS[setting]


def without_settings(variables: Mapping[str, str]) -> dict[str, str]:
    """Variables for a run: a `deviate` that the user's command calls is not to be configured by that of the run."""
    ours = set(map(variable_of, SETTINGS))
    return {name: value for name, value in variables.items() if name not in ours}


def misspelled(variables: Mapping[str, str]) -> Iterator[tuple[str, str]]:
    """Variables that look like one of a setting and are none, each with the nearest.

    `DEVIATE_RUN` and `DEVIATE_VARIANT` are names of deviate inside a run, and mistakes anywhere else.
    """
    settings = {setting.upper(): variable_of(setting) for setting in SETTINGS}
    mistakable = set() if f"{PREFIX}RUN_DIR" in variables else {f"{PREFIX}RUN", f"{PREFIX}VARIANT"}
    fine = (OF_RUNS - mistakable) | set(settings.values())
    for name in sorted(variables):
        if name.startswith(PREFIX) and not name.startswith(OF_TESTS) and name not in fine:
            import difflib  # which most calls do without

            near = difflib.get_close_matches(name.removeprefix(PREFIX), settings, 1, ALIKE)
            if near:
                yield name, settings[near[0]]
