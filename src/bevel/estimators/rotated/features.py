"""A transformer that appends rotated copies of the features, for learners of any library."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, ClassVar, Self

import numpy as np
import numpy.typing as npt
from sklearn.base import TransformerMixin
from sklearn.utils import Tags
from sklearn.utils.validation import check_is_fitted

from bevel import _core
from bevel._types import Float32s
from bevel.data.dataset import learn_dataset
from bevel.data.encoding import Encoding, encode
from bevel.data.scaling import automatic_scale
from bevel.estimators._base import (
    TableEstimator,
    whole_or_not_at_all,
)
from bevel.parameters.forest_parameters import documented
from bevel.parameters.parameter import Parameter, check_each
from bevel.parameters.rotation_parameters import ROTATED_FEATURES
from bevel.training.options import draw_seed
from bevel.training.rotation_ensemble import count_numeric, haar_rotations, rotated_view
from bevel.training.threads import count_threads

# Numbers in the rotations of a transformer: 1 GB.
MAX_WEIGHTS = 2**27


@documented(ROTATED_FEATURES)
class RotatedFeatures(
    TransformerMixin,  # type: ignore[misc]
    TableEstimator,
):
    """The features and K random rotations of them side by side: x | R₁x | … | R_K x.

    A learner that splits on single columns of the result can cut along any axis of any of the
    rotations, and chooses them by itself at every split. Trees that depend on each other, as in
    boosting, use it as well as independent ones. Blaser, "Random rotations in machine learning"
    (thesis), sections 3.2 and 3.2.3. A forest does the same without the copies, with
    `projection="multirotation"`.

    Numeric features are scaled before they are rotated. Missing values become the median of the
    training rows. Nominal columns are not rotated: each becomes C − 1 indicators of its C levels,
    behind the numeric columns.

    Parameters
    ----------
    {parameters}

    Attributes
    ----------
    rotations_ : ndarray of shape (K, n_numeric, n_numeric)
        The rotations; columns are axes.
    {columns}

    Examples
    --------
    >>> from bevel import RotatedFeatures
    >>> from sklearn.datasets import load_iris
    >>> from sklearn.ensemble import HistGradientBoostingClassifier
    >>> from sklearn.pipeline import make_pipeline
    >>> X, y = load_iris(return_X_y=True)
    >>> RotatedFeatures(n_rotations=3, random_state=0).fit_transform(X).shape
    (150, 16)
    >>> model = make_pipeline(RotatedFeatures(random_state=0), HistGradientBoostingClassifier())
    >>> model.fit(X, y).score(X, y)
    1.0
    """

    _parameters: ClassVar[Mapping[str, Parameter]] = ROTATED_FEATURES
    _encoding: Encoding
    rotations_: npt.NDArray[np.float64]

    def __init__(
        self,
        n_rotations: int = 10,
        *,
        flip: bool = False,
        scale: str | None = "auto",
        categorical_features: Any = "from_dtype",
        n_jobs: int | None = None,
        random_state: Any = None,
    ) -> None:
        self.n_rotations = n_rotations
        self.flip = flip
        self.scale = scale
        self.categorical_features = categorical_features
        self.n_jobs = n_jobs
        self.random_state = random_state

    @whole_or_not_at_all
    def fit(self, X: Any, y: Any = None) -> Self:  # noqa: ARG002
        """Learn scales, medians and levels of the columns, and draw the rotations.

        Parameters
        ----------
        X : array, data frame or sparse matrix of shape (n_rows, n_features)
            Training rows, as the forests take them.
        y : None
            Ignored.

        Returns
        -------
        self : object
            The fitted transformer.
        """
        check_each(self._own_parameters(), self._parameters)
        table = self._read(X, "no_validation", reset=True)
        scale = automatic_scale(combines_units=True) if self.scale == "auto" else self.scale
        threads = count_threads(self.n_jobs)
        encoding = learn_dataset(table, self.categorical_features, scale, threads).encoding
        n_numeric = count_numeric(encoding)
        _check_size(int(self.n_rotations), n_numeric, table.n_features)
        seed = draw_seed(self.random_state)
        self.rotations_ = haar_rotations(int(self.n_rotations), n_numeric, seed, flip=self.flip)
        self._encoding = encoding
        return self

    def transform(self, X: Any) -> Float32s:
        """Append the rotated copies to rows.

        Parameters
        ----------
        X : array, data frame or sparse matrix of shape (n_rows, n_features)
            Rows with the columns of fit.

        Returns
        -------
        ndarray of float32, shape (n_rows, (K + 1) · n_numeric + indicators)
            Array in Fortran order.
        """
        check_is_fitted(self)
        table = self._read(X, "no_validation", reset=False)
        threads = count_threads(self.n_jobs)
        rows = encode(table, self._encoding, order="F", n_threads=threads)
        view = rotated_view(rows, self._encoding, None, codes=False)
        n_numeric, n_rotations = self.rotations_.shape[1], len(self.rotations_)
        result = np.empty((len(view), view.shape[1] + n_rotations * n_numeric), np.float32, "F")
        result[:, :n_numeric] = view[:, :n_numeric]
        numbers = result[:, :n_numeric]
        for number, rotation in enumerate(self.rotations_, start=1):
            copy = result[:, number * n_numeric : (number + 1) * n_numeric]
            _core.rotate_rows(numbers, np.asfortranarray(rotation), threads, copy)
        result[:, (n_rotations + 1) * n_numeric :] = view[:, n_numeric:]
        return result

    def get_feature_names_out(self, input_features: Any = None) -> npt.NDArray[np.object_]:
        """Names of the columns of `transform`.

        Parameters
        ----------
        input_features : array-like of str, default=None
            Names of the columns of X; None takes those of fit, or x0, x1, ….

        Returns
        -------
        ndarray of str objects
            Names of numeric columns, then `rotation1_axis0` and so on, then `column=level`.
        """
        check_is_fitted(self)
        names = self._input_names(input_features)
        levels = self._encoding.levels
        numeric = [names[feature] for feature in np.flatnonzero(levels == 0)]
        axes = [
            f"rotation{rotation}_axis{axis}"
            for rotation in range(1, len(self.rotations_) + 1)
            for axis in range(len(numeric))
        ]
        indicators = [
            f"{names[feature]}={level}"
            for feature in sorted(self._encoding.nominal)
            for level in self._encoding.nominal[feature].labels[: int(levels[feature]) - 1]
        ]
        return np.array([*numeric, *axes, *indicators], dtype=object)

    def _input_names(self, input_features: Any) -> list[str]:
        seen = getattr(self, "feature_names_in_", None)
        if input_features is None:
            default = [f"x{number}" for number in range(self.n_features_in_)]
            return default if seen is None else [str(name) for name in seen]
        given = [str(name) for name in input_features]
        if len(given) != self.n_features_in_ or (seen is not None and list(seen) != given):
            raise ValueError(
                "input_features should have length equal to number of features "
                f"({self.n_features_in_}), and be equal to feature_names_in_; got {len(given)} "
                "names. Leave it out to take the names of fit."
            )
        return given

    def __sklearn_tags__(self) -> Tags:
        """Tags of the result."""
        tags = super().__sklearn_tags__()
        tags.transformer_tags.preserves_dtype = ["float32"]
        return tags

    def __sklearn_is_fitted__(self) -> bool:
        return hasattr(self, "_encoding")


def _check_size(n_rotations: int, n_numeric: int, n_features: int) -> None:
    if n_numeric == 0:
        raise ValueError(
            f"X must have a numeric feature to rotate; got {n_features} nominal columns only. Name "
            "fewer in categorical_features."
        )
    n_weights = n_rotations * n_numeric**2
    if n_weights > MAX_WEIGHTS:
        raise ValueError(
            f"n_rotations times the square of the number of features must be at most "
            f"{MAX_WEIGHTS:,} (1 GB); got {n_rotations} × {n_numeric}² = {n_weights:,}. Use fewer "
            'rotations, or a forest with projection="multirotation", which rotates subsets.'
        )
