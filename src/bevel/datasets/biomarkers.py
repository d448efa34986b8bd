"""A simulated study of biomarkers: few samples, many features, two of them with a known signal."""

import numpy as np

from bevel.datasets.conventions import Labelled, RandomState, check_at_least

__all__ = ["biomarkers"]

SHIFTS = (4.0, 2.5)  # of the two markers in cases, in standard deviations
N_SIBLINGS = 3  # peptides of one protein
SHARED = 0.5  # correlation of the peptides of one protein


def biomarkers(
    n_controls: int = 27,
    n_cases: int = 7,
    n_features: int = 318,
    *,
    random_state: RandomState = None,
) -> Labelled:
    """Log abundances of peptides in samples of healthy people and of patients.

    Every feature is standard normal in controls. In cases two of them, the markers, are shifted:
    feature 0 by 4 and feature 1 by 2.5 standard deviations; nothing else differs. Features come
    from proteins, three from each: j, j + k and j + 2k, with k a third of the features, rounded up,
    have correlation 1/2 with each other and none with the rest. So the markers are independent,
    and each has two siblings that are not informative by themselves.

    With as many controls as cases, the Bayes rule of the two markers, on
    ``4 x0 + 2.5 x1``, errs with probability Phi(-2.36) = 0.9 %, that of all features, which takes
    the siblings off, with Phi(-2.89) = 0.2 %.

    Parameters
    ----------
    n_controls, n_cases : int, default=27 and 7
        Samples of each kind: the sizes of the thesis's training set. Its test set has 10 and 22.
    n_features : int, default=318
        Columns, at least 6.
    random_state : int, Generator or None, default=None
        Seed of the draw; None draws afresh each time.

    Returns
    -------
    X : ndarray of float64, shape (n_controls + n_cases, n_features)
        Controls first.
    y : ndarray of int64, shape (n_controls + n_cases,)
        0 for controls, 1 for cases.

    References
    ----------
    Thesis chapter 4, whose measurements this imitates in shape, not in distribution.

    Examples
    --------
    >>> X, y = biomarkers(random_state=0)
    >>> X.shape, np.bincount(y).tolist()
    ((34, 318), [27, 7])
    """
    check_at_least("n_controls", n_controls, 0)
    check_at_least("n_cases", n_cases, 0)
    check_at_least("n_controls + n_cases", n_controls + n_cases, 1)
    check_at_least("n_features", n_features, 2 * N_SIBLINGS)
    rng = np.random.default_rng(random_state)
    y = np.repeat(np.array([0, 1], np.int64), [n_controls, n_cases])
    n_proteins = -(-n_features // N_SIBLINGS)
    level = rng.standard_normal((len(y), n_proteins))
    own = rng.standard_normal((len(y), n_features))
    X = np.sqrt(SHARED) * level[:, np.arange(n_features) % n_proteins] + np.sqrt(1 - SHARED) * own
    X[:, : len(SHIFTS)] += np.outer(y, SHIFTS)
    return X, y
