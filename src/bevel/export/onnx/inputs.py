"""Declares a model's inputs and encodes them as the training rows were.

A forest of numeric features takes one matrix. A forest with nominal columns takes one input per
column, since a tensor has one type.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from bevel._types import Floats, Ints64
from bevel.data.encoding import MAX_STORED, Encoding, Levels
from bevel.data.level_statistics import LevelMeans
from bevel.data.scaling import IdentityScaler, LinearScaler, QuantileScaler, RankScaler, Scaler
from bevel.errors import shorten
from bevel.export.onnx.graph import ML_DOMAIN, Graph

__all__ = [
    "write_inputs",
    "write_level_terms",
    "write_scale",
]


def write_scale(graph: Graph, values: str, scaler: Scaler, features: Ints64, largest: float) -> str:
    """Scaled values, float32.

    Parameters
    ----------
    graph : Graph
        Graph to write to.
    values : str
        Values, rows x features, float32 or float64.
    scaler : Scaler
        Scaler of the training rows.
    features : ndarray of int
        Columns of the training table that the values belong to.
    largest : float
        Limit of scaled values.
    """
    if isinstance(scaler, IdentityScaler):
        return graph.cast(values, np.float32)
    values = graph.cast(values, np.float64)
    if isinstance(scaler, LinearScaler):
        scaled = _linear(graph, values, scaler, features)
    elif isinstance(scaler, QuantileScaler):
        scaled = _quantile(graph, values, scaler, features)
    elif isinstance(scaler, RankScaler):
        scaled = _ranks(graph, values, scaler, features)
    else:
        raise TypeError(
            "to_onnx must know the forest's scale; got "
            f"{type(scaler).__name__}. Fit with one of the scales of the package."
        )
    return graph.cast(_cut(graph, scaled, -largest, largest), np.float32)


def _linear(graph: Graph, values: str, scaler: LinearScaler, features: Ints64) -> str:
    above = graph.add("Sub", values, graph.constant(scaler.shift[features]))
    scaled = graph.add("Div", above, graph.constant(scaler.span[features]))
    return _cut(graph, scaled, 0.0, 1.0) if scaler.clip else scaled


def _quantile(graph: Graph, values: str, scaler: QuantileScaler, features: Ints64) -> str:
    least, most = scaler.low[features], scaler.high[features]
    span = graph.constant(np.where(most > least, most - least, 1.0))
    low, high = graph.constant(least), graph.constant(most)
    under, over = graph.add("Less", values, low), graph.add("Greater", values, high)
    above_low = graph.add("Sub", values, low)
    scaled = graph.add("Div", above_low, span)
    below = graph.add("Neg", _dampen(graph, graph.add("Neg", above_low)))
    one = graph.constant(np.float64(1))
    beyond = graph.add("Add", one, _dampen(graph, graph.add("Sub", values, high)))
    scaled = graph.add("Where", under, below, scaled)
    return graph.add("Where", over, beyond, scaled)


def _dampen(graph: Graph, distance: str) -> str:
    """0.01 log(1 + log(1 + distance)); results for negative distances are not used."""
    one = graph.constant(np.float64(1))
    for _ in range(2):
        distance = graph.add("Log", graph.add("Add", one, distance))
    return graph.add("Mul", graph.constant(np.float64(0.01)), distance)


def _cut(graph: Graph, values: str, low: float, high: float) -> str:
    """Clip values to a range; NaN stays."""
    least, most = graph.constant(np.float64(low)), graph.constant(np.float64(high))
    values = graph.add("Where", graph.add("Less", values, least), least, values)
    return graph.add("Where", graph.add("Greater", values, most), most, values)


def _ranks(graph: Graph, values: str, scaler: RankScaler, features: Ints64) -> str:
    """Ranks by interpolation between knots, found by bisection in all columns at once."""
    tables = [_knots(scaler, int(feature)) for feature in features]
    length = np.array([len(knots) for knots, *_ in tables])
    start = np.cumsum(length) - length
    knots, ranks, share = (np.concatenate(part) for part in zip(*tables, strict=True))
    knot_table, rank_table = graph.constant(knots), graph.constant(ranks)
    first = graph.constant(start, np.int32)
    above = _bisect(graph, values, knot_table, start, length)
    below = graph.add("Max", graph.add("Sub", above, _one(graph)), graph.constant(0, np.int32))
    above, below = graph.add("Add", first, above), graph.add("Add", first, below)
    knot_above = graph.add("Gather", knot_table, above)
    knot_below = graph.add("Gather", knot_table, below)
    rank_above = graph.add("Gather", rank_table, above)
    rank_below = graph.add("Gather", rank_table, below)
    gone = graph.add("Sub", values, knot_below)
    gone = graph.add("Div", gone, graph.add("Sub", knot_above, knot_below))
    known = graph.add("Gather", graph.constant(share), below)
    gone = graph.add("Where", graph.add("IsNaN", known), gone, known)
    rise = graph.add("Mul", gone, graph.add("Sub", rank_above, rank_below))
    between = graph.add("Add", rank_below, rise)
    on_knot = graph.add("Equal", knot_above, values)
    ranked = graph.add("Where", on_knot, rank_above, between)
    return graph.add("Where", graph.add("IsNaN", values), values, ranked)


def _knots(scaler: RankScaler, feature: int) -> tuple[Floats, Floats, Floats]:
    """Knots of a column between infinities, their ranks, and the fraction of the way to the next
    knot for values above each, where it is constant (else NaN)."""
    own = slice(scaler.offset[feature], scaler.offset[feature + 1])
    ceiling = scaler.n_present[feature] + 1
    knots = np.concatenate(([-np.inf], scaler.knots[own], [np.inf]))
    ranks = np.concatenate(([0.0], scaler.ranks[own], [ceiling]))
    halfway = scaler.relative and scaler.complete[feature]
    share = np.full(len(knots), 0.5 if halfway else np.nan)
    share[0] = 0.5 if scaler.relative else 0.0
    share[-2:] = 0.5 if scaler.relative else 1.0
    return knots, ranks / ceiling if scaler.relative else ranks, share


def _bisect(graph: Graph, values: str, knots: str, start: Ints64, length: Ints64) -> str:
    """Number of knots of its column below each value, as int32; 0 for NaN."""
    steps = 2 ** np.arange(int(length.max()).bit_length())[::-1]
    step_table, ends = graph.constant(steps, np.int32), graph.constant(length, np.int32)
    before = graph.constant(start - 1, np.int32)
    nothing = graph.add("Expand", graph.constant(0, np.int32), graph.add("Shape", values))

    def trip(inner: Graph, number: str, state: list[str]) -> tuple[str, list[str], list[str]]:
        further = inner.add("Add", state[0], inner.add("Gather", step_table, number))
        place = inner.add("Add", before, inner.add("Min", further, ends))
        below = inner.add("Less", inner.add("Gather", knots, place), values)
        going = inner.constant(True)
        return going, [inner.add("Where", below, further, state[0])], []

    trips = graph.constant(len(steps), np.int64)
    return graph.loop(trips, [(nothing, np.int32)], trip)[0]


def _one(graph: Graph) -> str:
    return graph.constant(1, np.int32)


def write_inputs(
    graph: Graph, encoding: Encoding, names: Sequence[str] | None, dtype: npt.DTypeLike
) -> tuple[list[Any], str]:
    """The declared inputs, and the encoded rows: rows x features, float32.

    Parameters
    ----------
    graph : Graph
        Graph to write to.
    encoding : Encoding
        Encoding of the training rows.
    names : sequence of str or None
        Names of the columns; None for x0, x1, ...
    dtype : dtype
        Type of numbers.
    """
    n_features = len(encoding.levels)
    features = np.flatnonzero(encoding.levels == 0)
    if not encoding.nominal:
        matrix = graph.name("X")
        rows = write_scale(graph, matrix, encoding.scaler, features, MAX_STORED)
        return [_declare(graph, matrix, dtype, n_features, _about(encoding.dates))], rows
    columns = [_Column(graph, encoding, names, f, dtype) for f in range(n_features)]
    inputs = [
        _declare(graph, column.name, column.dtype, 1, _about(encoding.dates & {f}))
        for f, column in enumerate(columns)
    ]
    parts = []
    if len(features):
        read = [columns[f].write_numbers(encoding.means.get(int(f))) for f in features]
        numbers = _join(graph, read)
        parts.append(write_scale(graph, numbers, encoding.scaler, features, MAX_STORED))
    coded = np.flatnonzero(encoding.levels)
    parts += [columns[feature].write_codes() for feature in coded]
    order = np.argsort(np.concatenate((features, coded)))
    rows = _join(graph, parts)
    return inputs, graph.add("Gather", rows, graph.constant(order, np.int32), axis=1)


def write_level_terms(graph: Graph, rows: str, terms: Ints64) -> str:
    """Encoded rows, followed by a column of 0 and 1 for each of some levels.

    terms: nominal feature and level of each column, as rows.
    """
    if not len(terms):
        return rows
    codes = graph.add("Gather", rows, graph.constant(terms[:, 0], np.int32), axis=1)
    found = graph.add("Equal", codes, graph.constant(terms[:, 1].astype(np.float32)))
    return graph.add("Concat", rows, graph.cast(found, np.float32), axis=1)


class _Column:
    """One column as an input of its own."""

    def __init__(
        self,
        graph: Graph,
        encoding: Encoding,
        names: Sequence[str] | None,
        feature: int,
        dtype: npt.DTypeLike,
    ) -> None:
        title = str(feature) if names is None else repr(names[feature])
        self.graph = graph
        self.name = graph.name(str(names[feature]) if names is not None else f"x{feature}")
        self.levels = encoding.nominal.get(feature)
        self.widened = bool(encoding.means)
        self.dtype = dtype if self.levels is None else _label_type(self.levels, title, dtype)

    def write_numbers(self, means: LevelMeans | None) -> str:
        """The column itself, or the mean of the target of each label; float64 next to means."""
        if means is None:
            return self.graph.cast(self.name, np.float64) if self.widened else self.name
        codes = self.graph.cast(self.write_codes(), np.int32)
        return self.graph.add("Gather", self.graph.constant(means.of_all), codes)

    def write_codes(self) -> str:
        """Level codes, float32; the first unused code for unseen labels."""
        assert self.levels is not None
        graph, labels = self.graph, self.levels.labels.tolist()
        codes = [float(code) for code in range(len(labels))]
        unseen = float(self.levels.n_codes)
        kind = np.dtype(self.dtype).kind
        if kind == "f":
            return self._write_number_codes(labels, codes, unseen)
        if kind == "i":
            keys: dict[str, Any] = {"keys_int64s": [int(label) for label in labels]}
        else:
            if "" not in labels:  # the empty text means a missing value
                labels, codes = [*labels, ""], [*codes, float(len(labels))]
            keys = {"keys_strings": [str(label) for label in labels]}
        return graph.add(
            "LabelEncoder",
            self.name,
            domain=ML_DOMAIN,
            values_floats=codes,
            default_float=unseen,
            **keys,
        )

    def _write_number_codes(self, labels: list[Any], codes: list[float], unseen: float) -> str:
        graph = self.graph
        column = graph.cast(self.name, np.float32)
        missing = graph.add("IsNaN", column)
        present = graph.add("Where", missing, graph.constant(np.float32(0)), column)
        found = graph.constant(np.float32(unseen))
        if labels:
            found = graph.cast(
                graph.add(
                    "LabelEncoder",
                    present,
                    domain=ML_DOMAIN,
                    keys_floats=[float(label) for label in labels],
                    values_int64s=[int(code) for code in codes],
                    default_int64=int(unseen),
                ),
                np.float32,
            )
        return graph.add("Where", missing, graph.constant(np.float32(len(labels))), found)


def _label_type(levels: Levels, title: str, dtype: npt.DTypeLike) -> npt.DTypeLike:
    """Type of the input of a nominal column: text, int64, or a float that can be missing."""
    labels = levels.labels.tolist()
    if levels.is_left_out or (labels and all(isinstance(label, str) for label in labels)):
        return np.dtype(object)
    other = [label for label in labels if not isinstance(label, bool | int | float)]
    if other:
        raise TypeError(
            f"Nominal column {title} must have labels that are all text or all numbers to become "
            f"an ONNX input; got {shorten(other[0])} of type {type(other[0]).__name__} among them. "
            "Fit with text labels."
        )
    if labels and not levels.has_missing and not any(isinstance(x, float) for x in labels):
        _check_labels(
            labels == [int(np.int64(x)) for x in labels if abs(x) < 2**63], "int64", title
        )
        return np.dtype(np.int64)
    with np.errstate(over="ignore"):
        _check_labels(len(set(np.array(labels, np.float32))) == len(labels), "float32", title)
    return dtype


def _check_labels(are_kept: bool, kind: str, title: str) -> None:
    if not are_kept:
        raise ValueError(
            f"Nominal column {title} must have labels that stay apart in {kind} to become an ONNX "
            "input; got numbers that do not. Fit with text labels."
        )


def _about(dates: Collection[int]) -> str:
    """Note on the dates of an input."""
    if not dates:
        return ""
    return f"In days since 1970-01-01 00:00 UTC: column {', '.join(map(str, sorted(dates)))}."


def _declare(graph: Graph, name: str, dtype: npt.DTypeLike, width: int, about: str) -> Any:
    return graph.onnx.helper.make_tensor_value_info(
        name, graph.element_type(dtype), ["n", width], doc_string=about
    )


def _join(graph: Graph, parts: Sequence[str]) -> str:
    return graph.add("Concat", *parts, axis=1) if len(parts) > 1 else parts[0]
