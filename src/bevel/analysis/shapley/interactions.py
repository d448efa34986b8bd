"""Shapley interaction values: the joint contribution of two features beyond their own."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import numpy.typing as npt

from bevel import _core
from bevel._types import Floats
from bevel.analysis.analysed_forest import read_forest
from bevel.analysis.boosted_sums import explains_sums
from bevel.analysis.output_names import PREDICTIONS, name_of_output
from bevel.analysis.printing import PrintedResult, PrintedTable, data_frame
from bevel.analysis.shapley.arguments import check_limits, rows_as_given, single_output
from bevel.analysis.shapley.background import read_background
from bevel.analysis.shapley.result import column_of_class
from bevel.errors import wrong_value
from bevel.extras import import_optional
from bevel.training.progress import Progress

__all__ = ["ShapleyInteractions", "shapley_interactions"]

N_SHOWN = 10  # pairs in the printed table
MOST_VALUES = 2**28  # 2 GB


@dataclass(frozen=True, eq=False, repr=False)
class ShapleyInteractions(PrintedResult):
    """Contributions of each pair of features to each prediction.

    Attributes
    ----------
    values : ndarray of shape (n, p, p), or (n, p, p, K) of a classifier with K classes
        Half of the interaction of features i and j at both (i, j) and (j, i); on the diagonal the
        own contribution of a feature. The sum over one feature axis is the Shapley value of the
        other; with `base_values` all values add up to the prediction.
    base_values : ndarray of shape () or (K,)
        Mean prediction of the background, by each tree for its rows.
    data : ndarray of shape (n, p)
        The rows, in the user's units.
    names : tuple of str
        Names of the features.
    classes : ndarray or None
        Labels of the classes; None in regression.
    n_background, n_background_given : int
        Number of background rows of each tree, and number of those they were drawn from.
    output_name : str
        Name of the sum of the values.
    """

    values: Floats
    base_values: Floats
    data: npt.NDArray[Any]
    names: tuple[str, ...]
    classes: npt.NDArray[Any] | None
    n_background: int
    n_background_given: int
    output_name: str = PREDICTIONS

    @property
    def predictions(self) -> Floats:
        """Sum of base and all values: the forest's prediction of each row."""
        return np.asarray(self.base_values + self.values.sum(axis=(1, 2)))

    @property
    def strength(self) -> Floats:
        """Mean absolute interactions over rows and classes, (p, p); own effects on the diagonal."""
        mean = np.abs(self.values).mean(axis=0)
        if self.classes is not None:
            mean = mean.mean(axis=2)
        return np.asarray(mean * (2.0 - np.eye(len(mean))))

    def to_pandas(self) -> Any:
        """A frame with a row for each pair of features, the strongest first."""
        pairs = self.pairs()
        names = ("feature", "other", "strength")
        return data_frame({name: [pair[i] for pair in pairs] for i, name in enumerate(names)})

    def pairs(self) -> list[tuple[str, str, float]]:
        """Pairs of features with the strength of their interaction, the strongest first."""
        one, other = np.triu_indices(len(self.names), 1)
        strength = self.strength[one, other]
        order = np.argsort(-strength, kind="stable")
        return [(self.names[one[i]], self.names[other[i]], float(strength[i])) for i in order]

    def output(self, label: Any) -> ShapleyInteractions:
        """The values of one class only, in the shape of a regression."""
        column = column_of_class(self.classes, label)
        return replace(
            self,
            values=self.values[..., column],
            base_values=self.base_values[column],
            classes=None,
            output_name=name_of_output(self.output_name, label),
        )

    def to_shap(self) -> Any:
        """The values as a ``shap.Explanation``, for the plots of shap. Needs shap."""
        shap = import_optional("shap", needed_by="to_shap", install="shap")
        shape = (len(self.values), *self.base_values.shape)
        return shap.Explanation(
            values=self.values,
            base_values=np.broadcast_to(self.base_values, shape).copy(),
            data=self.data,
            feature_names=list(self.names),
        )

    def _printed(self) -> PrintedTable:
        pairs = self.pairs()
        rows = [(f"{one} × {other}", f"{strength:.5g}") for one, other, strength in pairs[:N_SHOWN]]
        hidden = len(pairs) - len(rows)
        more = (f"... and {hidden} more pairs",) if hidden > 0 else ()
        given = self.n_background_given
        of = "" if given == self.n_background else f" of {given}"
        title = (
            f"Shapley interactions: {len(self.values)} rows, {len(self.names)} features, against "
            f"{self.n_background}{of} background rows per tree"
        )
        return PrintedTable(title, ("features", "mean |interaction|"), rows, more)


