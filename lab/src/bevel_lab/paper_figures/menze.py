"""Menze et al.: numbers of trees and features (Figure 3), bias and variance by kind (Figure 5)."""

from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from bevel import presets
from bevel.analysis import bias_and_variance, out_of_bag_curve
from bevel.errors import wrong_value
from bevel.plots.canvas import COLOURS, RULE, panels
from bevel_lab.protocols.sets import all_sets, open_set, prepared

__all__ = ["bias_and_variance_by_kind", "sizes"]

# Sets of two classes at hand, by the paper's kinds.
KINDS = {
    "factorial": ("congressional_voting", "hepatitis", "spect", "chess_krvkp"),
    "numerical": ("conn_bench-sonar-mines-rocks", "ionosphere", "liver", "pima"),
    "spectral": ("ucr_coffee", "ucr_ham", "tecator_fat20", "phenyl_ms"),
}
N_TREES, N_REPEATS = 1000, 20
FACTORS = (0.25, 0.5, 1.0, 2.0, 4.0)  # of √p features
MAX_ROWS = 800


def _tables(data: Path | None) -> dict[str, list[tuple[str, NDArray[Any], NDArray[Any]]]]:
    """Rows of the sets that the folder has, levels as numbers; at most 800 of each."""
    known = all_sets(data)
    found: dict[str, list[tuple[str, NDArray[Any], NDArray[Any]]]] = {}
    for kind, names in KINDS.items():
        for name in names:
            if name not in known:
                continue
            table = open_set(name, data)
            problem = prepared(table, np.ones(len(table.y), bool), "menze")
            chosen = np.random.default_rng(0).permutation(len(table.y))[:MAX_ROWS]
            found.setdefault(kind, []).append((name, problem.X_train[chosen], table.y[chosen]))
    if not found:
        required = "a folder with some of Menze's kinds of sets, such as ionosphere"
        raise wrong_value("--data", required, data, "Pass the folder of the UCI sets.")
    return found


def sizes(share: float, seed: int, data: Path | None) -> tuple[Any, list[str]]:
    """Out-of-bag error of RF and oRF-lda, in place of the paper's cross-validation."""
    n_trees = max(100, round(share * N_TREES))
    systems = {"RF": presets.random_forest, "oRF-lda": presets.orf_lda}
    lines = []
    with panels(None, "menze-3", (2, 2), (10.0, 7.0)) as grid:
        for row, (label, make) in enumerate(systems.items()):
            left, right = grid[row]
            for number, (kind, tables) in enumerate(_tables(data).items()):
                for place, (name, X, y) in enumerate(tables):
                    look = {"color": COLOURS[number], "lw": 1.2}
                    if place == 0:
                        look["label"] = kind
                    forest = make(n_estimators=n_trees, random_state=seed).fit(X, y)
                    curve = out_of_bag_curve(forest, X, y)
                    left.plot(curve.n_trees[9:], 100 * curve.loss[9:], **look)
                    errors = [
                        _with_features(make, label, X, y, f, min(n_trees, 300), seed)
                        for f in FACTORS
                    ]
                    right.plot(FACTORS, 100 * np.array(errors), marker="o", ms=3, **look)
                    lines.append(
                        f"{label} on {name}: {100 * curve.loss[99]:.1f} % with 100 trees, "
                        f"{100 * curve.loss[-1]:.1f} % with {n_trees}; features × "
                        f"{FACTORS[int(np.argmin(errors))]:g} best, {100 * min(errors):.1f} %, "
                        f"√p {100 * errors[2]:.1f} %"
                    )
            left.set(xscale="log", xlabel="trees", ylabel=f"{label}: out-of-bag error, %")
            right.set(xscale="log", xlabel="features at a node, in √p")
            right.set_xticks(FACTORS, [f"{factor:g}" for factor in FACTORS])
            right.minorticks_off()
            right.axvline(1.0, color=RULE, ls=":")
        figure = grid[0, 0].figure
        figure.legend(*grid[0, 0].get_legend_handles_labels(), loc="outside lower center", ncols=3)
    return figure, lines


def _with_features(
    make: Any, label: str, X: Any, y: Any, factor: float, n_trees: int, seed: int
) -> float:
    from bevel import projections as P

    p = X.shape[1]
    number = int(np.clip(round(factor * np.sqrt(p)), 1, p))
    own = {"projection": P.LDA(number)} if label == "oRF-lda" else {"n_projections": number}
    forest = make(n_estimators=n_trees, oob_score=True, random_state=seed, **own).fit(X, y)
    return float(1.0 - forest.oob_score_)


def bias_and_variance_by_kind(share: float, seed: int, data: Path | None) -> tuple[Any, list[str]]:
    """Squared bias and variance of votes: RF less oRF-ridge, and oRF-rnd less oRF-ridge."""
    n_trees, repeats = max(30, round(share * 300)), max(6, round(share * N_REPEATS))
    made = {"RF": presets.random_forest, "rnd": presets.orf_rnd, "ridge": presets.orf_ridge}
    tables = _tables(data)
    differences: dict[str, dict[str, list[tuple[float, float]]]] = {"RF": {}, "rnd": {}}
    lines = []
    for kind, each in tables.items():
        for name, X, y in each:
            found = {
                label: bias_and_variance(
                    make(n_estimators=n_trees, random_state=seed),
                    *(X, y),
                    n_repeats=repeats,
                    random_state=seed,
                )
                for label, make in made.items()
            }
            ridge = found["ridge"]
            for label, of_kind in differences.items():
                bias = found[label].squared_bias - ridge.squared_bias
                variance = found[label].variance - ridge.variance
                of_kind.setdefault(kind, []).append((bias, variance))
                lines.append(
                    f"{name} ({kind}): {label} less ridge: bias² {bias:+.4f}, "
                    f"variance {variance:+.4f}"
                )
    with panels(None, "menze-5", (1, 2), (9.0, 4.0)) as grid:
        for axes, (label, of_kind) in zip(grid.ravel(), differences.items(), strict=True):
            values = [[pair[k] for pair in of_kind[kind]] for kind in tables for k in (0, 1)]
            axes.boxplot(values)
            names = [f"{word}\n{kind}" for kind in tables for word in ("bias²", "variance")]
            axes.set_xticks(range(1, len(names) + 1), names, fontsize=8)
            axes.axhline(0.0, color=RULE)
            shown = "RF" if label == "RF" else "oRF-rnd"
            axes.set_title(f"{shown} less oRF-ridge: above 0, ridge is better", loc="left")
        figure = grid.ravel()[0].figure
    return figure, [*lines, f"{n_trees} trees, {repeats} training sets of half of the rows"]
