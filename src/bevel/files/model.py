"""An estimator as the contents of a file, and back.

A file holds what an estimator needs to predict and to be fitted again: parameters, classes, names
of columns, encoding of rows, the forest, its seed and bags, kept targets, and the out-of-bag
score. Out-of-bag predictions, which have an entry for every training row, are not stored.
"""

from __future__ import annotations

import numbers
import os
import warnings
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from importlib.metadata import version
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from bevel._types import Arrays
from bevel.data.encoding import (
    COLUMN_LISTS,
    MAX_LABELS,
    MAX_LEVELS,
    MAX_READ,
    Encoding,
    Levels,
)
from bevel.data.level_statistics import N_FOLDS, LevelMeans
from bevel.data.row_groups import RowGroups
from bevel.data.scaling import IdentityScaler, LinearScaler, QuantileScaler, RankScaler, Scaler
from bevel.errors import join_names, shorten
from bevel.files.layout import (
    VERSION,
    Fields,
    Layout,
    Sections,
    check_kind,
    damaged,
    member_layout,
    only_file_errors,
    read_contents,
    read_layout,
    write_layout,
)
from bevel.files.records import (
    check_outputs,
    decode_aggregation,
    decode_combination,
    decode_families,
    decode_rotations,
    decode_task,
    encode_aggregation,
    encode_combination,
    encode_families,
    encode_rotations,
    encode_task,
)
from bevel.files.trees import (
    FileForest,
    MappedFile,
    decode_targets,
    decode_trees,
    encode_targets,
    encode_trees,
)
from bevel.files.values import (
    UnstorableError,
    decode_labels,
    decode_scalar,
    decode_value,
    encode_labels,
    encode_scalar,
    encode_value,
)
from bevel.forest.aggregation import Aggregation, SumOfTrees, WeightedSum
from bevel.forest.bags import Bags
from bevel.forest.fitted_forest import FittedCombination, FittedForest
from bevel.forest.predictor import PackedPredictor
from bevel.forest.provenance import Provenance
from bevel.forest.task import Survival, Task
from bevel.parameters.parameter import Parameter, check_each
from bevel.projections.families import read_projection, tuned_out_of_bag
from bevel.training.threads import count_threads

__all__ = [
    "StorableKind",
    "StoredEstimator",
    "decode_parameters",
    "decode_table",
    "encode_parameters",
    "encode_table",
    "read_model",
    "summarise",
    "write_model",
]

# Parameters of an estimator in a file: encoded, decoded and validated.

# Threads are counted in 32 bits.
MAX_JOBS = 2**31 - 1


def encode_parameters(
    values: Mapping[str, Any], parameters: Mapping[str, Parameter], arrays: Arrays
) -> dict[str, Any]:
    """Turn parameters into JSON values; warns of those that become their defaults.

    Parameters
    ----------
    values : mapping
        Values from `get_params(deep=False)`.
    parameters : mapping of str to Parameter
        Parameters of the estimator.
    arrays : dict
        Receives arrays of numbers, by the names of their sections.
    """
    _check(values, parameters)
    lost = [name for name, value in values.items() if _is_lost(name, value)]
    if lost:
        warnings.warn(
            "A model file holds no functions and no random generators: "
            f"{join_names(lost)} will be the default in the loaded estimator. Set it again there "
            "if you fit once more.",
            UserWarning,
            stacklevel=7,  # the caller of save
        )
    kept = {n: parameters[n].default if n in lost else value for n, value in values.items()}
    return {name: _encode(name, value, arrays) for name, value in kept.items()}


def _is_lost(name: str, value: object) -> bool:
    if name == "random_state":
        return isinstance(value, np.random.RandomState | np.random.Generator) or callable(value)
    return name in ("oob_score", "callback", "loss", "scoring") and callable(value)


def _encode(name: str, value: Any, arrays: Arrays) -> Any:
    try:
        return encode_value(value, arrays)
    except UnstorableError as error:
        raise TypeError(
            f"{name} must be made of numbers, strings, dates, lists, dicts, arrays and "
            f"projections of bevel.projections to be saved; got {error}. Change it with "
            f"set_params({name}=...), or pickle the estimator."
        ) from None


