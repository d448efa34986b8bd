"""Base of all estimators: reading of tables, parameters by name, fits that change an estimator only
on success, errors of memory, the link to the documentation, and what estimators of trees can do.
"""

from __future__ import annotations

import copy
import inspect
import os
import traceback
import warnings
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from functools import partial, wraps
from importlib.metadata import metadata
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar, Concatenate, ParamSpec, Self, TypeVar, cast

import numpy as np
import numpy.typing as npt
import scipy.sparse as sp
from sklearn.base import BaseEstimator, clone
from sklearn.utils import Tags
from sklearn.utils.validation import check_is_fitted, validate_data

from bevel._types import AnyFloats
from bevel.data.encoding import encode
from bevel.data.tables import Columns, SparseTable, Table, read_table
from bevel.errors import join_names, shorten
from bevel.estimators._callbacks import CallbackSupportMixin, fit_with_callbacks, has_callbacks
from bevel.estimators.registry import kind_of
from bevel.export.c import write_c
from bevel.export.onnx import to_onnx
from bevel.export.sql import to_sql
from bevel.files.atomic import write_whole
from bevel.files.model import StoredEstimator, write_model
from bevel.forest.aggregation import Aggregation, MeanOfTrees
from bevel.forest.fitted_forest import FittedCombination, FittedForest
from bevel.forest.flat_forest import FlatForest, take_trees
from bevel.forest.importance import gain_importances
from bevel.forest.predictor import NumberTooLargeError, PackedPredictor, RowPredictor
from bevel.forest.quantiles import take_targets
from bevel.forest.records import ColumnRecord
from bevel.forest.row_blocks import row_blocks
from bevel.forest.task import Task
from bevel.parameters.other_names import (
    Answer,
    answers,
    instead_of_attribute,
    remedy_of_fit,
    remedy_of_predict,
)
from bevel.parameters.parameter import Parameter
from bevel.printable import printable
from bevel.projections import NAMED, Projection
from bevel.text.vocabulary import vocabulary_of
from bevel.training.threads import count_threads

if TYPE_CHECKING:
    import onnx

__all__ = [
    "DOCUMENTATION",
    "DocumentationLink",
    "TableEstimator",
    "TreeEstimator",
    "answers_arguments",
    "copy_with",
    "encode_rows",
    "encoded_blocks",
    "explained",
    "in_blocks",
    "keep_trees",
    "published_at",
    "refuse_arrays",
    "set_attributes",
    "whole_or_not_at_all",
    "with_feature_names",
]

# The link from an estimator in a notebook to its documentation, if that is published.


def published_at(urls: Iterable[str]) -> str:
    """The URL of a distribution that is labelled Documentation; empty if there is none."""
    for line in urls:
        name, _, address = line.partition(",")
        if name.strip().lower() == "documentation":
            return address.strip().rstrip("/")
    return ""


# Where the documents of docs/ are published, from `project.urls` of pyproject.toml. While there is
# no such entry nothing is published, and estimators are shown without a link.
DOCUMENTATION = published_at(metadata("bevel").get_all("Project-URL") or ())


class DocumentationLink:
    """Estimators whose HTML has a link to their section of docs/reference/estimators.md.

    scikit-learn reads these three names. A foreign module name suppresses the link; without the
    names scikit-learn would link to its own documentation.
    """

    _doc_link_module = "bevel" if DOCUMENTATION else ""
    _doc_link_template = f"{DOCUMENTATION}/reference/estimators.html#{{section}}"

    def _doc_link_url_param_generator(self, *_: object) -> dict[str, str]:
        # Some versions of scikit-learn pass the estimator as an argument too.
        return {"section": type(self).__name__.lower()}


# Parameters by name: those of a projection through the estimator, and hints for unknown ones.

Estimator = TypeVar("Estimator", bound="TableEstimator")
Scalar = TypeVar("Scalar", bound=np.generic)
NESTED = "projection__"
_VARIABLE = (inspect.Parameter.VAR_POSITIONAL, inspect.Parameter.VAR_KEYWORD)


