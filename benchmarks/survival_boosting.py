"""Survival boosting beside others: `python -m benchmarks.survival_boosting`.

Concordance and integrated Brier score of new rows, and processor time of the fits on one thread,
over repeated halves of the sets of `benchmarks.survival`: simulated ones and those that come with
scikit-survival, or with `--many` those of the package SurvSet. Peers have their defaults, 100 trees
of rate 0.1 or 0.3; `bevel` its own, which choose the number of trees on held-out rows, and `100
trees` as many as scikit-survival, of the same rate and depth. Curves of XGBoost's Cox model are
drawn with Breslow's hazard as those of `bevel`, curves of its failure times with the spread of the
highest likelihood.
"""

from __future__ import annotations

import argparse
import time
from collections.abc import Callable
from typing import Any

import numpy as np
from scipy.stats import t as student

from benchmarks.survival import data_sets, many_sets, parts_of
from bevel import ObliqueSurvivalBoosting
from bevel.analysis import concordance_index, integrated_brier_score
from bevel.data.survival import SurvivalTarget
from bevel.forest.survival import fit_baseline

Fitted = tuple[Callable[[Any], Any], Callable[[Any, Any], Any]]  # risks, and curves at times
MIN_EVENTS = 15


def ours(**parameters: Any) -> Callable[..., Fitted]:
    """A model of this library."""

    def fit(X: Any, event: Any, when: Any, seed: int) -> Fitted:
        model = ObliqueSurvivalBoosting(n_jobs=1, random_state=seed, **parameters)
        model.fit(X, (when, event))
        return model.predict, lambda X, times: model.predict_survival_function(
            X, times, return_array=True
        )

    return fit


def scikit_survival(X: Any, event: Any, when: Any, seed: int) -> Fitted:
    """scikit-survival's boosting of Cox's partial likelihood."""
    from sksurv.ensemble import GradientBoostingSurvivalAnalysis

    y = np.array(list(zip(event, when, strict=True)), dtype=[("e", "?"), ("t", "f8")])
    model = GradientBoostingSurvivalAnalysis(random_state=seed).fit(X, y)
    return model.predict, lambda X, times: np.array(
        [each(times) for each in model.predict_survival_function(X)]
    )


def xgboost(objective: str) -> Callable[..., Fitted]:
    """XGBoost's Cox model, or its log-logistic failure times."""

    def fit(X: Any, event: Any, when: Any, seed: int) -> Fitted:
        import xgboost as xgb

        settings: dict[str, Any] = {"objective": f"survival:{objective}", "nthread": 1}
        settings |= {"seed": seed, "tree_method": "hist"}
        data = xgb.DMatrix(X)
        if objective == "cox":
            data.set_label(np.where(event, when, -when))
        else:
            settings["aft_loss_distribution"] = "logistic"
            data.set_float_info("label_lower_bound", when)
            data.set_float_info("label_upper_bound", np.where(event, when, np.inf))
        model = xgb.train(settings, data, num_boost_round=100)

        def risk(X: Any) -> Any:
            margin = model.predict(xgb.DMatrix(X), output_margin=True).astype(float)
            return margin if objective == "cox" else -margin

        kind = "cox" if objective == "cox" else "log_logistic"
        task = fit_baseline(SurvivalTarget(when, event), risk(X), np.ones(len(X)), kind)
        return risk, lambda X, times: np.exp(-task.cumulative_hazard(risk(X), times))

    return fit


SYSTEMS: dict[str, Callable[..., Fitted]] = {
    "scikit-survival": scikit_survival,
    "XGBoost, cox": xgboost("cox"),
    "XGBoost, aft": xgboost("aft"),
    "bevel": ours(),
    "bevel, 100 trees": ours(
        max_iter=100, learning_rate=0.1, max_depth=3, max_leaf_nodes=None, early_stopping=False
    ),
    "bevel, log_logistic": ours(loss="log_logistic"),
}


def compare(sets: Any, n_repeats: int, most: int | None) -> None:
    """Print the means of each set, and mean differences to scikit-survival over the sets."""
    table = []
    for name, X, event, when in sets:
        found: dict[str, list[tuple[float, float, float]]] = {each: [] for each in SYSTEMS}
        for repeat in range(n_repeats):
            train, test = parts_of(len(X), when, repeat, most)
            times = np.linspace(*np.quantile(when[test][event[test]], (0.1, 0.8)), 20)
            if not times[0] < times[-1] or event[train].sum() < MIN_EVENTS:
                continue
            for system, fit in SYSTEMS.items():
                start = time.process_time()
                risk, curves = fit(X[train], event[train], when[train], repeat)
                seconds = time.process_time() - start
                truth = (when[test], event[test])
                survival = curves(X[test], times)
                brier = integrated_brier_score(truth, survival, times, (when[train], event[train]))
                concordance = concordance_index(truth, risk(X[test]))
                found[system].append((concordance, brier, seconds))
        if not found["scikit-survival"]:
            continue
        means = {system: np.array(values).mean(axis=0) for system, values in found.items()}
        table.append(np.array(list(means.values())))
        cells = [f"{system} {c:.4f} {b:.4f}" for system, (c, b, _) in means.items()]
        print(name, len(X), *cells, sep="; ", flush=True)
    each = np.array(table)
    n = len(each)
    print(f"{'over ' + str(n) + ' sets':20} concordance      Brier score      s/fit")
    for place, system in enumerate(SYSTEMS):
        change = each[:, place, :2] - each[:, 0, :2]
        half = student.ppf(0.975, n - 1) * change.std(axis=0, ddof=1) / np.sqrt(n)
        (c, b), seconds = change.mean(axis=0), each[:, place, 2].mean()
        print(f"{system:20} {c:+.4f} ± {half[0]:.4f}  {b:+.4f} ± {half[1]:.4f}  {seconds:.3f}")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--many", action="store_true", help="the sets of SurvSet")
    parser.add_argument("--repeats", type=int, default=3)
    parser.add_argument("--most", type=int, help="rows to train on, at most")
    given = parser.parse_args()
    sets = many_sets(None) if given.many else data_sets()
    compare(sets, given.repeats, given.most)


if __name__ == "__main__":
    main()