def decode_parameters(
    value: Mapping[str, Any], parameters: Mapping[str, Parameter], sections: Sections
) -> dict[str, Any]:
    """Turn JSON values into parameters of the estimator.

    Parameters
    ----------
    value : mapping
        Values from the header; parameters that it lacks get their defaults.
    parameters : mapping of str to Parameter
        Parameters of the estimator.
    sections : Sections
        Sections to take arrays from.
    """
    unknown = [repr(name) for name in value if name not in parameters]
    if unknown:
        required = "a parameter of this version of Bevel (a later one may have more)"
        raise damaged("The names of parameters", required, join_names(unknown))
    values = {name: parameter.default for name, parameter in parameters.items()}
    values |= {name: decode_value(each, sections) for name, each in value.items()}
    try:
        _check(values, parameters)
        _check_seed(values["random_state"])
    except (TypeError, ValueError, ArithmeticError) as error:
        raise damaged("The parameters", "such as the estimator takes", str(error)) from None
    return values


def _check(values: Mapping[str, Any], parameters: Mapping[str, Parameter]) -> None:
    """Raise for values that no fit and no prediction would accept."""
    check_each(values, parameters)
    if "projection" in parameters:
        # Boosting draws sparse combinations with "auto" too, whose number may be given.
        boosts = "max_iter" in parameters and values["projection"] == "auto"
        read_projection(
            "sparse" if boosts else values["projection"], values.get("n_projections", "auto")
        )
    count_threads(values["n_jobs"])
    if abs(values["n_jobs"] or 0) > MAX_JOBS:
        raise ValueError(f"n_jobs must be at most {MAX_JOBS}; got {shorten(values['n_jobs'])}.")


def _check_seed(random_state: object) -> None:
    if random_state is not None and not isinstance(random_state, numbers.Integral):
        raise ValueError(f"random_state must be None or an integer; got {shorten(random_state)}.")


# The encoding of rows: scaling, levels and medians, in header fields and sections.
#
# "scaler": {"kind": "linear", "clip": false}     and its arrays as sections "scaler.…"
# "nominal": [{"feature": 3, "has_missing": false, "labels": …}, …]
# "dates": [4]                                    numeric columns that hold dates, if there are any
# "days": [4]                                     those of them without times of day
# "truths": [5]                                   numeric columns of truth values
# section "medians"


def encode_table(encoding: Encoding, arrays: Arrays) -> dict[str, Any]:
    """Header fields that describe how rows are read; arrays are put into sections."""
    arrays["medians"] = encoding.medians
    fields: dict[str, Any] = {
        "scaler": _encode_scaler(encoding.scaler, arrays),
        "nominal": [_encode_levels(f, each) for f, each in sorted(encoding.nominal.items())],
    }
    for name in COLUMN_LISTS:
        if columns := getattr(encoding, name):
            fields[name] = sorted(columns)
    if encoding.means:
        kept = [(feature, encoding.means[feature]) for feature in sorted(encoding.means)]
        fields["means"] = [{"feature": f, "meaning": each.meaning} for f, each in kept]
        tables = [np.vstack((each.of_all, each.of_others)).ravel() for _, each in kept]
        arrays["means"] = np.concatenate(tables)
        row_folds = kept[0][1].folds
        if row_folds is not None:
            arrays["row_folds"] = row_folds
            fields["row_folds"] = len(row_folds)
    return fields


def decode_table(header: Fields, sections: Sections, n_features: int) -> Encoding:
    """Read the fields and sections that `encode_table` has written; raises ModelFileError."""
    medians = sections.take("medians", "<f4", n_features)
    if not np.isfinite(medians).all():
        raise damaged("Medians", "finite", "others")
    nominal = _decode_nominal(header.take("nominal", list), n_features, sections)
    levels = np.zeros(n_features, dtype=np.int32)
    for feature, column in nominal.items():
        levels[feature] = column.n_codes
    scaler = _decode_scaler(header.take("scaler", dict), sections, n_features)
    lists = {name: _decode_columns(header, name, levels) for name in COLUMN_LISTS}
    if not lists["days"] <= lists["dates"] or lists["dates"] & lists["truths"]:
        raise damaged(
            "header.days", "columns of dates, none of truth values", sorted(lists["days"])
        )
    means = (
        _decode_means(header.take("means", list), levels, sections) if header.has("means") else {}
    )
    if means and header.has("row_folds"):
        n_rows = header.take_count("row_folds", 1, MAX_ROWS)
        row_folds = sections.take("row_folds", "|u1", n_rows)
        if row_folds.max() >= N_FOLDS:
            raise damaged("Folds of rows", f"from 0 to {N_FOLDS - 1}", "others")
        means = {f: replace(each, folds=row_folds) for f, each in means.items()}
    levels[list(means)] = 0
    if levels.max(initial=0) > MAX_LEVELS:
        required = f"from 1 to {MAX_LEVELS} if they are not read as means"
        raise damaged("Levels of a nominal column", required, int(levels.max()))
    levels.flags.writeable = False
    return Encoding(scaler, nominal, levels, medians, means=means, **lists)