# Fewer rows are predicted in less time than it takes to start a thread.
FEW_ROWS = 32
PLAIN_TYPES = (np.dtype(np.float32), np.dtype(np.float64))


class TableEstimator(DocumentationLink, CallbackSupportMixin, BaseEstimator):  # type: ignore[misc]
    """Base of all estimators: parameters by name, and tables of any kind."""

    _parameters: ClassVar[Mapping[str, Parameter]]
    projection: Any
    n_features_in_: int
    feature_names_in_: npt.NDArray[np.object_]

    def __new__(cls, *_: Any, **parameters: Any) -> Self:
        """Raise for unknown parameters, with the name that they have here."""
        known = _known(cls)
        unknown = {name: parameters[name] for name in parameters if name not in known}
        if unknown and not _takes_any(cls):
            names = _named("parameter", unknown)
            raise TypeError(f"{cls.__name__} has no {names}. {answers(unknown, known)}")
        return super().__new__(cls)  # type: ignore[no-any-return]

    def __getattr__(self, name: str) -> Any:
        """Raise for a missing attribute, with what there is instead of one of other libraries."""
        if (text := instead_of_attribute(name, _known(type(self)))) is None:
            return object.__getattribute__(self, name)  # raises the error, also that of a property
        raise AttributeError(f"{type(self).__name__} has no attribute {name!r}. {text}")

    def set_params(self, **parameters: Any) -> Self:
        """Set parameters by name.

        Parameters
        ----------
        **parameters
            Values by name. ``projection__density=3`` replaces the projection by a copy with that
            setting; a name such as "sparse" becomes its object.

        Returns
        -------
        self : object
            The estimator.
        """
        self._check_known(parameters)
        settings = {
            name.removeprefix(NESTED): parameters.pop(name)
            for name in list(parameters)
            if name.startswith(NESTED)
        }
        super().set_params(**parameters)
        if settings:
            self.projection = _changed(self.projection, settings)
        return self

    def _own_parameters(self) -> dict[str, Any]:
        """Values of the library's parameters, even if the `__init__` of a subclass lacks them."""
        return {name: getattr(self, name) for name in self._parameters}

    def _check_known(self, parameters: Mapping[str, Any]) -> None:
        known = _known(type(self))
        unknown = {
            name: value
            for name, value in parameters.items()
            if name.partition("__")[0] not in known
        }
        if unknown:
            raise ValueError(
                f"Invalid {_named('parameter', unknown)} for estimator {type(self).__name__}. "
                f"{answers(unknown, known)}"
            )

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
            self._remember_columns(len(names), names)
            return
        seen = getattr(self, "feature_names_in_", None)
        alike = self.n_features_in_ == len(names) if seen is None else list(seen) == list(names)
        if not alike:
            required = f"{self.n_features_in_} columns" if seen is None else join_names(list(seen))
            raise ValueError(
                f"X must have the columns of fit in their order ({required}); got "
                f"{len(names)} columns: {join_names(names)}. Use X.select to choose them."
            )

    def _remember_columns(self, n_features: int, names: Sequence[str] | None) -> None:
        """Store the number and names of the columns of a table that scikit-learn has not seen."""
        self.n_features_in_ = n_features
        if names is not None:
            self.feature_names_in_ = np.array(names, dtype=object)
        elif hasattr(self, "feature_names_in_"):
            del self.feature_names_in_

    def _is_plain(self, X: Any) -> bool:
        """Whether X is an array of floats with the columns of fit; takes microseconds at most."""
        known = self.__dict__
        fitted: FittedForest | FittedCombination | None = known.get("_fitted")
        return (
            type(X) is np.ndarray
            and X.dtype in PLAIN_TYPES
            and X.ndim == 2
            and X.shape[0] > 0
            and X.shape[1] == known.get("n_features_in_")
            and X.flags.aligned
            and X.strides[0] % X.itemsize == X.strides[1] % X.itemsize == 0
            and "feature_names_in_" not in known
            and fitted is not None
            and fitted.is_packed
            and not fitted.encoding.nominal
            and not fitted.encoding.dates
        )

    def __sklearn_tags__(self) -> Tags:
        """Tags of the tables that are accepted."""
        tags: Tags = super().__sklearn_tags__()
        tags.input_tags.allow_nan = True
        tags.input_tags.sparse = True
        tags.input_tags.categorical = True
        return tags


