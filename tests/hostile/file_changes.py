"""Changes to a model file that leave its checksums right: lies that only checks of meaning find."""

from __future__ import annotations

import random
from collections.abc import Callable
from typing import Any

import numpy as np
from support.mutations import WIDE, WORDS, lie_in_header

from bevel.files.columns import encode_column

from . import file_bombs
from .models import sources
from .odd_values import NAMES, SCALARS, settings
from .parsed import ModelFile, parse
from .target_changes import (
    NUMBERS,
    REALS,
    change_isolation,
    change_outputs,
    change_survival,
    change_targets,
    edited,
)

Change = Callable[[ModelFile, random.Random], str]

MAX_NAMES = 1000  # an earlier change may have claimed two billion features


def change_header(file: ModelFile, rng: random.Random) -> str:
    field = rng.choice([name for name in file.header if name not in ("columns", "targets")])
    if isinstance(file.header[field], dict | list) and file.header[field] and rng.random() < 0.8:
        lie_in_header(file.header[field], bytearray(), rng)
    else:
        file.header[field] = rng.choice((rng.choice(SCALARS), rng.choice(WIDE), rng.choice(WORDS)))
    return f"header field {field}"


def change_description(file: ModelFile, rng: random.Random) -> str:
    """A number, the chain or the parts of a column."""
    column = rng.choice(file.columns())
    described = file.described(column)
    if described is None:
        return "nothing"
    part = rng.choice(("meta", "meta", "length", "length", "encoding", "parts", "dtype"))
    if part == "meta" and described["meta"]:
        key = rng.choice(list(described["meta"]))
        before = described["meta"][key]
        described["meta"][key] = _near(before, rng)
    elif part == "length":
        described["length"] = _near(described["length"], rng)
    elif part == "encoding":
        described["encoding"] = _other_chain(described["encoding"], rng)
    elif part == "parts" and described["parts"]:
        described["parts"] = rng.choice(
            (described["parts"] * 2, described["parts"][1:], described["parts"][::-1])
        )
    elif part == "dtype":
        described["dtype"] = rng.choice(("<i4", "<i8", "<f4", "<f8", "|u1", "<u4", "|O"))
    return f"{part} of column {column}"


def _near(number: Any, rng: random.Random) -> Any:
    if type(number) is not int or rng.random() < 0.5:
        return rng.choice(NUMBERS)
    return number + rng.choice((-1, 1, 2, -number, number, 64))


def _other_chain(chain: str, rng: random.Random) -> str:
    links = chain.split(".")
    known = ("raw", "constant", "packed", "codes", "steps", "filled")
    place = rng.randrange(len(links))
    way = rng.randrange(4)
    if way == 0:
        links[place] = rng.choice(known)
    elif way == 1:
        links.insert(place, rng.choice(known))
    elif way == 2:
        links = links * rng.choice((2, 3, 1000))
    else:
        del links[place]
    return ".".join(links)


def change_section(file: ModelFile, rng: random.Random) -> str:
    """A few numbers of a section as they lie in the file."""
    name = rng.choice([name for name, array in file.arrays.items() if len(array)] or [""])
    if not name:
        return "nothing"
    file.arrays[name] = edited(file.arrays[name], rng)
    return f"numbers of section {name}"


def change_values(file: ModelFile, rng: random.Random) -> str:
    """A few values of a decoded column, encoded anew."""
    column = rng.choice(file.columns())
    values = file.values(column)
    if not len(values):
        return "nothing"
    file.put_values(column, edited(values, rng))
    return f"values of column {column}"


def change_length(file: ModelFile, rng: random.Random) -> str:
    """A column that is longer or shorter than the others want."""
    column = rng.choice(file.columns())
    values = file.values(column)
    way = rng.randrange(4)
    if way == 0:
        values = values[: rng.randrange(len(values) + 1)]
    elif way == 1:
        values = np.concatenate([values, values[-1:]])
    elif way == 2:
        values = np.resize(values, rng.choice((0, 1, 2 * len(values), 1000)))
    else:
        values = values[::-1].copy()
    file.put_values(column, values)
    return f"length of column {column}"


