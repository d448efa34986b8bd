"""Every preset of `bevel.presets` as a system, and two that are Bevel's own."""

from collections.abc import Callable, Mapping
from dataclasses import replace
from functools import partial
from typing import Any

from bevel import presets
from bevel import projections as P
from bevel.estimators import (
    ObliqueBoostingClassifier,
    ObliqueBoostingRegressor,
    ObliqueForestClassifier,
    ObliqueForestRegressor,
)
from bevel.estimators.rotated.boosting import GROUP_TREES
from bevel.extras import import_optional
from bevel.presets.table import Preset
from bevel.training.rotation_ensemble import WEIGHTINGS
from bevel.tuning.candidates import DENSITIES, POWERS
from bevel_lab.systems.base import OURS, Estimator, Grid, System, Task

__all__ = ["UP_TO_P", "WEIGHTED_ROTATIONS", "systems"]

UP_TO_P = POWERS[:-1]  # for systems whose directions are axes

# Blaser 2.5: the same rotations and micro-forests, weighted in eight ways. Rotation to system.
WEIGHTED_ROTATIONS = {weighting: f"rotations-{weighting}" for weighting in WEIGHTINGS}


def systems() -> list[System]:
    """All of them, the presets in the order of their table."""
    return [
        *(_system(preset) for preset in presets.TABLE),
        *(_weighted_rotations(weighting) for weighting in WEIGHTED_ROTATIONS),
        System(
            name="stacked-xgboost",
            label="S-RRE/XGB",
            kind=OURS,
            docs="bevel.presets.stacked_rotation with XGBoost at its defaults on both levels: "
            "Blaser 3.3.3.",
            make=_stacked_xgboost,
            needs="xgboost",
            has_trees=True,
            nominal=True,
            missing=True,
        ),
        System(
            name="bevel",
            label="Bevel",
            kind=OURS,
            docs="Bevel at its defaults: families share the trees by evidence; 500 trees.",
            make=partial(_forest, {}),
            has_trees=True,
            nominal=True,
            missing=True,
        ),
        System(
            name="bevel-boosting",
            label="Bevel boosting",
            kind=OURS,
            docs="Bevel's gradient boosting at its defaults.",
            make=_boosting,
            nominal=True,
            missing=True,
        ),
        System(
            name="mix",
            label="Bevel mix",
            kind=OURS,
            docs="Axes, sparse signs and ridge directions (λ by generalised "
            "cross-validation) competing at each node; 500 trees.",
            make=partial(_forest, {"projection": ["axis", "sparse", P.Ridge(tune="gcv")]}),
            has_trees=True,
            nominal=True,
            missing=True,
        ),
    ]


def _system(preset: Preset) -> System:
    return System(
        name=preset.name.replace("_", "-"),
        label=preset.system,
        kind=OURS,
        docs=f"bevel.presets.{preset.name}: {preset.paper}, {preset.section}.",
        make=partial(_make, preset),
        tuning=GRIDS.get(preset.name),
        has_trees=True,
        nominal=True,
        missing=True,
    )


def _weighted_rotations(weighting: str) -> System:
    preset = next(each for each in presets.TABLE if each.name == "regularized_rotation")
    return replace(
        _system(preset),
        name=WEIGHTED_ROTATIONS[weighting],
        label=weighting.upper(),
        docs=f'bevel.presets.regularized_rotation("{weighting}"): {preset.paper}, section 2.5.',
        make=partial(_make, preset, weighting=weighting),
    )


def _make(preset: Preset, task: Task, *, n_trees: int | None = None, **setting: Any) -> Estimator:
    """The preset's estimator; JSON cannot hold projections, so their numbers come as settings."""
    setting = {**_common(task, n_trees), **setting}
    if preset.name == "sparse_boosting" and n_trees is not None:
        setting["max_iter"] = setting.pop("n_estimators")
    if preset.name in ("rr_gbm", "rotated_boosting") and n_trees is not None:
        # As many trees as other systems have, in groups of the preset's own size.
        del setting["n_estimators"]
        setting.setdefault("n_groups", max(1, round(n_trees / GROUP_TREES)))
    if preset.name == "s_rerf":
        setting.setdefault("shape", task.p)  # a row is a series by default
        setting["shape"] = _shape(setting["shape"])
    if "most_density" in setting:
        setting["density"] = min(setting.pop("most_density"), max(task.n_numeric, 1))
    for word, projection in NUMBERS.get(preset.name, {}).items():
        if word in setting:
            setting["projection"] = projection(setting.pop(word))
    return preset.make(task=task.kind, **setting)


def _forest(own: Mapping[str, Any], task: Task, *, n_trees: int = 500, **setting: Any) -> Estimator:
    kind = ObliqueForestRegressor if task.is_regression else ObliqueForestClassifier
    return kind(**{**own, **_common(task, n_trees), **setting})


def _boosting(task: Task, **setting: Any) -> Estimator:
    kind = ObliqueBoostingRegressor if task.is_regression else ObliqueBoostingClassifier
    return kind(**{**_common(task, None), **setting})


def _stacked_xgboost(task: Task, *, n_trees: int = 100, **setting: Any) -> Estimator:
    package = import_optional("xgboost", needed_by="stacked-xgboost", install="bevel-lab[peers]")
    make = package.XGBRegressor if task.is_regression else package.XGBClassifier
    booster = make(n_estimators=n_trees)
    given = {**_common(task, None), **setting}
    stack: Estimator = presets.stacked_rotation(
        task=task.kind, level0=booster, level1=booster, **given
    )
    return stack


def _common(task: Task, n_trees: int | None) -> dict[str, Any]:
    setting: dict[str, Any] = {"random_state": task.random_state, "n_jobs": task.n_jobs}
    if n_trees is not None:
        setting["n_estimators"] = n_trees
    if task.has_nominal:
        setting["categorical_features"] = task.categorical_features
    return setting


def _shape(shape: int | list[int]) -> int | tuple[int, ...]:
    return shape if isinstance(shape, int) else tuple(shape)


# Settings that are numbers of a projection, by preset.
NUMBERS: dict[str, dict[str, Callable[..., P.Projection]]] = {
    "sporf": {"density": P.SparseSigns},
    "ccf": {"n_features": P.CCA},
    "forest_rc": {"n_combined": P.RandomCombination},
    "frank": {"n_combined": P.RandomCombination},
}


def _number_of_candidates(powers: tuple[str, ...], task: Task) -> list[dict[str, Any]]:  # noqa: ARG001
    return [{"n_projections": power} for power in powers]


def _candidates_and_density(task: Task) -> list[dict[str, Any]]:
    """d and λ; a direction cannot have more features than there are."""
    densities = [density for density in DENSITIES if density <= max(task.n_numeric, 1)]
    return [
        {"n_projections": power, "density": density} for power in POWERS for density in densities
    ]


def _subspaces(task: Task) -> list[dict[str, Any]]:  # noqa: ARG001
    return [{"n_features": power} for power in UP_TO_P]


GRIDS: dict[str, Grid] = {
    "random_forest": Grid(partial(_number_of_candidates, UP_TO_P)),
    "rr_rf": Grid(partial(_number_of_candidates, UP_TO_P)),
    "forest_rc": Grid(partial(_number_of_candidates, POWERS)),
    "frank": Grid(partial(_number_of_candidates, POWERS)),
    "sporf": Grid(_candidates_and_density),
    "ccf": Grid(_subspaces, by="cv"),  # it has no out-of-bag rows
}
