"""Classes, outputs, links of boosted trees, calibration, event times, offsets of isolation forests
and records of growth, in the header and in sections of a model file.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping
from typing import Any

import numpy as np
import numpy.typing as npt

from bevel._types import Arrays, Floats
from bevel.data.survival import MAX_CAUSES, MAX_TIME
from bevel.files.columns import Column, decode_column
from bevel.files.layout import Fields, Sections, check_kind, damaged
from bevel.files.trees import check_claims
from bevel.files.values import (
    UnstorableError,
    decode_labels,
    decode_scalar,
    encode_labels,
    encode_scalar,
)
from bevel.forest.aggregation import (
    LINKS,
    MAX_BASELINE,
    Aggregation,
    MeanOfTrees,
    SumOfTrees,
    WeightedSum,
)
from bevel.forest.calibration import POWERS
from bevel.forest.records import (
    BoostingRecord,
    Calibration,
    FamilyRecord,
    MemberRecord,
    RotationRecord,
)
from bevel.forest.task import (
    Classification,
    Isolation,
    Ranking,
    Regression,
    SeveralOutputs,
    Survival,
    SurvivalByRisk,
    Task,
)
from bevel.printable import printable

__all__ = [
    "check_outputs",
    "decode_aggregation",
    "decode_combination",
    "decode_families",
    "decode_rotations",
    "decode_task",
    "encode_aggregation",
    "encode_combination",
    "encode_families",
    "encode_rotations",
    "encode_task",
]

# The record of a boosting fit, in a header field and sections.
#
# "record": {"n_training": 100, "n_validation": 100, "calibration": {"n_rows": 50, "n_ends": 1,
#         "is_weighted": false, "power": 0.0}}
#         and sections "additive.training_score", "additive.validation_score",
#         "additive.residuals" and "additive.residual_weights"

MAX_SCORES = 10**9
RESIDUAL_POWERS = (0.0, 0.5, 1.0)


def encode_record(record: BoostingRecord | None, arrays: Arrays) -> dict[str, Any] | None:
    """The field "record"; arrays are put into sections."""
    if record is None:
        return None
    arrays["additive.training_score"] = record.training_score
    arrays["additive.validation_score"] = record.validation_score
    return {
        "n_training": len(record.training_score),
        "n_validation": len(record.validation_score),
        "calibration": _encode_calibration(record.calibration, arrays),
    }


def _encode_calibration(given: Calibration | None, arrays: Arrays) -> dict[str, Any] | None:
    if given is None:
        return None
    n_rows, n_ends = given.residuals.shape
    arrays["additive.residuals"] = np.ascontiguousarray(given.residuals).ravel()
    if given.weights is not None:
        arrays["additive.residual_weights"] = given.weights
    return {
        "n_rows": n_rows,
        "n_ends": n_ends,
        "is_weighted": given.weights is not None,
        "power": encode_scalar(given.power),
    }


def decode_record(value: object, sections: Sections, is_classifier: bool) -> BoostingRecord | None:
    """Read the field and sections that `encode_record` has written; raises ModelFileError.

    Parameters
    ----------
    value : object
        Value of the field.
    sections : Sections
        Sections to take arrays from.
    is_classifier : bool
        Whether the model is a classifier, which has no intervals.
    """
    if value is None:
        return None
    fields = Fields(value, "header.additive.record")
    lengths = [fields.take_count(name, 0, MAX_SCORES) for name in ("n_training", "n_validation")]
    calibration = _decode_calibration(fields.take_any("calibration"), sections)
    fields.finish()
    if is_classifier and calibration is not None:
        raise damaged("additive.calibration", "none of a classifier", "one")
    scores = [
        sections.take(f"additive.{name}", "<f8", length)
        for name, length in zip(("training_score", "validation_score"), lengths, strict=True)
    ]
    if any(np.isinf(each).any() for each in scores):
        raise damaged("Scores of iterations", "finite numbers or NaN", "infinite ones")
    return BoostingRecord(scores[0], scores[1], calibration)


def _decode_calibration(value: object, sections: Sections) -> Calibration | None:
    if value is None:
        return None
    fields = Fields(value, "header.additive.record.calibration")
    n_rows = fields.take_count("n_rows", 1, MAX_SCORES)
    n_ends = fields.take_count("n_ends", 1, 2)
    is_weighted = fields.take("is_weighted", bool)
    power = float(check_kind("calibration.power", decode_scalar(fields.take_any("power")), float))
    fields.finish()
    residuals = sections.take("additive.residuals", "<f8", n_rows * n_ends)
    weights: Floats | None = None
    if is_weighted:
        weights = sections.take("additive.residual_weights", "<f8", n_rows)
        if not (np.isfinite(weights) & (weights > 0.0)).all():
            raise damaged("Weights of residuals", "finite and positive", "others")
    if not (np.abs(residuals) < 1e300).all():
        raise damaged("Residuals", "finite numbers", "others")
    if power not in RESIDUAL_POWERS:
        raise damaged("calibration.power", "0, 0.5 or 1", power)
    return Calibration(residuals.reshape(n_rows, n_ends), weights, power)


# Baseline, link and record of an additive forest, in the header of a file.


def encode_additive(additive: SumOfTrees, arrays: Arrays) -> dict[str, Any]:
    """Header field of an additive forest; arrays are put into sections."""
    return {
        "baseline": [encode_scalar(float(value)) for value in additive.baseline],
        "link": additive.link,
        "record": encode_record(additive.record, arrays),
    }


def decode_additive(
    header: Fields,
    sections: Sections,
    classes: npt.NDArray[Any] | None,
    n_trees: int,
) -> SumOfTrees:
    """Read and check the field; raises ModelFileError unless it fits the classes and the trees."""
    fields = Fields(header.take("additive", dict), "header.additive")
    record = decode_record(fields.take_any("record"), sections, classes is not None)
    link = fields.take("link", str)
    baseline = tuple(_number(decode_scalar(value)) for value in fields.take("baseline", list))
    fields.finish()
    if link not in LINKS:
        raise damaged("header.additive.link", " or ".join(LINKS), link)
    if (link in ("logistic", "softmax")) != (classes is not None):
        raise damaged("header.additive.link", "one of classes for a classifier only", link)
    n_classes = 0 if classes is None else len(classes)
    n_outputs = n_classes if link == "softmax" else max(1, len(baseline) if link == "sorted" else 1)
    if len(baseline) != n_outputs or (link == "logistic" and n_classes != 2):
        raise damaged("header.additive.baseline", f"{n_outputs} numbers", len(baseline))
    if n_trees % n_outputs:
        raise damaged("The number of trees", f"a multiple of {n_outputs}", n_trees)
    _check_intervals(record, link)
    return SumOfTrees(baseline, link, record)


def _check_intervals(record: BoostingRecord | None, link: str) -> None:
    if record is None or record.calibration is None:
        return
    n_ends = 2 if link == "sorted" else 1
    if record.calibration.residuals.shape[1] != n_ends:
        raise damaged("additive.residuals", f"{n_ends} for each row", "another number")


def _number(value: object) -> float:
    number = float(check_kind("header.additive.baseline", value, float))
    if not abs(number) <= MAX_BASELINE:
        raise damaged("header.additive.baseline", f"at most {MAX_BASELINE:g} in size", number)
    return number


def encode_aggregation(aggregation: Aggregation, arrays: Arrays) -> dict[str, Any]:
    """Header fields that tell how trees come together; arrays are put into sections."""
    fields: dict[str, Any] = {"calibration_power": float(aggregation.power)}
    if aggregation.least:
        fields["least_probability"] = float(aggregation.least)
    if isinstance(aggregation, SumOfTrees):
        fields["additive"] = encode_additive(aggregation, arrays)
    return fields


def decode_aggregation(
    header: Fields,
    sections: Sections,
    kind: type[Aggregation],
    task: Task,
    n_trees: int,
    hard: bool,
) -> Aggregation:
    """Read and check the fields of `encode_aggregation`; raises ModelFileError.

    Parameters
    ----------
    header : Fields
        Header of the file.
    sections : Sections
        Sections to take arrays from.
    kind : type
        Aggregation of the estimator.
    task : Task
        What the forest predicts.
    n_trees : int
        Trees of the forest.
    hard : bool
        Whether trees vote.
    """
    power = header.take("calibration_power", float)
    averages_classes = isinstance(task, Classification) and not kind.adds_up
    allowed = POWERS if averages_classes else (1.0,)
    if power not in allowed:
        raise damaged("header.calibration_power", f"one of {', '.join(map(str, allowed))}", power)
    if kind.adds_up:
        return decode_additive(header, sections, task.classes, n_trees)
    least = header.take("least_probability", float) if header.has("least_probability") else 0.0
    if not 0.0 <= least < 1.0 or (least and not averages_classes):
        raise damaged("header.least_probability", "from 0 to below 1, and 0 without classes", least)
    return MeanOfTrees(hard, float(power), least)


# The weights of the members of a combination, in a header field and sections (`files.model`).

MAX_MEMBERS, MAX_QUALITY = 100, 5
KINDS_OF_MEMBERS = ("forest", "boosting")


def encode_combination(
    aggregation: WeightedSum, record: MemberRecord, arrays: Arrays
) -> dict[str, Any]:
    """Header field of a combination; arrays are put into sections."""
    arrays["members.losses"] = record.losses
    arrays["members.standard_errors"] = record.standard_errors
    arrays["members.weights"] = record.weights
    arrays["members.n_models"] = record.n_models.astype(np.int64)
    arrays["members.n_trees"] = record.n_trees.astype(np.int64)
    return {
        "weights": [float(weight) for weight in aggregation.weights],
        "record": {
            "loss": encode_scalar(float(record.loss)),
            "n_rows": int(record.n_rows),
            "quality": int(record.quality),
        },
        "calibration": _encode_calibration(aggregation.calibration, arrays),
    }


def decode_combination(
    header: Fields, sections: Sections, task: Task
) -> tuple[WeightedSum, MemberRecord]:
    """Read and check the field and sections of `encode_combination`; raises ModelFileError."""
    fields = Fields(header.take("combination", dict), "header.combination")
    weights = [check_kind("A weight", each, float) for each in fields.take("weights", list)]
    about = Fields(fields.take("record", dict), "header.combination.record")
    loss = float(check_kind("record.loss", decode_scalar(about.take_any("loss")), float))
    n_rows = about.take_count("n_rows", most=MAX_SCORES)
    quality = about.take_count("quality", 1, MAX_QUALITY)
    about.finish()
    calibration = _decode_calibration(fields.take_any("calibration"), sections)
    fields.finish()
    if calibration is not None and (task.n_classes or calibration.residuals.shape[1] != 1):
        raise damaged(
            "combination.calibration", "one residual for each row of a regressor", "others"
        )
    if not 1 <= len(weights) <= MAX_MEMBERS or not _are_shares(np.array(weights), above=0.0):
        raise damaged("combination.weights", "numbers above 0 with the sum 1", "others")
    n = len(KINDS_OF_MEMBERS)
    losses = sections.take("members.losses", "<f8", n)
    noise = sections.take("members.standard_errors", "<f8", n)
    shares = sections.take("members.weights", "<f8", n)
    n_models = sections.take("members.n_models", "<i8", n)
    n_trees = sections.take("members.n_trees", "<i8", n)
    if np.isinf(losses).any() or np.isinf(noise).any() or np.isinf(loss):
        raise damaged("Losses of members", "finite numbers or NaN", "infinite ones")
    if not _are_shares(shares) or n_models.min() < 0 or n_trees.min() < 0:
        raise damaged("Members", "shares with the sum 1, and counts", "others")
    name = task.row_loss_name
    record = MemberRecord(
        *(KINDS_OF_MEMBERS, n_models, n_trees, losses, noise, shares, loss, name, n_rows),
        quality=quality,
    )
    return WeightedSum(tuple(weights), calibration), record


def _are_shares(weights: Floats, above: float = -1.0) -> bool:
    """Whether numbers are from 0 to 1, and above a bound, and add up to one."""
    within = (weights >= 0.0) & (weights <= 1.0) & (weights > above)
    return bool(within.all()) and abs(float(weights.sum()) - 1.0) < 1e-9


# The families that share the trees of a forest, in a header field and sections.
#
# "families": {"names": ["axis", "sparse"], "left_out": [["lda", "needs ..."]],
#              "min_samples_split": 2}
#         and sections "families.errors", "families.standard_errors", "families.weights" and
#         "families.of_tree"

MAX_FAMILIES = 1000
MAX_ROWS = 2**31 - 1


def encode_families(record: FamilyRecord | None, arrays: Arrays) -> dict[str, Any] | None:
    """The header's field "families"; arrays are put into sections."""
    if record is None:
        return None
    arrays["families.errors"] = record.errors
    arrays["families.standard_errors"] = record.standard_errors
    arrays["families.weights"] = record.weights
    arrays["families.of_tree"] = record.of_tree
    return {
        "names": list(record.names),
        "left_out": [list(each) for each in record.left_out],
        "min_samples_split": record.min_samples_split,
    }


