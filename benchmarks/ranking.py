"""NDCG of rankings beside LightGBM, XGBoost and CatBoost: `python -m benchmarks.ranking`.

Simulated search results of the shape of MSLR, in two kinds: relevance depends on single features,
or on differences of features. All have the same number of trees and the same learning rate, and no
early stopping. Trees that grow best first have 15 leaves; the other settings are the defaults.
`bevel` has its default directions and symmetric trees, `bevel, axis` single features only.
Processor time of one thread; NDCG at 10 of new queries, mean and standard error over the repeats.
The peers are optional.
"""

from __future__ import annotations

import argparse
import time
from collections.abc import Callable
from typing import Any

import numpy as np

from bevel import ObliqueBoostingRanker
from bevel.datasets import search_results
from bevel.forest.ranking import mean_ndcg

N_LEAVES, RATE = 15, 0.1


def ours(n_trees: int, **others: Any) -> Callable[..., Any]:
    """A ranker of this library."""
    made = ObliqueBoostingRanker(
        max_iter=n_trees,
        learning_rate=RATE,
        early_stopping=False,
        random_state=0,
        n_jobs=1,
        **others,
    )
    return lambda X, y, query: made.fit(X, y, groups=query).predict


def lightgbm_ranker(n_trees: int, objective: str) -> Callable[..., Any]:
    """LightGBM's ranker."""
    from lightgbm import LGBMRanker

    made = LGBMRanker(
        objective=objective,
        n_estimators=n_trees,
        learning_rate=RATE,
        num_leaves=N_LEAVES,
        random_state=0,
        n_jobs=1,
        verbose=-1,
    )
    return lambda X, y, query: made.fit(X, y, group=np.bincount(query)).predict


def xgboost_ranker(n_trees: int) -> Callable[..., Any]:
    """XGBoost's ranker."""
    from xgboost import XGBRanker

    made = XGBRanker(
        objective="rank:ndcg",
        n_estimators=n_trees,
        learning_rate=RATE,
        max_leaves=N_LEAVES,
        max_depth=0,
        grow_policy="lossguide",
        tree_method="hist",
        random_state=0,
        n_jobs=1,
    )
    return lambda X, y, query: made.fit(X, y, qid=query).predict


def catboost_ranker(n_trees: int) -> Callable[..., Any]:
    """CatBoost's YetiRank, with its default depth."""
    from catboost import CatBoostRanker

    made = CatBoostRanker(
        loss_function="YetiRank",
        iterations=n_trees,
        learning_rate=RATE,
        random_seed=0,
        thread_count=1,
        verbose=False,
        allow_writing_files=False,
    )
    return lambda X, y, query: made.fit(X, y, group_id=query).predict


def makers(n_trees: int) -> dict[str, Callable[[], Callable[..., Any]]]:
    """The systems by name."""
    return {
        "bevel": lambda: ours(n_trees),
        "bevel, pairwise": lambda: ours(n_trees, loss="pairwise"),
        "bevel, best first": lambda: ours(n_trees, growth="best_first", max_leaf_nodes=N_LEAVES),
        "bevel, axis": lambda: ours(n_trees, projection="axis"),
        "LightGBM, lambdarank": lambda: lightgbm_ranker(n_trees, "lambdarank"),
        "LightGBM, xendcg": lambda: lightgbm_ranker(n_trees, "rank_xendcg"),
        "XGBoost, ndcg": lambda: xgboost_ranker(n_trees),
        "CatBoost, YetiRank": lambda: catboost_ranker(n_trees),
    }


def compare(
    n_queries: int,
    n_features: int,
    n_trees: int,
    n_repeats: int,
    combined: bool,
    wanted: list[str] | None = None,
) -> None:
    """Fit all systems in turn on each repeat, and print their means."""
    found: dict[str, list[tuple[float, float]]] = {}
    chosen = {name: make for name, make in makers(n_trees).items() if not wanted or name in wanted}
    for repeat in range(n_repeats):
        X, y, query = search_results(
            2 * n_queries, n_features, combined=combined, random_state=repeat
        )
        new = query >= n_queries
        for name, make in chosen.items():
            try:
                fit = make()
            except ImportError:
                continue
            start = time.process_time()
            predict = fit(X[~new], y[~new], query[~new])
            seconds = time.process_time() - start
            score = mean_ndcg(y[new].astype(float), np.asarray(predict(X[new])), query[new], 10)
            found.setdefault(name, []).append((score, seconds))
    kind = "differences of features" if combined else "single features"
    print(f"\n{n_queries} queries, {n_features} features, {n_trees} trees, relevance by {kind}")
    for name, pairs in found.items():
        scores, seconds = np.array(pairs).T
        error = scores.std(ddof=1) / np.sqrt(n_repeats) if n_repeats > 1 else float("nan")
        print(f"{name:22} {scores.mean():.4f} ± {error:.4f}  {seconds.min():7.2f} s", flush=True)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--queries", type=int, default=300)
    parser.add_argument("--features", type=int, default=136)
    parser.add_argument("--trees", type=int, default=200)
    parser.add_argument("--repeats", type=int, default=5)
    parser.add_argument("--systems", nargs="+", help="some of the systems only")
    given = parser.parse_args()
    for combined in (False, True):
        sizes = given.queries, given.features, given.trees, given.repeats
        compare(*sizes, combined, given.systems)


if __name__ == "__main__":
    main()