def refuse_arrays(y: Any, weight: Any, groups: Any = None, time: Any = None) -> None:
    """Raise if targets, weights, groups or times are given in addition to a scanned table."""
    for name, value in (("y", y), ("sample_weight", weight)):
        if value is not None:
            raise ValueError(
                f"{name} must be None with a scanned table, which has its own; got "
                f"{shorten(value)}. Pass it to scan, as target= or weight=."
            )
    for name, value in (("groups", groups), ("time", time)):
        if value is not None:
            raise ValueError(
                f"{name} must be None with a scanned table, whose rows are drawn one by one; got "
                f"{shorten(value)}. Leave it out, or fit rows that are in memory."
            )


def copy_with(estimator: Estimator, **parameters: Any) -> Estimator:
    """Return an unfitted copy with other values of the library's parameters.

    The values become attributes, since the `__init__` of a subclass need not take them.
    """
    copy: Estimator = clone(estimator)
    copy._check_known({name: parameters[name] for name in parameters.keys() - copy._parameters})
    for name, value in parameters.items():
        setattr(copy, name, value)
    return copy


def _known(cls: type) -> list[str]:
    """Names of the parameters of a class, in their order."""
    parameters = inspect.signature(cls).parameters
    return [name for name, each in parameters.items() if each.kind not in _VARIABLE]


def _named(what: str, names: Iterable[str]) -> str:
    """Names in a message, such as "parameters 'eta', 'depth'"."""
    listed = [repr(name) for name in names]
    return f"{what}{'s' if len(listed) > 1 else ''} {', '.join(listed)}"


def _takes_any(cls: type) -> bool:
    """Whether the `__init__` of a subclass takes ``**`` parameters."""
    kinds = [each.kind for each in inspect.signature(cls).parameters.values()]
    return inspect.Parameter.VAR_KEYWORD in kinds


def _changed(projection: object, settings: dict[str, Any]) -> Projection:
    """Return a copy of a projection with other settings."""
    if isinstance(projection, str) and projection in NAMED:
        projection = NAMED[projection]()
    if not isinstance(projection, Projection):
        raise ValueError(
            f"{NESTED}{next(iter(settings))} needs a single projection; got "
            f"{shorten(projection)}. Set projection to an object of bevel.projections, such as "
            "P.SparseSigns()."
        )
    return projection.with_params(**settings)


def encode_rows(estimator: Any, X: Any, training: bool = False) -> npt.NDArray[np.float32]:
    """Encode rows for prediction, or as the training rows of the fit, given again, were."""
    check_is_fitted(estimator)
    table = estimator._read(X, "no_validation", reset=False)
    return _encoded(estimator, X, table, training)


def _encoded(
    estimator: Any, X: Any, table: Table, training: bool = False
) -> npt.NDArray[np.float32]:
    """Encode a table that was read, and remember the layout of its frame."""
    encoding, n_threads = estimator._fitted.encoding, count_threads(estimator.n_jobs)
    rows = encode(table, encoding, n_threads=n_threads, training=training)
    encoding.remember(X, getattr(estimator, "feature_names_in_", None))
    return rows


def encoded_blocks(estimator: Any, X: Any) -> Iterator[npt.NDArray[np.float32]]:
    """Encode rows for prediction: all rows of a dense table at once, those of a sparse one in
    blocks, of which one is in memory at a time.
    """
    check_is_fitted(estimator)
    table = estimator._read(X, "no_validation", reset=False)
    if not isinstance(table, SparseTable):
        yield _encoded(estimator, X, table)
        return
    encoding, n_threads = estimator._fitted.encoding, count_threads(estimator.n_jobs)
    for rows in row_blocks(table.n_rows, table.n_features):
        yield encode(table, encoding, n_threads=n_threads, rows=rows)


