"""Simulated probability that a node draws a direction close to a given one (thesis, A)."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from bevel import _core
from bevel.analysis.checks import check_count
from bevel.analysis.geometry.angles import read_angle, read_direction
from bevel.analysis.geometry.sampler import read_sampler
from bevel.projections import Projection
from bevel.projections.counts import Count
from bevel.training.trainer import native_family

__all__ = ["ProbabilityEstimate", "closest_cosine", "simulate_within"]


class ProbabilityEstimate(NamedTuple):
    """An estimated probability and its standard error."""

    value: float
    standard_error: float


def simulate_within(
    projection: str | Projection,
    direction: npt.ArrayLike,
    angle: float,
    *,
    n_projections: Count = "auto",
    n_repeats: int = 10_000,
    random_state: int | np.random.Generator | None = None,
) -> ProbabilityEstimate:
    """Estimate the probability that a node draws a candidate within an angle of a direction.

    Draws with the samplers that grow forests, `n_repeats` times. Features are assumed to have the
    same unit and the same variance.

    Parameters
    ----------
    projection : str or Projection
        Sampler of candidates, as in the estimators; any that does not depend on the data.
    direction : array-like of shape (n_features,)
        Direction to approximate.
    angle : float
        θ, in degrees, above 0 and below 90.
    n_projections : int, float or str, default="auto"
        Number of candidates of a node, as in the estimators.
    n_repeats : int, default=10_000
        Number of nodes to simulate; 10 000 in the thesis.
    random_state : int, Generator or None, default=None
        Seed of the draws.

    Returns
    -------
    ProbabilityEstimate
        Estimate with `value` and `standard_error`.

    Examples
    --------
    >>> simulate_within("sparse", [1, 1, 0, 0], angle=20, n_repeats=2000, random_state=0).value
    0.074
    """
    v, theta = read_direction(direction), read_angle(angle)
    check_count("n_repeats", n_repeats)
    options = _core.Options()
    options.families = [native_family(read_sampler(projection, n_projections, len(v)))]
    seeds = np.random.default_rng(random_state).integers(2**63, size=n_repeats).tolist()
    limit = float(np.cos(theta)) - 1e-6  # weights are float32
    share = sum(closest_cosine(options, seed, v) >= limit for seed in seeds) / n_repeats
    return ProbabilityEstimate(share, float(np.sqrt(share * (1.0 - share) / n_repeats)))


def closest_cosine(options: _core.Options, seed: int, v: npt.NDArray[np.float64]) -> float:
    """|cos| of the angle between v and the closest candidate of a root; 0 if there is none."""
    options.seed = seed
    p = len(v)
    # Two rows, of mean zero and variance one, for samplers that standardise.
    X = np.asfortranarray(np.outer([-1.0, 1.0], np.ones(p)), dtype=np.float32)
    none, labels = np.zeros(p, np.int32), np.array([0, 1], np.int32)
    axes, root = _core.sample_tree(X, none, np.zeros(p, np.float32), labels, 2, None, options, 0)
    return float(_cosines(axes if len(axes[0]) > 1 else root, v, root).max(initial=0.0))


def _cosines(
    table: tuple[npt.NDArray[np.uint32], npt.NDArray[np.int32], npt.NDArray[np.float32]],
    v: npt.NDArray[np.float64],
    root: tuple[npt.NDArray[np.uint32], npt.NDArray[np.int32], npt.NDArray[np.float32]],
) -> npt.NDArray[np.float64]:
    """|cos| of the drawn directions of a table: all of them, or for axes those of the root."""
    offset, index, weight = table
    if len(offset) == 1:
        return np.zeros(0)
    owner = np.repeat(np.arange(len(offset) - 1), np.diff(offset))
    weight = weight.astype(np.float64)
    along = np.bincount(owner, weight * v[index], len(offset) - 1)
    length = np.sqrt(np.bincount(owner, weight * weight, len(offset) - 1))
    cosine = np.abs(along) / np.where(length > 0.0, length, 1.0)
    return cosine if table is root else cosine[root[1] - len(v)]