def decode_families(value: object, sections: Sections, n_trees: int) -> FamilyRecord | None:
    """Read the field and sections that `encode_families` has written; raises ModelFileError.

    Parameters
    ----------
    value : object
        The header's field.
    sections : Sections
        Sections to take arrays from.
    n_trees : int
        Trees of the forest.
    """
    if value is None:
        return None
    fields = Fields(value, "families")
    names = tuple(_text(name) for name in _list(fields.take_any("names")))
    left_out = tuple(_pair(each) for each in _list(fields.take_any("left_out")))
    size = fields.take_count("min_samples_split", 2, MAX_ROWS)
    fields.finish()
    if not names:
        raise damaged("families.names", "one or more names", "none")
    n_families = len(names)
    errors, standard_errors = (
        sections.take(f"families.{name}", "<f8", n_families)
        for name in ("errors", "standard_errors")
    )
    weights = sections.take("families.weights", "<f8", n_families)
    of_tree = sections.take("families.of_tree", "<i4", n_trees)
    for numbers in (errors, standard_errors):
        if np.isinf(numbers).any() or (numbers < 0.0).any():
            raise damaged("Errors of families", "NaN, or finite and not negative", "others")
    if not ((weights >= 0.0) & (weights <= 1.0)).all() or not abs(weights.sum() - 1.0) < 1e-6:
        raise damaged("Weights of families", "from 0 to 1 with the sum 1", "others")
    if n_trees and not (of_tree.min() >= 0 and of_tree.max() < n_families):
        raise damaged("The families of trees", f"from 0 to {n_families - 1}", "others")
    return FamilyRecord(names, errors, standard_errors, weights, of_tree, left_out, size)


