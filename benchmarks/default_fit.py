"""What a default fit costs: ``python -m benchmarks.default_fit``.

The default, `projection="auto"`, is timed beside `projection="sparse"` with as many trees and, if
ydf is installed, beside ydf's sparse oblique forest with p projections and as many trees. Trees of
the last two are grown until leaves are pure or have one row; the default chooses how small a node
may be. All forests are fitted in turn, on the same rows, in processor time of one thread; the
shortest of the repeats counts.

    python -m benchmarks.default_fit --both

times the default of forest and boosting together beside that of CatBoost, fits and predictions of
10 000 rows.
"""

import argparse
import importlib.util
import time
from collections.abc import Callable
from functools import partial

import numpy as np

from benchmarks import machine
from benchmarks.tables import markdown, number
from bevel import (
    ObliqueClassifier,
    ObliqueForestClassifier,
    ObliqueForestRegressor,
    ObliqueRegressor,
)

# Rows, columns, classes; no classes: regression.
SIZES = (
    (1000, 10, 2),
    (1000, 100, 2),
    (5000, 30, 2),
    (20_000, 10, 2),
    (1000, 30, 8),
    (1000, 10, 0),
    (1000, 100, 0),
)
# Rows, columns and classes of the fits of forest and boosting together beside CatBoost.
SIZES_OF_BOTH = tuple(
    (n_rows, 20, n_classes) for n_rows in (1000, 10_000, 100_000) for n_classes in (2, 0)
)
PREDICTED_ROWS, PREDICTIONS = 10_000, 5
HEAD = ["n", "p", "task", "auto, s", "sparse, s", "ydf, s", "auto / sparse", "ydf / auto"]
HEAD_OF_BOTH = [
    *("n", "p", "task", "fit: both, s", "CatBoost, s", "both / CatBoost"),
    *("predict: both, ms", "CatBoost, ms", "both / CatBoost"),
]


def main() -> None:
    options = parse()
    print(machine.describe(), end="\n\n", flush=True)
    sizes = SIZES_OF_BOTH if options.both else SIZES
    of_size = measure_both if options.both else measure
    lines = []
    for i in (int(i) for i in options.only.split(",")) if options.only else range(len(sizes)):
        lines.append(of_size(*sizes[i], options))
        print(lines[-1], flush=True)
    print("\n" + markdown(HEAD_OF_BOTH if options.both else HEAD, lines))


def parse() -> argparse.Namespace:
    parser = argparse.ArgumentParser(
        prog="python -m benchmarks.default_fit",
        description=__doc__,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("--trees", type=int, default=300)
    parser.add_argument("--repeats", type=int, default=3)
    parser.add_argument("--both", action="store_true", help="forest and boosting, and CatBoost")
    parser.add_argument("--only", default="", help="numbers of sizes, the first is 0: 0,3")
    return parser.parse_args()


def measure(n_rows: int, n_columns: int, n_classes: int, options: argparse.Namespace) -> list[str]:
    X, y = make_data(n_rows, n_columns, n_classes)
    systems: dict[str, Callable[[], None]] = {
        name: bevel_fit(X, y, n_classes, name, options.trees) for name in ("auto", "sparse")
    }
    if importlib.util.find_spec("ydf"):
        systems["ydf"] = ydf_fit(X, y, n_classes, options.trees)
    times = dict.fromkeys(systems, np.inf)
    for _ in range(options.repeats):
        for name, fit in systems.items():
            times[name] = min(times[name], seconds(fit))
    ydf = times.get("ydf", np.nan)
    return [
        *(str(n_rows), str(n_columns), f"{n_classes} classes" if n_classes else "regression"),
        *(number(times["auto"]), number(times["sparse"]), number(ydf)),
        *(number(times["auto"] / times["sparse"]), number(ydf / times["auto"])),
    ]


def measure_both(
    n_rows: int, n_columns: int, n_classes: int, options: argparse.Namespace
) -> list[str]:
    import catboost

    X, y = make_data(n_rows, n_columns, n_classes)
    new = make_data(PREDICTED_ROWS, n_columns, n_classes)[0]
    both = ObliqueClassifier if n_classes else ObliqueRegressor
    peer = catboost.CatBoostClassifier if n_classes else catboost.CatBoostRegressor
    quiet = {"random_seed": 0, "verbose": False, "allow_writing_files": False}
    models = [both(n_jobs=1, random_state=0), peer(thread_count=1, **quiet)]
    fits, predictions = [np.inf, np.inf], [np.inf, np.inf]
    for _ in range(options.repeats):
        for k, model in enumerate(models):
            fits[k] = min(fits[k], seconds(partial(model.fit, X, y)))
    for _ in range(PREDICTIONS):
        for k, model in enumerate(models):
            given = {"thread_count": 1} if k else {}
            predict = model.predict_proba if n_classes else model.predict
            predictions[k] = min(predictions[k], seconds(partial(predict, new, **given)))
    return [
        *(str(n_rows), str(n_columns), f"{n_classes} classes" if n_classes else "regression"),
        *(number(fits[0]), number(fits[1]), number(fits[0] / fits[1])),
        *(number(1000 * each) for each in predictions),
        number(predictions[0] / predictions[1]),
    ]


def make_data(n_rows: int, n_columns: int, n_classes: int) -> tuple[np.ndarray, np.ndarray]:
    """Sums of five columns with noise: neither axes nor one direction are enough."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(n_rows, n_columns)).astype(np.float32)
    scores = X[:, :5] @ rng.normal(size=(5, max(n_classes, 1)))
    scores += (X[:, :1] * X[:, 1:2]) + rng.normal(size=scores.shape)
    return X, scores.argmax(axis=1) if n_classes else scores[:, 0]


def bevel_fit(
    X: np.ndarray, y: np.ndarray, n_classes: int, projection: str, n_trees: int
) -> Callable[[], None]:
    make = ObliqueForestClassifier if n_classes else ObliqueForestRegressor

    def fit() -> None:
        make(n_trees, projection=projection, n_jobs=1, random_state=0).fit(X, y)

    return fit


def ydf_fit(X: np.ndarray, y: np.ndarray, n_classes: int, n_trees: int) -> Callable[[], None]:
    import ydf

    ydf.verbose(0)
    task = ydf.Task.CLASSIFICATION if n_classes else ydf.Task.REGRESSION
    table = {"x": X, "y": y.astype(str) if n_classes else y.astype(np.float32)}
    learner = ydf.RandomForestLearner(
        label="y",
        task=task,
        num_trees=n_trees,
        split_axis="SPARSE_OBLIQUE",
        sparse_oblique_num_projections_exponent=1.0,
        sparse_oblique_normalization="MIN_MAX",
        max_depth=-1,
        min_examples=1,
        winner_take_all=False,
        compute_oob_performances=False,
        num_threads=1,
        random_seed=1,
    )

    def fit() -> None:
        learner.train(table)

    return fit


def seconds(fit: Callable[[], None]) -> float:
    start = time.process_time()
    fit()
    return time.process_time() - start


if __name__ == "__main__":
    main()