def in_blocks(
    predict: Callable[[npt.NDArray[np.float32]], npt.NDArray[Scalar]], estimator: Any, X: Any
) -> npt.NDArray[Scalar]:
    """Predictions of encoded rows, block by block; see `encoded_blocks`."""
    parts = [predict(rows) for rows in encoded_blocks(estimator, X)]
    return parts[0] if len(parts) == 1 else np.concatenate(parts)


def explained(error: MemoryError, caller: str, estimator: Any, X: Any) -> MemoryError:
    """An error with a message that says what needed memory, how much, and what to do.

    Parameters
    ----------
    error : MemoryError
        Of the core, NumPy or Python. Errors of the package, whose messages are sentences, are
        returned as they are.
    caller : str
        Name of the method.
    estimator : object
        Whose method it is.
    X : object
        The rows that it was given.
    """
    text = str(error).strip()
    if text.endswith("."):
        return error
    traceback.clear_frames(error.__traceback__)  # whose tables may be what fills the memory
    needed = f" ({text})" if text else ""
    return MemoryError(
        f"{caller} needs more memory than there is{needed}; got {_given(estimator, X)}"
        f"{_held()}. {_remedy(caller, estimator)}"
    )


def _given(estimator: Any, X: Any) -> str:
    shape: Any = getattr(X, "shape", ())
    parts = [f"{n:,} {what}" for n, what in zip(shape, ("rows", "columns"), strict=False)]
    n_classes = getattr(estimator, "n_classes_", None)
    if n_classes is not None:
        parts.append(f"{int(np.sum(n_classes)):,} classes")
    sizes = (name for name in ("n_estimators", "max_iter") if hasattr(estimator, name))
    parts.extend(f"{name}={getattr(estimator, name)}" for name in sizes)
    return ", ".join(parts) or "a table"


def _held() -> str:
    """What the process holds, where the system says so."""
    try:
        pages = int(Path("/proc/self/statm").read_text("ascii").split()[1])
        size = pages * os.sysconf("SC_PAGE_SIZE")
    except (OSError, ValueError, IndexError):
        return ""
    return f", in a process that holds {size / 1e9:.2f} GB"


def _remedy(caller: str, estimator: Any) -> str:
    if caller != "fit":
        return "Predict fewer rows at a time, or free memory."
    steps = ["fewer rows"]
    if hasattr(estimator, "n_classes_"):
        steps.append("fewer classes")
    if hasattr(estimator, "n_estimators"):
        steps.append("fewer trees")
    if getattr(estimator, "oob_score", False):
        steps.append("oob_score=False")
    if getattr(estimator, "projection", "") == "auto":
        steps.append('projection="sparse"')
    if getattr(estimator, "n_jobs", 1) != 1:
        steps.append("n_jobs=1")
    return f"Use {', '.join(steps)}, or free memory."


# Fits that change an estimator only on success, and leave it unchanged if they fail.

Guarded = TypeVar("Guarded", bound=object)
Given = ParamSpec("Given")
Result = TypeVar("Result")


def whole_or_not_at_all(
    fit: Callable[Concatenate[Guarded, Given], Result],
) -> Callable[Concatenate[Guarded, Given], Result]:
    """Decorator of `fit`: the result of an earlier fit stays until the new model is complete.

    The fit works on a copy of the estimator, which then gets what the copy has. Threads may predict
    with the earlier model meanwhile. After Ctrl-C an estimator whose class sets
    `_keeps_interrupted_fits` gets the model that the copy has, if it has a new one. If there is not
    enough memory, the error says for what; see `explained`.
    """

    @wraps(fit)
    def guarded(self: Guarded, /, *args: Given.args, **kwargs: Given.kwargs) -> Result:
        _check_arguments(fit, self, kwargs, remedy_of_fit)
        before = dict(vars(self))
        copy = object.__new__(type(self))
        vars(copy).update(before)
        try:
            # Without callbacks there is no further call between fit and its caller, whom warnings
            # name by the number of calls.
            if has_callbacks(self):
                result = _told(fit, self, copy, args, kwargs)
            else:
                result = fit(copy, *args, **kwargs)
        except KeyboardInterrupt:
            if getattr(self, "_keeps_interrupted_fits", False) and _has_new_model(copy, before):
                _take_over(self, copy, before)
            raise
        except MemoryError as error:
            told = explained(error, "fit", copy, args[0] if args else kwargs.get("X"))
            if told is error:
                raise
            raise told from error
        _take_over(self, copy, before)
        return cast("Result", self) if result is copy else result

    return guarded


