"""A fitted forest as an ONNX model: inputs, sums over trees, outputs."""

from __future__ import annotations

import json
import os
from collections.abc import Sequence
from importlib.metadata import version
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from bevel._types import Array
from bevel.errors import wrong_type, wrong_value
from bevel.export.onnx.graph import ML_DOMAIN, Graph
from bevel.export.onnx.inputs import write_inputs, write_level_terms
from bevel.export.onnx.leaves import Route, read_sums, read_votes, write_sums
from bevel.files.atomic import write_whole
from bevel.forest.aggregation import MAX_EXPONENT, Aggregation, SumOfTrees, WeightedSum
from bevel.forest.fitted_forest import FittedCombination, FittedForest

if TYPE_CHECKING:
    import onnx

__all__ = ["DEFAULT_OPSET", "to_onnx", "write_onnx"]

OLDEST_OPSET = 17
DEFAULT_OPSET = 18
ML_OPSET = 3
DTYPES = ("float32", "float64")
SIZES_OF_FLOAT32 = (np.finfo(np.float32).smallest_normal, np.finfo(np.float32).max)


def to_onnx(
    fitted: FittedForest | FittedCombination,
    *,
    dtype: str = "float32",
    target_opset: int = DEFAULT_OPSET,
    name: str = "bevel",
    route: Route = "auto",
) -> onnx.ModelProto:
    """Build the ONNX model of a fitted forest; `to_onnx` of the estimators documents the options.

    Parameters
    ----------
    fitted : FittedForest or FittedCombination
        The forest, or models with weights.
    dtype : {"float32", "float64"}, default="float32"
        Type of numeric inputs and of the outputs.
    target_opset : int, default=18
        Version of the operators.
    name : str, default="bevel"
        Name of the graph.
    route : {"auto", "trees", "walk"}, default="auto"
        Route to the leaves; "auto" chooses the one that should be faster.
    """
    fitted.task.check_one_output("to_onnx")
    aggregation, classes = fitted.aggregation, fitted.classes
    graph = Graph()
    _check_options(graph, dtype, target_opset, name)
    if classes is None and dtype == "float32":
        _check_size(fitted)
    names = fitted.feature_names
    outputs = ["prediction"] if classes is None else ["label", "probabilities"]
    outputs = [graph.name(output) for output in outputs]
    inputs, rows = write_inputs(graph, fitted.encoding, names, dtype)
    if isinstance(aggregation, WeightedSum):
        means = _write_weighted(graph, rows, fitted.members, aggregation, route)
    else:
        (single,) = fitted.members
        means = _write_means(graph, rows, single, route)
    if classes is None:
        declared = _write_value(graph, means, outputs[0], dtype, aggregation.n_outputs)
    else:
        declared = _write_classes(graph, means, classes, aggregation, outputs, dtype)
    model = _assemble(graph, inputs, declared, target_opset, name)
    _describe(model, sum(each.forest.n_trees for each in fitted.members), names)
    return model


def _write_means(graph: Graph, rows: str, fitted: FittedForest, route: Route) -> str:
    """Values or probabilities of one model, before their calibration."""
    (forest, terms), aggregation = fitted.forest.with_level_columns, fitted.aggregation
    rows = write_level_terms(graph, rows, terms)
    if isinstance(aggregation, SumOfTrees):
        votes = read_sums(forest, aggregation.n_outputs)
        sums = write_sums(graph, rows, forest, votes, route)
        return _write_link(graph, sums, aggregation)
    sums = write_sums(graph, rows, forest, read_votes(forest, aggregation.hard), route)
    return graph.add("Div", sums, graph.constant(np.float64(forest.n_trees)))


def _write_weighted(
    graph: Graph,
    rows: str,
    members: Sequence[FittedForest],
    aggregation: WeightedSum,
    route: Route,
) -> str:
    """Weighted sum of the values or probabilities of several models."""
    total = ""
    for weight, each in zip(aggregation.weights, members, strict=True):
        columns = _write_means(graph, rows, each, route)
        if each.classes is not None:
            columns = _write_calibrated(graph, columns, each.aggregation)
        part = graph.add("Mul", columns, graph.constant(np.float64(weight)))
        total = graph.add("Add", total, part) if total else part
    return total


