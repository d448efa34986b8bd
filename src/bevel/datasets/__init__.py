"""Data to learn from: the papers' simulations, scikit-learn's bundled sets, folders of CSV files.

Simulations return ``(X, y)`` and take a ``random_state``; transformations take one ``X``, or
several to treat alike. Nothing here downloads anything.
"""

from bevel.datasets.biomarkers import biomarkers
from bevel.datasets.boundaries import long_ramp, short_ramp, triangle
from bevel.datasets.breiman import ringnorm, threenorm, twonorm, waveform
from bevel.datasets.bundled import (
    load_breast_cancer,
    load_diabetes,
    load_digits,
    load_iris,
    load_wine,
)
from bevel.datasets.folder import FolderEntry, LabelledTable, load_folder
from bevel.datasets.images import bars
from bevel.datasets.noise import correlated, corrupt
from bevel.datasets.planar import (
    circles,
    esl_mixture,
    esl_mixture_means,
    lin_jeon_classification,
    spirals,
)
from bevel.datasets.regression import friedman1, friedman2, friedman3, lin_jeon_regression
from bevel.datasets.simulated import (
    consistency,
    orthant,
    parallel_hyperplanes,
    sparse_parity,
    trunk,
)
from bevel.datasets.survival import proportional_hazards, weibull
from bevel.datasets.transform import affine, rotate, scale

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