def _list(value: object) -> list[Any]:
    items = check_kind("A field of families", value, list)
    if len(items) > MAX_FAMILIES:
        raise damaged("Families", f"at most {MAX_FAMILIES}", len(items))
    return items


def _text(value: object) -> str:
    """Check a name or a reason, both of which may be printed on terminals."""
    text = check_kind("A name or reason of families", value, str)
    if text != printable(text):
        raise damaged("A name or reason of families", "plain text", text)
    return text


def _pair(value: object) -> tuple[str, str]:
    items = check_kind("families.left_out", value, list)
    if len(items) != 2:
        raise damaged("families.left_out", "pairs of name and reason", items)
    return _text(items[0]), _text(items[1])


# The scores of an isolation forest, in the header of a file.
#
# "isolation": {"n_samples": 256, "offset": -0.5}


def encode_isolation(isolation: Isolation) -> dict[str, Any]:
    """Header field of an isolation forest."""
    return {"n_samples": int(isolation.n_samples), "offset": float(isolation.offset)}


def decode_isolation(header: Fields) -> Isolation:
    """Read and check the field; raises ModelFileError."""
    fields = Fields(header.take("isolation", dict), "header.isolation")
    n_samples = fields.take_count("n_samples", 1, MAX_ROWS)
    offset = fields.take("offset", float)
    fields.finish()
    if not -1.0 <= offset <= 0.0:
        raise damaged("header.isolation.offset", "from -1 to 0", offset)
    return Isolation(n_samples, float(offset))


