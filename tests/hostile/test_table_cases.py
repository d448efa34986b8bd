"""Cases of tables are made of their numbers alone, and their judgements notice what they must."""

from __future__ import annotations

import json
from types import SimpleNamespace

import pytest
from sklearn.base import clone

from hostile import changing_tables, odd_types, shared_folders, table_cases
from hostile.shrink import shrink
from hostile.verdicts import WrongAnswerError

MANY = [table_cases.make(number).spec for number in range(3000)]


def first(kind, **wanted):
    """The first case with given parts."""
    return next(
        spec
        for spec in MANY
        if spec["kind"] == kind and all(spec[name] == value for name, value in wanted.items())
    )


def test_cases_are_the_same_at_every_call_and_can_be_kept():
    again = [table_cases.make(number).spec for number in range(len(MANY))]
    assert again == MANY
    assert json.loads(json.dumps(MANY)) == MANY


def test_all_kinds_and_changes_are_among_the_cases():
    assert {spec["kind"] for spec in MANY} == set(table_cases.KINDS)
    changes = {spec["change"] for spec in MANY if spec["kind"] == "changing"}
    assert changes == set(changing_tables.CHANGES)


def test_shrinking_drops_changes_of_bytes_that_do_not_matter():
    spec = next(s for s in MANY if s["kind"] == "damaged" and len(s["changes"]) == 3)
    needed = spec["changes"][1]
    small = shrink(spec, lambda tried: needed in tried["changes"])
    assert small["changes"] == [needed]


def careless(_spec):
    """An estimator that accepts every table."""
    return SimpleNamespace(fit=lambda _table: None)


def test_changed_table_that_is_accepted_is_a_finding(monkeypatch):
    spec = first("changing", change="missing value", batch=0, form="function") | {"pass": 2}
    monkeypatch.setattr(changing_tables, "estimator_from", careless)
    monkeypatch.setattr(changing_tables, "examine", lambda _estimator: None)
    with pytest.raises(WrongAnswerError, match="a change was accepted: missing value"):
        changing_tables.check(spec)


def test_missing_target_that_is_accepted_is_a_finding(monkeypatch):
    spec = next(s for s in MANY if s["kind"] == "types" and odd_types.must_be_refused(s))
    monkeypatch.setattr(odd_types, "check_inputs", lambda _case: "accepted")
    with pytest.raises(WrongAnswerError, match="a missing value was accepted"):
        odd_types.check(spec)


@pytest.mark.filterwarnings("ignore:X does not have valid feature names")
def test_folder_that_changes_the_forest_is_a_finding(monkeypatch):
    spec = first("folders", way="removed", estimator="ObliqueForestRegressor") | {"n_rows": 24}
    monkeypatch.setattr(shared_folders, "clone", lambda e: clone(e).set_params(random_state=99))
    with pytest.raises(WrongAnswerError, match="with a folder of blocks are others"):
        shared_folders.check(spec)
