"""Predictions where the rows are: Arrow tables and batches, DuckDB, Spark and Dask.

A fitted estimator is applied batch by batch by the code that `predict` runs, so that the answers
are those of `predict`. For databases without Python `to_sql` of the estimators writes a query.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from inspect import Parameter, Signature
from types import ModuleType
from typing import TYPE_CHECKING, Any

import numpy as np

from bevel.dask.prediction import Model, load_model, model_of
from bevel.data.encoding import Encoding
from bevel.errors import join_names, wrong_type, wrong_value
from bevel.extras import import_optional
from bevel.text.sql import quoted

if TYPE_CHECKING:
    import pyarrow as pa

__all__ = ["duckdb_function", "predict_arrow", "predict_batches", "predict_dask", "predict_spark"]


def predict_arrow(model: Any, rows: Any, *, keep: Sequence[str] = ()) -> pa.Table:
    """Predict the rows of an Arrow table.

    Parameters
    ----------
    model : estimator
        A fitted estimator of one output.
    rows : pyarrow.Table, polars.DataFrame or other table
        Whatever gives Arrow data: tables and readers of pyarrow, frames of polars, results of
        DuckDB. There may be more columns than `fit` saw, in any order. If `fit` saw no names, these
        are x0, x1, ..., or all columns that are not kept.
    keep : list of str, default=()
        Columns of the rows to pass on, such as a key.

    Returns
    -------
    pyarrow.Table
        The kept columns, `prediction`, and of a classifier `probability_` with each label; of
        boosting of several quantiles `quantile_` with each level.

    Examples
    --------
    >>> import pyarrow as pa
    >>> from bevel import ObliqueForestClassifier, scoring
    >>> rows = pa.table({"id": [7, 8, 9], "height": [1.0, 2.0, 3.0]})
    >>> model = ObliqueForestClassifier(5, random_state=0)
    >>> model = model.fit(rows.select(["height"]), ["low", "low", "high"])
    >>> scoring.predict_arrow(model, rows, keep=["id"]).column_names
    ['id', 'prediction', 'probability_high', 'probability_low']
    """
    return _Scorer(model, keep).of_table(_pyarrow().table(rows))


def predict_batches(
    model: Any, batches: Iterable[pa.RecordBatch], *, keep: Sequence[str] = ()
) -> Iterator[pa.RecordBatch]:
    """Predict Arrow batches one after another, so that the rows need not fit in memory.

    Parameters
    ----------
    model, keep
        As in `predict_arrow`.
    batches : iterable of pyarrow.RecordBatch
        Such as a reader, or `pyarrow.dataset.dataset("rows/").to_batches()`.

    Returns
    -------
    iterator of pyarrow.RecordBatch
        Predictions with the columns of `predict_arrow`.

    Examples
    --------
    >>> import pyarrow as pa
    >>> from bevel import ObliqueForestRegressor, scoring
    >>> rows = pa.table({"x": [1.0, 2.0, 3.0, 4.0]})
    >>> model = ObliqueForestRegressor(5, random_state=0).fit(rows, [1.0, 2.0, 3.0, 5.0])
    >>> [len(each) for each in scoring.predict_batches(model, rows.to_batches(max_chunksize=2))]
    [2, 2]
    """
    return _Scorer(model, keep).of_batches(batches)


def duckdb_function(connection: Any, model: Any, name: str) -> str:
    """Register a model as a function of DuckDB, which runs in this process.

    Parameters
    ----------
    connection : duckdb.DuckDBPyConnection
        The connection that gets the function.
    model : estimator
        A fitted estimator of one output.
    name : str
        Name of the function.

    Returns
    -------
    str
        Its call with the columns of `fit` by their names, for a query. It gives the prediction; of
        classes and of several quantiles a STRUCT of the columns of `predict_arrow`.

    Examples
    --------
    >>> import numpy as np
    >>> from bevel import ObliqueForestRegressor, scoring
    >>> model = ObliqueForestRegressor(5, random_state=0).fit(np.eye(4), [1.0, 2.0, 3.0, 5.0])
    >>> class Connection:  # in place of duckdb.connect()
    ...     def create_function(self, *arguments, **options):
    ...         pass
    >>> scoring.duckdb_function(Connection(), model, "price")
    'price("x0", "x1", "x2", "x3")'
    """
    if not isinstance(name, str) or not name.isidentifier():
        required = "a word of letters, digits and underscores"
        raise wrong_value("name", required, name, 'Write for example name="churn".')
    scorer, arrow = _Scorer(model, ()), _pyarrow()
    columns = {title: _DUCKDB_TYPES[kind] for title, kind in scorer.columns.items()}
    fields = ", ".join(f"{quoted(title)} {kind}" for title, kind in columns.items())
    (returned,) = columns.values() if len(columns) == 1 else (f"STRUCT({fields})",)

    def predictions(*given: Any) -> Any:
        found = scorer.of_table(arrow.table(list(given), names=list(scorer.names)))
        if len(columns) == 1:
            return found.column(0)
        return arrow.chunked_array([each.to_struct_array() for each in found.to_batches()])

    # DuckDB counts the parameters of a function.
    numbered = (Parameter(f"_{k}", Parameter.POSITIONAL_ONLY) for k in range(len(scorer.names)))
    vars(predictions)["__signature__"] = Signature(list(numbered))
    encoding = model.fitted_forest_.encoding
    parameters = [_duckdb_type(encoding, feature) for feature in range(len(scorer.names))]
    options = {"type": "arrow", "null_handling": "special"}
    connection.create_function(name, predictions, parameters, returned, **options)
    return f"{name}({', '.join(map(quoted, scorer.names))})"


def predict_spark(model: Any, frame: Any, *, keep: Sequence[str] = ()) -> Any:
    """Predict the rows of a Spark data frame on its executors, lazily.

    Parameters
    ----------
    model, keep
        As in `predict_arrow`. The model travels with the tasks; Bevel and pyarrow must be installed
        on the executors.
    frame : pyspark.sql.DataFrame
        The rows.

    Returns
    -------
    pyspark.sql.DataFrame
        The columns of `predict_arrow`. Nothing is computed until they are asked for.

    Examples
    --------
    >>> from bevel import scoring
    >>> frame = spark.read.parquet("rows/")  # doctest: +SKIP
    >>> scoring.predict_spark(model, frame, keep=["id"]).write.parquet("out/")  # doctest: +SKIP
    >>> scoring.predict_spark.__name__
    'predict_spark'
    """
    types = import_optional(
        "pyspark.sql.types", needed_by="scoring.predict_spark", install="pyspark"
    )
    scorer = _Scorer(model, keep).to_send()
    scorer.check_names(frame.columns)
    fields = [frame.schema[name] for name in scorer.keep]
    for name, kind in scorer.columns.items():
        fields.append(types.StructField(name, getattr(types, _SPARK_TYPES[kind])()))
    needed = list(dict.fromkeys([*scorer.keep, *scorer.read_from(frame.columns)]))
    some = frame.select([f"`{name.replace('`', '``')}`" for name in needed])
    # Spark takes a dot in a name for a part of a column.
    plain = some.toDF(*[f"c{place}" for place in range(len(needed))])

    def predictions(batches: Iterable[Any]) -> Iterator[Any]:
        return scorer.of_batches(each.rename_columns(needed) for each in batches)

    return plain.mapInArrow(predictions, types.StructType(fields))


def predict_dask(model: Any, frame: Any, *, keep: Sequence[str] = ()) -> Any:
    """Predict the rows of a Dask data frame on its workers, lazily.

    Parameters
    ----------
    model, keep
        As in `predict_arrow`. The model travels with the tasks; a worker reads it once.
    frame : dask.dataframe.DataFrame
        The rows.

    Returns
    -------
    dask.dataframe.DataFrame
        The columns of `predict_arrow`, in the partitions and with the index of the rows.

    Examples
    --------
    >>> import dask.dataframe as dd
    >>> import pandas as pd
    >>> from bevel import ObliqueForestRegressor, scoring
    >>> rows = pd.DataFrame({"x": [1.0, 2.0, 3.0, 4.0]})
    >>> model = ObliqueForestRegressor(5, random_state=0).fit(rows, [1.0, 2.0, 3.0, 5.0])
    >>> found = scoring.predict_dask(model, dd.from_pandas(rows, npartitions=2), keep=["x"])
    >>> list(found.columns), len(found.compute())
    (['x', 'prediction'], 4)
    """
    scorer = _Scorer(model, keep).to_send()
    if not hasattr(frame, "map_partitions") or not hasattr(frame, "columns"):
        remedy = "Pass dask.dataframe.from_dask_array(...) for an array."
        raise wrong_type("frame", "a Dask data frame", frame, remedy)
    scorer.check_names(list(frame.columns))
    empty = scorer.of_frame(frame._meta.iloc[:0])
    return frame.map_partitions(
        scorer.of_frame, meta=empty, token="bevel-score", enforce_metadata=False
    )


# What a column of predictions holds, and its types.
_ARROW_TYPES = {"number": "float64", "integer": "int64", "text": "string", "truth": "bool_"}
_DUCKDB_TYPES = {"number": "DOUBLE", "integer": "BIGINT", "text": "VARCHAR", "truth": "BOOLEAN"}
_SPARK_TYPES = {
    "number": "DoubleType",
    "integer": "LongType",
    "text": "StringType",
    "truth": "BooleanType",
}


class _Scorer:
    """Applies a model to Arrow tables; pickled, it holds the bytes of the model's file.

    Attributes
    ----------
    keep : tuple of str
        Columns of the rows to pass on.
    names : tuple of str
        Columns that the model reads.
    columns : dict of str to str
        The columns of predictions and what they hold, a key of `_ARROW_TYPES`.
    """

    names: tuple[str, ...]

    def __init__(self, model: Any, keep: Sequence[str]) -> None:
        if not hasattr(model, "fitted_forest_"):
            required = "a fitted forest, boosting or combined model"
            raise wrong_type("model", required, model, "Call fit before, or use its own predict.")
        if isinstance(keep, str) or not all(isinstance(name, str) for name in keep):
            remedy = 'Write for example keep=["id"].'
            raise wrong_type("keep", "a list of names of columns", keep, remedy)
        fitted = model.fitted_forest_
        fitted.task.check_one_output("scoring")
        self.keep, self.names = tuple(keep), fitted.names
        self._has_names = fitted.feature_names is not None
        self.columns = _columns_of(model)
        twice = sorted(set(self.keep) & set(self.columns))
        if twice:
            required = f"other names than those of predictions ({join_names(list(self.columns))})"
            raise wrong_value("keep", required, twice[0], "Rename the column.")
        self._model: Any = model

    def to_send(self) -> _Scorer:
        """The scorer with the model as bytes, for other processes."""
        self._model = model_of(self._model)
        return self

    @property
    def _estimator(self) -> Any:
        sent = isinstance(self._model, Model)
        return load_model(self._model.data, self._model.name) if sent else self._model

    def check_names(self, given: Sequence[str]) -> None:
        """Raise unless the columns to read and to keep are there."""
        given = list(given)
        missing = [name for name in (*self.keep, *self.read_from(given)) if name not in given]
        if missing:
            raise ValueError(
                f"rows must have the columns of fit and of keep; got none named "
                f"{join_names(missing)}. They have {join_names(given)}."
            )

    def read_from(self, given: Sequence[str]) -> Sequence[str]:
        """Names of the columns to read; without names of fit all that are not kept."""
        if self._has_names or set(self.names) <= set(given):
            return self.names
        others = [name for name in given if name not in self.keep]
        if len(others) != len(self.names):
            raise ValueError(
                f"rows must have the {len(self.names)} columns of fit, which had no names, beside "
                f"those of keep; got {len(others)}. Select the columns, or name them "
                f"{join_names(list(self.names), 2)}."
            )
        return others

    def of_table(self, table: Any) -> Any:
        """Predictions of the rows of an Arrow table."""
        arrow = _pyarrow()
        self.check_names(table.column_names)
        given = table.select(list(self.read_from(table.column_names)))
        for field in given.schema:
            if isinstance(field.type, arrow.BaseExtensionType):
                raise TypeError(
                    f"rows must have columns of Arrow's own types; got {field.type} in column "
                    f"{field.name!r}. Convert it, for example to text."
                )
        kinds = [getattr(arrow, _ARROW_TYPES[kind])() for kind in self.columns.values()]
        values = self._values(given) if len(table) else [[] for _ in kinds]
        arrays = [arrow.array(each, kind) for each, kind in zip(values, kinds, strict=True)]
        kept = {name: table.column(name) for name in self.keep}
        return arrow.table(kept | dict(zip(self.columns, arrays, strict=True)))

    def of_batches(self, batches: Iterable[Any]) -> Iterator[Any]:
        """Predictions of Arrow batches, one for each that has rows."""
        arrow = _pyarrow()
        for batch in batches:
            yield from self.of_table(arrow.table(batch)).combine_chunks().to_batches()

    def of_frame(self, frame: Any) -> Any:
        """Predictions of a frame of pandas, with its index."""
        table = _pyarrow().Table.from_pandas(frame, preserve_index=False)
        found = self.of_table(table).select(list(self.columns)).to_pandas()
        kept = frame[list(self.keep)]
        return kept.assign(**{name: found[name].to_numpy() for name in found})

    def _values(self, table: Any) -> list[Any]:
        model, rows = self._estimator, table if self._has_names else _as_array(table)
        predicted = np.asarray(model.predict(rows))
        if predicted.ndim > 1:
            return list(predicted.T)
        if len(self.columns) == 1:
            return [predicted]
        return [predicted, *model.predict_proba(rows).T]


def _columns_of(model: Any) -> dict[str, str]:
    """The columns of a model's predictions and what they hold."""
    fitted = model.fitted_forest_
    if fitted.classes is not None:
        labels = fitted.classes.tolist()
        columns = {"prediction": _kind_of(labels)}
        return columns | {f"probability_{label}": "number" for label in labels}
    if fitted.aggregation.sorts and fitted.aggregation.n_outputs > 1:
        return {f"quantile_{level:g}": "number" for level in model.quantile}
    return {"prediction": "number"}


def _kind_of(labels: Sequence[Any]) -> str:
    kinds = {"truth": bool, "integer": int, "number": int | float, "text": str}
    for kind, types in kinds.items():
        if all(isinstance(label, types) for label in labels):
            return kind
    raise TypeError(
        f"scoring must return labels of text, of numbers or of truth values; got {labels[0]!r} "
        f"of type {type(labels[0]).__name__}. Fit with such labels."
    )


def _duckdb_type(encoding: Encoding, feature: int) -> str:
    """Type of a column that the function of a model takes."""
    if feature in encoding.nominal:
        labels = encoding.nominal[feature].labels.tolist()
        return _DUCKDB_TYPES[_kind_of(labels)] if labels else "VARCHAR"
    kinds = {"truth": "BOOLEAN", "day": "TIMESTAMP", "time": "TIMESTAMP"}
    return kinds.get(encoding.kind(feature), "DOUBLE")


def _as_array(table: Any) -> Any:
    columns = [table.column(k).to_numpy() for k in range(table.num_columns)]
    return np.column_stack(columns)


def _pyarrow() -> ModuleType:
    return import_optional("pyarrow", needed_by="bevel.scoring", install="pyarrow")
