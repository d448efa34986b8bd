"""Exact bits of boosted trees of seed 0, for any number of threads and any SIMD level.

If one of these tests fails, users' models change with their next fit: that needs a reason, a line
in the changelog, and new values here.
"""

from __future__ import annotations

import hashlib
from typing import Any

import numpy as np
import pytest
from support.forests import available_simd_levels

from bevel import _core

N_ROWS, LEVELS = 3000, np.array([0, 0, 0, 0, 0, 4], dtype=np.int32)
AXES = _core.Family("axis", 5)
SIGNS = _core.Family("signs", 8, 20)
LEVEL_SETS = _core.Family("categorical", 1)

CASES: dict[str, tuple[str, int, dict[str, Any], dict[str, Any]]] = {
    "two_classes": ("log_loss", 1, {}, {}),
    "five_classes": ("multinomial", 5, {}, {}),
    "squared_error": ("squared_error", 1, {}, {"l2": 1.0, "max_depth": 3}),
    "subsample": ("squared_error", 1, {}, {"subsample": 0.5}),
    "absolute_error": ("absolute_error", 1, {}, {}),
    "constrained": (
        "squared_error",
        1,
        {"monotone": [1, -1, 0, 0, 0, 0], "interaction_groups": [[0, 1, 2], [2, 3, 4, 5]]},
        {},
    ),
    "lambdarank": ("lambdarank", 1, {}, {}),
    "pairwise": ("pairwise", 1, {}, {}),
    "cox": ("cox", 1, {}, {}),
    "log_logistic": ("log_logistic", 1, {}, {}),
    "weibull": ("weibull", 1, {}, {}),
    "rotation": ("squared_error", 1, {"families": [_core.Family("rotation", 5, 5)]}, {}),
}
DIGESTS = {
    "two_classes": "f3d677eb4367dff4",
    "five_classes": "518ca0aa0b18370f",
    "squared_error": "6edd1baf68f201f6",
    "subsample": "3e6c6373a81e096c",
    "absolute_error": "f162d5bed2994fc7",
    "constrained": "c4e97064af18c3d8",
    "lambdarank": "fec16d3bdfd69d86",
    "pairwise": "9c5247bf54915509",
    "cox": "6bd8836ae2783d19",
    "log_logistic": "a97a27dc06ce5436",
    "weibull": "84d6e1f9c058cd05",
    "rotation": "c10aac6bbc8d886b",
}


def pinned_numbers(n: int) -> np.ndarray:
    """Numbers in [0, 1) that depend on no library: Knuth's MMIX generator."""
    state, numbers = 1, []
    for _ in range(n):
        state = (6364136223846793005 * state + 1442695040888963407) % 2**64
        numbers.append((state >> 40) / 2**24)
    return np.array(numbers)


NUMBERS = pinned_numbers(N_ROWS * 7).reshape(N_ROWS, 7)


def boosted(case: str, n_threads: int, simd: str) -> dict[str, Any]:
    loss, n_outputs, settings, more = CASES[case]
    X = np.asfortranarray(NUMBERS[:, :6], dtype=np.float32)
    X[::17, 1] = np.nan
    X[:, 5] = np.floor(4.0 * NUMBERS[:, 5])
    target = NUMBERS[:, 0] + NUMBERS[:, 2] * NUMBERS[:, 3] + 0.3 * NUMBERS[:, 6]
    if loss in ("log_loss", "multinomial"):
        n_classes = max(2, n_outputs)
        target = np.floor(n_classes * np.argsort(np.argsort(target)) / N_ROWS)
    beside: dict[str, Any] = {}
    if loss in ("lambdarank", "pairwise"):
        target = np.floor(2.0 * target)
        beside = {"groups": (np.arange(N_ROWS) // 30).astype(np.uint32)}
    elif loss in ("cox", "log_logistic", "weibull"):
        beside = {
            "event": (np.arange(N_ROWS) % 3 > 0).astype(np.uint8),
            "entry": np.where(np.arange(N_ROWS) % 4 == 0, 0.5 * target, 0.0),
        }
    options = _core.Options()
    options.families = [AXES, SIGNS, LEVEL_SETS]
    options.simd = simd
    for name, value in settings.items():
        setattr(options, name, value)
    boosting = _core.BoostingOptions()
    boosting.loss, boosting.n_outputs, boosting.max_iter = loss, n_outputs, 4
    for name, value in more.items():
        setattr(boosting, name, value)
    medians = np.full(6, 0.5, dtype=np.float32)
    has_nan = np.array([0, 1, 0, 0, 0, 0], dtype=np.uint8)
    columns = {"levels": LEVELS, "medians": medians, "has_nan": has_nan}
    data = _core.BoostingData(X=X, **columns, target=target, **beside)
    result = _core.boost(data, options, boosting, n_threads)
    return result["forest"]  # type: ignore[no-any-return]


def digest(forest: dict[str, Any]) -> str:
    all_bytes = hashlib.sha256()
    for name in sorted(forest):
        array = np.ascontiguousarray(forest[name])
        if name.startswith("output_") or name in ("entry_level", "entry_low", "entry_high"):
            assert not array.size
            continue
        all_bytes.update(f"{name} {array.dtype.str} {array.shape}".encode())
        all_bytes.update(array.tobytes())
    return all_bytes.hexdigest()[:16]


@pytest.mark.parametrize("case", CASES)
def test_boosted_trees_of_seed_0_are_pinned(case: str) -> None:
    for n_threads in (1, 2):
        for simd in available_simd_levels():
            forest = boosted(case, n_threads, simd)
            assert digest(forest) == DIGESTS[case], (n_threads, simd)
            assert len(forest["right"]) > 20
