"""Defaults against defaults: ``PYTHONPATH=FOLDER_OF_PEERS python -m benchmarks.defaults``.

Bevel's forest, gradient boosting and both together as they are without any setting, beside
scikit-learn's random forest of 500 trees and the defaults of CatBoost, LightGBM and XGBoost: the
time of a fit, of predicting the probabilities of 10 000 rows, and the accuracy on them. All have
one thread, and times are of the processor; systems take turns, and the shortest of the repeats
counts. Systems that are not installed are left out.
"""

import argparse
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

from benchmarks import machine
from benchmarks.tables import append_csv, markdown, number
from benchmarks.tasks import Data, make
from bevel import ObliqueBoostingClassifier, ObliqueClassifier, ObliqueForestClassifier

FIELDS = ("date", "commit", "task", "rows", "system", "fit_s", "predict_ms", "accuracy", "trees")
N_TEST = 10_000


def random_forest() -> Any:
    from sklearn.ensemble import RandomForestClassifier

    return RandomForestClassifier(500, n_jobs=1, random_state=0)


def catboost() -> Any:
    import catboost

    return catboost.CatBoostClassifier(
        random_seed=0, thread_count=1, verbose=False, allow_writing_files=False
    )


def lightgbm() -> Any:
    import lightgbm

    return lightgbm.LGBMClassifier(random_state=0, n_jobs=1, verbose=-1)


def xgboost() -> Any:
    import xgboost

    return xgboost.XGBClassifier(random_state=0, n_jobs=1)


SYSTEMS: dict[str, Callable[[], Any]] = {
    "forest": lambda: ObliqueForestClassifier(random_state=0, n_jobs=1),
    "boosting": lambda: ObliqueBoostingClassifier(random_state=0, n_jobs=1),
    "combined": lambda: ObliqueClassifier(random_state=0, n_jobs=1),
    "random forest, 500 trees": random_forest,
    "CatBoost": catboost,
    "LightGBM": lightgbm,
    "XGBoost": xgboost,
}


def main() -> None:
    options = parse()
    print(machine.describe(), end="\n\n", flush=True)
    for n_rows in options.rows:
        data = make(options.task, n_rows, N_TEST)
        chosen = {name: SYSTEMS[name] for name in options.systems if is_there(name)}
        best: dict[str, dict[str, Any]] = {}
        for _ in range(options.repeats):
            for name, system in chosen.items():
                found = measure(system, data)
                known = best.setdefault(name, found)
                for what in ("fit_s", "predict_ms"):
                    known[what] = min(known[what], found[what])
        where = {"date": machine.now(), "commit": machine.commit(), "task": options.task}
        lines = [where | {"rows": n_rows, "system": name} | best[name] for name in best]
        append_csv(options.out, FIELDS, lines)
        print(f"{options.task}, {n_rows} rows\n\n{table(lines)}\n", flush=True)


def parse() -> argparse.Namespace:
    parser = argparse.ArgumentParser(
        prog="python -m benchmarks.defaults",
        description=__doc__,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("--task", default="higgs28")
    parser.add_argument("--rows", type=int, nargs="+", default=[1000, 10_000, 100_000])
    parser.add_argument("--systems", nargs="+", default=list(SYSTEMS), choices=list(SYSTEMS))
    parser.add_argument("--repeats", type=int, default=3)
    parser.add_argument("--out", type=Path, default=Path("benchmarks/results/defaults.csv"))
    return parser.parse_args()


def is_there(name: str) -> bool:
    try:
        SYSTEMS[name]()
    except ImportError:
        return False
    return True


def measure(system: Callable[[], Any], data: Data) -> dict[str, Any]:
    """A fit, and the second of two predictions, which finds all that is prepared once."""
    model = system()
    start = time.process_time()
    model.fit(data.X, data.y)
    fitted = time.process_time() - start
    model.predict_proba(data.X_test)
    start = time.process_time()
    shares = model.predict_proba(data.X_test)
    predicted = time.process_time() - start
    accuracy = float((shares.argmax(axis=1) == data.y_test).mean())
    forest = getattr(model, "forest_", None)
    trees = "" if forest is None else forest.n_trees
    return {"fit_s": fitted, "predict_ms": 1e3 * predicted, "accuracy": accuracy, "trees": trees}


def table(lines: list[dict[str, Any]]) -> str:
    head = ["", "fit, s", "10 000 rows, ms", "accuracy", "trees"]
    rows = [
        [
            *(line["system"], number(line["fit_s"]), number(line["predict_ms"])),
            *(f"{line['accuracy']:.4f}", str(line["trees"])),
        ]
        for line in lines
    ]
    return markdown(head, rows)


if __name__ == "__main__":
    main()