# Tasks: classes of a model file, of one output or of several with their names, and the fields of
# isolation and survival forests.


def encode_task(task: Task, arrays: Arrays) -> dict[str, Any]:
    """Header fields of a task; arrays are put into sections."""
    fields: dict[str, Any] = {"classes": encode_classes(task.classes), "outputs": None}
    match task:
        case SeveralOutputs():
            fields["outputs"] = encode_outputs(task)
        case Isolation():
            fields["isolation"] = encode_isolation(task)
        case Survival():
            fields["survival"] = encode_survival(task, arrays)
        case SurvivalByRisk():
            fields["survival"] = encode_risks(task, arrays)
    return fields


def decode_task(header: Fields, sections: Sections, tasks: Collection[type[Task]]) -> Task:
    """Read and check the fields of `encode_task`; raises ModelFileError.

    Parameters
    ----------
    header : Fields
        Header of the file.
    sections : Sections
        Sections to take arrays from.
    tasks : collection of types
        The tasks that the estimator can have.
    """
    classes = header.take_any("classes")
    has_classes = Classification in tasks
    outputs = decode_outputs(header, sections, has_classes)
    if outputs is not None and SeveralOutputs not in tasks:
        raise damaged("header.outputs", "null for this estimator", "several")
    if (has_classes and outputs is None) != (classes is not None):
        raise damaged("header.classes", "there for a classifier only", type(classes).__name__)
    if outputs is not None:
        return outputs
    if has_classes:
        return Classification(decode_classes(classes, sections))
    if Isolation in tasks:
        return decode_isolation(header)
    if SurvivalByRisk in tasks:
        return decode_risks(header, sections)
    if Ranking in tasks:
        return Ranking()
    return decode_survival(header, sections) if Survival in tasks else Regression()