def _encode_levels(feature: int, levels: Levels) -> dict[str, Any]:
    try:
        labels = encode_labels(levels.labels)
    except UnstorableError as error:
        raise TypeError(
            f"Labels of nominal column {feature} must be numbers, strings, bytes or dates to be "
            f"saved; got {error}. Convert the column to strings before fit, or pickle the "
            "estimator."
        ) from None
    fields = {"feature": int(feature), "has_missing": bool(levels.has_missing), "labels": labels}
    if levels.n_too_many:
        fields["n_too_many"] = levels.n_too_many
    return fields | ({"is_text": True} if levels.is_text else {})


def _decode_nominal(entries: list[Any], n_features: int, sections: Sections) -> dict[int, Levels]:
    nominal: dict[int, Levels] = {}
    for entry in entries:
        fields = Fields(entry, "nominal")
        feature = fields.take_count("feature", most=n_features - 1)
        has_missing = fields.take("has_missing", bool)
        labels = decode_labels(fields.take_any("labels"), "nominal.labels", sections)
        is_text = fields.has("is_text") and fields.take("is_text", bool)
        n_too_many = fields.take_count("n_too_many", 1) if fields.has("n_too_many") else 0
        fields.finish()
        if feature in nominal:
            raise damaged("Nominal columns", "described once each", feature)
        levels = Levels(labels, has_missing, is_text, n_too_many)
        if levels.is_left_out and (len(labels) or not has_missing or (is_text and n_too_many)):
            raise damaged("A column that is left out", "without labels, all missing", feature)
        nominal[feature] = _checked(levels)
    return nominal


def _decode_columns(header: Fields, name: str, levels: npt.NDArray[np.int32]) -> frozenset[int]:
    """One of the lists of numeric columns; empty if the file has none."""
    if not header.has(name):
        return frozenset()
    columns = check_kind(f"header.{name}", header.take_any(name), list)
    for column in columns:
        feature = check_kind(f"A column of header.{name}", column, int)
        if not 0 <= feature < len(levels) or levels[feature]:
            raise damaged(f"A column of header.{name}", "a numeric column", feature)
    if not columns or columns != sorted(set(columns)):
        raise damaged(f"header.{name}", "ascending columns", columns)
    return frozenset(columns)


def _decode_means(
    entries: list[Any], levels: npt.NDArray[np.int32], sections: Sections
) -> dict[int, LevelMeans]:
    """Means of the target of the nominal columns that are read as numbers, in their order."""
    kinds: dict[int, str] = {}
    for entry in entries:
        fields = Fields(entry, "means")
        feature = fields.take_count("feature", most=len(levels) - 1)
        kinds[feature] = fields.take("meaning", str)
        fields.finish()
    sizes = [(1 + N_FOLDS) * (int(levels[feature]) + 1) for feature in kinds]
    if len(kinds) < len(entries) or list(kinds) != sorted(kinds) or not levels[list(kinds)].all():
        raise damaged("header.means", "different nominal columns, ascending", "others")
    numbers = sections.take("means", "<f8", sum(sizes))
    if not (np.abs(numbers) <= MAX_READ).all():
        raise damaged("Means of levels", f"at most {MAX_READ:g} in size", "others")
    tables = np.split(numbers, np.cumsum(sizes)[:-1])
    means = {}
    for (feature, meaning), table in zip(kinds.items(), tables, strict=True):
        rows = table.reshape(1 + N_FOLDS, -1)
        means[feature] = LevelMeans(rows[0], rows[1:], meaning)
    return means


def _checked(levels: Levels) -> Levels:
    if levels.labels.dtype != object or len(set(levels.labels)) < len(levels.labels):
        raise damaged("Labels of a nominal column", "different objects", "others")
    if not 1 <= levels.n_codes <= MAX_LABELS:
        raise damaged("Levels of a nominal column", f"from 1 to {MAX_LABELS}", levels.n_codes)
    return levels


