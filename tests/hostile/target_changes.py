"""Changes of what a forest predicts: kept targets, outputs, event times, scores; and of arrays."""

from __future__ import annotations

import random

import numpy as np

from .odd_values import NAMES, SCALARS
from .parsed import ModelFile, bits_of

NUMBERS = (0, 1, -1, 2, 3, 7, 63, 64, 255, 2**16, 2**31 - 1, -(2**31), 2**31, 2**32, 2**53, 2**62)
NUMBERS += (2**63 - 1, -(2**63), 2**64 - 1)
REALS = (0.0, -0.0, 1.0, -1.0, 0.5, 1e-45, 1e-38, 1e30, 3.4e38, -3.4e38, 1e300, 1.7e308)
REALS += (float("nan"), float("inf"), -float("inf"), 2.0**24, 1e-320)


def edited(array: np.ndarray, rng: random.Random) -> np.ndarray:
    """An array of which some numbers are others."""
    array = array.copy()
    for _ in range(rng.choice((1, 1, 1, 2, 5, len(array)))):
        place = rng.randrange(len(array))
        way = rng.randrange(4)
        if way == 0:
            array[place] = array[rng.randrange(len(array))]
        elif way == 1 and array.dtype.kind in "iu":
            step = int(array[place]) + rng.choice((-1, 1, 2, -2))
            array[place] = bits_of(step, array.dtype)
        else:
            number = rng.choice(REALS if array.dtype.kind == "f" else NUMBERS)
            array[place] = bits_of(number, array.dtype)
    return array


def change_outputs(file: ModelFile, rng: random.Random) -> str:
    """Names, numbers and values of several outputs, or those of a forest of one."""
    record = file.header.get("outputs")
    if not isinstance(record, dict) or rng.random() < 0.1:
        names = [rng.choice(NAMES) for _ in range(rng.choice((1, 2, 5)))]
        classes = rng.choice((None, [file.header["classes"]] * len(names)))
        file.header["outputs"] = {"names": names, "classes": classes}
        file.put_values("output_classes", np.full(len(names), rng.choice((0, 1, 3)), np.int32))
        return "outputs that are none"
    way = rng.randrange(6)
    if way == 0:
        record["names"][rng.randrange(len(record["names"]))] = rng.choice((*NAMES, *SCALARS))
    elif way == 1:
        record[rng.choice(list(record))] = rng.choice((*SCALARS, ["x"] * 1001))
    elif way == 2 and record["classes"]:
        rng.shuffle(record["classes"])
    elif way == 3:
        record["names"].append("another")
    else:
        column = rng.choice(("output_classes", "output_value"))
        values = file.values(column)
        other = edited(values, rng) if len(values) and way == 4 else np.resize(values, 3)
        file.put_values(column, other)
    return "outputs"


def change_survival(file: ModelFile, rng: random.Random) -> str:
    """Event times of a survival forest, or those of one that is none."""
    record, section = file.header.get("survival"), "survival.event_times"
    if not isinstance(record, dict):
        file.header["survival"] = {"last_time": rng.choice((*REALS, *SCALARS))}
        file.arrays[section] = np.arange(1.0, rng.choice((1, 4, 1000)))
        return "event times that are none"
    way, times = rng.randrange(4), file.arrays[section]
    if way == 0:
        record["last_time"] = rng.choice((*REALS, *SCALARS, {"float": "nan"}))
    elif way == 1:
        file.arrays[section] = np.resize(times, rng.choice((0, 1, len(times) + 5)))
    elif way == 2:
        file.arrays[section] = times[: rng.randrange(len(times) + 1)]
    else:
        file.arrays[section] = edited(times, rng)
    return "event times"


def change_isolation(file: ModelFile, rng: random.Random) -> str:
    """Rows of a tree, offset and path lengths of an isolation forest, or of one that is none."""
    record = file.header.get("isolation")
    if not isinstance(record, dict):
        numbers = (rng.choice((1, 2, 256)), rng.choice(REALS))
        file.header["isolation"] = dict(zip(("n_samples", "offset"), numbers, strict=True))
        if rng.random() < 0.3:
            file.header["estimator"] = "ObliqueIsolationForest"
            file.header["parameters"] = {}
        return "scores of isolation that are none"
    way = rng.randrange(4)
    if way == 0:
        record["n_samples"] = rng.choice((*NUMBERS, *SCALARS))
    elif way == 1:
        record["offset"] = rng.choice((*REALS, *SCALARS, -0.25, {"float": "nan"}))
    elif way == 2:
        record[rng.choice(("n_samples", "other"))] = 1
    else:
        values = file.values("leaf_value").copy()
        lengths = (*REALS, 60.0, 1e4, -1e-9, -3.0, -1e65, 1e65, 1e66)
        for _ in range(rng.choice((1, 2, len(values)))):
            values[rng.randrange(len(values))] = rng.choice(lengths)
        file.put_values("leaf_value", values)
    return "scores of isolation"


def change_targets(file: ModelFile, rng: random.Random) -> str:
    kept = [column for column in file.columns() if column.startswith("target_")]
    if not kept:
        file.header["targets"] = {name: {} for name in ("target_value", "target_row")}
        return "targets that are none"
    column = rng.choice(kept)
    values = file.values(column)
    values = edited(values, rng) if len(values) and rng.random() < 0.7 else np.resize(values, 3)
    file.put_values(column, values)
    return f"values of column {column}"
