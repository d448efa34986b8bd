"""Declares a model's inputs and encodes them as the training rows were.

A forest of numeric features takes one matrix. A forest with nominal columns takes one input per
column, since a tensor has one type.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from bevel.data.encoding import Encoding
from bevel.data.nominal import Levels
from bevel.data.tiles import LARGEST_STORED
from bevel.errors import shorten
from bevel.export.onnx.graph import ML_DOMAIN, Graph
from bevel.export.onnx.scales import write_scale

__all__ = ["write_inputs"]


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
        rows = write_scale(graph, matrix, encoding.scaler, features, LARGEST_STORED)
        return [_declare(graph, matrix, dtype, n_features, _about(encoding.dates))], rows
    columns = [_Column(graph, encoding, names, f, dtype) for f in range(n_features)]
    inputs = [
        _declare(graph, column.name, column.dtype, 1, _about(encoding.dates & {f}))
        for f, column in enumerate(columns)
    ]
    parts = []
    if len(features):
        numbers = _join(graph, [columns[f].name for f in features])
        parts.append(write_scale(graph, numbers, encoding.scaler, features, LARGEST_STORED))
    parts += [columns[feature].write_codes() for feature in encoding.nominal]
    order = np.argsort(np.concatenate((features, list(encoding.nominal))))
    rows = _join(graph, parts)
    return inputs, graph.add("Gather", rows, graph.constant(order, np.int32), axis=1)


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
        self.dtype = dtype if self.levels is None else _label_type(self.levels, title, dtype)

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
    if labels and all(isinstance(label, str) for label in labels):
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