def _encode_scaler(scaler: Scaler, arrays: Arrays) -> dict[str, Any]:
    kept: tuple[str, ...]
    match scaler:
        case IdentityScaler():
            return {"kind": "none"}
        case LinearScaler():
            kept, settings = ("shift", "span"), {"kind": "linear", "clip": bool(scaler.clip)}
        case QuantileScaler():
            kept, settings = ("low", "high"), {"kind": "quantile"}
        case RankScaler():
            kept, settings = _RANK_ARRAYS, {"kind": "rank", "relative": bool(scaler.relative)}
        case _:
            got = type(scaler).__name__
            raise TypeError(f"A scaler must be one of bevel.data.scaling; got {got}.")
    arrays |= {f"scaler.{name}": getattr(scaler, name) for name in kept}
    return settings


_RANK_ARRAYS = ("n_present", "complete", "offset", "knots", "ranks")


def _decode_scaler(value: object, sections: Sections, n_features: int) -> Scaler:
    fields = Fields(value, "scaler")
    kind = fields.take("kind", str)
    scaler: Scaler = IdentityScaler()
    if kind == "linear":
        shift, span = _per_feature(sections, n_features, "shift", "span")
        scaler = LinearScaler(shift, span, fields.take("clip", bool))
        _require(bool((span > 0.0).all()), "spans above zero")
    elif kind == "quantile":
        low, high = _per_feature(sections, n_features, "low", "high")
        scaler = QuantileScaler(low, high)
        _require(bool((low <= high).all()), "lower bounds below upper ones")
    elif kind == "rank":
        scaler = _decode_ranks(sections, n_features, fields.take("relative", bool))
    elif kind != "none":
        raise damaged("scaler.kind", '"none", "linear", "quantile" or "rank"', kind)
    fields.finish()
    return scaler


def _per_feature(
    sections: Sections, n_features: int, *names: str
) -> tuple[npt.NDArray[np.float64], ...]:
    arrays = tuple(sections.take(f"scaler.{name}", "<f8", n_features) for name in names)
    _require(all(bool(np.isfinite(array).all()) for array in arrays), "finite numbers")
    return arrays


def _decode_ranks(sections: Sections, n_features: int, relative: bool) -> RankScaler:
    offset = sections.take("scaler.offset", "<i8", n_features + 1)
    knots, ranks = sections.take("scaler.knots"), sections.take("scaler.ranks")
    n_present = sections.take("scaler.n_present", "<i8", n_features)
    complete = sections.take("scaler.complete", "|b1", n_features)
    rises = bool((offset[1:] >= offset[:-1]).all())
    _require(offset[0] == 0 and rises and offset[-1] == len(knots), "offsets within the knots")
    _require(len(ranks) == len(knots), "one rank for each knot")
    for values in (knots, ranks):
        _require(values.dtype.kind == "f" and bool(np.isfinite(values).all()), "finite numbers")
        # Knots ascend within a column; they may descend where the next column begins.
        falls = np.flatnonzero(values[1:] <= values[:-1]) + 1
        _require(bool(np.isin(falls, offset).all()), "ascending knots and ranks")
    _require(bool((n_present >= 0).all()) and n_present.max() < 2**62, "counts of rows")
    return RankScaler(relative, n_present, complete, offset, knots, ranks)


def _require(holds: bool, what: str) -> None:
    if not holds:
        raise damaged("Arrays of the scaler", what, "others")


MAX_FEATURES = MAX_ROWS = 2**31 - 1


@dataclass(frozen=True)
class StorableKind:
    """A class of estimators that files can hold.

    Attributes
    ----------
    parameters : mapping of str to Parameter
        Parameters of the class.
    tasks : tuple of types
        The tasks that its forests can have.
    aggregation : type
        How their trees come together.
    has_rotations : bool
        Whether the estimator has a `RotationRecord`.
    """

    parameters: Mapping[str, Parameter]
    tasks: tuple[type[Task], ...]
    aggregation: type[Aggregation]
    has_rotations: bool


@dataclass(frozen=True, eq=False)
class StoredEstimator:
    """Contents of the file of an estimator.

    Attributes
    ----------
    name : str
        Name of its class.
    parameters : mapping
        Parameters from `get_params(deep=False)`.
    fitted : FittedForest or FittedCombination
        Result of `fit`.
    oob_score : float or None
        The out-of-bag score, if there is one.
    """

    name: str
    parameters: Mapping[str, Any]
    fitted: Any
    oob_score: float | None