def _told(fit: Callable[..., Result], estimator: Any, copy: Any, args: Any, kwargs: Any) -> Result:
    """Fit a copy of an estimator, and tell callbacks of scikit-learn that the estimator has."""
    given = inspect.signature(fit).bind(copy, *args, **kwargs).arguments
    table, target = given.get("X"), given.get("y")
    run = partial(fit, copy, *args, **kwargs)
    return cast("Result", fit_with_callbacks(estimator, copy, run, table, target))


def answers_arguments(
    predict: Callable[Concatenate[Guarded, Given], Result],
) -> Callable[Concatenate[Guarded, Given], Result]:
    """Decorator of `predict` and its kin: unknown arguments are answered by what they are here."""

    @wraps(predict)
    def answering(self: Guarded, /, *args: Given.args, **kwargs: Given.kwargs) -> Result:
        if kwargs:
            _check_arguments(predict, self, kwargs, remedy_of_predict)
        return predict(self, *args, **kwargs)

    return answering


def _check_arguments(
    method: Callable[..., Any], estimator: Any, given: Mapping[str, Any], answer: Answer
) -> None:
    """Raise for unknown arguments of a method, with what they are here."""
    taken = inspect.signature(method).parameters
    unknown = {name: given[name] for name in given if name not in taken}
    if unknown and not any(each.kind is each.VAR_KEYWORD for each in taken.values()):
        kind = type(estimator)
        remedy, what = answers(unknown, _known(kind), answer), _named("argument", unknown)
        raise TypeError(f"{method.__name__} of {kind.__name__} has no {what}. {remedy}")


def _has_new_model(copy: object, before: Mapping[str, Any]) -> bool:
    model = vars(copy).get("_fitted")
    return model is not None and model is not before.get("_fitted")


def _take_over(estimator: object, copy: object, before: Mapping[str, Any]) -> None:
    """Give an estimator the changed attributes of its copy, and drop those that the copy lacks."""
    own, new = vars(estimator), vars(copy)
    own.update(
        {name: new[name] for name in new if name not in before or before[name] is not new[name]}
    )
    for name in before.keys() - new.keys():
        own.pop(name, None)


# Estimators of trees: what all of them can do once they are fitted.