def write_onnx(forest: Any, path: str | os.PathLike[str], **options: Any) -> None:
    """Write the ONNX model of a fitted forest to a file; a failure leaves an older file unchanged.

    Parameters
    ----------
    forest : estimator, FittedForest or FittedCombination
        A fitted estimator that has `to_onnx`, or its `fitted_forest_`.
    path : str or path
        Path of the file, usually ending in .onnx.
    **options
        Options of `to_onnx`.
    """
    given = isinstance(forest, FittedForest | FittedCombination)
    fitted = forest if given else forest.fitted_forest_
    write_whole(path, [to_onnx(fitted, **options).SerializeToString()])


def _check_options(graph: Graph, dtype: object, target_opset: object, name: object) -> None:
    if dtype not in DTYPES:
        required = " or ".join(repr(word) for word in DTYPES)
        raise wrong_value("dtype", required, dtype, "It is the type of the model's numbers.")
    newest = graph.onnx.defs.onnx_opset_version()
    required = f"an integer from {OLDEST_OPSET} to {newest}, the newest of the package onnx"
    remedy = f"Leave it out for {DEFAULT_OPSET}."
    if isinstance(target_opset, bool) or not isinstance(target_opset, int | np.integer):
        raise wrong_type("target_opset", required, target_opset, remedy)
    if not OLDEST_OPSET <= target_opset <= newest:
        raise wrong_value("target_opset", required, target_opset, remedy)
    if not isinstance(name, str):
        raise wrong_type("name", "a string", name, "It is the name of the model's graph.")
    if not name:
        raise wrong_value("name", "a string that is not empty", name, "Leave it out for 'bevel'.")


def _check_size(fitted: FittedForest | FittedCombination) -> None:
    """Raise if predictions of a regression overflow float32, or underflow to zero."""
    least, most = (float(end) for end in SIZES_OF_FLOAT32)
    size = max(map(_largest_prediction, fitted.members))
    if size == 0.0 or least <= size <= most:
        return
    raise wrong_value(
        "dtype",
        f'"float64" for predictions beyond float32 ({least:.1g} to {most:.1g} in size; those of '
        f"this model are up to {size:.1g})",
        "float32",
        "Pass dtype='float64', or fit on a rescaled y.",
    )


def _largest_prediction(fitted: FittedForest) -> float:
    """Upper bound on the size of predictions of a regression; approximate for rates."""
    forest, aggregation = fitted.forest, fitted.aggregation
    sizes = np.where(forest.right < 0, np.abs(forest.central_value), 0.0)
    of_trees = np.maximum.reduceat(sizes, forest.tree_offset[:-1])
    if not isinstance(aggregation, SumOfTrees):
        return float(of_trees.max())
    if aggregation.link == "exponential":
        return float(np.exp(np.clip(max(aggregation.baseline), -MAX_EXPONENT, MAX_EXPONENT)))
    return float(np.abs(aggregation.baseline).max() + of_trees.sum())


def _write_link(graph: Graph, sums: str, additive: SumOfTrees) -> str:
    """Values or probabilities from the sums of boosted trees."""
    raw = graph.add("Add", sums, graph.constant(np.array(additive.baseline)))
    if additive.link == "exponential":
        ends = (graph.constant(np.array(end)) for end in (-MAX_EXPONENT, MAX_EXPONENT))
        return graph.add("Exp", graph.add("Clip", raw, *ends))
    if additive.link == "identity":
        return raw
    if additive.link == "sorted":
        return graph.sort_rows(raw, additive.n_outputs)
    if additive.link == "logistic":
        # The first class has a sum of zero.
        raw = graph.add("Concat", graph.add("Sub", raw, raw), raw, axis=1)
    return graph.add("Softmax", raw, axis=1)


