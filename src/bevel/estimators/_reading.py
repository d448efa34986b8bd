"""Reading of tables by estimators, which store the number and names of the columns."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import numpy.typing as npt
from sklearn.utils import Tags
from sklearn.utils.validation import check_is_fitted, validate_data

from bevel.data.columns import Columns
from bevel.data.encoding import encode
from bevel.data.tables import Table, read_table
from bevel.errors import join_names
from bevel.training.threads import count_threads


class TableInput:
    """Handling of X in all estimators."""

    n_features_in_: int
    feature_names_in_: npt.NDArray[np.object_]

    def _read(self, X: Any, y: Any, reset: bool) -> Table:
        """Read X and let scikit-learn store, or compare, the number and names of its columns."""
        table = read_table(X)
        if isinstance(X, Columns):  # scikit-learn cannot read these names
            self._read_names(X.names, reset)
            return table
        try:
            validate_data(self, table.native, y, reset=reset, skip_check_array=True)
        except ValueError as error:
            if reset:
                raise
            remedy = "Pass the columns used in fit, in the same order."
            text = str(error).rstrip()
            gap = "\n" if "\n" in text else " "  # scikit-learn lists names one to a line
            raise ValueError(f"{text}{gap}{remedy}") from None
        return table

    def _read_names(self, names: Sequence[str], reset: bool) -> None:
        """Store the names of the columns, or compare them with those of fit, if it saw any."""
        if reset:
            self.n_features_in_ = len(names)
            self.feature_names_in_ = np.array(names, dtype=object)
            return
        seen = getattr(self, "feature_names_in_", None)
        alike = self.n_features_in_ == len(names) if seen is None else list(seen) == list(names)
        if not alike:
            required = f"{self.n_features_in_} columns" if seen is None else join_names(list(seen))
            raise ValueError(
                f"X must have the columns of fit in their order ({required}); got "
                f"{len(names)} columns: {join_names(names)}. Use X.select to choose them."
            )

    def __sklearn_tags__(self) -> Tags:
        """Tags of the tables that are accepted."""
        tags: Tags = super().__sklearn_tags__()  # type: ignore[misc]
        tags.input_tags.allow_nan = True
        tags.input_tags.sparse = True
        tags.input_tags.categorical = True
        return tags


def encode_rows(estimator: Any, X: Any) -> npt.NDArray[np.float32]:
    """Encode rows for prediction as the training rows of a fitted estimator were."""
    check_is_fitted(estimator)
    table = estimator._read(X, "no_validation", reset=False)
    encoding = estimator._fitted.encoding
    return encode(table, encoding, n_threads=count_threads(estimator.n_jobs))
