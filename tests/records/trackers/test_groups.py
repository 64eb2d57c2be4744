from collections.abc import Sequence

import pytest

from deviate.errors import InputError
from deviate.records.importers.tracked import TrackedProject, TrackedRun
from deviate.records.trackers.groups import Grouping, group_runs, select_groups


def grouped(*runs: dict[str, str], without: Sequence[str] = (), sweep: str = "") -> Grouping:
    """The groups of runs with these settings, called run-a, run-b and so on."""
    tracked = [
        TrackedRun(f"id-{number}-{'abcdefgh'[number % 8]}", f"run-{number:03}", params=params, sweep=sweep)
        for number, params in enumerate(runs)
    ]
    return group_runs(TrackedProject("wandb:lab/p", "p", "wandb", "config.", tracked), without=without)


def sizes(grouping: Grouping) -> dict[str, int]:
    return {group.name: len(group.runs) for group in grouping.groups}


def test_runs_that_differ_in_seeds_alone_are_one_group() -> None:
    grouping = grouped(
        *({"lr": "0.1", "seed": str(n), "train.data-seed": str(n), "random_state": "1"} for n in range(3))
    )
    assert sizes(grouping) == {"p": 3}
    assert grouping.left_out == ("seed", "train.data-seed")


def test_values_compare_by_value() -> None:
    alike = [("1e-1", "0.10"), ("2", "2.0"), ("True", "true")]
    for first, second in alike:
        assert sizes(grouped({"x": first}, {"x": second})) == {"p": 2}, (first, second)
    for first, second in [("0.1", "0.11"), ("1", "true"), ("none", ""), ("adam", "Adam")]:
        assert len(grouped({"x": first}, {"x": second}).groups) == 2, (first, second)
    assert len(grouped({"x": "1"}, {}).groups) == 2, "a setting that a run lacks is another configuration"


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("output_dir", "out/{n}x"),
        ("hydra.run.dir", "outputs/x{n}"),
        ("run_name", "brave-{n}"),
        ("hostname", "node{n}"),
        ("slurm_job_id", "123{n}"),
        ("start_time", "{n}"),
        ("hub_token", "hf_{n}"),
        ("data", "copy/seed_{n}/data"),
        ("resume", "/ckpt/{n}/last.pt"),
        ("exp", "ppo__{n}__176000000{n}"),
        ("note", "made 2026-03-0{n}_12-00-00 by hand"),
        ("name", "run-00{n}"),
    ],
)
def test_what_belongs_to_a_run_splits_no_group(name: str, value: str) -> None:
    runs = [{"lr": lr, "seed": str(n), name: value.format(n=n)} for lr in ("0.1", "0.2") for n in range(1, 4)]
    grouping = grouped(*runs[:3])
    assert len(grouping.groups) == 1
    assert any(name in text for text in grouping.left_out)
    if name != "name":
        assert sizes(grouped(*runs)) == {"p-lr=0.1": 3, "p-lr=0.2": 3}


def test_a_setting_with_the_digits_of_a_seed_stays_a_setting() -> None:
    runs = [{"data": data, "seed": seed} for data in ("cifar10", "cifar-100") for seed in ("10", "100", "1")]
    assert sizes(grouped(*runs)) == {"p-data=cifar10": 3, "p-data=cifar-100": 3}
    inputs = [{"run.data_dir": folder, "init_from_output_path": folder} for folder in ("a", "b")]
    assert len(grouped(*inputs).groups) == 2, "what a run reads is a setting"
    layers = [{"layers": n, "use_seed": flag, "seed": "2"} for n in ("2", "4") for flag in ("true", "false")]
    assert len(grouped(*layers).groups) == 4


def test_groups_are_named_after_the_settings_that_tell_them_apart() -> None:
    runs = [{"optim.lr": lr, "net": "resnet"} for lr in ("0.1", "0.30000000000000004")]
    assert list(sizes(grouped(*runs))) == ["p-lr=0.1", "p-lr=0.3"]
    many = [{key: str(n >> place & 1) for place, key in enumerate("abcd")} for n in range(16)]
    assert list(sizes(grouped(*many)))[:2] == ["p-1", "p-2"]


def test_groups_are_chosen_by_name_pattern_and_setting() -> None:
    grouping = grouped(*({"optim.lr": lr, "net": net} for lr in ("0.1", "0.01") for net in ("vit", "mlp")))
    for chosen, n in ((["p-lr=0.1-net=vit"], 1), (["*vit"], 2), (["lr=1e-2"], 2), (["lr=.1", "net=mlp"], 1), ([], 4)):
        assert len(select_groups(grouping, chosen)) == n, chosen
    for wrong in ("lr=3", "nothing", "momentum=0"):
        with pytest.raises(InputError, match="has no group"):
            select_groups(grouping, [wrong])


def test_a_setting_that_the_user_leaves_out_splits_no_group() -> None:
    runs = [{"lr": "0.1", "commit": f"c{n}"} for n in range(6)]
    grouping = grouped(*runs)
    assert len(grouping.groups) == 6
    assert sizes(grouped(*runs, without=["commit"])) == {"p": 6}
    with pytest.raises(InputError, match="no run has a setting 'comit'"):
        grouped(*runs, without=["comit"])


def test_configurations_of_a_search_are_labelled_as_tuned() -> None:
    runs = [{"lr": str(lr), "seed": str(seed)} for lr in range(3) for seed in range(2)]
    assert {group.tuned for group in grouped(*runs).groups} == {""}
    assert {group.tuned for group in grouped(*runs, sweep="s1").groups} == {"one of 3 configurations of sweep s1"}
    assert [group.tuned for group in grouped(*runs[:2], sweep="s1").groups] == [""], (
        "a sweep over seeds chooses nothing"
    )
    assert list(sizes(grouped(*runs[:2], sweep="s1"))) == ["p"]
