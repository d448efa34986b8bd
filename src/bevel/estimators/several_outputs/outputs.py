"""Several outputs of forests: reads and splits them, and selects single ones."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, ClassVar, Self

import numpy as np
import numpy.typing as npt
from sklearn.utils import Tags

from bevel._types import Floats
from bevel.data.outputs import OutputColumns, split_outputs
from bevel.estimators._named_parameters import copy_with
from bevel.forest.importance import gain_importances
from bevel.forest.outputs import Outputs
from bevel.forest.predictor import most_probable_classes

if TYPE_CHECKING:
    from bevel.forest.fitted_forest import FittedForest


class SeveralOutputs:
    """The part of an estimator that handles several outputs."""

    _takes_outputs: ClassVar[bool] = True  # whether `fit` takes y of shape (n_rows, n_outputs)
    _fitted: FittedForest
    n_outputs_: int

    @property
    def output_names_(self) -> tuple[str, ...]:
        """Names of the outputs: those of the columns of y, or y0, y1, ..."""
        outputs = self.fitted_forest_.outputs  # type: ignore[attr-defined]
        return ("y0",) if outputs is None else outputs.names

    def output(self, which: int | str) -> Self:
        """The forest of one of several outputs, to use where one target is required.

        It has the same splits. Its `feature_importances_` are those of this output alone.

        Parameters
        ----------
        which : int or str
            Position of the output, or its name.

        Returns
        -------
        estimator
            A fitted estimator of one target, of the same class.

        Examples
        --------
        >>> from bevel import ObliqueForestRegressor
        >>> from sklearn.datasets import load_linnerud
        >>> X, y = load_linnerud(return_X_y=True, as_frame=True)
        >>> forest = ObliqueForestRegressor(50, random_state=0).fit(X, y)
        >>> forest.output("Waist").predict(X).shape
        (20,)
        """
        fitted = self.fitted_forest_  # type: ignore[attr-defined]
        if fitted.outputs is None:
            return self
        k = fitted.outputs.position(which)
        changed = {"class_weight": None, "warm_start": False, "oob_score": False}
        known = self._parameters  # type: ignore[attr-defined]
        single: Any = copy_with(
            self,  # type: ignore[type-var]
            **{name: value for name, value in changed.items() if name in known},
        )
        for name in ("n_features_in_", "feature_names_in_"):
            if hasattr(self, name):
                setattr(single, name, getattr(self, name))
        single.n_outputs_ = 1
        single._fitted = fitted.output(k)
        if fitted.outputs.classes is not None:
            single.classes_ = fitted.outputs.classes[k]
            single.n_classes_ = len(single.classes_)
        return single  # type: ignore[no-any-return]

    @property
    def output_importances_(self) -> Floats:
        """Gain importance of each feature for each output, (n_outputs, n_features); rows sum to 1.

        By variance in regression and by the Gini index in classification, for any criterion.
        """
        if self.fitted_forest_.outputs is None:  # type: ignore[attr-defined]
            return self.feature_importances_[None, :]  # type: ignore[attr-defined,no-any-return]
        each = [gain_importances(self.output(k).forest_) for k in range(self.n_outputs_)]  # type: ignore[attr-defined]
        return np.array(each)

    def _split(self, y: Any) -> OutputColumns | None:
        """The outputs of y if there are several and the estimator takes them."""
        return split_outputs(y) if self._takes_outputs else None

    def __sklearn_tags__(self) -> Tags:
        """Add tags of the targets that are accepted."""
        tags: Tags = super().__sklearn_tags__()  # type: ignore[misc]
        if self._takes_outputs:
            # Absolute error and Poisson deviance support one output only.
            of_one = getattr(self, "criterion", None) in ("absolute_error", "poisson")
            tags.target_tags.multi_output = not of_one
            if tags.classifier_tags is not None:
                tags.classifier_tags.multi_label = True
        return tags


def labels_of_outputs(outputs: Outputs, codes: npt.NDArray[Any]) -> npt.NDArray[Any]:
    """Labels of the classes of each output, given by position; objects if their types differ."""
    assert outputs.classes is not None
    columns = [labels.take(codes[:, k]) for k, labels in enumerate(outputs.classes)]
    kinds = {column.dtype.kind for column in columns}
    alike = len(kinds) == 1 or kinds <= {"i", "u", "f"}
    dtype = np.result_type(*(column.dtype for column in columns)) if alike else np.dtype(object)
    labels = np.empty(codes.shape, dtype=dtype)
    for k, column in enumerate(columns):
        labels[:, k] = column
    return labels


def decide_outputs(outputs: Outputs, shares: Floats) -> npt.NDArray[Any]:
    """Most probable label of each output."""
    return labels_of_outputs(outputs, most_probable_classes(shares, outputs.n_classes))


def all_right(y: Any, predicted: npt.NDArray[Any], sample_weight: Any = None) -> float:
    """Share of rows for which every output is predicted correctly."""
    given = split_outputs(y)
    n_outputs = 1 if given is None else len(given.columns)
    if given is None or predicted.shape != (len(given.columns[0]), n_outputs):
        raise ValueError(
            f"y must have shape {predicted.shape}, a label for each row and output; got "
            f"{n_outputs} output(s). Pass the y that belongs to X."
        )
    right = np.ones(len(predicted), dtype=bool)
    for k, column in enumerate(given.columns):
        right &= np.asarray(column == predicted[:, k], dtype=bool)
    return float(np.average(right, weights=sample_weight))