class TreeEstimator(TableEstimator):
    """The methods of a fitted estimator that read its trees."""

    _tasks: ClassVar[tuple[type[Task], ...]]
    _aggregation: ClassVar[type[Aggregation]] = MeanOfTrees
    _has_rotations: ClassVar[bool] = False
    n_jobs: int | None
    _fitted: FittedForest
    n_estimators: int | str
    warm_start: bool

    def _to_store(self) -> StoredEstimator:
        """Contents of a model file of the estimator."""
        score = getattr(self, "oob_score_", None)
        return StoredEstimator(
            type(self).__name__, self._own_parameters(), self.fitted_forest_, score
        )

    @property
    def fitted_forest_(self) -> FittedForest:
        """The fitted forest as files, exports and analysis read it."""
        check_is_fitted(self)
        return self._fitted

    def slim(self) -> Self:
        """Drop the arrays that only training and analysis need; predictions stay the same.

        The gains and weights of the nodes, recorded p-values and kept targets go;
        `feature_importances_` then raises. See `forest_.bytes_per_node`.

        Returns
        -------
        self : object
            The estimator.
        """
        check_is_fitted(self)
        predictor = PackedPredictor(self._fitted.forest.slim())
        self._fitted = replace(self._fitted, predictor=predictor, targets=None)
        return self

    def apply(self, X: Any) -> npt.NDArray[np.int32]:
        """Leaf of each row in each tree.

        Parameters
        ----------
        X : array, data frame or sparse matrix of shape (n_rows, n_features)
            Rows to predict.

        Returns
        -------
        ndarray of int32, shape (n_rows, n_estimators)
            Nodes, counted from the root of their tree.
        """
        check_is_fitted(self)
        leaves, n_threads = self._fitted.predictor.leaves, count_threads(self.n_jobs)
        return in_blocks(lambda rows: leaves(rows, n_threads), self, X)

    def decision_path(self, X: Any) -> tuple[sp.csr_matrix, npt.NDArray[np.int64]]:
        """Nodes that each row passes.

        Parameters
        ----------
        X : array, data frame or sparse matrix of shape (n_rows, n_features)
            Rows to predict.

        Returns
        -------
        indicator : csr_matrix of shape (n_rows, n_nodes)
            One where a row passes a node, over the nodes of all trees.
        n_nodes_ptr : ndarray of shape (n_estimators + 1,)
            Tree t owns columns n_nodes_ptr[t] to n_nodes_ptr[t + 1].
        """
        check_is_fitted(self)
        paths, n_threads = self._fitted.predictor.paths, count_threads(self.n_jobs)
        parts = [paths(rows, n_threads) for rows in encoded_blocks(self, X)]
        return sp.vstack([indicator for indicator, _ in parts], format="csr"), parts[0][1]

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write the fitted estimator to a file for `bevel.load`, whole or not at all.

        A file holds no functions and no random generators: a generator as `random_state`, a
        `callback` and a function as `oob_score` become their defaults, with a warning; a function
        in `P.Custom` is needed again to grow more trees. Out-of-bag predictions of single rows are
        not saved.

        Parameters
        ----------
        path : str or path
            Path, such as "model.bevel". A crash or a full disk leaves an older file unchanged.
        """
        check_is_fitted(self)
        write_whole(path, self._file())

    def _file(self) -> Iterator[bytes | memoryview]:
        """The bytes of the model's file, piece by piece."""
        return write_model(self._to_store(), kind_of(self))

    def verify(self) -> Self:
        """Check the whole of a file that was loaded with `bevel.load(path, mmap=True)`.

        Returns
        -------
        self : object
            The estimator, with its forest in memory. Raises ModelFileError if the file is damaged.
        """
        check_is_fitted(self)
        self._fitted = self._fitted.in_memory()
        return self

    def to_c(self, name: str = "model") -> str:
        """The forest as one C99 file without dependencies.

        Parameters
        ----------
        name : str, default="model"
            Prefix of everything in the file, a C identifier.

        Returns
        -------
        str
            C source; its comment describes the interface. The documentation, Topics, has more.
        """
        return "".join(write_c(self.fitted_forest_, name))

    def to_sql(self, table: str, *, dialect: str = "duckdb", keep: Sequence[str] = ()) -> str:
        """The forest as one SQL query, to predict where the rows are.

        The query reads the columns of `fit` by their names (x0, x1, ... if it saw none) and gives
        `prediction` and, of classes, `probability_` with each label. NULL and NaN are missing
        values. In DuckDB and PostgreSQL rows reach the leaves that they reach in `predict`; SQLite
        has no numbers of single precision, so that rows within a rounding error of a threshold
        may go to the other side. The documentation, Topics, SQL, has more.

        Parameters
        ----------
        table : str
            Name of the table or view that has the rows.
        dialect : {"duckdb", "postgresql", "sqlite"}, default="duckdb"
            The database.
        keep : list of str, default=()
            Columns of the table to pass on, such as a key: databases do not keep the order of rows.

        Returns
        -------
        str
            The query. Models of up to 100,000 nodes, counted once for each output or class, can be
            written.

        Examples
        --------
        >>> from bevel import ObliqueForestClassifier
        >>> from bevel.datasets import load_iris
        >>> X, y = load_iris()
        >>> model = ObliqueForestClassifier(10, random_state=0).fit(X, y)
        >>> query = model.to_sql("flowers", keep=["id"])
        >>> query.count("CASE") > 0
        True
        """
        return to_sql(self.fitted_forest_, table, dialect, keep)

    def to_onnx(
        self, *, dtype: str = "float32", target_opset: int = 18, name: str = "bevel"
    ) -> onnx.ModelProto:
        """The forest as an ONNX model, to run without Python; needs `bevel[onnx]`.

        A forest of numeric features takes one input, `X` of shape (n_rows, n_features). A forest
        with nominal columns takes one input of shape (n_rows, 1) per column, under the columns'
        names. A classifier returns `label` and `probabilities`, a regressor `prediction`.
        The documentation, Topics, ONNX, describes the graph and how to serve it.

        Parameters
        ----------
        dtype : {"float32", "float64"}, default="float32"
            Type of numeric inputs, probabilities and predictions. Take float64 where rows have
            more digits than float32 holds and are scaled: `predict` scales them in float64. A
            regression whose predictions float32 cannot hold needs float64, else raises.
        target_opset : int, default=18
            Version of the ONNX operators, 17 or later.
        name : str, default="bevel"
            Name of the model's graph.

        Returns
        -------
        onnx.ModelProto
            Write it with `onnx.save`, or `model.SerializeToString()`.

        Examples
        --------
        >>> import onnxruntime
        >>> from bevel import ObliqueForestClassifier
        >>> from sklearn.datasets import load_iris
        >>> X, y = load_iris(return_X_y=True)
        >>> model = ObliqueForestClassifier(10, random_state=0).fit(X, y).to_onnx()
        >>> session = onnxruntime.InferenceSession(model.SerializeToString())
        >>> label, probabilities = session.run(None, {"X": X.astype("float32")})
        >>> probabilities.shape
        (150, 3)
        """
        fitted = self.fitted_forest_
        return to_onnx(fitted, dtype=dtype, target_opset=target_opset, name=name)

    @property
    def forest_(self) -> FlatForest:
        """The trees, as read-only arrays; print `forest_.tree(0)` to read one."""
        fitted = self.fitted_forest_
        return fitted.forest.with_names(vocabulary_of(fitted))

    @property
    def predictor_(self) -> RowPredictor:
        """The forest for servers: no checks, any thread; see `RowPredictor`."""
        self.verify()  # a mapped file must not be walked without checks
        fitted = self.fitted_forest_
        fitted.task.check_one_output("predictor_")
        fitted.encoding.check_plain("predictor_")
        how = fitted.aggregation
        return RowPredictor(
            *(fitted.packed_predictor, fitted.encoding.reading, how.hard, how.power, how.least)
        )

    @property
    def feature_importances_(self) -> npt.NDArray[np.float64]:
        """Gain importance of each feature, summing to one (see `bevel.analysis.importance`)."""
        return gain_importances(self.forest_)

    @property
    def columns_(self) -> ColumnRecord:
        """How each column is read: as a number, by its levels, as means, or not at all."""
        fitted = self.fitted_forest_
        combined: set[int] = set()  # nominal columns whose levels are terms of directions
        for member in fitted.members:
            forest = member.forest
            if len(forest.entry_level):
                combined.update(np.unique(forest.entry_index[forest.entry_level >= 0]).tolist())
        read_as = [fitted.encoding.read_as(f, f in combined) for f in range(fitted.n_features)]
        return ColumnRecord(tuple(map(printable, fitted.names)), tuple(read_as))

    @property
    def text_columns_(self) -> tuple[str, ...] | tuple[int, ...]:
        """Columns of free text, which are left out: their names, or positions if X had none."""
        fitted = self.fitted_forest_
        texts, names = sorted(fitted.encoding.texts), fitted.feature_names
        return tuple(texts) if names is None else tuple(names[feature] for feature in texts)

    def _names_of_columns(self) -> tuple[str, ...] | None:
        names = getattr(self, "feature_names_in_", None)
        return None if names is None else tuple(str(name) for name in names)

    def _predict_with(self, method: str, X: Any, *arguments: Any) -> Any:
        """Call a method of the predictor; rows that need no conversion are passed as they are."""
        try:
            return self._predict(method, X, *arguments)
        except MemoryError as error:
            told = explained(error, "A prediction", self, X)
            if told is error:
                raise
            raise told from error

    def _predict(self, method: str, X: Any, *arguments: Any) -> Any:
        plain = self._plain(X)
        if plain is not None:
            few = len(plain) < FEW_ROWS and self.n_jobs != 0
            n_threads = 1 if few else count_threads(self.n_jobs)
            fitted = self._fitted
            predict = getattr(fitted.predictor, method)
            try:
                return predict(plain, n_threads, *arguments, fitted.encoding.reading)
            except NumberTooLargeError:
                pass  # the slower conversion raises an error that names the row and column
        check_is_fitted(self)
        predict, n_threads = getattr(self._fitted.predictor, method), count_threads(self.n_jobs)
        return in_blocks(lambda rows: predict(rows, n_threads, *arguments), self, X)

    def _plain(self, X: Any) -> AnyFloats | None:
        """Rows as an array whose columns need no check; None if there is more to do."""
        if self._is_plain(X):
            return X  # type: ignore[no-any-return]
        known = self.__dict__
        fitted: FittedForest | None = known.get("_fitted")
        if fitted is None or not isinstance(fitted.predictor, PackedPredictor):
            return None
        return fitted.encoding.of_frame(X, known.get("feature_names_in_"))

    def __sklearn_is_fitted__(self) -> bool:
        return hasattr(self, "_fitted")

    def _trees_are_kept(self) -> bool:
        return bool(self.warm_start) and hasattr(self, "_fitted")

    def _trees_to_keep(self) -> FittedForest | None:
        """The forest of an earlier fit that this one adds to."""
        if not self._trees_are_kept():
            return None
        n_before = self._fitted.forest.n_trees
        wanted = n_before if isinstance(self.n_estimators, str) else self.n_estimators
        if wanted < n_before:
            raise ValueError(
                f"n_estimators must be at least the {n_before} trees that exist when "
                f"warm_start=True; got {self.n_estimators}. Raise it, or set warm_start=False."
            )
        if wanted == n_before:
            warnings.warn(
                "Warm-start fitting without increasing n_estimators does not fit new trees.",
                UserWarning,
                stacklevel=4,
            )
        return self._fitted


