"""Routes of SciPy."""

import warnings

import numpy as np
import scipy.sparse.linalg as sparse_linalg
from scipy import linalg, optimize, sparse, stats
from scipy.cluster import vq
from scipy.linalg import interpolative
from scipy.spatial import transform
from scipy.stats import qmc, sampling
from showing import show

warnings.simplefilter("ignore")
X = np.arange(20.0) ** 0.5
POINTS = np.column_stack([np.sin(np.arange(60.0)), np.cos(np.arange(60.0) ** 2)])
MATRIX = np.diag(np.arange(1.0, 30))
BOX = [(-1, 2)] * 2


def total(x: np.ndarray) -> float:
    return float(np.abs(x).sum())


def difference(a: np.ndarray, b: np.ndarray) -> float:
    return a.mean() - b.mean()


def hops() -> list[float]:
    """Where basinhopping has been."""
    found: list[float] = []
    optimize.basinhopping(
        lambda x: float(np.sin(9 * x[0])),
        [1.0],
        rng=3,
        niter=2,
        minimizer_kwargs={"options": {"maxiter": 1}},
        callback=lambda x, _value, _is_accepted: found.append(float(x[0])),
    )
    return found


normal = stats.norm(1)
normal.random_state = 4
show("norm.rvs", lambda: stats.norm.rvs(size=2))
show("norm.rvs(random_state=1)", lambda: stats.norm.rvs(random_state=1, size=2))
show("norm.rvs(random_state=Generator)", lambda: stats.norm.rvs(random_state=np.random.default_rng(3)))
show("norm.rvs(random_state=RandomState)", lambda: stats.norm.rvs(random_state=np.random.RandomState(3)))
show("norm.random_state", lambda: normal.rvs())
show("Normal.sample(rng=3)", lambda: stats.Normal().sample(2, rng=3))
show("poisson.rvs", lambda: stats.poisson(9).rvs(20, random_state=1))
show("multivariate_normal.rvs", lambda: stats.multivariate_normal.rvs([0, 0], random_state=1))
show("multivariate_normal(seed=1)", lambda: stats.multivariate_normal([0, 0], seed=1).rvs())
show("multivariate_normal.cdf", lambda: stats.multivariate_normal([0] * 4, np.eye(4) + 0.4).cdf([1] * 4, rng=3))
show("wishart.rvs", lambda: stats.wishart.rvs(3, [[1]], random_state=2))
show("dirichlet.rvs", lambda: stats.dirichlet.rvs([1, 2], random_state=1))
show("ortho_group.rvs", lambda: stats.ortho_group.rvs(3, random_state=2))
show("random_correlation.rvs", lambda: stats.random_correlation.rvs([0.5, 1.5], random_state=3))
show("gaussian_kde.resample", lambda: stats.gaussian_kde(X).resample(2, seed=3))
show("bootstrap(rng=3)", lambda: stats.bootstrap((X,), np.mean, rng=3, n_resamples=9).bootstrap_distribution)
show("bootstrap(random_state=3)", lambda: stats.bootstrap((X,), np.mean, random_state=3, n_resamples=9).standard_error)
show("permutation_test", lambda: stats.permutation_test((X, X + 1), difference, rng=3, n_resamples=9).null_distribution)
show("monte_carlo_test", lambda: stats.monte_carlo_test(X, normal.rvs, np.mean, n_resamples=9).null_distribution)
show(
    "differential_evolution(rng=3)",
    lambda: optimize.differential_evolution(total, BOX, rng=3, maxiter=1, polish=False).x,
)
show(
    "differential_evolution(seed=3)",
    lambda: optimize.differential_evolution(total, BOX, seed=3, maxiter=1, polish=False).x,
)
show("dual_annealing", lambda: optimize.dual_annealing(total, BOX, rng=3, maxiter=2, no_local_search=True).x)
show("basinhopping", hops)
show("sparse.random(rng=3)", lambda: sparse.random(5, 5, 0.3, rng=3))
show("sparse.random(random_state=3)", lambda: sparse.random(5, 5, 0.3, random_state=3))
show("sparse.random_array", lambda: sparse.random_array((5, 5), density=0.3, rng=3))
show("kmeans", lambda: vq.kmeans(POINTS, 5, iter=1, rng=3))
show("kmeans2(seed=3)", lambda: vq.kmeans2(POINTS, 5, iter=1, minit="random", seed=3))
show("clarkson_woodruff_transform", lambda: linalg.clarkson_woodruff_transform(MATRIX, 3, rng=3))
show("eigsh", lambda: sparse_linalg.eigsh(MATRIX, 2, tol=0.1)[0])
show("eigsh(rng=3)", lambda: sparse_linalg.eigsh(MATRIX, 2, tol=0.1, rng=3)[0])
show("svds(rng=3)", lambda: sparse_linalg.svds(MATRIX, 2, tol=0.5, rng=3)[0])
show("svds(random_state=3)", lambda: sparse_linalg.svds(MATRIX, 2, tol=0.5, random_state=3)[0])
show("interpolative", lambda: interpolative.estimate_spectral_norm(MATRIX, its=1, rng=3))
show("Rotation.random", lambda: transform.Rotation.random(rng=3).as_quat())
show(
    "quadratic_assignment",
    lambda: (
        optimize.quadratic_assignment(
            POINTS[:9] @ POINTS[:9].T, POINTS[9:18] @ POINTS[:9].T, options={"rng": 3, "P0": "randomized", "maxiter": 1}
        ).col_ind
    ),
)
show("NumericalInversePolynomial", lambda: sampling.NumericalInversePolynomial(stats.norm(), random_state=3).rvs(2))
show("FastGeneratorInversion", lambda: sampling.FastGeneratorInversion(stats.norm(), random_state=3).rvs(2))
show("Sobol(rng=3)", lambda: qmc.Sobol(2, rng=3).random(2))
show("Sobol(seed=3)", lambda: qmc.Sobol(2, seed=3).random(2))
show("Halton", lambda: qmc.Halton(2, rng=3).random(2))
show("LatinHypercube", lambda: qmc.LatinHypercube(2, rng=3).random(2))
show("PoissonDisk", lambda: qmc.PoissonDisk(2, radius=0.2, rng=3).random(2))
show("MultivariateNormalQMC", lambda: qmc.MultivariateNormalQMC([0, 0], rng=3).random(1))