Member = tuple[StoredEstimator, StorableKind]


def write_model(
    stored: StoredEstimator, kind: StorableKind, members: Sequence[Member] = ()
) -> Iterator[bytes | memoryview]:
    """The bytes of the file of a fitted estimator, piece by piece.

    Raises TypeError if it holds values that files cannot; warns of parameters that become defaults.

    Parameters
    ----------
    stored : StoredEstimator
        The estimator.
    kind : StorableKind
        How it is stored.
    members : sequence of (StoredEstimator, StorableKind), default=()
        The models of a `FittedCombination`, as estimators of their own.
    """
    if isinstance(stored.fitted, FittedCombination):
        return _write_combination(stored, kind, members)
    return _write_forest(stored, kind)


def _write_forest(
    stored: StoredEstimator, kind: StorableKind, has_table: bool = True
) -> Iterator[bytes | memoryview]:
    """The file of a single model; has_table: whether it describes the columns of the table."""
    arrays: Arrays = {}
    fitted: FittedForest = stored.fitted
    known = fitted.provenance
    header = {
        **_encode_head(stored, kind, arrays, has_table),
        "seed": None if known.seed is None else int(known.seed),
        "bags": _encode_bags(known.bags),
        **_encode_groups(known.bags, arrays),
        **_encode_leaf_share(known.bags),
        "oob_score": None if stored.oob_score is None else encode_scalar(float(stored.oob_score)),
        "columns": encode_trees(fitted.forest, arrays),
        "targets": encode_targets(fitted.kept_targets, arrays),
        "families": encode_families(known.families, arrays),
        **encode_aggregation(fitted.aggregation, arrays),
    }
    if known.rotations is not None:
        header["rotations"] = encode_rotations(known.rotations, arrays)
    return write_layout(header, arrays)


def _encode_head(
    stored: StoredEstimator, kind: StorableKind, arrays: Arrays, has_table: bool
) -> dict[str, Any]:
    """Header fields of all estimators: parameters, columns and task."""
    fitted = stored.fitted
    names = fitted.feature_names if has_table else None
    return {
        "bevel": version("bevel"),
        "estimator": stored.name,
        "parameters": encode_parameters(stored.parameters, kind.parameters, arrays),
        "n_features": fitted.n_features,
        "feature_names": None if names is None else list(names),
        **encode_task(fitted.task, arrays),
        **(encode_table(fitted.encoding, arrays) if has_table else {}),
    }


def _encode_bags(bags: Bags | None) -> list[int | bool] | None:
    return None if bags is None else [int(bags.n_rows), int(bags.size), bool(bags.replace)]


def _encode_groups(bags: Bags | None, arrays: Arrays) -> dict[str, int]:
    """The groups that bags draw, if they do not draw rows."""
    if bags is None or bags.groups is None:
        return {}
    arrays["bag_groups"] = bags.groups.codes
    return {"bag_groups": bags.groups.n_groups}


def _encode_leaf_share(bags: Bags | None) -> dict[str, float]:
    """The share of the rows of a bag that give honest trees their leaf values, if any do."""
    return {"leaf_share": bags.leaf_share} if bags is not None and bags.leaf_share else {}


def read_model(
    source: bytes | memoryview, kinds: Mapping[str, StorableKind], *, mapped: bool = False
) -> StoredEstimator:
    """The estimator of a file.

    Parameters
    ----------
    source : bytes or memoryview
        The whole file; raises ModelFileError unless it is sound.
    kinds : mapping of str to StorableKind
        The estimators, by the names of their classes.
    mapped : bool, default=False
        Verify all but the columns of the forest, and predict from `source` itself.
    """
    layout = read_layout(source)
    header, sections = Fields(layout.header, "header"), Sections(layout)
    name, kind = _decode_kind(header, kinds)
    if kind.aggregation is WeightedSum:
        return _read_combination(layout, header, sections, name, kind, kinds, mapped)
    return _read_forest(layout, header, sections, name, kind, mapped)


def _decode_kind(header: Fields, kinds: Mapping[str, StorableKind]) -> tuple[str, StorableKind]:
    """Name and kind of the estimator of a file."""
    header.take("bevel", str)
    name = header.take("estimator", str)
    if name not in kinds:
        raise damaged("header.estimator", " or ".join(kinds), name)
    return name, kinds[name]


