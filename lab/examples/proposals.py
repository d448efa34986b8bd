"""Do the ideas that the papers leave for later help? Paired differences on small data sets.

Menze et al. 2011, section 6, name the reuse of scores of earlier splits, auto-context and linear
support vector machines at nodes; Tomita's thesis, section 3.4, random sparsity and directions that
children inherit. Each is grown here with `P.Custom`, or from forests, beside its plain form: same
folds, same seeds, as many trees.

    python lab/examples/proposals.py FOLDER --trees 40 --repeats 2

FOLDER is one that `bevel lab run --data` reads. The table has the mean difference of the errors in
points with its 95 % interval over data sets (t), and how many sets got better and worse.
"""

from __future__ import annotations

import argparse
import math
import warnings
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
from scipy import stats
from sklearn.model_selection import StratifiedKFold

from bevel import ObliqueForestClassifier
from bevel import projections as P
from bevel_lab.protocols.sets import open_set, prepared

Floats = np.ndarray
UCI = (
    *("conn_bench-sonar-mines-rocks", "ionosphere", "glass", "ecoli", "wine", "parkinsons"),
    *("seeds", "statlog_heart", "breast-tissue", "liver", "hepatitis"),
)
SPECTRA = (
    *("ucr_beef", "ucr_coffee", "ucr_ham", "ucr_meat", "tecator_fat20", "mayonnaise_oil"),
    "coffee_ftir_country",
)
MEAN_NONZEROS = 3.0
N_FOLDS = 2


def signs(rng: np.random.Generator, p: int, d: int, mean: Floats) -> Floats:
    """d directions of random signs, whose numbers of entries have these means; none is empty."""
    filled = rng.random((p, d)) < np.minimum(1.0, mean / p)
    filled[rng.integers(p, size=d), np.arange(d)] = True
    return filled * rng.choice([-1.0, 1.0], (p, d))


@dataclass
class Sparse:
    """Sparse signs of a fixed density, or of a density drawn for each direction."""

    random_density: bool = False

    def __call__(self, rng: Any, X: Floats, y: Floats, weight: Floats) -> Floats:  # noqa: ARG002
        p = X.shape[1]
        mean = np.full(p, MEAN_NONZEROS - 1.0)
        if self.random_density:  # log-uniform between 1 and half of the features
            mean = np.exp(rng.random(p) * math.log(max(2.0, p / 2))) - 1.0
        return signs(rng, p, p, mean)


@dataclass
class Ancestors:
    """Sparse signs of features that are standardised in the node, and directions of splits above.

    Nodes come parent first, a tree at a time, in one thread. The last column numbers the rows and
    is in no direction; it tells which node is the parent, and which of its candidates was cut.
    """

    mode: str  # "plain", "inherit": the parent's alone; "reuse": all above, also in combinations
    stack: list[tuple[frozenset[int], Floats, Floats, list[Floats]]] = field(default_factory=list)

    def __call__(self, rng: Any, X: Floats, y: Floats, weight: Floats) -> Floats:  # noqa: ARG002
        p = X.shape[1] - 1
        ids = frozenset(X[:, p].astype(int).tolist())
        above = self._above(ids)
        spread = np.maximum(X[:, :p].std(axis=0), 1e-9)  # scores are of unit spread, too
        directions = signs(rng, p, p, np.full(p, MEAN_NONZEROS - 1.0)) / spread[:, None]
        if self.mode == "inherit" and above:
            directions = np.column_stack([directions[:, :-1], above[-1]])
        if self.mode == "reuse" and above:
            directions = self._combine(rng, X[:, :p], directions, above)
        directions = np.vstack([directions, np.zeros(directions.shape[1])])
        self.stack.append((ids, X.copy(), directions, above))
        return directions

    def _combine(self, rng: Any, X: Floats, plain: Floats, above: list[Floats]) -> Floats:
        """Scores of ancestors as more features: as rare in a direction as any feature is."""
        scores = np.column_stack([a / max(1e-9, float((X @ a).std())) for a in above])
        p, d, m = plain.shape[0], plain.shape[1], scores.shape[1]
        spread = np.maximum(X.std(axis=0), 1e-9)
        drawn = signs(rng, p + m, d, np.full(d, MEAN_NONZEROS - 1.0))
        return drawn[:p] / spread[:, None] + scores @ drawn[p:]

    def _above(self, ids: frozenset[int]) -> list[Floats]:
        while self.stack and not ids < self.stack[-1][0]:
            self.stack.pop()
        if not self.stack:
            return []
        _, X, directions, above = self.stack[-1]
        inside = np.isin(X[:, -1].astype(int), list(ids))
        values = X.astype(np.float32) @ directions.astype(np.float32)
        low, high = values[inside], values[~inside]
        parted = (low.max(axis=0) < high.min(axis=0)) | (high.max(axis=0) < low.min(axis=0))
        cut = np.flatnonzero(parted)
        return [*above, directions[:-1, cut[0]]] if len(cut) else above


