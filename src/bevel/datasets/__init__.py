"""Data to learn from: the papers' simulations, scikit-learn's bundled sets, folders of CSV files.

Simulations return ``(X, y)`` and take a ``random_state``; transformations take one ``X``, or
several to treat alike. Nothing here downloads anything.
"""

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
from bevel.datasets.simulated import (
    consistency,
    orthant,
    parallel_hyperplanes,
    sparse_parity,
    trunk,
)

__all__ = [
    "FolderEntry",
    "LabelledTable",
    "bars",
    "consistency",
    "load_breast_cancer",
    "load_diabetes",
    "load_digits",
    "load_folder",
    "load_iris",
    "load_wine",
    "orthant",
    "parallel_hyperplanes",
    "ringnorm",
    "sparse_parity",
    "threenorm",
    "trunk",
    "twonorm",
    "waveform",
]