def _read_forest(
    layout: Layout,
    header: Fields,
    sections: Sections,
    name: str,
    kind: StorableKind,
    mapped: bool,
    table: FittedHead | None = None,
) -> StoredEstimator:
    """The estimator of a single model; table: its columns and task, if it is a member."""
    values = decode_parameters(header.take("parameters", dict), kind.parameters, sections)
    n_features, feature_names, task = _decode_head(header, sections, kind)
    seed = header.take_count_or_null("seed", most=2**64 - 1)
    bags = _decode_bags(header.take_any("bags"), seed)
    if header.has("bag_groups"):
        bags = _with_groups(bags, header.take_count("bag_groups", 1, MAX_ROWS), sections)
    if header.has("leaf_share"):
        bags = _with_leaf_share(bags, header.take("leaf_share", float))
    score = decode_scalar(header.take_any("oob_score"))
    if table is None:
        encoding = decode_table(header, sections, n_features)
    else:
        feature_names, task, encoding = table.of_member(n_features, feature_names, task)
    columns = decode_trees(header, sections)
    check_outputs(task, columns)
    if columns["entry_low"].length and kind.aggregation is not SumOfTrees:
        raise damaged("header.columns", "without linear models of leaves, which boosting has", name)
    n_trees = columns["tree_offset"].length - 1
    rotations = decode_rotations(header, sections, n_trees) if kind.has_rotations else None
    families = decode_families(header.take_any("families"), sections, n_trees)
    hard = values.get("voting") == "hard"
    aggregation = decode_aggregation(header, sections, kind.aggregation, task, n_trees, hard)
    about = (aggregation.leaf_classes(task), encoding.levels, encoding.medians)
    forest = FileForest(layout, columns, n_features, *about, task)
    targets = decode_targets(header, sections, layout, forest)
    header.finish()
    sections.finish()
    fitted = FittedForest(
        predictor=MappedFile(forest) if mapped else _packed(forest),
        encoding=encoding,
        feature_names=feature_names,
        task=task,
        aggregation=aggregation,
        provenance=Provenance(
            seed=seed,
            bags=bags,
            class_weight=values.get("class_weight"),
            tuned_out_of_bag=_tuned_out_of_bag(values),
            rotations=rotations,
            families=families,
            bounds_leaves=values.get("monotonic_cst") is not None,
        ),
        targets=targets,
    )
    oob_score = None if score is None else check_kind("header.oob_score", score, float)
    return StoredEstimator(name, values, fitted if mapped else fitted.in_memory(), oob_score)


def _packed(forest: FileForest) -> PackedPredictor:
    predictor = PackedPredictor(forest.read())
    predictor.packed  # noqa: B018  # built now, since a loaded model is usually used
    return predictor


def _tuned_out_of_bag(values: Mapping[str, Any]) -> str:
    if values.get("projection", "auto") == "auto":
        return ""
    n_projections = values.get("n_projections", "auto")
    return tuned_out_of_bag(read_projection(values["projection"], n_projections))


def _decode_head(
    header: Fields, sections: Sections, kind: StorableKind
) -> tuple[int, tuple[str, ...] | None, Task]:
    """Number and names of the columns, and the task."""
    n_features = header.take_count("n_features", 1, MAX_FEATURES)
    names = header.take_any("feature_names")
    feature_names = None if names is None else _decode_names(names, n_features)
    return n_features, feature_names, decode_task(header, sections, kind.tasks)


def _decode_names(value: object, n_features: int) -> tuple[str, ...]:
    names = check_kind("header.feature_names", value, list)
    if len(names) != n_features:
        raise damaged("header.feature_names", f"{n_features} names", len(names))
    for name in names:
        check_kind("A name of a feature", name, str)
    return tuple(names)


def _decode_bags(value: object, seed: int | None) -> Bags | None:
    if value is None:
        return None
    bags = check_kind("header.bags", value, list)
    if [type(each) for each in bags] != [int, int, bool]:
        raise damaged("header.bags", "rows, draws and whether with replacement", bags)
    n_rows, n_draws, replace = bags
    if not 0 <= n_draws <= n_rows or not 1 <= n_rows <= MAX_ROWS:
        required = f"at most as many draws as rows, which are from 1 to {MAX_ROWS}"
        raise damaged("header.bags", required, f"{n_draws} draws from {n_rows} rows")
    if seed is None:
        raise damaged("header.bags", "null without a seed", bags)
    return Bags(n_rows, n_draws, replace, seed)


