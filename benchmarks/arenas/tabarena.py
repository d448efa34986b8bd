"""Bevel in TabArena: configurations for its search, and a run on local tables.

    from benchmarks.arenas.tabarena import generators

    for generator in generators():
        experiments = generator.generate_all_bag_experiments(num_random_configs=200)

The first configuration of each model is its default. Others are drawn by `combined_configs`,
`forest_configs` and `boosting_configs`; the same seed gives the same list. Forest and boosting
together have `quality` and nothing else to choose: the entry is that of a model without tuning.
TabArena's data sets are named in `sealed.csv`: no setting of Bevel is chosen on them, and those
that are among ours are in no half that settings are chosen on.

    python -m benchmarks.arenas.tabarena table.csv other.csv --target label --out FOLDER

runs the default, random configurations (`--random`) and TabArena's random forest on local tables,
as TabArena runs its own tasks: eight-fold bagging inside each of three outer folds. It prints the
leaderboard. It needs `pip install "tabarena[plot]"` in an environment of its own.
"""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

FOLDS = 3


def combined_configs(n_configs: int, seed: int = 0) -> list[dict[str, Any]]:
    """The other steps of `quality`, in random order: four at most."""
    steps = np.random.default_rng(seed).permutation([1, 2, 4, 5])
    return [{"quality": int(step)} for step in steps[:n_configs]]


def forest_configs(n_configs: int, seed: int = 0) -> list[dict[str, Any]]:
    """Random parameters of the forest; about half of them keep the families that it chooses."""
    rng = np.random.default_rng(seed)
    families = ("auto", "auto", "auto", "sparse", "gaussian", "axis")
    return [
        {
            "projection": str(rng.choice(families)),
            "min_samples_leaf": log_whole_number(rng, 1, 16),
            "max_samples": round(float(rng.uniform(0.5, 1.0)), 3),
            "bootstrap": True,
        }
        for _ in range(n_configs)
    ]


def boosting_configs(n_configs: int, seed: int = 0) -> list[dict[str, Any]]:
    """Random parameters of boosting."""
    rng = np.random.default_rng(seed)
    return [
        {
            "projection": str(rng.choice(("auto", "auto", "axis", "sparse"))),
            "learning_rate": log_number(rng, 0.02, 0.2),
            "max_leaf_nodes": log_whole_number(rng, 4, 63),
            "min_samples_leaf": log_whole_number(rng, 1, 64),
            "l2_regularization": log_number(rng, 0.1, 30.0),
            "subsample": round(float(rng.uniform(0.5, 1.0)), 3),
        }
        for _ in range(n_configs)
    ]


def log_number(rng: np.random.Generator, low: float, high: float) -> float:
    """A number whose logarithm is uniform, with four digits."""
    return float(f"{np.exp(rng.uniform(np.log(low), np.log(high))):.4g}")


def log_whole_number(rng: np.random.Generator, low: int, high: int) -> int:
    """A whole number from `low` to `high`, whose logarithm is nearly uniform."""
    return int(np.exp(rng.uniform(np.log(low), np.log(high + 1))))


def generators() -> list[Any]:
    """TabArena's generators of configurations, for both together, the forest and boosting."""
    from tabarena.utils.config_utils import CustomAGConfigGenerator

    from benchmarks.arenas.autogluon_model import BevelBoostingModel, BevelForestModel, BevelModel

    made = (
        (BevelModel, combined_configs),
        (BevelForestModel, forest_configs),
        (BevelBoostingModel, boosting_configs),
    )
    return [
        CustomAGConfigGenerator(model_cls=kind, search_space_func=draw, manual_configs=[{}])
        for kind, draw in made
    ]


def local_task(path: Path, target: str, folder: Path) -> tuple[Any, Any]:
    """A table as a task of TabArena, cut into folds, with its description."""
    from sklearn.model_selection import KFold, StratifiedKFold
    from tabarena.benchmark.task import UserTask
    from tabarena.benchmark.task.user_task import from_sklearn_splits_to_user_task_splits

    rows = pd.read_parquet(path) if path.suffix == ".parquet" else pd.read_csv(path)
    is_regression = rows[target].dtype.kind == "f"
    cut = (StratifiedKFold, KFold)[is_regression](FOLDS, shuffle=True, random_state=0)
    splits = cut.split(rows.drop(columns=target), rows[target])
    task = UserTask(task_name=path.name.split(".")[0], task_cache_path=folder)
    made = task.create_task(
        dataset=rows,
        target_feature=target,
        problem_type="regression" if is_regression else "classification",
        splits=from_sklearn_splits_to_user_task_splits(splits, n_splits=FOLDS),
    )
    task.save_task(made)
    return task, made.metadata


def main() -> None:
    """Run the models on local tables; print TabArena's leaderboard."""
    from tabarena.benchmark.task.metadata import TaskMetadataCollection
    from tabarena.contexts import AbstractArenaContext
    from tabarena.models.random_forest import gen_randomforest

    parser = argparse.ArgumentParser(description=main.__doc__)
    parser.add_argument("tables", type=Path, nargs="+", help="CSV or Parquet files")
    parser.add_argument("--target", default="target")
    parser.add_argument("--random", type=int, default=0, help="random configurations of each model")
    parser.add_argument("--out", type=Path, default=Path("tabarena_run"))
    args = parser.parse_args()
    out = args.out.resolve()
    tasks = [local_task(path, args.target, out / "tasks") for path in args.tables]
    experiments = [
        experiment
        for generator in (*generators(), gen_randomforest)
        for experiment in generator.generate_all_bag_experiments(
            num_random_configs=args.random, fold_fitting_strategy="sequential_local"
        )
    ]
    described = TaskMetadataCollection.from_source([metadata for _, metadata in tasks])
    context = AbstractArenaContext(task_metadata=described, methods=[])
    context.build_and_run_jobs(
        experiments,
        expname=str(out / "results"),
        user_tasks=[task for task, _ in tasks],
        debug_mode=True,  # in this process
    )
    print(context.compare(output_dir=out / "leaderboard").to_string())


if __name__ == "__main__":
    main()