def hinge(X: Floats, sign: Floats, weight: Floats, C: float = 1.0) -> Floats:
    """Linear SVM with squared hinge loss, by Newton's method (Chapelle 2007)."""
    Z = np.column_stack([np.ones(len(X)), X])
    ridge = np.full(Z.shape[1], 1.0 / C)
    ridge[0] = 1e-6
    beta = np.zeros(Z.shape[1])
    active = np.ones(len(X), bool)
    for _ in range(10):
        A, w = Z[active], weight[active]
        gram = (A * w[:, None]).T @ A + np.diag(ridge)
        beta = np.linalg.solve(gram, (A * w[:, None]).T @ sign[active])
        now = sign * (Z @ beta) < 1.0
        if np.array_equal(now, active) or not now.any():
            break
        active = now
    return beta[1:]


@dataclass
class NodeModel:
    """A linear SVM or least squares on √p features, one direction for each class against others."""

    svm: bool

    def __call__(self, rng: Any, X: Floats, y: Floats, weight: Floats) -> Floats:
        p = X.shape[1]
        chosen = rng.choice(p, max(1, round(math.sqrt(p))), replace=False)
        mean, spread = X[:, chosen].mean(axis=0), X[:, chosen].std(axis=0)
        spread = np.where(spread > 0, spread, 1.0)
        Z = (X[:, chosen] - mean) / spread
        labels = np.unique(y)
        found = []
        for label in labels[1:] if len(labels) == 2 else labels:
            sign = np.where(y == label, 1.0, -1.0)
            if self.svm:
                beta = hinge(Z, sign, weight)
            else:
                gram = (Z * weight[:, None]).T @ Z + np.eye(Z.shape[1])
                beta = np.linalg.solve(gram, (Z * weight[:, None]).T @ (sign - sign.mean()))
            direction = np.zeros(p)
            direction[chosen] = beta / spread
            found.append(direction)
        return np.column_stack(found)


def forest(sampler: Callable[..., Floats], n_trees: int, seed: int) -> ObliqueForestClassifier:
    return ObliqueForestClassifier(
        n_trees, projection=P.Custom(sampler), scale=None, random_state=seed, n_jobs=1
    )


def errs(sampler: Callable[..., Floats], data: tuple[Floats, ...], trees: int, seed: int) -> float:
    X, y, X_test, y_test = data
    return float(np.mean(forest(sampler, trees, seed).fit(X, y).predict(X_test) != y_test))


def errs_with_ids(mode: str, data: tuple[Floats, ...], trees: int, seed: int) -> float:
    X, y, X_test, y_test = data
    ids = np.random.default_rng(0).permutation(len(X)).astype(float)
    X = np.column_stack([X, ids])
    X_test = np.column_stack([X_test, np.zeros(len(X_test))])
    return errs(Ancestors(mode), (X, y, X_test, y_test), trees, seed)


