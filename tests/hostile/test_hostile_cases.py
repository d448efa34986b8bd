"""Nearly two thousand hostile files, inputs and tables, and the cases that were mended."""

from __future__ import annotations

import pytest

from hostile.campaign import Campaign
from hostile.known import unknown
from hostile.limits import SANITIZED
from hostile.replay import kept_cases, replay
from hostile.store import Store
from hostile.summary import summary
from hostile.verdicts import ACCEPTED, REFUSED

FEW = {"files": 1200, "inputs": 400, "tables": 160}
if SANITIZED:
    FEW = {"files": 300, "inputs": 100, "tables": 60}


@pytest.mark.parametrize("cases", FEW)
def test_hostile_cases_are_refused_or_give_results(tmp_path, cases):
    store = Store(tmp_path)
    Campaign(store, {cases: FEW[cases]}, n_jobs=1).run()
    tally = store.tally(cases)
    assert not unknown(list(tally.findings)), summary(store)
    assert tally.done == FEW[cases]
    assert tally.refused > 0.3 * tally.done
    assert tally.accepted > 0.1 * tally.done


def test_mended_cases_stay_mended():
    outcomes = replay(kept_cases())
    assert {
        path.name: end for path, end in outcomes.items() if end not in (REFUSED, ACCEPTED)
    } == {}