def _with_leaf_share(bags: Bags | None, share: float) -> Bags:
    """Bags of honest trees."""
    if bags is None or not 0.0 < share < 1.0:
        raise damaged("header.leaf_share", "a share of the rows of bags", share)
    return replace(bags, leaf_share=share)


def _with_groups(bags: Bags | None, n_groups: int, sections: Sections) -> Bags:
    """Bags that draw the groups of a section."""
    if bags is None or bags.size > n_groups:
        raise damaged("header.bag_groups", "the groups that bags draw", n_groups)
    codes = sections.take("bag_groups", "<u4", bags.n_rows)
    if len(np.unique(codes)) != n_groups or codes.max() >= n_groups:
        raise damaged("Groups of rows", f"numbered from 0 to {n_groups - 1}", "others")
    return replace(bags, groups=RowGroups(codes, n_groups))


# Models of one table, whose predictions are added up: each member is a file of its own in a section
# "member.0", "member.1", ..., without the table and the names of its columns.
#
# "combination": {"weights": [0.55, 0.45], "record": {...}, "calibration": null}
#         and sections "members.losses", "members.standard_errors", "members.weights",
#         "members.n_models" and "members.n_trees"


@dataclass(frozen=True, eq=False)
class FittedHead:
    """What the members of a combination have in common."""

    n_features: int
    feature_names: tuple[str, ...] | None
    task: Task
    encoding: Encoding

    def of_member(
        self, n_features: int, feature_names: tuple[str, ...] | None, task: Task
    ) -> tuple[tuple[str, ...] | None, Task, Encoding]:
        """Names, task and encoding of a member; raises ModelFileError unless it fits."""
        known, own = self.task.classes, task.classes
        alike = known is own is None or (
            known is not None and own is not None and np.array_equal(known, own)
        )
        if n_features != self.n_features or feature_names is not None or not alike:
            raise damaged("A member", "of the columns and classes of the whole", "others")
        return self.feature_names, self.task, self.encoding


def _write_combination(
    stored: StoredEstimator, kind: StorableKind, members: Sequence[Member]
) -> Iterator[bytes | memoryview]:
    arrays: Arrays = {}
    fitted: FittedCombination = stored.fitted
    header = {
        **_encode_head(stored, kind, arrays, has_table=True),
        "combination": encode_combination(fitted.aggregation, fitted.record, arrays),
    }
    for place, (member, of_member) in enumerate(members):
        contents = b"".join(_write_forest(member, of_member, has_table=False))
        arrays[f"member.{place}"] = np.frombuffer(contents, dtype=np.uint8)
    return write_layout(header, arrays)


def _read_combination(
    layout: Layout,
    header: Fields,
    sections: Sections,
    name: str,
    kind: StorableKind,
    kinds: Mapping[str, StorableKind],
    mapped: bool,
) -> StoredEstimator:
    values = decode_parameters(header.take("parameters", dict), kind.parameters, sections)
    n_features, feature_names, task = _decode_head(header, sections, kind)
    encoding = decode_table(header, sections, n_features)
    head = FittedHead(n_features, feature_names, task, encoding)
    aggregation, record = decode_combination(header, sections, task)
    members = []
    for place in range(len(aggregation.weights)):
        inner = member_layout(layout, sections, place, verify=not mapped)
        fields, parts = Fields(inner.header, "header"), Sections(inner)
        of_member, member = _decode_kind(fields, kinds)
        if member.aggregation is WeightedSum or member.tasks[0] not in kind.tasks:
            raise damaged("A member", "a forest or boosting of the task of the whole", of_member)
        read = _read_forest(inner, fields, parts, of_member, member, mapped, head)
        members.append(read.fitted)
    header.finish()
    sections.finish()
    fitted = FittedCombination(tuple(members), aggregation, record)
    return StoredEstimator(name, values, fitted, None)


