"""The same file from clusters of one, two and three workers, and from rows in other partitions."""

from __future__ import annotations

import re
from pathlib import Path

import numpy as np
import pytest
from support.dask_problems import file_of, gather_few_rows, in_partitions, mixed_frame

import bevel
from bevel import ObliqueForestClassifier
from bevel.dask import DaskObliqueForestClassifier, replicated, sharded

pytest.importorskip("dask.dataframe", reason="needs bevel[dask]")
distributed = pytest.importorskip("distributed", reason="needs bevel[dask]")

PARTITIONS = {1: [400], 2: [0, 150, 1, 0, 240, 9], 3: [80, 80, 80, 80, 80]}


@pytest.mark.slow
def test_file_is_the_same_for_1_2_and_3_workers_and_other_partitions(tmp_path, monkeypatch):
    gather_few_rows(monkeypatch)
    X, y, weight = mixed_frame()
    settings = {"n_estimators": 20, "oob_score": True, "random_state": 3}
    local = {
        "replicated": ObliqueForestClassifier(**settings).fit(X, y, weight),
        "sharded": ObliqueForestClassifier(**settings).fit(bevel.scan(X, target=y, weight=weight)),
    }
    for n_workers, sizes in PARTITIONS.items():
        with (
            distributed.LocalCluster(
                n_workers=n_workers,
                threads_per_worker=1 + n_workers % 2,
                processes=True,
                dashboard_address="127.0.0.1:0",
                silence_logs="CRITICAL",
            ) as cluster,
            distributed.Client(cluster, set_as_default=False) as client,
        ):
            rows = [in_partitions(each, sizes) for each in (X, y, weight)]
            for mode, expected in local.items():
                grown = DaskObliqueForestClassifier(**settings, mode=mode, client=client).fit(*rows)
                assert file_of(grown, tmp_path) == file_of(expected, tmp_path), (n_workers, mode)
                found = grown.oob_decision_function_
                np.testing.assert_array_equal(found, expected.oob_decision_function_)


def test_dashboard_shows_the_names_that_the_guide_has():
    guide = Path(__file__).parents[3] / "docs/guide/dask.md"
    named = set(re.findall(r"`bevel-([a-z-]+)`", guide.read_text("utf-8")))
    code = "".join(Path(module.__file__).read_text("utf-8") for module in (replicated, sharded))
    assert len(named) >= 7
    assert {name for name in named if f'"{name}"' not in code} == set()
