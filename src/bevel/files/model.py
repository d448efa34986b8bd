"""An estimator as the contents of a file, and back.

A file holds what an estimator needs to predict and to be fitted again: parameters, classes, names
of columns, encoding of rows, the forest, its seed and bags, kept targets, and the out-of-bag
score. Out-of-bag predictions, which have an entry for every training row, are not stored.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from importlib.metadata import version
from typing import Any

from bevel._types import Arrays
from bevel.files.additive import decode_additive, encode_additive
from bevel.files.calibration import decode_power
from bevel.files.columns.targets import decode_targets, encode_targets
from bevel.files.columns.trees import FileForest, MappedFile, decode_trees, encode_trees
from bevel.files.families import FIRST_VERSION as FIRST_WITH_FAMILIES
from bevel.files.families import decode_families, encode_families
from bevel.files.faults import damaged
from bevel.files.isolation import decode_isolation, encode_isolation
from bevel.files.layout import read_layout, write_layout
from bevel.files.outputs import (
    check_outputs,
    decode_classes,
    decode_outputs,
    encode_classes,
    encode_outputs,
)
from bevel.files.parameters import decode_parameters, encode_parameters
from bevel.files.rotations import decode_rotations, encode_rotations
from bevel.files.sections import Sections
from bevel.files.survival import decode_survival, encode_survival
from bevel.files.tables import decode_table, encode_table
from bevel.files.values.fields import Fields, check_kind
from bevel.files.values.scalars import decode_scalar, encode_scalar
from bevel.forest.bags import Bags
from bevel.forest.fitted_forest import FittedForest
from bevel.forest.predictor import PackedPredictor
from bevel.parameters.constraints import Parameter
from bevel.projections.families import read_projection, tuned_out_of_bag

__all__ = ["StorableKind", "StoredEstimator", "read_model", "write_model"]


MOST_FEATURES = MOST_ROWS = 2**31 - 1


@dataclass(frozen=True)
class StorableKind:
    """A class of estimators that files can hold.

    Attributes
    ----------
    parameters : mapping of str to Parameter
        Parameters of the class.
    is_classifier : bool
        Whether the estimator has classes.
    has_rotations : bool
        Whether the estimator has a `RotationRecord`.
    is_additive : bool
        Whether its trees are added up, as in boosting.
    is_isolation : bool
        Whether its leaves hold path lengths, as in isolation forests.
    is_survival : bool
        Whether its leaves have curves of the hazard.
    """

    parameters: Mapping[str, Parameter]
    is_classifier: bool
    has_rotations: bool
    is_additive: bool = False
    is_isolation: bool = False
    is_survival: bool = False


@dataclass(frozen=True, eq=False)
class StoredEstimator:
    """Contents of the file of an estimator.

    Attributes
    ----------
    name : str
        Name of its class.
    parameters : mapping
        Parameters from `get_params(deep=False)`.
    fitted : FittedForest
        Result of `fit`.
    oob_score : float or None
        The out-of-bag score, if there is one.
    """

    name: str
    parameters: Mapping[str, Any]
    fitted: FittedForest
    oob_score: float | None


def write_model(stored: StoredEstimator, kind: StorableKind) -> Iterator[bytes | memoryview]:
    """The bytes of the file of a fitted estimator, piece by piece.

    Raises TypeError if it holds values that files cannot; warns of parameters that become defaults.
    """
    arrays: Arrays = {}
    fitted = stored.fitted
    header = {
        "bevel": version("bevel"),
        "estimator": stored.name,
        "parameters": encode_parameters(stored.parameters, kind.parameters, arrays),
        "n_features": fitted.n_features,
        "feature_names": None if fitted.feature_names is None else list(fitted.feature_names),
        "classes": encode_classes(fitted.classes),
        "outputs": encode_outputs(fitted.outputs),
        **encode_table(fitted.encoding, arrays),
        "seed": None if fitted.seed is None else int(fitted.seed),
        "bags": _encode_bags(fitted.bags),
        "oob_score": None if stored.oob_score is None else encode_scalar(float(stored.oob_score)),
        "columns": encode_trees(fitted.forest, arrays),
        "targets": encode_targets(fitted.kept_targets, arrays),
        "families": encode_families(fitted.families, arrays),
        "calibration_power": float(fitted.power),
    }
    if fitted.rotations is not None:
        header["rotations"] = encode_rotations(fitted.rotations, arrays)
    if fitted.additive is not None:
        header["additive"] = encode_additive(fitted.additive, arrays)
    if fitted.isolation is not None:
        header["isolation"] = encode_isolation(fitted.isolation)
    if fitted.survival is not None:
        header["survival"] = encode_survival(fitted.survival, arrays)
    return write_layout(header, arrays)


def _encode_bags(bags: Bags | None) -> list[int | bool] | None:
    return None if bags is None else [int(bags.n_rows), int(bags.size), bool(bags.replace)]


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
    header.take("bevel", str)
    name = header.take("estimator", str)
    if name not in kinds:
        raise damaged("header.estimator", " or ".join(kinds), name)
    kind = kinds[name]
    values = decode_parameters(header.take("parameters", dict), kind.parameters, sections)
    n_features = header.take_count("n_features", 1, MOST_FEATURES)
    fields = _decode_header(header, sections, kind, n_features, layout.version)
    score = decode_scalar(header.take_any("oob_score"))
    encoding = decode_table(header, sections, n_features)
    columns = decode_trees(header, sections, layout.version)
    check_outputs(fields["outputs"], columns)
    n_trees = columns["tree_offset"].length - 1
    rotations = decode_rotations(header, sections, n_trees) if kind.has_rotations else None
    families = None
    if layout.version >= FIRST_WITH_FAMILIES:
        families = decode_families(header.take_any("families"), sections, n_trees, layout.version)
    averages_classes = kind.is_classifier and not kind.is_additive
    averages_classes = averages_classes and fields["outputs"] is None
    power = decode_power(header, layout.version, averages_classes=averages_classes)
    additive = None
    if kind.is_additive:
        additive = decode_additive(header, sections, layout.version, fields["classes"], n_trees)
    isolation = decode_isolation(header) if kind.is_isolation else None
    n_classes = 0 if additive else _count_classes(fields)
    survival = decode_survival(header, sections, layout.version) if kind.is_survival else None
    about = (n_features, n_classes, encoding.levels, encoding.medians)
    times = (0, 1) if survival is None else (survival.n_times, survival.n_causes)
    forest = FileForest(layout, columns, *about, *times, has_lengths=kind.is_isolation)
    targets = decode_targets(header, sections, layout, forest)
    header.finish()
    sections.finish()
    fitted = FittedForest(
        predictor=MappedFile(forest) if mapped else _read_forest(forest),
        encoding=encoding,
        **fields,
        hard=values.get("voting") == "hard",
        class_weight=values.get("class_weight"),
        tuned_out_of_bag=_tuned_out_of_bag(values),
        targets=targets,
        rotations=rotations,
        additive=additive,
        families=families,
        power=power,
        isolation=isolation,
        survival=survival,
    )
    oob_score = None if score is None else check_kind("header.oob_score", score, float)
    return StoredEstimator(name, values, fitted if mapped else fitted.in_memory(), oob_score)


def _read_forest(forest: FileForest) -> PackedPredictor:
    predictor = PackedPredictor(forest.read())
    predictor.packed  # noqa: B018  # built now, since a loaded model is usually used
    return predictor


def _tuned_out_of_bag(values: Mapping[str, Any]) -> str:
    if values.get("projection", "auto") == "auto":
        return ""
    n_projections = values.get("n_projections", "auto")
    return tuned_out_of_bag(read_projection(values["projection"], n_projections))


def _decode_header(
    header: Fields, sections: Sections, kind: StorableKind, n_features: int, version: int
) -> dict[str, Any]:
    """Read the header's entries on columns, classes and bags."""
    names = header.take_any("feature_names")
    classes = header.take_any("classes")
    outputs = decode_outputs(header, sections, version, kind.is_classifier)
    has_one_output = (kind.is_additive, kind.has_rotations, kind.is_isolation, kind.is_survival)
    if outputs is not None and any(has_one_output):
        raise damaged("header.outputs", "null for this estimator", "several")
    if (kind.is_classifier and outputs is None) != (classes is not None):
        raise damaged("header.classes", "there for a classifier only", type(classes).__name__)
    seed = header.take_count_or_null("seed", most=2**64 - 1)
    return {
        "feature_names": None if names is None else _decode_names(names, n_features),
        "classes": None if classes is None else decode_classes(classes, sections),
        "outputs": outputs,
        "seed": seed,
        "bags": _decode_bags(header.take_any("bags"), seed),
    }


