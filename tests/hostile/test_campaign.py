"""The campaign notices every kind of fault, goes on after it, and goes on from where it was."""

from __future__ import annotations

from collections import Counter

import pytest

from hostile.campaign import Campaign
from hostile.limits import SANITIZED
from hostile.planted import FAULTS
from hostile.store import Store


@pytest.mark.skipif(SANITIZED, reason="sanitizers have limits of their own")
def test_campaign_notices_every_fault_and_runs_the_cases_after_it(tmp_path):
    store = Store(tmp_path)
    Campaign(store, {"planted": 2 * len(FAULTS)}, n_jobs=1, seconds=1.5).run()
    tally = store.tally("planted")
    kinds = Counter(example["kind"] for example in store.examples())
    assert kinds == {"crash": 1, "hang": 1, "memory": 2, "exception": 1, "answer": 1}
    assert (tally.done, tally.accepted) == (2 * len(FAULTS), len(FAULTS))


def test_campaign_goes_on_from_where_it_was(tmp_path):
    Campaign(Store(tmp_path), {"planted": 1}, n_jobs=1).run()
    store = Store(tmp_path)
    assert store.tally("planted").next == 1
    store.tally("planted").pending = [[2, 3]]  # begun and not finished
    store.save()
    store = Store(tmp_path)
    Campaign(store, {"planted": 1}, n_jobs=1).run()
    assert store.tally("planted").done == 2
