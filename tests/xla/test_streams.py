"""The generators of XLA devices have a state per stream."""

from pathlib import Path

import pytest
from harness import Child, Result

SCRIPT = """\
import torch, torch_xla
import torch_xla.core.xla_model as xm
import torch_xla.debug.metrics as metrics
from torch import nn

class Noise(nn.Module):
    def forward(self, rows):
        return rows + torch.randn_like(rows)

xm.set_rng_state(5)
device = torch_xla.device()
noise, model = Noise(), nn.Sequential(nn.Linear(4, 4, device=device), nn.Dropout(0.5)).to(device)
nn.init.zeros_(model[0].weight)
nn.init.ones_(model[0].bias)
rows = torch.zeros(2, 4, device=device)
results = []
for step in range(4):
    loose, noisy, masked = torch.rand(3, device=device), noise(rows), model(rows)
    torch_xla.sync()
    results.append((loose, noisy, masked))
    if step == 1:
        state = xm.get_rng_state()
    if step == 2:
        xm.set_rng_state(state)
print("compilations", metrics.counter_value("UncachedCompile"))
for index, name in enumerate(("other", "augment", "dropout")):
    print(name, [each[index].flatten().tolist() for each in results])
"""
SEEDS = {"augment": 1, "dropout": 2, "other": 3}


def lines_of(result: Result) -> dict[str, str]:
    assert (result.code, result.of("error")) == (0, []), result.stderr
    return dict(line.split(" ", 1) for line in result.stdout.splitlines())


@pytest.fixture(scope="module")
def held(tmp_path_factory: pytest.TempPathFactory) -> Result:
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("PJRT_DEVICE", "CPU")
        return Child(tmp_path_factory.mktemp("held"), SCRIPT).run(seeds=SEEDS)


@pytest.mark.parametrize("stream", SEEDS)
def test_a_stream_varies_alone_within_one_graph(stream: str, held: Result, tmp_path: Path) -> None:
    varied = lines_of(Child(tmp_path, SCRIPT).run(seeds={**SEEDS, stream: 9}))
    assert {name for name, text in lines_of(held).items() if varied[name] != text} == {stream}


def test_steps_draw_anew_and_a_restored_state_draws_again_in_all_streams(held: Result) -> None:
    for name, text in lines_of(held).items():
        if name == "compilations":
            continue
        first, second, third, again = eval(text)
        assert first != second != third
        assert again == third, name


def test_states_that_move_on_at_the_end_of_a_step_are_no_draws(held: Result, tmp_path: Path) -> None:
    assert ["torch_xla", ["augment", "dropout", "init", "other"]] in held.of("draws")
    quiet = Child(tmp_path, SCRIPT.replace("torch.rand(3, device=device)", "rows + 0")).run(seeds=SEEDS)
    assert ["torch_xla", ["augment", "dropout", "init"]] in quiet.of("draws")


def test_seeds_of_the_script_are_recorded_and_replaced(held: Result, tmp_path: Path) -> None:
    call = "torch_xla.core.xla_model.set_rng_state"
    assert held.of("seed") == [[call, "5", "train.py", 10, "replaced"]]
    other = lines_of(Child(tmp_path, SCRIPT.replace("set_rng_state(5)", "set_rng_state(6)")).run(seeds=SEEDS))
    assert {name for name, text in lines_of(held).items() if other[name] != text} == set(SEEDS)


def test_without_streams_the_guest_changes_nothing(tmp_path: Path) -> None:
    as_it_is = Child(tmp_path, SCRIPT).run()
    assert as_it_is.of("seed") != []
    assert as_it_is.of("draws") == []
    plain = Child(tmp_path / "plain", SCRIPT).run(
        environment=dict.fromkeys(("PYTHONPATH", "DEVIATE_RUN_DIR", "DEVIATE_SPEC", "DEVIATE_WORK"))
    )
    assert plain.stdout == as_it_is.stdout


LOADED = """\
import torch, torch_xla
from torch.utils.data import DataLoader, Dataset
from torch_xla.distributed.parallel_loader import MpDeviceLoader

class Rows(Dataset):
    def __len__(self):
        return 64

    def __getitem__(self, index):
        return index + torch.rand(())

device = torch_xla.device()
model = torch.nn.Sequential(torch.nn.Linear(4, 4), torch.nn.Dropout(0.5)).to(device)
loader = MpDeviceLoader(DataLoader(Rows(), 4, shuffle=True), device)
for epoch in range(2):
    rows = []
    for batch in loader:
        model(batch)
        rows.append(batch)
    print(len(rows), torch.stack(rows).tolist())
    host = torch.rand(())
print(host.item())
"""


def test_device_loaders_draw_from_the_streams_of_their_loader(tmp_path: Path) -> None:
    first, again = (Child(tmp_path / name, LOADED).run(seeds=SEEDS) for name in ("first", "again"))
    assert (first.code, first.of("error")) == (0, []), first.stderr
    assert first.stdout == again.stdout
    assert first.stdout.startswith("16 ")
    assert ["torch", ["augment", "init", "other", "shuffle"]] in first.of("draws")


COMPILED = """\
import torch, torch_xla
device = torch_xla.device()

@torch.compile(backend="openxla")
def step(rows):
    return rows * torch.rand_like(rows)

for number in range(3):
    print(step(torch.ones(2, device=device)).tolist())
"""


def test_draws_in_a_compiled_step_outside_of_all_regions_are_reported(tmp_path: Path) -> None:
    result = Child(tmp_path, COMPILED).run(seeds=SEEDS)
    assert (result.code, result.of("error")) == (0, []), result.stderr
    assert result.of("uncontrolled") == [["draws on the device in a compiled step", "train.py", 4]]