def encode_classes(classes: npt.NDArray[Any] | None) -> dict[str, Any] | None:
    """Labels of the classes as JSON; raises TypeError for labels that it cannot hold."""
    if classes is None:
        return None
    try:
        return encode_labels(classes)
    except UnstorableError as error:
        raise TypeError(
            f"Class labels must be numbers, strings, bytes or dates to be saved; got {error}. "
            "Convert y to strings before fit, or pickle the estimator."
        ) from None


def decode_classes(value: object, sections: Sections, path: str = "header.classes") -> Any:
    """Read the labels of the classes; raises ModelFileError unless they are distinct."""
    classes = decode_labels(value, path, sections)
    if len(classes) == 0 or len(set(classes.tolist())) < len(classes):
        raise damaged(path, "one or more different labels", len(classes))
    return classes


def encode_outputs(outputs: SeveralOutputs) -> dict[str, Any]:
    """Names and classes of several outputs."""
    classes = None if outputs.labels is None else [encode_classes(c) for c in outputs.labels]
    return {"names": list(outputs.names), "classes": classes}


def decode_outputs(
    header: Fields, sections: Sections, is_classifier: bool
) -> SeveralOutputs | None:
    """Read names and classes of several outputs; raises ModelFileError if they are invalid."""
    value = header.take_any("outputs")
    if value is None:
        return None
    fields = Fields(value, "header.outputs")
    names, classes = fields.take("names", list), fields.take_any("classes")
    fields.finish()
    for name in names:
        check_kind("A name of an output", name, str)
    if len(names) < 2 or len(set(names)) < len(names):
        raise damaged("header.outputs.names", "two or more different names", len(names))
    if is_classifier != (classes is not None):
        raise damaged("header.outputs.classes", "there for a classifier only", "others")
    if classes is None:
        return SeveralOutputs(tuple(names), None)
    path = "header.outputs.classes"
    each = check_kind(path, classes, list)
    if len(each) != len(names):
        raise damaged(path, f"a list for each of {len(names)} outputs", len(each))
    return SeveralOutputs(tuple(names), tuple(decode_classes(c, sections, path) for c in each))


def check_outputs(task: Task, columns: Mapping[str, Column]) -> None:
    """Raise ModelFileError unless the trees have the outputs of the header."""
    column = columns["output_classes"]
    n_outputs = task.n_outputs if task.n_outputs > 1 else 0
    if column.length != n_outputs:
        raise damaged("output_classes", f"of {n_outputs} outputs", column.length)
    if not isinstance(task, SeveralOutputs):
        return
    if not np.array_equal(decode_column(column, check_claims(columns)), task.output_classes):
        raise damaged("output_classes", "as many classes as in the header", "others")


# The rotations of a regularised rotation ensemble, in a header field and sections.
#
# "rotations": {"seed": 17, "max_rotated": 500, "h": 2.0}
#         and sections "rotations.complexities", "rotations.errors", "rotations.weights" and
#         "rotations.of_tree"
#
# The rotations themselves are drawn again from the seed.


def encode_rotations(record: RotationRecord, arrays: Arrays) -> dict[str, Any]:
    """The header's field "rotations"; arrays are put into sections."""
    arrays["rotations.complexities"] = record.complexities
    arrays["rotations.errors"] = record.errors
    arrays["rotations.weights"] = record.weights
    arrays["rotations.of_tree"] = record.of_tree
    return {"seed": int(record.seed), "max_rotated": record.max_rotated, "h": record.h}