def _write_classes(
    graph: Graph,
    means: str,
    classes: Array,
    aggregation: Aggregation,
    outputs: list[str],
    dtype: str,
) -> list[Any]:
    label, probabilities = outputs
    best = graph.add("ArgMax", means, axis=1, keepdims=0)
    table = _label_table(classes)
    graph.add("Gather", graph.constant(table), best, output=label)
    shares = _write_calibrated(graph, means, aggregation)
    graph.add("Cast", shares, to=graph.element_type(dtype), output=probabilities)
    return [
        _declare(graph, label, table.dtype, ["n"]),
        _declare(graph, probabilities, dtype, ["n", len(classes)]),
    ]


def _write_calibrated(graph: Graph, shares: str, aggregation: Aggregation) -> str:
    """Class shares as probabilities; see `Aggregation.calibrate`."""
    shares = _write_power(graph, shares, aggregation.power)
    if not aggregation.least:
        return shares
    raised = graph.add("Max", shares, graph.constant(np.float64(aggregation.least)))
    total = graph.add("ReduceSum", raised, graph.constant(np.array([1])), keepdims=1)
    return graph.add("Div", raised, total)


def _write_power(graph: Graph, shares: str, power: float) -> str:
    """Shares raised to a power and divided by their sum; see `bevel.forest.calibration`."""
    if power == 1.0:
        return shares
    whole, has_root = divmod(int(2.0 * power), 2)
    raised = graph.add("Sqrt", shares) if has_root else shares
    for _ in range(whole if has_root else whole - 1):
        raised = graph.add("Mul", raised, shares)
    total = graph.add("ReduceSum", raised, graph.constant(np.array([1])), keepdims=1)
    return graph.add("Div", raised, total)


def _label_table(classes: npt.NDArray[Any]) -> npt.NDArray[Any]:
    """Classes in a type that a tensor can have; otherwise their positions."""
    labels = classes.tolist()
    if all(isinstance(label, str) for label in labels):
        return np.array(labels, dtype=object)
    if classes.dtype.kind in "bf":
        return classes.astype(np.float64) if classes.dtype.kind == "f" else classes
    if all(isinstance(label, int) and -(2**63) <= label < 2**63 for label in labels):
        return np.array(labels, dtype=np.int64)
    return np.arange(len(labels), dtype=np.int64)


def _write_value(graph: Graph, means: str, output: str, dtype: str, n_values: int) -> list[Any]:
    is_table = n_values > 1
    values = means if is_table else graph.reshape(means, -1)
    graph.add("Cast", values, to=graph.element_type(dtype), output=output)
    return [_declare(graph, output, dtype, ["n", n_values] if is_table else ["n"])]


def _declare(graph: Graph, name: str, dtype: npt.DTypeLike, shape: list[Any]) -> Any:
    return graph.onnx.helper.make_tensor_value_info(name, graph.element_type(dtype), shape)


def _assemble(
    graph: Graph, inputs: list[Any], outputs: list[Any], target_opset: int, name: str
) -> onnx.ModelProto:
    helper = graph.onnx.helper
    opsets = [helper.make_opsetid("", int(target_opset)), helper.make_opsetid(ML_DOMAIN, ML_OPSET)]
    whole = helper.make_graph(graph.nodes, name, inputs, outputs, initializer=graph.constants)
    model: onnx.ModelProto = helper.make_model(
        whole,
        opset_imports=opsets,
        # Runtimes refuse files newer than themselves.
        ir_version=helper.find_min_ir_version_for(opsets),
        producer_name="bevel",
        producer_version=version("bevel"),
    )
    return model


def _describe(model: onnx.ModelProto, n_trees: int, names: Any) -> None:
    """Add metadata for readers of the file: trees, and the columns in the order of the inputs."""
    entries = {"n_trees": str(n_trees)}
    if names is not None:
        entries["feature_names"] = json.dumps([str(column) for column in names])
    for key, value in entries.items():
        entry = model.metadata_props.add()
        entry.key, entry.value = key, value
