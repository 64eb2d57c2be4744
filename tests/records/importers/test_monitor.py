"""Logs in the form of the Monitor of Gym and Stable-Baselines3."""

from pathlib import Path

import pytest

from deviate.errors import InputError
from deviate.records.importing import read_files


def test_episodes_of_a_file_are_one_run_by_environment_steps(tmp_path: Path) -> None:
    for seed in (0, 1):
        path = tmp_path / f"{seed}.monitor.csv"
        path.write_text('#{"t_start": 1.5e9, "env_id": "Hopper-v3"}\nr,l,t\n1.5,100,2.0\n2.5,50,3.5\n')
    (imported,) = read_files([tmp_path])
    assert (imported.form, len(imported.runs)) == ("monitor", 2)
    run = imported.runs[0]
    assert run.wall_time_s == 3.5
    reward = run.series["episode_reward"]
    assert (tuple(reward.steps), tuple(reward.values), tuple(reward.times)) == ((100, 150), (1.5, 2.5), (2.0, 3.5))


def test_another_file_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "x.csv"
    path.write_text("r,l,t\n1,2,3\n")
    with pytest.raises(InputError, match="not a Monitor log"):
        read_files([path], form="monitor")
