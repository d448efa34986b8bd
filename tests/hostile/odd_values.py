"""Odd values for the header of a model file, in the form that files have them."""

from __future__ import annotations

import random
from typing import Any

NAMES = ("", "\ud800", "\udfff\ud800", "\x00", "\x1b[31m", "a\nb", "\u202e", "x" * 5000, "é", "𝒳")
NAMES += ("x0", "nan", "-", "%s%n", "{0}", "<b>", '"', "'", "\\", "x1 <= 3")

SCALARS: tuple[Any, ...] = (
    *(None, True, False, 0, -1, 1, 2**31, 2**63, 2**64, 10**30, 10**400, 10**3990),
    *(0.0, -0.0, 0.5, 1e308, 5e-324, "abc", "nan", ""),
    *({"float": "nan"}, {"float": "inf"}, {"float": "x"}, {"bytes": "YWI="}, {"bytes": "!"}),
    *({"date": "2024-02-30"}, {"date": "2024-02-28"}, {"date": "0001-01-01"}),
    *({"datetime": "9999-12-31T23:59:59.999999"}, {"datetime": "2024-05-31T12:00:00+99:99"}),
    *({"numpy": ["<i4", 7]}, {"numpy": ["<i4", 2**40]}, {"numpy": ["<f2", 1e30]}),
    *({"numpy": ["<M8[D]", 2**62]}, {"numpy": ["<M8", 5]}, {"numpy": ["<m8[as]", -(2**63)]}),
    *({"numpy": ["U", "a\x00"]}, {"numpy": ["S", {"bytes": "AA=="}]}, {"numpy": []}),
    *({"tuple": []}, {"tuple": [1, {"float": "nan"}]}, {"dict": []}, [], [[]], {}),
    *({"dict": [[1, 2], [1.0, 3]]}, {"dict": [[[], 1]]}, {"dict": [[{"float": "nan"}, 1]]}),
    *({"function": "f"}, {"function": "\ud800"}, {"labels": {"dtype": "object", "values": []}}),
    *(
        {"array": {"shape": [0], "numbers": "none"}},
        {"array": {"shape": [4], "numbers": "medians"}},
    ),
    *({"array": {"shape": [2**62, 0], "numbers": "medians"}},),
)


def _projection(kind: str, **arguments: Any) -> dict[str, Any]:
    return {"projection": {"class": kind, "arguments": arguments}}


_MEDIANS = {"array": {"shape": [4, 1], "numbers": "medians"}}
_SPARSE = {"format": "csc", "class": "array", "shape": [2**22, 2**22]}
_SPARSE |= {"numbers": "medians", "rows": "medians", "columns": "medians"}

PROJECTIONS: tuple[Any, ...] = (
    *("axis", "sparse", "cca", "custom", "", [], ["axis", "sparse"], ["axis"] * 3000),
    _projection("Axis"),
    _projection("Axis", more=1),
    _projection("Projection"),
    _projection("SparseSigns", density=1e308),
    _projection("SparseSigns", density={"float": "nan"}),
    _projection("SparseSigns", density=10**400),
    _projection("RandomCombination", n_features=2**63),
    _projection("Gaussian", n_features="p**1e308"),
    _projection("Gaussian", n_features=10**400),
    _projection("RandomRotation", per="node", flip=1, max_features=2**70),
    _projection("MultiRotation", n_rotations=2**62, flip=True, max_features=2**62),
    _projection("PrincipalRotation", group_size=2**64, per="node", share=None),
    _projection("PrincipalRotation", group_size=2, per="tree", share={"float": "nan"}),
    _projection("Ridge", n_features="sqrt", alphas={"tuple": []}, tune="gcv"),
    _projection("Ridge", alphas={"tuple": [10**400]}),
    _projection("Ridge", alphas=[0.1] * 100_000),
    _projection("Ridge", alphas=_MEDIANS),
    _projection("Logistic", n_features=1, alpha=5e-324, n_steps=2**62),
    _projection("Logistic", alpha={"float": "inf"}),
    _projection("PLS", n_components=10**30),
    _projection("CCA", bootstrap="projection"),
    _projection("Patches", shape=2**62),
    _projection("Patches", shape={"tuple": [2**40, 2**40]}, min=1, max=2**39),
    _projection("Patches", shape={"tuple": [1] * 40}),
    _projection("Patches", shape=[2, 2], channel_axis=-1, channels="one"),
    _projection("Patches", shape=4, max=4, weights="ones", wrap=True),
    _projection("Patches"),
    _projection("Custom", sampler=_MEDIANS),
    _projection("Custom", sampler={"function": "f"}),
    _projection("Custom", sampler={"sparse": _SPARSE}),
    _projection("Custom", sampler=_projection("Axis")),
    _projection("Custom", sampler="os.system"),
)

WORDS = ("auto", "abc", "balanced", "balanced_subsample", "random", "purely_random", "best_first")
WORDS += (
    "hard",
    "soft",
    "rank",
    "quantile",
    "relative_rank",
    "histogram",
    "p",
    "p**-1e9",
    "p**1e3",
)
WORDS += ("exp", "oob", "cut")


def settings(name: str, rng: random.Random) -> Any:
    """A value for a parameter, in the form of the file; few of them make sense."""
    if name == "projection" or rng.random() < 0.1:
        value = rng.choice(PROJECTIONS)
        return [value, {"tuple": [value, 1]}] if rng.random() < 0.1 else value
    if name == "class_weight" and rng.random() < 0.7:
        keys = ("no", "yes", 0, 1, True, {"float": "nan"}, -1)
        return {"dict": [[rng.choice(keys), rng.choice(SCALARS)] for _ in range(rng.randrange(4))]}
    if rng.random() < 0.3:
        return rng.choice(WORDS)
    return rng.choice(SCALARS)