def decode_rotations(header: Fields, sections: Sections, n_trees: int) -> RotationRecord:
    """Read the field and sections that `encode_rotations` has written; raises ModelFileError.

    Parameters
    ----------
    header : Fields
        Header of the file.
    sections : Sections
        Sections to take arrays from.
    n_trees : int
        Trees of the forest.
    """
    fields = Fields(header.take_any("rotations"), "rotations")
    seed = fields.take_count("seed", most=2**64 - 1)
    max_rotated = fields.take_count("max_rotated", least=1)
    h = decode_scalar(fields.take_any("h"))
    fields.finish()
    if h is not None and not check_kind("rotations.h", h, float) > 0.0:
        raise damaged("rotations.h", "above zero", h)
    complexities = sections.take("rotations.complexities", "<f8")
    n_rotations = len(complexities)
    errors = sections.take("rotations.errors", "<f8", n_rotations)
    weights = sections.take("rotations.weights", "<f8", n_rotations)
    of_tree = sections.take("rotations.of_tree", "<i4", n_trees)
    for name, numbers in (("Complexities", complexities), ("Weights", weights)):
        if not bool((np.isfinite(numbers) & (numbers >= 0.0)).all()):
            raise damaged(f"{name} of rotations", "finite and not negative", "others")
    # NaN for a micro-forest without out-of-bag rows.
    if not bool((np.isnan(errors) | (np.isfinite(errors) & (errors >= 0.0))).all()):
        raise damaged("Errors of rotations", "finite and not negative, or NaN", "others")
    if n_trees and not (of_tree.min() >= 0 and of_tree.max() < n_rotations):
        raise damaged("The rotations of trees", f"from 0 to {n_rotations - 1}", "others")
    return RotationRecord(seed, max_rotated, complexities, errors, weights, h, of_tree)


# The event times of a survival forest, in a header field and a section.
#
# "survival": {"last_time": 4.5, "n_causes": 1}
#         and section "survival.event_times"


def encode_survival(record: Survival, arrays: Arrays) -> dict[str, Any]:
    """The header's field "survival"; the times are put into a section."""
    arrays["survival.event_times"] = record.event_times
    return {
        "last_time": encode_scalar(float(record.last_time)),
        "n_causes": int(record.n_causes),
    }


def decode_survival(header: Fields, sections: Sections) -> Survival:
    """Read the field and section that `encode_survival` has written; raises ModelFileError."""
    fields = Fields(header.take("survival", dict), "header.survival")
    last_time = check_kind("survival.last_time", decode_scalar(fields.take_any("last_time")), float)
    n_causes = fields.take_count("n_causes", 1, MAX_CAUSES)
    fields.finish()
    return Survival(_event_times(sections, last_time), float(last_time), n_causes)


def _event_times(sections: Sections, last_time: float) -> npt.NDArray[np.float64]:
    times = sections.take("survival.event_times", "<f8")
    good = len(times) > 0 and bool((times > 0.0).all()) and bool((np.diff(times) > 0.0).all())
    if not good or not times[-1] <= last_time <= MAX_TIME:
        required = "above 0, ascending, and at most the last time"
        raise damaged("The event times", required, "others")
    return times


# The curve of risk 0 of survival boosting, in a header field and sections.
#
# "survival": {"last_time": 4.5, "distribution": "cox", "spread": 1.0}
#         and sections "survival.event_times" and "survival.hazard"

DISTRIBUTIONS = ("cox", "log_logistic", "weibull")


def encode_risks(record: SurvivalByRisk, arrays: Arrays) -> dict[str, Any]:
    """The header's field "survival"; times and hazard are put into sections."""
    arrays["survival.event_times"] = record.event_times
    arrays["survival.hazard"] = record.hazard
    return {
        "last_time": encode_scalar(float(record.last_time)),
        "distribution": record.distribution,
        "spread": encode_scalar(float(record.spread)),
    }


def decode_risks(header: Fields, sections: Sections) -> SurvivalByRisk:
    """Read the field and sections that `encode_risks` has written; raises ModelFileError."""
    fields = Fields(header.take("survival", dict), "header.survival")
    last_time = check_kind("survival.last_time", decode_scalar(fields.take_any("last_time")), float)
    spread = check_kind("survival.spread", decode_scalar(fields.take_any("spread")), float)
    distribution = fields.take("distribution", str)
    fields.finish()
    if distribution not in DISTRIBUTIONS:
        raise damaged("survival.distribution", " or ".join(DISTRIBUTIONS), distribution)
    if not 1e-3 < spread < 1e3:
        raise damaged("survival.spread", "a number above 0.001 and below 1000", spread)
    times = _event_times(sections, last_time)
    hazard = sections.take("survival.hazard", "<f8", len(times) * (distribution == "cox"))
    known = np.isfinite(hazard).all() and (np.diff(hazard, prepend=0.0) >= 0.0).all()
    if not known:
        raise damaged("The cumulative hazard", "finite, from 0 on, and ascending", "another")
    return SurvivalByRisk(times, float(last_time), hazard, distribution, float(spread))
