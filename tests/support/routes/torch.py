"""Routes of PyTorch."""

import torch
from showing import show
from torch import nn
from torch.nn import functional
from torch.utils import data

torch.manual_seed(1)
POINTS = data.TensorDataset(torch.arange(40))
own = torch.Generator().manual_seed(3)


def order(**options: object) -> list[int]:
    return [int(row[0]) for row in data.DataLoader(POINTS, **options)]  # type: ignore[arg-type]


show("torch.rand", lambda: torch.rand(3))
show("torch.randn(generator)", lambda: torch.randn(3, generator=own))
show("torch.randint", lambda: torch.randint(10**9, (3,)))
show("torch.randperm", lambda: torch.randperm(50))
show("torch.normal", lambda: torch.normal(torch.zeros(3), 1.0))
show("torch.bernoulli", lambda: torch.bernoulli(torch.full((99,), 0.5)))
show("torch.multinomial", lambda: torch.multinomial(torch.ones(10**4), 5))
show("torch.poisson", lambda: torch.poisson(torch.full((50,), 9.0)))
show("Tensor.uniform_", lambda: torch.empty(3).uniform_())
show("Tensor.random_(generator)", lambda: torch.empty(3).random_(generator=own))
show("torch.rand_like", lambda: torch.rand_like(torch.zeros(3)))
show("torch.svd_lowrank", lambda: torch.svd_lowrank(torch.eye(20) * torch.arange(20.0), 2, niter=0)[0])
show("torch.distributions", lambda: torch.distributions.Gamma(2.0, 1.0).sample((3,)))
show("torch.nn.Linear", lambda: nn.Linear(3, 3).weight)
show("torch.nn.init", lambda: nn.init.orthogonal_(torch.empty(3, 3)))
show("torch.nn.init(generator)", lambda: nn.init.normal_(torch.empty(3), generator=own))
show("torch.nn.functional.dropout", lambda: functional.dropout(torch.ones(99)))
show("torch.nn.Dropout", lambda: nn.Dropout()(torch.ones(99)))
show("torch.nn.functional.gumbel_softmax", lambda: functional.gumbel_softmax(torch.zeros(9)))
show("torch.nn.functional.rrelu", lambda: functional.rrelu(-torch.ones(9), training=True))
show("DataLoader(shuffle=True)", lambda: order(shuffle=True))
show("DataLoader(generator)", lambda: order(shuffle=True, generator=torch.Generator().manual_seed(3)))
show("WeightedRandomSampler", lambda: order(sampler=data.WeightedRandomSampler([1.0] * 40, 40)))
show("DistributedSampler(seed=3)", lambda: order(sampler=data.DistributedSampler(POINTS, 1, 0, seed=3)))
show("SobolEngine", lambda: torch.quasirandom.SobolEngine(2, scramble=True).draw(2))
with torch.random.fork_rng():
    show("torch.random.fork_rng", lambda: torch.rand(3))
torch.seed()
show("torch.seed", lambda: torch.rand(3))
