"""Data to learn from: the papers' simulations, scikit-learn's bundled sets, folders of CSV files.

Simulations return ``(X, y)`` and take a ``random_state``; transformations take one ``X``, or
several to treat alike. Nothing here downloads anything.
"""

from bevel.datasets.bundled import (
    FolderEntry,
    LabelledTable,
    load_breast_cancer,
    load_diabetes,
    load_digits,
    load_folder,
    load_iris,
    load_wine,
)
from bevel.datasets.ranking import search_results
from bevel.datasets.regression import friedman1, friedman2, friedman3, lin_jeon_regression
from bevel.datasets.simulated import (
    bars,
    biomarkers,
    circles,
    consistency,
    esl_mixture,
    esl_mixture_means,
    lin_jeon_classification,
    long_ramp,
    orthant,
    parallel_hyperplanes,
    ringnorm,
    short_ramp,
    sparse_parity,
    spirals,
    threenorm,
    triangle,
    trunk,
    twonorm,
    waveform,
)
from bevel.datasets.survival import proportional_hazards, weibull
from bevel.datasets.transform import affine, correlated, corrupt, rotate, scale

__all__ = [
    "FolderEntry",
    "LabelledTable",
    "affine",
    "bars",
    "biomarkers",
    "circles",
    "consistency",
    "correlated",
    "corrupt",
    "esl_mixture",
    "esl_mixture_means",
    "friedman1",
    "friedman2",
    "friedman3",
    "lin_jeon_classification",
    "lin_jeon_regression",
    "load_breast_cancer",
    "load_diabetes",
    "load_digits",
    "load_folder",
    "load_iris",
    "load_wine",
    "long_ramp",
    "orthant",
    "parallel_hyperplanes",
    "proportional_hazards",
    "ringnorm",
    "rotate",
    "scale",
    "search_results",
    "short_ramp",
    "sparse_parity",
    "spirals",
    "threenorm",
    "triangle",
    "trunk",
    "twonorm",
    "waveform",
    "weibull",
]
