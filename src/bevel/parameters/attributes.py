"""The attributes that several fitted estimators have: type and meaning of each, in one place.

Docstrings are rendered from these, where they say {classes}, {columns} and so on.
"""

from __future__ import annotations

from collections.abc import Mapping

__all__ = ["ATTRIBUTES"]

ATTRIBUTES: Mapping[str, str] = {
    "classes": """\
classes_ : ndarray of shape (n_classes_,)
    Class labels, sorted.
n_classes_ : int
    Number of classes.
""",
    "columns": """\
n_features_in_ : int
    Number of columns seen in fit.
feature_names_in_ : ndarray of shape (n_features_in_,)
    Column names seen in fit, if X had names that are all strings.
""",
    "trees": """\
feature_importances_ : ndarray of shape (n_features_in_,)
    Gain importance of each feature, summing to one.
forest_ : FlatForest
    The trees.
fitted_forest_ : FittedForest
    The trees with all that files, exports and analysis need beside them.
predictor_ : RowPredictor
    The forest for servers: no checks, any thread.
""",
    "outputs": """\
n_outputs_ : int
    Number of targets. Of several outputs `classes_` and `n_classes_` are lists.
output_names_ : tuple of str
    Names of the outputs: the columns of y, or y0, y1, ...
output_importances_ : ndarray of shape (n_outputs_, n_features_in_)
    Gain importance of each feature for each output.
""",
    "families": """\
families_ : FamilyRecord
    With `projection="auto"`: the families that share the trees, with out-of-bag error, its standard
    error, weight and number of trees of each, and the families that do not fit the table.
""",
    "weighted_rotations": """\
rotations_ : ndarray of shape (R, n_numeric, n_numeric)
    Rotations of the numeric features as trees read them; columns are axes. The first is the
    identity. Drawn again from the seed at each access.
complexities_ : ndarray of shape (R,)
    Median over the trees of a micro-forest of #nodes + depth/N.
oob_errors_ : ndarray of shape (R,)
    Out-of-bag error of each micro-forest (in regression the mean squared error), rows by their
    weights; NaN if the weights did not need it.
rotation_weights_ : ndarray of shape (R,)
    Weights of the rotations, summing to one.
h_ : float or None
    The tuning parameter of "cut" and "exp".
trees_per_rotation_ : ndarray of shape (R,)
    Number of trees on each rotation, summing to M.
rotation_of_tree_ : ndarray of shape (M,)
    Rotation of each tree.
""",
    "group_rotations": """\
rotations_ : ndarray of shape (n_groups, n_numeric, n_numeric)
    The rotation of each group; columns are axes.
""",
}
