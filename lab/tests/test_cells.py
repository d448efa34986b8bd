"""Cells have names for ever, and seeds that no system has a say in."""

from dataclasses import replace

from bevel_lab.cells import Cell

CELL = Cell("sporf-uci", "iris", "sporf", {"b": 1, "a": [2, "x"]}, repeat=1, fold=2)


def test_key_is_the_same_whatever_the_order_of_the_setting():
    assert CELL.key == replace(CELL, setting={"a": [2, "x"], "b": 1}).key


def test_key_is_pinned_because_stored_runs_are_found_by_it():
    assert CELL.key == 'sporf-uci|iris|sporf|{"a":[2,"x"],"b":1}|0/1/2'


def test_key_differs_when_any_field_does():
    others = [
        replace(CELL, experiment="other"),
        replace(CELL, data="wine"),
        replace(CELL, system="ccf"),
        replace(CELL, setting={}),
        replace(CELL, repeat=2),
        replace(CELL, fold=1),
        replace(CELL, experiment_seed=1),
    ]
    assert len({CELL.key, *(each.key for each in others)}) == 8


def test_seed_is_the_same_for_all_systems_and_settings():
    assert CELL.seed == replace(CELL, system="ccf", setting={}).seed


def test_seed_differs_between_folds_repeats_data_and_runs():
    others = [
        replace(CELL, fold=0),
        replace(CELL, repeat=0),
        replace(CELL, data="wine"),
        replace(CELL, experiment_seed=1),
    ]
    assert len({CELL.seed, *(each.seed for each in others)}) == 5


def test_seed_is_pinned_and_fits_a_signed_32_bit_integer():
    assert (CELL.seed, CELL.split_seed) == (2_007_483_126, 1_220_931_869)
    assert 0 <= CELL.seed < 2**31


def test_split_seed_is_shared_by_the_folds_of_a_repeat_only():
    assert CELL.split_seed == replace(CELL, fold=0).split_seed
    assert CELL.split_seed != replace(CELL, repeat=0).split_seed
