"""A problem for a system that does not take it as it is: the rest of the recipe ``native``."""

from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from bevel_lab.data.recipes import RECIPES
from bevel_lab.protocols.base import Problem

__all__ = ["adapted"]


def adapted(problem: Problem, *, nominal: bool, missing: bool) -> Problem:
    """Encode nominal columns and impute, as far as a system requires it.

    What is needed is learned on the training rows. Nominal columns of 0 and 1, as recipes make
    them, are taken as numbers.

    Parameters
    ----------
    problem : Problem
    nominal, missing : bool
        Whether the system takes nominal columns and missing values as they are.
    """
    is_nominal = problem.categorical_features
    if is_nominal is None:
        is_nominal = np.zeros(problem.X_train.shape[1], dtype=np.bool_)
    has_missing = bool(np.isnan(problem.X_train).any() or np.isnan(problem.X_test).any())
    if (nominal or not is_nominal.any()) and (missing or not has_missing):
        return problem
    if not nominal:
        is_nominal = is_nominal & ~_are_indicators(problem.X_train, problem.X_test)
    takes = (("nominal", nominal), ("missing", missing))
    fitted = RECIPES["native"].fit(
        problem.X_train, nominal=is_nominal, accepts=[word for word, does in takes if does]
    )
    return replace(
        problem,
        X_train=fitted.transform(problem.X_train),
        X_test=fitted.transform(problem.X_test),
        categorical_features=fitted.categorical_features if nominal else None,
    )


def _are_indicators(*tables: NDArray[np.float64]) -> NDArray[np.bool_]:
    """Which columns hold 0 and 1 alone."""
    both = np.concatenate(tables)
    return np.asarray(np.isin(both, (0.0, 1.0)).all(axis=0))
