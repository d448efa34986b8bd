"""Writes the scale of numeric features (`scale=`), in float64 as the training rows were scaled."""

from __future__ import annotations

import numpy as np

from bevel._types import Floats, Ints64
from bevel.data.ranking import RankScaler
from bevel.data.scaling import IdentityScaler, LinearScaler, QuantileScaler, Scaler
from bevel.export.onnx.graph import Graph

__all__ = ["write_scale"]


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
