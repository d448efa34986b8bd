"""An estimator as the contents of a file, and back.

A file holds what an estimator needs to predict and to be fitted again: parameters, classes, names
of columns, how rows are read, the forest, its seed and bags, kept targets, and the out-of-bag
score. Out-of-bag predictions, which have an entry for every training row, stay behind.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from importlib.metadata import version
from typing import Any

import numpy as np
import numpy.typing as npt

from bevel.files.faults import damaged
from bevel.files.fields import Fields, check_kind
from bevel.files.labels import decode_labels, encode_labels
from bevel.files.layout import read_layout, write_layout
from bevel.files.parameters import decode_parameters, encode_parameters
from bevel.files.rotations import decode_rotations, encode_rotations
from bevel.files.scalars import UnstorableError, decode_scalar, encode_scalar
from bevel.files.sections import Sections
from bevel.files.tables import decode_table, encode_table
from bevel.files.targets import StoredTargets, decode_targets, encode_targets
from bevel.files.trees import FileForest, MappedFile, decode_trees, encode_trees
from bevel.forest.predictor import PackedPredictor
from bevel.parameters.constraints import Parameter
from bevel.parameters.forest_parameters import (
    CLASSIFIER_PARAMETERS,
    REGRESSOR_PARAMETERS,
    ROTATION_CLASSIFIER_PARAMETERS,
    ROTATION_REGRESSOR_PARAMETERS,
)

__all__ = ["read_model", "write_model"]

Arrays = dict[str, npt.NDArray[Any]]

_PARAMETERS: Mapping[str, Mapping[str, Parameter]] = {
    "ObliqueForestClassifier": CLASSIFIER_PARAMETERS,
    "ObliqueForestRegressor": REGRESSOR_PARAMETERS,
    "RegularizedRotationClassifier": ROTATION_CLASSIFIER_PARAMETERS,
    "RegularizedRotationRegressor": ROTATION_REGRESSOR_PARAMETERS,
}
_CLASSIFIERS = ("ObliqueForestClassifier", "RegularizedRotationClassifier")
_OF_ROTATIONS = ("RegularizedRotationClassifier", "RegularizedRotationRegressor")
MOST_FEATURES = MOST_ROWS = 2**31 - 1


def write_model(estimator: Any) -> Iterator[bytes | memoryview]:
    """The bytes of the file of a fitted estimator, piece by piece.

    Parameters
    ----------
    estimator : object
        A fitted estimator of Bevel. Raises TypeError if it holds what files cannot; warns of
        parameters that become defaults.
    """
    name = type(estimator).__name__
    parameters = _PARAMETERS.get(name)
    if parameters is None or estimator._parameters is not parameters:
        raise TypeError(
            f"An estimator must be of class {' or '.join(_PARAMETERS)} to be saved; got {name}. "
            "Pickle it instead."
        )
    arrays: Arrays = {}
    header = {
        "bevel": version("bevel"),
        "estimator": name,
        "parameters": encode_parameters(estimator.get_params(deep=False), parameters, arrays),
        "n_features": int(estimator.n_features_in_),
        "feature_names": _encode_names(estimator),
        "classes": _encode_classes(estimator),
        **encode_table(estimator._encoding, arrays),
        "seed": None if estimator._seed is None else int(estimator._seed),
        "bags": _encode_bags(estimator._bags),
        "oob_score": _encode_score(estimator),
        "columns": encode_trees(estimator.forest_, arrays),
        "targets": encode_targets(estimator._kept_targets(), arrays),
    }
    if name in _OF_ROTATIONS:
        header["rotations"] = encode_rotations(estimator._rotations, arrays)
    return write_layout(header, arrays)


def _encode_names(estimator: Any) -> list[str] | None:
    names = getattr(estimator, "feature_names_in_", None)
    return None if names is None else [str(name) for name in names]


def _encode_classes(estimator: Any) -> dict[str, Any] | None:
    classes = getattr(estimator, "classes_", None)
    if classes is None:
        return None
    try:
        return encode_labels(classes)
    except UnstorableError as error:
        raise TypeError(
            f"Class labels must be numbers, strings, bytes or dates to be saved; got {error}. "
            "Convert y to strings before fit, or pickle the estimator."
        ) from None


def _encode_bags(bags: tuple[int, int, bool] | None) -> list[int | bool] | None:
    return None if bags is None else [int(bags[0]), int(bags[1]), bool(bags[2])]


def _encode_score(estimator: Any) -> Any:
    score = getattr(estimator, "oob_score_", None)
    return None if score is None else encode_scalar(float(score))


def read_model(
    source: bytes | memoryview, classes: Mapping[str, Callable[..., Any]], *, mapped: bool = False
) -> Any:
    """The estimator of a file.

    Parameters
    ----------
    source : bytes or memoryview
        The whole file; raises ModelFileError unless it is sound.
    classes : mapping of str to class
        The estimators, by name.
    mapped : bool, default=False
        Verify all but the columns of the forest, and predict from `source` itself.
    """
    layout = read_layout(source)
    header, sections = Fields(layout.header, "header"), Sections(layout)
    header.take("bevel", str)
    name = header.take("estimator", str)
    if name not in _PARAMETERS:
        raise damaged("header.estimator", " or ".join(_PARAMETERS), name)
    values = decode_parameters(header.take("parameters", dict), _PARAMETERS[name], sections)
    n_features = header.take_count("n_features", 1, MOST_FEATURES)
    fitted = _decode_fitted(header, sections, name, n_features)
    fitted["_encoding"] = encoding = decode_table(header, sections, n_features)
    columns = decode_trees(header, sections)
    if name in _OF_ROTATIONS:
        n_trees = columns["tree_offset"].length - 1
        fitted["_rotations"] = decode_rotations(header, sections, n_trees)
    n_classes = fitted.get("n_classes_", 0)
    about = (n_features, n_classes, encoding.levels, encoding.medians)
    forest = FileForest(layout, columns, *about)
    targets = decode_targets(header, sections, layout, forest)
    header.finish()
    sections.finish()
    fitted |= _mapped(forest, targets) if mapped else _in_memory(forest, targets)
    estimator = classes[name](**values)
    vars(estimator).update(fitted)
    return estimator


def _mapped(forest: FileForest, targets: StoredTargets | None) -> dict[str, Any]:
    return {"_predictor": MappedFile(forest), "_targets": targets}


def _in_memory(forest: FileForest, targets: StoredTargets | None) -> dict[str, Any]:
    predictor = PackedPredictor(forest.read())
    predictor.packed  # noqa: B018  # who loads a model is about to use it
    kept = None if targets is None else targets.read(predictor.forest)
    return {"_predictor": predictor, "_targets": kept}


def _decode_fitted(
    header: Fields, sections: Sections, name: str, n_features: int
) -> dict[str, Any]:
    """Attributes that fit has set, but for the table and the forest."""
    fitted: dict[str, Any] = {"n_features_in_": n_features}
    names = header.take_any("feature_names")
    if names is not None:
        fitted["feature_names_in_"] = _decode_names(names, n_features)
    classes = header.take_any("classes")
    if (name in _CLASSIFIERS) != (classes is not None):
        raise damaged("header.classes", "there for a classifier only", type(classes).__name__)
    if classes is not None:
        fitted["classes_"] = _decode_classes(classes, sections)
        fitted["n_classes_"] = len(fitted["classes_"])
    fitted["_seed"] = header.take_count_or_null("seed", most=2**64 - 1)
    fitted["_bags"] = _decode_bags(header.take_any("bags"))
    score = decode_scalar(header.take_any("oob_score"))
    if score is not None:
        fitted["oob_score_"] = check_kind("header.oob_score", score, float)
    return fitted


def _decode_names(value: object, n_features: int) -> npt.NDArray[np.object_]:
    names = check_kind("header.feature_names", value, list)
    if len(names) != n_features:
        raise damaged("header.feature_names", f"{n_features} names", len(names))
    for name in names:
        check_kind("A name of a feature", name, str)
    return np.array(names, dtype=object)


def _decode_classes(value: object, sections: Sections) -> npt.NDArray[Any]:
    classes = decode_labels(value, "header.classes", sections)
    if len(classes) == 0 or len(set(classes.tolist())) < len(classes):
        raise damaged("header.classes", "one or more different labels", len(classes))
    return classes


def _decode_bags(value: object) -> tuple[int, int, bool] | None:
    if value is None:
        return None
    bags = check_kind("header.bags", value, list)
    if [type(each) for each in bags] != [int, int, bool]:
        raise damaged("header.bags", "rows, draws and whether with replacement", bags)
    n_rows, n_draws, replace = bags
    if not 0 <= n_draws <= n_rows or not 1 <= n_rows <= MOST_ROWS:
        required = f"at most as many draws as rows, which are from 1 to {MOST_ROWS}"
        raise damaged("header.bags", required, f"{n_draws} draws from {n_rows} rows")
    return n_rows, n_draws, replace
