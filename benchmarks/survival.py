"""Survival forests beside scikit-survival's: `python -m benchmarks.survival speed|accuracy|many`.

Processor time of one thread, the smallest of repeats; the same trees, leaf sizes and features per
split. Accuracy over repeated halves of simulated and bundled data, with intervals over the sets;
`many` takes the sets of the package SurvSet, every other one with `--half`. Needs scikit-survival.
"""

from __future__ import annotations

import argparse
import pickle
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np

from bevel import ObliqueSurvivalForest
from bevel.analysis import concordance_index, integrated_brier_score
from bevel.datasets import proportional_hazards, weibull


def processor_time(work: Callable[[], Any], repeats: int) -> tuple[float, Any]:
    best, result = np.inf, None
    for _ in range(repeats):
        start = time.process_time()
        result = work()
        best = min(best, time.process_time() - start)
    return best, result


def speed(n_rows: int, n_trees: int, peer_trees: int, repeats: int) -> None:
    """Fit time and file size; a slow peer may grow fewer trees, and its time is scaled up."""
    from sksurv.ensemble import RandomSurvivalForest

    X, y = weibull(n_rows, 10, random_state=0)
    same: dict[str, Any] = {"min_samples_leaf": 3, "min_samples_split": 6, "n_jobs": 1}

    def own(**parameters: Any) -> ObliqueSurvivalForest:
        return ObliqueSurvivalForest(n_trees, **same, random_state=0, **parameters).fit(X, y)

    def peer() -> Any:
        forest = RandomSurvivalForest(peer_trees, max_features="sqrt", random_state=0, **same)
        return forest.fit(X, y)

    slow, theirs = processor_time(peer, 1)
    slow *= n_trees / peer_trees
    size = len(pickle.dumps(theirs)) * n_trees / peer_trees
    settings: list[dict[str, Any]] = [
        {"projection": "axis"},
        {"projection": "axis", "criterion": "log_rank_score"},
        {},
    ]
    for parameters in settings:
        fast, forest = processor_time(lambda p=parameters: own(**p), repeats)
        with tempfile.TemporaryDirectory() as folder:
            path = Path(folder) / "model.bevel"
            forest.save(path)
            bytes_of_file = path.stat().st_size
        print(
            f"n={n_rows} trees={n_trees} {parameters or 'default'}: fit {fast:.2f} s, peer "
            f"{slow:.2f} s ({peer_trees} trees grown), ratio {slow / fast:.0f}; file "
            f"{bytes_of_file / 1e6:.2f} MB, peer {size / 1e6:.1f} MB, ratio "
            f"{size / bytes_of_file:.0f}; nodes {forest.forest_.n_nodes}",
            flush=True,
        )


def data_sets() -> Iterator[tuple[str, Any, np.ndarray, np.ndarray]]:
    from sksurv import datasets
    from sksurv.column import encode_categorical

    loaders = {
        "whas500": datasets.load_whas500,
        "gbsg2": datasets.load_gbsg2,
        "veterans": datasets.load_veterans_lung_cancer,
        "aids": datasets.load_aids,
        "breast_cancer": datasets.load_breast_cancer,
    }
    for name, load in loaders.items():
        frame, y = load()
        numbers = encode_categorical(frame).astype(float)
        event, when = y.dtype.names
        keep = (y[when] > 0) & numbers.notna().all(axis=1).to_numpy()
        yield name, numbers[keep].to_numpy(), y[event][keep].astype(bool), y[when][keep]
    for name, simulate in (("weibull", weibull), ("cox", proportional_hazards)):
        X, y = simulate(500, 10, random_state=0)
        yield name, X, y["event"], y["time"]


def many_sets(half: int | None) -> Iterator[tuple[str, Any, np.ndarray, np.ndarray]]:
    """Sets of SurvSet of 100 rows and 40 events or more, up to 150 columns, without time-varying
    features; numbers with medians where they are missing, labels as indicators.
    """
    import pandas as pd
    from SurvSet.data import SurvLoader

    loader, found = SurvLoader(), []
    for _, about in loader.df_ds.iterrows():
        if about.is_td or about.n < 100 or about.n_ohe + about.n_num > 150:
            continue
        frame = loader.load_dataset(about.ds)["df"]
        frame = frame[frame.time > 0].reset_index(drop=True)
        numbers = frame[[name for name in frame if name.startswith("num_")]].astype(float)
        labels = frame[[name for name in frame if name.startswith("fac_")]].astype(str)
        parts = [numbers.fillna(numbers.median())]
        if labels.shape[1]:
            parts.append(pd.get_dummies(labels, drop_first=True).astype(float))
        X = pd.concat(parts, axis=1).to_numpy()
        event, when = frame.event.to_numpy().astype(bool), frame.time.to_numpy().astype(float)
        if 2 <= X.shape[1] <= 150 and event.sum() >= 40:
            found.append((about.ds, X, event, when))
    found.sort(key=lambda each: each[0].lower())
    yield from found if half is None else found[half::2]