def _decode_names(value: object, n_features: int) -> tuple[str, ...]:
    names = check_kind("header.feature_names", value, list)
    if len(names) != n_features:
        raise damaged("header.feature_names", f"{n_features} names", len(names))
    for name in names:
        check_kind("A name of a feature", name, str)
    return tuple(names)


def _count_classes(fields: Mapping[str, Any]) -> int:
    """Number of classes of all outputs; 0 in regression."""
    outputs = fields["outputs"]
    of_outputs = () if outputs is None else outputs.classes or ()
    classes = of_outputs if fields["classes"] is None else (fields["classes"],)
    return sum(len(labels) for labels in classes)


def _decode_bags(value: object, seed: int | None) -> Bags | None:
    if value is None:
        return None
    bags = check_kind("header.bags", value, list)
    if [type(each) for each in bags] != [int, int, bool]:
        raise damaged("header.bags", "rows, draws and whether with replacement", bags)
    n_rows, n_draws, replace = bags
    if not 0 <= n_draws <= n_rows or not 1 <= n_rows <= MOST_ROWS:
        required = f"at most as many draws as rows, which are from 1 to {MOST_ROWS}"
        raise damaged("header.bags", required, f"{n_draws} draws from {n_rows} rows")
    if seed is None:
        raise damaged("header.bags", "null without a seed", bags)
    return Bags(n_rows, n_draws, replace, seed)
