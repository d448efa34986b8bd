"""A file of rows as a learning problem: features, target and task; and rows of a file for a saved
model.

Columns that identify rows, are empty or cannot be learned from are left out.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from bevel._types import Floats
from bevel.data.tables import Columns
from bevel.data.text_columns import holds_text
from bevel.errors import join_names, nearest, shorten
from bevel.tables.options import Source, TableOptions
from bevel.tables.table_file import TableFile, kinds_of_fit, open_table
from bevel.workflow.tasks import CLASSIFICATION, ISOLATION, REGRESSION, OneTarget, TableTask

__all__ = [
    "MAX_WHOLE",
    "Key",
    "LabelledRows",
    "ModelRows",
    "find_keys",
    "read_labelled_rows",
    "read_model_rows",
]

# Identifier columns, which do not generalise to new rows: row numbers, keys, free text.
#
# A forest overfits them: in a file sorted by the target, a row number predicts the target.

FEW_ROWS = 20  # with fewer rows, distinct values may be chance
MAX_WHOLE = 2.0**53  # above it not every whole number is a float
_WORDS = re.compile(r"[A-Z]+(?=[A-Z][a-z])|[A-Z]?[a-z]+|[A-Z]+|\d+|#")
_UNNAMED = re.compile(r"Unnamed: \d+")  # name that pandas gives to an unnamed column
_KEYS = {"id", "ids", "uuid", "guid", "pk", "key", "rowid"}
_NUMBERS = {
    "index",
    "idx",
    "row",
    "rownum",
    "rowname",
    "rownames",
    "nr",
    "no",
    "obs",
    "#",
    "serial",
}
_NUMBERS |= {"row number", "row name", "row names", "row index", "row no", "s no", "serial number"}
_NUMBERS |= {"serial no", "record", "record number", "case number", "observation", "sn", "level 0"}
_TIMES = {
    "year",
    "years",
    "yr",
    "month",
    "week",
    "day",
    "days",
    "date",
    "time",
    "timestamp",
    "hour",
}
_TIMES |= {"hours", "minute", "minutes", "second", "seconds", "quarter", "period", "step", "t"}
_TIMES |= {"epoch", "tick", "frame", "age"}


@dataclass(frozen=True)
class Key:
    """A column that identifies rows, and the reason why it is taken for one.

    Free text has no reason besides.
    """

    name: str
    why: str = ""


def find_keys(
    X: Columns, row_names: str | None, wanted: Collection[str], index: Collection[str] = ()
) -> list[Key]:
    """Columns to leave out, except those that the user has named.

    Whole numbers are keys if they count the rows from 0 or 1, if they differ in every row and the
    name of the column suggests a key (id, patient_id, PassengerId), or if they are beyond 2^53.
    Sorted measurements such as years are not keys. Labels are keys if they differ in every row, or
    in so many rows that nothing can be learned from them. The index of a pandas data frame, whose
    columns are `index`, is always a key.
    """
    found = []
    for place, name in enumerate(X.names):
        if name in index and name not in wanted:
            found.append(Key(name, "the index of a pandas data frame"))
            continue
        if name in wanted:
            continue
        if holds_text(X.values[place]):
            found.append(Key(name))
            continue
        if X.missing(place).any() or name in X.dates:
            continue
        is_nameless = name == row_names or _UNNAMED.fullmatch(name) is not None
        column = X.values[place]
        if column.dtype.kind == "O":
            why = _why_labels(len(X), len(set(column)), is_nameless or _is_key(name))
        else:
            why = _why_numbers(column, name, is_nameless)
        if why:
            nameless = "no name in the file, " if is_nameless else ""
            found.append(Key(name, nameless + why))
    return found


def _why_labels(n_rows: int, n_labels: int, is_named_so: bool) -> str:
    if n_labels == n_rows and (n_rows > FEW_ROWS or is_named_so):
        return "a different label in every row"
    if 2 * n_labels > n_rows > FEW_ROWS:
        return f"{n_labels:,} labels in {n_rows:,} rows"
    return ""


def _why_numbers(values: Floats, name: str, is_nameless: bool) -> str:
    n_rows = len(values)
    if n_rows < 2 or not bool(np.all(values == np.round(values))):
        return ""
    if len(np.unique(values)) < n_rows:
        return ""
    counts = bool(np.all(np.diff(values) == 1.0))
    is_named_so = is_nameless or _is_key(name)
    if counts and (
        is_named_so or (values[0] in (0, 1) and n_rows > FEW_ROWS and not _is_time(name))
    ):
        return "the number of the row"
    if is_named_so and n_rows > FEW_ROWS:
        return "a different number in every row"
    if float(np.abs(values).min()) > MAX_WHOLE and n_rows > FEW_ROWS and not _is_time(name):
        return "a number beyond 2^53, different in every row"
    return ""


def _is_key(name: str) -> bool:
    words = [word.lower() for word in _WORDS.findall(name)]
    return bool(words) and (
        words[-1] in _KEYS or words[0] in ("id", "uuid", "guid") or " ".join(words) in _NUMBERS
    )


def _is_time(name: str) -> bool:
    return any(word.lower() in _TIMES for word in _WORDS.findall(name))


MAX_MISFIT_LABELS = 30  # for a column of numbers that became words


def _without_empty(X: Columns) -> tuple[Columns, list[str]]:
    """Drop columns without a single value."""
    empty = {name for index, name in enumerate(X.names) if X.missing(index).all()}
    if not empty:
        return X, []
    kept = [name for name in X.names if name not in empty]
    listed = join_names([repr(name) for name in X.names if name in empty])
    if not kept:
        raise ValueError(f"Features must have values; got only empty columns: {listed}.")
    return X.select(kept), [f"Columns without any value are left out: {listed}."]


def _without_keys(
    X: Columns, table: TableFile, wanted: Collection[str], keep_id: bool
) -> tuple[Columns, list[str]]:
    """Drop columns that identify rows, with a note."""
    keys = [] if keep_id else find_keys(X, table.row_names, wanted, table.index)
    if not keys:
        return X, []
    names = {key.name for key in keys}
    kept = [name for name in X.names if name not in names]
    listed = join_names([f"{key.name!r} ({key.why or 'free text'})" for key in keys])
    if not kept:
        return X, [f"Every feature only identifies rows: {listed}."]
    texts = [repr(key.name) for key in keys if not key.why]
    listed = join_names([f"{key.name!r} ({key.why})" for key in keys if key.why])
    notes = [f"Left out, because they name rows: {listed}; `keep_id` keeps them."] if listed else []
    if texts:
        notes.append(
            f"Left out, because they hold free text: {join_names(texts)}. Turn the words into "
            "numbers to use them."
        )
    return X.select(kept), notes


def _check_misfits(path: object, X: Columns, misfits: Mapping[str, str]) -> None:
    """Raise if numbers or dates became labels that are too many to learn from."""
    for index in X.nominal:
        name, n_labels = X.names[index], len(set(X.values[index]))
        if name in misfits and n_labels > MAX_MISFIT_LABELS:
            raise ValueError(
                f"{path}: column {name!r} holds numbers or dates, but for {misfits[name]}; as "
                f"words they would be {n_labels:,} labels, too many to learn from. Name what means "
                f'missing (`missing`), read the column as numbers (`types={{{name!r}: "number"}}`) '
                f"or as labels all the same (`nominal`), name the `decimal` sign or the "
                "`delimiter`, or leave the column out (`drop`)."
            )


def _note_constant(X: Columns) -> list[str]:
    """Note for a table whose features are all constant."""
    for index in range(len(X.names)):
        present = X.values[index][~X.missing(index)]
        if np.any(present != present[0]) or len(present) < len(X):
            return []
    return ["No feature varies: every row gets the same prediction."]


MAX_NUMBERED_CLASSES = 10  # with more distinct whole numbers, the target is a quantity


@dataclass(frozen=True, eq=False)
class LabelledRows:
    """Features and target of a file.

    Attributes
    ----------
    X : Columns
        Features.
    y : ndarray of shape (n_rows,), Columns, SurvivalTarget or None
        Words or whole numbers in classification, floats in regression, a column for each of
        several targets, times and events; None without a target. None are missing.
    task : TableTask
        What is learned.
    target : str
        Name of the column of y, or of its first column; empty without a target.
    notes : tuple of str
        Notes for the user on how the file was read.
    number : ndarray of int64, shape (n_rows,), or None
        Number of each row in the file, where 1 is the first below the header; None: 1, 2, ...
    weights : ndarray of shape (n_rows,), or None
        Weights of the rows, if a column has them.
    ids : mapping of str to ndarray of object
        Columns that name the rows, as they are written in the file.
    """

    X: Columns
    y: Any
    task: Any
    target: str
    notes: tuple[str, ...]
    number: npt.NDArray[np.int64] | None = None
    weights: npt.NDArray[np.float64] | None = None
    ids: Mapping[str, npt.NDArray[Any]] = field(default_factory=dict)

    @property
    def targets(self) -> tuple[str, ...]:
        """Names of the columns of y."""
        return tuple(self.task.columns(self))

    @property
    def classes(self) -> npt.NDArray[Any]:
        """Distinct labels, sorted; empty if the target has no classes."""
        return np.asarray(self.task.classes(self.y))

    def describe(self) -> str:
        """Rows and features in one line."""
        n_rows, n_features = self.X.shape
        n_nominal = len(self.X.nominal)
        kinds = f"{n_features - n_nominal:,} numeric, {n_nominal:,} nominal"
        plural = "" if n_features == 1 else "s"
        return f"{n_rows:,} rows, {n_features:,} feature{plural} ({kinds})"

    def describe_target(self) -> str:
        """Description of the target, in one line."""
        return str(self.task.describe(self))


def read_labelled_rows(
    path: Path | Source,
    target: str | None,
    *,
    task: str = "auto",
    drop: Sequence[str] = (),
    nominal: Sequence[str] = (),
    keep_id: bool = False,
    weights: str | None = None,
    row_id: Sequence[str] = (),
    options: TableOptions | None = None,
) -> LabelledRows:
    """Read a table and split it into features and target.

    Parameters
    ----------
    path : Path or Source
        CSV, TSV or Parquet.
    target : str or None
        Name of the column to predict; rows that miss it are left out. None: all columns are
        features.
    task : {"auto", "classification", "regression"}
        "auto" is classification for words and for up to ten distinct whole numbers.
    drop : sequence of str
        Columns to leave out.
    nominal : sequence of str
        Columns whose numbers are labels.
    keep_id : bool, default=False
        Keep columns that name rows: row numbers, keys and free text.
    weights : str, default=None
        Column of the rows' weights.
    row_id : sequence of str
        Columns that name rows: not features, but kept.
    options : TableOptions, default=None
        Format of the file.
    """
    options = options or TableOptions()
    table = open_table(path, options)
    targets = [] if target is None else [target]
    special = [name for name in (*targets, weights, *row_id) if name is not None]
    table.check_present([*special, *drop, *nominal])
    _check_uses(table, target, drop, nominal, weights, row_id)
    names = [name for name in table.names if name not in {*special, *drop}]
    if not names:
        raise ValueError(f"{table.source} {_no_features(target, len(table.names))}")
    read = table.read([*targets, *names], dict.fromkeys(nominal, "nominal"))
    notes = [*table.notes, *read.notes]
    if len(read.columns) == 0:
        raise ValueError(
            f"{table.source} must have rows below its header; got none. Check the file."
        )
    X = read.columns.select(names).with_truths(set(names) - {*nominal, *options.types})
    X, left_out = _without_keys(X, table, {*nominal, *options.types}, keep_id)
    learned: TableTask = ISOLATION
    present, y, remark = np.ones(len(X), dtype=bool), None, list[str]()
    if target is not None:
        present = ~read.columns.missing(0)
        kind, column, remark = _read_target(table, target, read.columns.values[0], task)
        if not present.all():
            notes.append(f"{int((~present).sum()):,} rows without a target are left out.")
            X, column = X.rows(present), column[present]
        learned, y = kind, kind.typed(column)
        _check_varies(table.source, target, y)
        kind.check(table.source, target, y)
    X, empty = _without_empty(X)
    _check_misfits(table.source, X, read.misfits)
    return LabelledRows(
        X,
        y,
        learned,
        target or "",
        (*notes, *remark, *left_out, *empty, *_note_constant(X)),
        np.flatnonzero(present) + 1,
        None if weights is None else _read_weights(table, weights, present),
        {name: words[present] for name, words in table.read_words(row_id).items()},
    )


def _no_features(target: str | None, n_columns: int) -> str:
    """What is wrong with a table without features."""
    if target is None:
        return (
            "must have a column that is no name of rows and not dropped; got "
            f"{n_columns} column(s). Check `drop` and `row_id`."
        )
    return (
        f"must have a column beside the target {target!r}; got {n_columns} column(s). Check the "
        "`delimiter`, the `target` and `drop`."
    )


def _read_weights(
    table: TableFile, name: str, present: npt.NDArray[np.bool_]
) -> npt.NDArray[np.float64]:
    """Weights of the rows; the estimator checks their range."""
    read = table.read([name], {name: "numeric"}).columns
    missing = np.flatnonzero(read.missing(0) & present)
    if len(missing):
        raise ValueError(
            f"{table.source}: column {name!r} must have a weight in every row; got none in row "
            f"{missing[0] + 1}. Write 0 for rows that do not count."
        )
    return np.asarray(read.values[0][present], dtype=np.float64)


def _check_uses(
    table: TableFile,
    target: str | None,
    drop: Sequence[str],
    nominal: Sequence[str],
    weights: str | None,
    row_id: Sequence[str],
) -> None:
    """Raise if a column is to be used in two ways, or the target is two columns."""
    if target in table.twice:
        raise ValueError(
            f"{table.source} must have one column {target!r} to predict; got several. Rename them "
            "in the first line."
        )
    uses = [] if target is None else [(target, "`target`")]
    uses += [(name, "`row_id`") for name in dict.fromkeys(row_id)]
    uses += [] if weights is None else [(weights, "`weights`")]
    uses += [(name, "`nominal`") for name in dict.fromkeys(nominal) if name != target]
    uses += [(name, "`drop`") for name in dict.fromkeys(drop)]
    seen: dict[str, str] = {}
    for name, use in uses:
        if name in seen:
            raise ValueError(
                f"{use} must name columns that no other parameter names; got {name!r}, which "
                f"{seen[name]} names too. Leave out one of the two."
            )
        seen[name] = use


def _read_target(
    table: TableFile, target: str, column: npt.NDArray[Any], task: str
) -> tuple[OneTarget, npt.NDArray[Any], list[str]]:
    """The task, the target, and a note if the task was guessed from numbers."""
    is_words = column.dtype.kind == "O"
    if is_words and task == REGRESSION.name:
        raise ValueError(
            f"{table.source}: the target {target!r} must hold numbers for a regression; got words "
            f"such as {next(label for label in column if label is not None)!r}. Correct the "
            'column, or pass `task="classification"`.'
        )
    if is_words:
        return CLASSIFICATION, column, []
    distinct = np.unique(column[~np.isnan(column)])
    whole = bool(np.all(distinct == np.round(distinct)))
    if task != REGRESSION.name and whole and np.any(np.abs(distinct) > MAX_WHOLE):
        # Account numbers and the like: as floats, neighbouring numbers would be one class.
        return CLASSIFICATION, table.read([target], {target: "nominal"}).columns.values[0], []
    learned, remark = CLASSIFICATION if task == CLASSIFICATION.name else REGRESSION, []
    if task == "auto":
        few = whole and len(distinct) <= MAX_NUMBERED_CLASSES
        learned, other = (CLASSIFICATION, REGRESSION) if few else (REGRESSION, CLASSIFICATION)
        what = f"{len(distinct)} distinct {'whole ' if whole else ''}numbers"
        remark = [
            f'The target holds {what}: taken for {learned.name}; `task="{other.name}"` changes it.'
        ]
    if learned is CLASSIFICATION and not whole:
        column = table.read([target], {target: "nominal"}).columns.values[0]
    return learned, column, remark


def _check_varies(path: object, target: str, y: npt.NDArray[Any]) -> None:
    if len(y) == 0:
        raise ValueError(
            f"{path}: the target {target!r} must have values; all rows miss it. Check the column."
        )
    if np.all(y == y[0]):
        rows = f"all {len(y):,} rows" if len(y) > 1 else "its only row"
        raise ValueError(
            f"{path}: the target {target!r} must have at least two different values; got "
            f"{shorten(y[0].item())} in {rows}. There is nothing to learn from: check the column."
        )


# Rows of a file for a saved model: the columns of fit are found by name, in any order.


@dataclass(frozen=True, eq=False)
class ModelRows:
    """Rows that a model can predict.

    Attributes
    ----------
    X : Columns
        The columns of fit, in its order.
    y : ndarray of shape (n_rows,), SurvivalTarget or None
        True classes, values, or times and events, if columns of a target are given.
    number : ndarray of int64, shape (n_rows,)
        Number of each row in the file; the first one below the header is 1.
    notes : tuple of str
        Notes for the user.
    ids : mapping of str to ndarray of object
        Columns that name the rows, as they are written in the file.
    """

    X: Columns
    y: Any
    number: npt.NDArray[np.int64]
    notes: tuple[str, ...]
    ids: Mapping[str, npt.NDArray[Any]] = field(default_factory=dict)


def read_model_rows(
    model: Any,
    path: Path | Source,
    *,
    target: str | None = None,
    row_id: Sequence[str] = (),
    options: TableOptions | None = None,
) -> ModelRows:
    """Read the rows of a table for a model.

    Parameters
    ----------
    model : fitted estimator
        Model from `bevel.load`.
    path : Path
        CSV, TSV or Parquet with the columns of fit; others are left out with a note.
    target : str, default=None
        Column of true targets, classes or numbers as in the fit; rows that miss it
        are left out with a note.
    row_id : sequence of str
        Columns that name rows, kept in `ids`.
    options : TableOptions, default=None
        Format of the file.
    """
    table = open_table(path, options)
    names, unused = _columns_of_fit(model, table, target, row_id)
    read = table.read(names, kinds_of_fit(model, names))
    of_fit, truths = tuple(getattr(model, "feature_names_in_", names)), read.columns.truths
    X = Columns(of_fit, read.columns.values, read.columns.dates, truths.intersection(of_fit))
    if len(X) == 0:
        raise ValueError(
            f"{table.source} must have at least one row to predict; got none. Add rows."
        )
    _check_dates(model, table, names, read.columns.dates)
    notes = [*table.notes, *read.notes, *unused, *_unseen_labels(model, X)]
    number, ids = np.arange(1, len(X) + 1), table.read_words(row_id)
    if target is None:
        return ModelRows(X, None, number, tuple(notes), ids)
    y, known = _read_known_target(model, table, target)
    if not known.any():
        raise ValueError(
            f"{table.source}: the target {target!r} must have values; all rows miss it. "
            "Check the column, or leave `target` out."
        )
    if not known.all():
        notes.append(f"{int((~known).sum()):,} rows without a target are left out.")
    ids = {name: words[known] for name, words in ids.items()}
    return ModelRows(X.rows(known), y[known], number[known], tuple(notes), ids)


def _check_dates(
    model: Any, table: TableFile, names: Sequence[str], dates: Collection[str]
) -> None:
    """Raise if a column holds numbers where fit saw dates."""
    for feature in sorted(model.fitted_forest_.encoding.dates):
        name = names[feature]
        if name not in dates:
            column = table.read([name]).columns
            if not column.missing(0).all():
                raise ValueError(
                    f"{table.source}: column {name!r} must hold dates, as in fit; got numbers. "
                    f'Write them as in fit, or say how: `types={{{name!r}: "dmy"}}`.'
                )


def _columns_of_fit(
    model: Any, table: TableFile, target: str | None, row_id: Sequence[str]
) -> tuple[list[str], list[str]]:
    """Names of the file's columns in the order of fit, and a note on those that are not used."""
    if target is not None:
        table.check_present([target])
    table.check_present(row_id)
    wanted = getattr(model, "feature_names_in_", None)
    features = set() if wanted is None else set(wanted)
    aside = {target, *(name for name in row_id if name not in features)}
    offered = [name for name in table.names if name not in aside]
    if wanted is None:  # fitted to an array, so columns are identified by position
        if len(offered) != model.n_features_in_:
            raise ValueError(
                f"{table.source} must have the {model.n_features_in_} columns of fit, which had no "
                f"names; got {len(offered)}. Leave out the others, or fit to a table with "
                "names."
            )
        return offered, []
    if target in set(wanted):
        raise ValueError(
            f"The target must be no feature of the model; got {target!r}. Name the column that the "
            "model predicts."
        )
    in_file, in_model = set(offered), set(wanted)
    absent = [repr(name) for name in wanted if name not in in_file]
    if absent:
        raise ValueError(
            f"{table.source} must have the columns that the model was fitted to; got none called "
            f"{join_names(absent)}. {_remedy(wanted, in_file, table.names)}"
        )
    extra = [repr(name) for name in offered if name not in in_model]
    note = [f"Columns that the model does not use: {join_names(extra)}."] if extra else []
    return [str(name) for name in wanted], note