def set_attributes(estimator: Any, task: Task) -> None:
    """Set the fitted attributes that tell the classes of a task."""
    for name, value in task.attributes.items():
        setattr(estimator, name, value)


# Smaller versions of a fitted forest, made of some of its trees.

Grown = TypeVar("Grown", bound="TreeEstimator")


def keep_trees(estimator: Grown, trees: npt.NDArray[np.int64]) -> Grown:
    """New estimator with some of the trees, and without estimates that describe all of them."""
    pruned = copy.copy(estimator)
    pruned.n_estimators = len(trees)
    pruned._fitted = _take(estimator._fitted, trees)
    for name in ("oob_score_", "oob_decision_function_", "oob_prediction_"):
        if hasattr(pruned, name):
            delattr(pruned, name)
    return pruned


def with_feature_names(estimator: Any, names: tuple[str, ...]) -> Any:
    """Copy of an estimator that was fitted without names, whose texts and results have names.

    It takes rows without names, as the estimator does.
    """
    named = copy.copy(estimator)
    named._fitted = estimator._fitted.with_names(names)
    return named


def _take(fitted: FittedForest, trees: npt.NDArray[np.int64]) -> FittedForest:
    forest, targets = fitted.forest, fitted.kept_targets
    return replace(
        fitted,
        predictor=PackedPredictor(take_trees(forest, trees)),
        aggregation=fitted.aggregation.of_some_trees(len(trees), fitted.task.n_classes),
        provenance=fitted.provenance.of_some_trees(trees),
        targets=None if targets is None else take_targets(targets, forest, trees),
    )