def summarise(
    path: str | os.PathLike[str], kinds: Mapping[str, StorableKind], verify: bool = False
) -> dict[str, Any]:
    """Facts about a model file that JSON can hold; raises ModelFileError if it is damaged.

    Parameters
    ----------
    path : str or path
        The file.
    kinds : mapping of str to StorableKind
        The estimators, by the names of their classes.
    verify : bool, default=False
        Read and verify the whole file; otherwise its header only.
    """
    with only_file_errors(os.fspath(path)):
        contents = read_contents(Path(path), mapped=not verify)
        stored = read_model(contents, kinds, mapped=not verify)
        kind = kinds[stored.name]
        about = {"file": os.fspath(path), "verified": verify}
        if isinstance(stored.fitted, FittedCombination):
            return about | _summary_of_members(contents, kind, stored.fitted)
        families = stored.fitted.provenance.families
        return {
            **about,
            **_summary(contents, kind),
            "members": None,
            "families": None if families is None else families.as_dict(),
            "calibration_power": stored.fitted.aggregation.power,
            "survival": _survival(stored.fitted.task),
        }


def _summary_of_members(
    contents: bytes | memoryview, kind: StorableKind, fitted: FittedCombination
) -> dict[str, Any]:
    layout = read_layout(contents)
    places = range(len(fitted.members))
    inner = [member_layout(layout, Sections(layout), place, verify=False) for place in places]
    columns = [
        {**each, "name": f"{place}.{each['name']}"}
        for place, own in enumerate(inner)
        for each in _columns(own)
    ]
    return {
        **_facts(contents, layout, kind),
        "n_trees": sum(_n_trees(own) for own in inner),
        "n_nodes": sum(_n_nodes(own) for own in inner),
        "seed": inner[0].header["seed"],
        "bags": None,
        "oob_score": None,
        "columns": columns,
        "other_sections": _others(layout, {"member": None}),
        "members": fitted.record.as_dict(),
        "families": None,
        "calibration_power": 1.0,
        "survival": None,
    }


def _survival(task: Task) -> dict[str, Any] | None:
    """The times of a survival forest."""
    if not isinstance(task, Survival):
        return None
    times = task.event_times
    return {
        "n_event_times": task.n_times,
        "first_event": float(times[0]),
        "last_event": float(times[-1]),
        "last_time": float(task.last_time),
    }


def _summary(contents: bytes | memoryview, kind: StorableKind) -> dict[str, Any]:
    layout = read_layout(contents)
    header = layout.header
    columns = header["columns"] | (header["targets"] or {})
    return {
        **_facts(contents, layout, kind),
        "n_trees": _n_trees(layout),
        "n_nodes": _n_nodes(layout),
        **{name: header[name] for name in ("seed", "bags", "oob_score")},
        "columns": _columns(layout),
        "other_sections": _others(layout, columns),
    }


def _facts(contents: bytes | memoryview, layout: Layout, kind: StorableKind) -> dict[str, Any]:
    """Facts of all kinds of models."""
    header = layout.header
    kept = ("estimator", "n_features", "feature_names", "classes", "scaler", "nominal")
    return {
        "bytes": len(contents),
        "format_version": VERSION,
        "written_by": header["bevel"],
        **{name: header[name] for name in kept},
        **{name: header.get(name, []) for name in COLUMN_LISTS},
        "outputs": header["outputs"],
        "parameters": _changed(header["parameters"], kind),
    }


def _n_trees(layout: Layout) -> int:
    return int(layout.header["columns"]["tree_offset"]["length"]) - 1


def _n_nodes(layout: Layout) -> int:
    return int(layout.header["columns"]["left_leaves"]["length"])


def _columns(layout: Layout) -> list[dict[str, Any]]:
    """The columns of a forest, and of the targets that it keeps."""
    columns = layout.header["columns"] | (layout.header["targets"] or {})
    return [_column(name, each, layout) for name, each in columns.items()]


def _changed(parameters: Mapping[str, Any], kind: StorableKind) -> dict[str, Any]:
    """Parameters that are not at their defaults, as the file has them."""
    defaults = {name: each.default for name, each in kind.parameters.items()}
    return {name: value for name, value in parameters.items() if value != defaults[name]}


def _column(name: str, described: Mapping[str, Any], layout: Layout) -> dict[str, Any]:
    n_bytes = sum(layout.section(f"{name}.{part}").nbytes for part in described["parts"])
    kept = {field: described[field] for field in ("encoding", "dtype", "length")}
    return {"name": name, **kept, "bytes": n_bytes}


def _others(layout: Layout, columns: Mapping[str, Any]) -> list[dict[str, Any]]:
    """Sections that are not parts of columns."""
    return [
        {"name": each.name, "dtype": each.dtype.str, "length": each.length, "bytes": each.nbytes}
        for each in layout.sections.values()
        if each.name.split(".")[0] not in columns
    ]