def _remedy(wanted: Sequence[str], in_file: Collection[str], names: Sequence[str]) -> str:
    absent = next(str(name) for name in wanted if name not in in_file)
    close = nearest(absent, names)
    if close is not None:
        return f"Is {close!r} meant? Rename it in the header."
    return "Check the header and the delimiter, or the model with bevel inspect."


def _unseen_labels(model: Any, X: Columns) -> list[str]:
    """Notes on labels that fit has not seen, such as other spellings, which spoil predictions."""
    notes = []
    for feature, levels in model.fitted_forest_.encoding.nominal.items():
        if levels.is_left_out:
            continue
        seen, column = set(levels.labels), X.values[feature]
        strange = {label for label in column[~X.missing(feature)].tolist() if label not in seen}
        if strange:
            listed = join_names(sorted(map(shorten, strange)))
            notes.append(f"Labels of {X.names[feature]!r} that fit has not seen: {listed}.")
    return notes


def _read_known_target(
    model: Any, table: TableFile, target: str
) -> tuple[npt.NDArray[Any], npt.NDArray[np.bool_]]:
    """True targets in the labels of the model, and which rows have one."""
    classes = model.fitted_forest_.task.classes
    is_number = classes is None or classes.dtype.kind in "iuf"
    kind = "numeric" if is_number else "nominal"
    read = table.read([target], {target: kind}).columns
    column, known = read.values[0], ~read.missing(0)
    if classes is None:
        return column, known
    place = {(label if is_number else str(label)): k for k, label in enumerate(classes.tolist())}
    found = np.array([place.get(label, -1) for label in column.tolist()])
    strange = sorted({shorten(label) for label in column[known & (found < 0)].tolist()})
    if strange:
        raise ValueError(
            f"{table.source}: the target {target!r} must hold classes of the model "
            f"({join_names([str(label) for label in classes])}); got {join_names(strange)}. Name "
            "the column that the model predicts, or leave these rows out."
        )
    return classes[found], known
