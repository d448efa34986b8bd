"""Fitted forests around trees that were never fitted."""

from __future__ import annotations

from typing import Any

import numpy as np

from bevel.data.encoding import Encoding, Levels
from bevel.data.scaling import IdentityScaler
from bevel.forest.aggregation import MeanOfTrees
from bevel.forest.fitted_forest import FittedForest
from bevel.forest.flat_forest import FlatForest
from bevel.forest.predictor import PackedPredictor
from bevel.forest.provenance import Provenance
from bevel.forest.task import task_of


def fitted_forest(
    forest: FlatForest, encoding: Encoding | None = None, **facts: Any
) -> FittedForest:
    """A fitted forest of some trees; classes are 0, 1, ... and nominal labels their codes."""
    nominal = {
        int(feature): Levels(np.arange(forest.levels[feature]).astype(object), False)
        for feature in np.flatnonzero(forest.levels)
    }
    about = {
        "feature_names": None,
        "task": task_of(np.arange(forest.n_classes) if forest.n_classes else None),
        "aggregation": MeanOfTrees(),
        "provenance": Provenance(seed=None),
    }
    return FittedForest(
        PackedPredictor(forest),
        encoding or Encoding(IdentityScaler(), nominal, forest.levels, forest.medians),
        **(about | facts),
    )