def errs_in_context(data: tuple[Floats, ...], trees: int, seed: int) -> float:
    """A forest's out-of-bag probabilities are features of a second; half of the trees each."""
    X, y, X_test, y_test = data
    half = max(1, trees // 2)
    first = ObliqueForestClassifier(
        half, projection="sparse", oob_score=True, random_state=seed, n_jobs=1
    )
    with warnings.catch_warnings():  # of rows that are in every bag, which have even shares here
        warnings.simplefilter("ignore")
        first.fit(X, y)
    shares = np.nan_to_num(first.oob_decision_function_, nan=1.0 / len(first.classes_))
    second = ObliqueForestClassifier(half, projection="sparse", random_state=seed + 1, n_jobs=1)
    second.fit(np.column_stack([X, shares]), y)
    seen = np.column_stack([X_test, first.predict_proba(X_test)])
    return float(np.mean(second.predict(seen) != y_test))


def errs_plain(data: tuple[Floats, ...], trees: int, seed: int) -> float:
    X, y, X_test, y_test = data
    model = ObliqueForestClassifier(trees, projection="sparse", random_state=seed, n_jobs=1)
    return float(np.mean(model.fit(X, y).predict(X_test) != y_test))


def variants(
    data: tuple[Floats, ...], trees: int, seed: int, only_ancestors: bool = False
) -> dict[str, tuple[float, float]]:
    """Error of each idea and of its plain form."""
    plain = errs_with_ids("plain", data, trees, seed)
    found = {
        "inherited direction": (errs_with_ids("inherit", data, trees, seed), plain),
        "reuse of scores": (errs_with_ids("reuse", data, trees, seed), plain),
    }
    if only_ancestors:
        return found
    return found | {
        "random sparsity": (
            errs(Sparse(True), data, trees, seed),
            errs(Sparse(), data, trees, seed),
        ),
        "linear SVM node": (
            errs(NodeModel(True), data, trees, seed),
            errs(NodeModel(False), data, trees, seed),
        ),
        "auto-context": (errs_in_context(data, trees, seed), errs_plain(data, trees, seed)),
    }


def unit(problem: Any) -> tuple[Floats, ...]:
    """Features to [0, 1] by the training rows, classes as numbers."""
    low, high = problem.X_train.min(axis=0), problem.X_train.max(axis=0)
    span = np.where(high > low, high - low, 1.0)
    classes = np.unique(problem.y_train)
    codes = [np.searchsorted(classes, y) for y in (problem.y_train, problem.y_test)]
    return (problem.X_train - low) / span, codes[0], (problem.X_test - low) / span, codes[1]


def compare(
    name: str, folder: Path, trees: int, repeats: int, only_ancestors: bool = False
) -> Mapping[str, tuple[float, float]]:
    """Mean errors on a data set: of each idea, and of its plain form."""
    table = open_set(name, folder)
    found: dict[str, list[tuple[float, float]]] = {}
    for repeat in range(repeats):
        folds = StratifiedKFold(N_FOLDS, shuffle=True, random_state=repeat)
        for train, _ in folds.split(table.X, table.y):
            mask = np.zeros(len(table.y), bool)
            mask[train] = True
            data = unit(prepared(table, mask, "sporf"))
            for idea, pair in variants(data, trees, repeat, only_ancestors).items():
                found.setdefault(idea, []).append(pair)
    return {idea: tuple(np.mean(pairs, axis=0)) for idea, pairs in found.items()}


def interval(differences: list[float]) -> str:
    values = 100.0 * np.array(differences)
    half = stats.t.ppf(0.975, len(values) - 1) * values.std(ddof=1) / math.sqrt(len(values))
    better, worse = int((values < 0).sum()), int((values > 0).sum())
    low, high = values.mean() - half, values.mean() + half
    return f"{values.mean():+.2f} [{low:+.2f}, {high:+.2f}]  {better} better, {worse} worse"


def main(
    folder: Path, trees: int, repeats: int, names: tuple[str, ...], only_ancestors: bool = False
) -> None:
    """Print a line for each data set as it ends, then the table."""
    results: dict[str, dict[str, list[float]]] = {}
    for name in names:
        kind = "spectral" if name in SPECTRA else "UCI"
        for idea, (error, plain) in compare(name, folder, trees, repeats, only_ancestors).items():
            results.setdefault(idea, {}).setdefault(kind, []).append(error - plain)
            print(f"{name:30} {idea:20} {100 * error:6.2f} {100 * plain:6.2f}", flush=True)
    print()
    for idea, by_kind in results.items():
        for kind, differences in by_kind.items():
            if len(differences) > 1:
                print(f"{idea:20} {kind:9} {interval(differences)}")


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description="Ideas that the papers leave for later.")
    parser.add_argument("folder", type=Path, help="data sets, as for bevel lab run --data")
    parser.add_argument("--trees", type=int, default=40)
    parser.add_argument("--repeats", type=int, default=2)
    parser.add_argument("--only", default=",".join((*UCI, *SPECTRA)), help="names, with commas")
    parser.add_argument("--only-ancestors", action="store_true", help="the first two ideas alone")
    asked = parser.parse_args()
    names = tuple(asked.only.split(","))
    main(asked.folder, asked.trees, asked.repeats, names, asked.only_ancestors)
