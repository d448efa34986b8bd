"""Path-dependent Shapley values: unknown features are averaged over a node's training rows.

A coalition is a set of known features. A split whose features are all known sends a row to its
side; any other sends it to both children, with the shares of the training weight that went there.
In trees of single features these are the values of TreeSHAP (Lundberg and others 2020).
"""

from __future__ import annotations

from typing import Any

import numpy as np

from bevel import _core
from bevel.analysis.analysed_forest import AnalysedForest
from bevel.analysis.shapley.arguments import rows_as_given, single_output
from bevel.analysis.shapley.result import ShapleyValues
from bevel.errors import join_names, wrong_value
from bevel.training.progress import Progress

__all__ = ["path_dependent_values", "refuse_background"]

MOST_BOXES = 2**24  # boxes of a tree and a row; sparse trees of 20 features have some thousands


def refuse_background(given: dict[str, object]) -> None:
    names = [name for name, value in given.items() if value is not None]
    if names:
        raise wrong_value(
            'feature_perturbation="tree_path_dependent"',
            "without a background: the weights of the nodes take its place",
            join_names(names),
            f"Leave out {join_names(names)}.",
        )


def path_dependent_values(analysed: AnalysedForest, X: Any, verbose: int) -> ShapleyValues:
    forest = analysed.forest
    if forest.is_slim:
        remedy = "Use feature_perturbation='interventional', or the forest before slimming."
        raise wrong_value(
            "A forest of path-dependent values", "with weights of its nodes", "a slim one", remedy
        )
    rows = np.ascontiguousarray(analysed.encode(X))
    progress = Progress(0, len(rows), verbose > 0, None, label="explaining rows")
    values, within, base = _core.path_values(
        analysed.predictor.view,
        np.ascontiguousarray(forest.weight, dtype=np.float32),
        rows,
        analysed.hard,
        MOST_BOXES,
        analysed.n_threads,
        progress if progress.wanted else None,
    )
    if not within:
        raise wrong_value(
            "A forest of path-dependent values",
            f"one whose trees tell at most {MOST_BOXES} cases of known features apart",
            "one with more",
            "Use feature_perturbation='interventional', which samples such trees.",
        )
    if progress.wanted:
        progress(len(rows))
    return ShapleyValues(
        single_output(analysed, values),
        base[0] if analysed.classes is None else base,
        rows_as_given(X, analysed),
        analysed.names,
        analysed.classes,
        None,
        0.0,
        0,
        output_name=analysed.output_name,
    )