def change_section_length(file: ModelFile, rng: random.Random) -> str:
    name = rng.choice(list(file.arrays) or [""])
    if not name:
        return "nothing"
    array = file.arrays[name]
    way = rng.randrange(3)
    if way == 0:
        file.arrays[name] = array[: rng.randrange(len(array) + 1)]
    elif way == 1:
        file.arrays[name] = np.resize(array, len(array) + rng.choice((1, 8, 500)))
    else:
        kind = rng.choice(("|u1", "<i4", "<f4", "<f8", "|b1", "<i8"))
        file.arrays[name] = array.view("|u1")[: array.nbytes // 8 * 8].view(kind)
    return f"length or type of section {name}"


def change_names(file: ModelFile, rng: random.Random) -> str:
    n_features = file.header["n_features"]
    n_names = min(n_features, MAX_NAMES) if isinstance(n_features, int) else 1
    names = file.header["feature_names"] or [f"x{i}" for i in range(max(1, n_names))]
    names = list(names)
    names[rng.randrange(len(names))] = rng.choice(NAMES)
    file.header["feature_names"] = names
    return "names of features"


def change_labels(file: ModelFile, rng: random.Random) -> str:
    """Classes, or levels of a nominal column."""
    places = [each["labels"] for each in file.header["nominal"]]
    places += [file.header["classes"]] if file.header["classes"] else []
    outputs = file.header.get("outputs")
    places += (outputs["classes"] or []) if isinstance(outputs, dict) else []
    if not places:
        return change_names(file, rng)
    labels = rng.choice(places)
    if rng.random() < 0.4:
        labels["dtype"] = rng.choice(
            ("object", "U", "S", "T", "<i8", "<f8", "|b1", "<M8[D]", ">f4")
        )
    values = labels["values"]
    for _ in range(rng.choice((1, 1, len(values)))):
        way = rng.random()
        if way < 0.7 and values:
            values[rng.randrange(len(values))] = rng.choice((*SCALARS, *NAMES))
        elif way < 0.8 and values:
            values.append(values[0])
        elif way < 0.9:
            values.append(rng.choice(SCALARS))
        elif values:
            values.pop()
    return "labels"


def change_levels(file: ModelFile, rng: random.Random) -> str:
    """Which columns are nominal, and how many levels they have."""
    nominal = file.header["nominal"]
    feature = rng.choice((0, 1, 2, file.header["n_features"] - 1, file.header["n_features"], -1))
    way = rng.randrange(4)
    if way == 0 and nominal:
        each = rng.choice(nominal)
        each["has_missing"] = not each["has_missing"]
    elif way == 1 and nominal:
        rng.choice(nominal)["feature"] = feature
    elif way == 2 and nominal:
        nominal.pop()
    else:
        count = rng.choice((0, 1, 2, 33, 1000, 65535, 65536) if rng.random() < 0.05 else (0, 1, 3))
        labels = {"dtype": "object", "values": list(range(count))}
        nominal.append({"feature": feature, "has_missing": rng.random() < 0.5, "labels": labels})
    return "levels of nominal columns"


def change_bags(file: ModelFile, rng: random.Random) -> str:
    counts = (0, 1, 2, 39, 40, 41, 1000, 2**20, 2**31 - 1, 2**31, 2**32, 2**40, 2**62, 2**63 - 1)
    rows = rng.choice((40, 40, rng.choice(counts)))
    file.header["bags"] = [rows, rng.choice(counts), rng.random() < 0.5]
    if rng.random() < 0.3:
        file.header["seed"] = rng.choice((None, 0, 2**64 - 1, 2**63, 1))
    return f"bags {file.header['bags']}"


def change_parameter(file: ModelFile, rng: random.Random) -> str:
    parameters = file.header["parameters"]
    name = rng.choice(list(parameters))
    parameters[name] = settings(name, rng)
    return f"parameter {name}"


def nest_deeply(file: ModelFile, rng: random.Random) -> str:
    """Containers within containers, more of them than any value has."""
    depth = rng.choice((5, 12, 13, 14, 60, 300, 900, 990))
    value: Any = 1
    wrap = rng.choice(
        (
            lambda inner: [inner],
            lambda inner: {"tuple": [inner]},
            lambda inner: {"dict": [[inner, inner]]} if depth < 14 else {"dict": [[1, inner]]},
            lambda inner: {"x": inner},
        )
    )
    for _ in range(depth):
        value = wrap(value)
    place = rng.choice(("parameters", "header", "oob_score", "bevel", "labels"))
    if place == "parameters":
        name = rng.choice(list(file.header["parameters"]))
        file.header["parameters"][name] = value
    elif place == "labels" and file.header["classes"]:
        file.header["classes"]["values"][0] = value
    else:
        file.header[rng.choice(list(file.header))] = value
    return f"{depth} levels in {place}"


def share_section(file: ModelFile, rng: random.Random) -> str:
    """Two columns or arrays that refer to one section."""
    names = list(file.arrays)
    if len(names) < 2:
        return "nothing"
    one, other = rng.sample(names, 2)
    way = rng.randrange(3)
    if way == 0:
        file.arrays[one] = file.arrays[other]
    elif way == 1:
        column, _, part = one.partition(".")
        described = file.described(column)
        if described is not None and part in described["parts"]:
            described["parts"][described["parts"].index(part)] = other.partition(".")[2]
    else:
        shape = [len(file.arrays[one])]
        value = {"array": {"shape": shape, "numbers": one}}
        file.header["parameters"]["categorical_features"] = value
    return f"section {other} for {one}"


def splice(file: ModelFile, rng: random.Random) -> str:
    """Fields, columns or arrays of another file."""
    other = parse(rng.choice(sources()))
    way = rng.randrange(3)
    if way == 0:
        field = rng.choice(list(other.header))
        file.header[field] = other.header[field]
    elif way == 1:
        shared = [name for name in other.columns() if name in file.columns()]
        for column in rng.sample(shared, rng.choice((1, 1, 2, len(shared)))):
            file.put_values(column, other.values(column))
    else:
        name = rng.choice(list(other.arrays))
        file.arrays[name] = other.arrays[name]
    return f"splice of {other.source.name}"


def change_rotations(file: ModelFile, rng: random.Random) -> str:
    record = file.header.get("rotations")
    names = [name for name in file.arrays if name.startswith(("rotations.", "rotation_"))]
    if isinstance(record, dict) and rng.random() < 0.5:
        key = rng.choice(list(record))
        record[key] = rng.choice((*NUMBERS, 0.5, -1.0, None))
        return f"rotations.{key} = {record[key]}"
    if not names:
        return change_values(file, rng)
    name = rng.choice(names)
    if len(file.arrays[name]) and rng.random() < 0.7:
        file.arrays[name] = edited(file.arrays[name], rng)
    else:
        file.arrays[name] = np.resize(file.arrays[name], rng.choice((0, 1, 100)))
    return f"section {name}"


def change_families(file: ModelFile, rng: random.Random) -> str:
    """Names, figures and trees of the families that share a forest."""
    record = file.header.get("families")
    if not isinstance(record, dict) or rng.random() < 0.05:
        names = [rng.choice(NAMES) for _ in range(rng.choice((1, 2, 5)))]
        file.header["families"] = {"names": names, "left_out": []}
        return "families that are none"
    way = rng.randrange(5)
    if way == 0:
        record["names"][rng.randrange(len(record["names"]))] = rng.choice((*NAMES, *SCALARS))
    elif way == 1:
        pair = [rng.choice(NAMES), rng.choice((*NAMES, *SCALARS))]
        record["left_out"] = [pair] * rng.choice((1, 2, 2000))
    elif way == 2:
        record[rng.choice(list(record))] = rng.choice((*SCALARS, ["x"] * 1001))
    else:
        name = rng.choice([name for name in file.arrays if name.startswith("families.")])
        array = file.arrays[name]
        other = edited(array, rng) if way == 3 else np.resize(array, rng.choice((0, 1, 100)))
        file.arrays[name] = other
    return "families"


def change_additive(file: ModelFile, rng: random.Random) -> str:
    """Baselines and link of a boosted forest, or those of one that is none."""
    links = ("identity", "exponential", "logistic", "softmax", "identity", "cauchit", "", None)
    size = rng.choice((0, 1, 1, 2, 3, 1000))
    numbers = (*REALS[:12], 700.0, 709.9, -745.2, 1e299, -1e299, 1e65, 1e60)
    record = file.header.get("additive")
    if not isinstance(record, dict):
        baseline = [rng.choice(numbers) for _ in range(size)]
        file.header["additive"] = {"baseline": baseline, "link": rng.choice(links)}
        return "sums of trees that are none"
    way = rng.randrange(4)
    if way == 0:
        record["link"] = rng.choice(links)
    elif way == 1:
        record["baseline"] = [rng.choice((*numbers, *SCALARS)) for _ in range(size)]
    else:
        place = rng.randrange(len(record["baseline"]))
        record["baseline"][place] = rng.choice(numbers)
    return "baselines and link"


def encode_otherwise(file: ModelFile, rng: random.Random) -> str:
    """The same values in a longer encoding, which readers must take as well; then a lie."""
    column = rng.choice(file.columns())
    values = file.values(column)
    raw = encode_column(values)
    plain = type(raw)("raw", raw.dtype, len(values), {}, {"raw.values": values})
    file.put_column(column, plain)
    return f"plain column {column}" + (
        "" if rng.random() < 0.3 else "; " + change_section(file, rng)
    )


CHANGES: tuple[tuple[Change, float], ...] = (
    (change_header, 2),
    (change_description, 4),
    (change_section, 4),
    (change_values, 8),
    (change_length, 2),
    (change_section_length, 1),
    (change_names, 1.5),
    (change_labels, 3),
    (change_levels, 1.5),
    (change_bags, 1.5),
    (change_parameter, 4),
    (nest_deeply, 0.7),
    (share_section, 1),
    (splice, 2),
    (change_rotations, 2),
    (change_families, 1.5),
    (change_additive, 2),
    (change_targets, 2),
    (change_survival, 2),
    (change_outputs, 2.5),
    (change_isolation, 1.5),
    (encode_otherwise, 2),
    (file_bombs.claim_many_trees, 0.03),
    (file_bombs.grow_tall, 0.03),
    (file_bombs.widen, 0.03),
)


def change(file: ModelFile, rng: random.Random) -> str:
    """Change a file in one to three ways; how."""
    kinds, weights = zip(*CHANGES, strict=True)
    chosen = rng.choices(kinds, weights, k=rng.choice((1, 1, 1, 1, 2, 3)))
    told = []
    for each in chosen:
        try:
            told.append(each(file, rng))
        except (KeyError, TypeError, AttributeError, IndexError, ValueError):
            told.append(f"{each.__name__} on what another change has left")
    return "; ".join(told)