@explains_sums
def shapley_interactions(
    forest: object,
    X: Any,
    background: Any,
    *,
    background_weight: Any = None,
    max_background: int | None = None,
    max_exact_features: int = 12,
    random_state: int | np.random.Generator | None = None,
    verbose: int = 0,
) -> ShapleyInteractions:
    """Shapley interaction values of the predictions of a fitted forest.

    The interaction of two features is the mean, over coalitions of the others, of their joint
    contribution minus the sum of their single ones (Grabisch and Roubens 1999). All games are
    exact.

    Parameters
    ----------
    forest : fitted forest of Bevel
    X : array, data frame or sparse matrix of shape (n, p)
        Rows to explain.
    background, background_weight, max_background, random_state
        Parameters as in `shapley_values`.
    max_exact_features : int, default=12
        Trees with oblique splits may distinguish 2 to this power cases for a row and a background
        row; more raise an error. At most 20.
    verbose : int, default=0
        1 shows a progress bar.

    Returns
    -------
    ShapleyInteractions

    Examples
    --------
    >>> import numpy as np
    >>> from bevel import ObliqueForestRegressor
    >>> from bevel.analysis import shapley_interactions
    >>> X = np.random.default_rng(0).normal(size=(300, 4))
    >>> y = X[:, 0] * X[:, 1] + X[:, 2]
    >>> forest = ObliqueForestRegressor(50, random_state=0).fit(X, y)
    >>> found = shapley_interactions(forest, X[:20], X, random_state=0)
    >>> found.pairs()[0][:2]
    ('x0', 'x1')
    """
    analysed = read_forest(forest, "shapley_interactions")
    check_limits(max_background, max_exact_features)
    rng = np.random.default_rng(random_state)
    rows = np.ascontiguousarray(analysed.encode(X))
    n_values = len(rows) * analysed.forest.n_features**2 * max(1, analysed.forest.n_classes)
    if n_values > MOST_VALUES:
        remedy = "Explain fewer rows at a time."
        raise wrong_value(
            "The number of interaction values", f"at most {MOST_VALUES}", n_values, remedy
        )
    others, weights, drawn = read_background(
        analysed, background, background_weight, max_background, rng
    )
    progress = Progress(0, len(rows), verbose > 0, None, label="explaining rows")
    values, within, base = _core.shapley_interactions(
        analysed.predictor.view,
        rows,
        others,
        weights,
        drawn,
        analysed.hard,
        max_exact_features,
        analysed.n_threads,
        progress if progress.wanted else None,
    )
    if not within:
        raise wrong_value(
            "A forest of interactions",
            f"one whose trees tell at most {2**max_exact_features} cases apart",
            "one with more",
            "Raise max_exact_features (up to 20), or use a forest of sparser directions.",
        )
    if progress.wanted:
        progress(len(rows))
    return ShapleyInteractions(
        single_output(analysed, values),
        base[0] if analysed.classes is None else base,
        rows_as_given(X, analysed),
        analysed.names,
        analysed.classes,
        len(others) if drawn is None else drawn.shape[1],
        len(others),
        output_name=analysed.output_name,
    )
