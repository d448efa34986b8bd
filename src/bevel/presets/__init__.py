"""The systems of the papers by name, at the settings of their papers.

Each function returns an ordinary estimator, not fitted yet; `presets.TABLE` lists them all.

>>> from bevel import presets
>>> presets.sporf(random_state=0)
ObliqueForestClassifier(bootstrap=True, criterion='gini', n_estimators=500,
                        projection='sparse', random_state=0, scale=None,
                        voting='hard')

What the papers tune on each data set (mostly the number of candidates) stands at the value that
they recommend, or else at the usual one. Where a system departs from its paper its docstring says
so; these departures are common to all:

- Nominal columns are split by subsets of their levels, where the papers encode them as numbers, and
  missing values need no imputation.
- Rows of a node are counted once, however often they are in the bag.
- Papers on classification only do not define regression. There the same directions
  are compared by squared error, and trees are averaged.
"""

from bevel.presets.boosting import rotated_boosting, sparse_boosting
from bevel.presets.forests import (
    ccf,
    extra_trees,
    forest_rc,
    frank,
    orf_lda,
    orf_ridge,
    orf_rnd,
    random_forest,
    rotation_forest,
    rr_et,
    rr_rf,
    s_rerf,
    sporf,
)
from bevel.presets.rotations import multi_rotation, regularized_rotation, rr_gbm, stacked_rotation
from bevel.presets.table import table
from bevel.presets.theory import breiman_forest, data_agnostic, random_point, random_side

__all__ = [
    "TABLE",
    "breiman_forest",
    "ccf",
    "data_agnostic",
    "extra_trees",
    "forest_rc",
    "frank",
    "multi_rotation",
    "orf_lda",
    "orf_ridge",
    "orf_rnd",
    "random_forest",
    "random_point",
    "random_side",
    "regularized_rotation",
    "rotated_boosting",
    "rotation_forest",
    "rr_et",
    "rr_gbm",
    "rr_rf",
    "s_rerf",
    "sparse_boosting",
    "sporf",
    "stacked_rotation",
]

TABLE = table()