def parts_of(
    n: int, when: np.ndarray, repeat: int, most: int | None
) -> tuple[np.ndarray, np.ndarray]:
    """Rows to train on and rows to score, at most `most` and 1000 of them."""
    order = np.random.default_rng(repeat).permutation(n)
    half = min(n // 2, most or n)
    train, test = order[:half], order[half : half + 1000 if most else None]
    return train, test[when[test] < when[train].max()]  # where the censoring can be estimated


def score(forest: Any, test: tuple[Any, ...], train: tuple[Any, ...], times: Any) -> Any:
    X, event, when = test
    if isinstance(forest, ObliqueSurvivalForest):
        survival = forest.predict_survival_function(X, times, return_array=True)
    else:
        survival = np.array([each(times) for each in forest.predict_survival_function(X)])
    brier = integrated_brier_score((when, event), survival, times, (train[2], train[1]))
    return concordance_index((when, event), forest.predict(X)), brier


def accuracy(
    n_repeats: int, n_trees: int, sets: Any, most: int | None = None, chosen: Any = None
) -> None:
    from sksurv.ensemble import RandomSurvivalForest

    same: dict[str, Any] = {"min_samples_leaf": 3, "min_samples_split": 6, "n_jobs": 1}
    systems: dict[str, Callable[[int], Any]] = {
        "scikit-survival": lambda s: RandomSurvivalForest(n_trees, random_state=s, **same),
        "axis": lambda s: ObliqueSurvivalForest(n_trees, projection="axis", random_state=s, **same),
        "axis, scores": lambda s: ObliqueSurvivalForest(
            n_trees, projection="axis", criterion="log_rank_score", random_state=s, **same
        ),
        "default": lambda s: ObliqueSurvivalForest(n_trees, random_state=s, n_jobs=1),
        "default, scores": lambda s: ObliqueSurvivalForest(
            n_trees, criterion="log_rank_score", random_state=s, n_jobs=1
        ),
        "cox": lambda s: ObliqueSurvivalForest(n_trees, projection="cox", random_state=s, **same),
        "sparse": lambda s: ObliqueSurvivalForest(
            n_trees, projection="sparse", random_state=s, **same
        ),
    }
    systems = {name: make for name, make in systems.items() if not chosen or name in chosen}
    table: dict[str, dict[str, np.ndarray]] = {}
    for name, X, event, when in sets:
        found: dict[str, list[Any]] = {system: [] for system in systems}
        for repeat in range(n_repeats):
            train, test = parts_of(len(X), when, repeat, most)
            y = np.array(list(zip(event, when, strict=True)), dtype=[("e", "?"), ("t", "f8")])
            times = np.linspace(*np.quantile(when[test][event[test]], (0.1, 0.8)), 20)
            if not times[0] < times[-1] or event[train].sum() < 15:
                continue
            for system, make in systems.items():
                forest = make(repeat).fit(X[train], y[train])
                parts = [(X[rows], event[rows], when[rows]) for rows in (test, train)]
                found[system].append(score(forest, *parts, times))
        if not found["scikit-survival"]:
            continue
        table[name] = {system: np.array(values) for system, values in found.items()}
        means = {s: v.mean(axis=0) for s, v in table[name].items()}
        print(
            name, len(X), {s: (round(c, 4), round(b, 4)) for s, (c, b) in means.items()}, flush=True
        )
    differences(table, systems)


def differences(table: dict[str, dict[str, np.ndarray]], systems: Any) -> None:
    """Mean differences to scikit-survival over the sets, with intervals of 95 %."""
    from scipy.stats import t

    for system in systems:
        each = np.array(
            [(of[system] - of["scikit-survival"]).mean(axis=0) for of in table.values()]
        )
        half = t.ppf(0.975, len(each) - 1) * each.std(axis=0, ddof=1) / np.sqrt(len(each))
        for k, score_name in enumerate(("concordance", "integrated Brier score")):
            mean = each[:, k].mean()
            print(f"{system:16} {score_name:24} {mean:+.4f} ± {half[k]:.4f} over {len(each)} sets")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("what", choices=("speed", "accuracy", "many"))
    parser.add_argument("--half", type=int, choices=(0, 1))
    parser.add_argument("--rows", type=int, default=5000)
    parser.add_argument("--trees", type=int, default=20)
    parser.add_argument("--peer-trees", type=int, default=2)
    parser.add_argument("--repeats", type=int, default=3)
    parser.add_argument("--most", type=int, default=400, help="of the rows of `many` to train on")
    parser.add_argument("--systems", nargs="+", help="some of the forests only")
    arguments = parser.parse_args()
    chosen = arguments.systems and {"scikit-survival", *arguments.systems}
    if arguments.what == "speed":
        speed(arguments.rows, arguments.trees, arguments.peer_trees, arguments.repeats)
    elif arguments.what == "accuracy":
        accuracy(arguments.repeats, arguments.trees, data_sets(), chosen=chosen)
    else:
        sets = many_sets(arguments.half)
        accuracy(arguments.repeats, arguments.trees, sets, most=arguments.most, chosen=chosen)


if __name__ == "__main__":
    sys.exit(main())
