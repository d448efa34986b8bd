"""Names of others reach no terminal, page or program as anything but text."""

import json
import re
from copy import copy

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st
from support.command_line import invoke

from bevel import ObliqueForestClassifier, analysis
from bevel.cli.app import app
from bevel.printable import json_escaped, number, printable, rounded, shorten_names

EVIL = "\x1b]0;gone\x07\x9b2J\u202e[red]<b>*/ \"'\\\n\r$\\frac{$"
UNSEEN = re.compile("[\x00-\x09\x0b-\x1f\x7f-\x9f\u202a-\u202e\u2066-\u2069\ud800-\udfff]")


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("plain name", "plain name"),
        ("längst ≤ 東京 ρ̄", "längst ≤ 東京 ρ̄"),
        ("می\u200cخواهم", "می\u200cخواهم"),
        ("\x1b[2J", r"\x1b[2J"),
        ("\x9b2J", r"\x9b2J"),
        ("a\nb\r\t", r"a\nb\r\t"),
        ("\u202eabc", r"\u202eabc"),
        ("\ud800", r"\ud800"),
        ("\u2028", r"\u2028"),
        ("\U000e0041", r"\U000e0041"),
    ],
)
def test_text_shows_what_cannot_be_seen(text, shown):
    assert printable(text) == shown


@pytest.mark.parametrize(
    ("value", "digits", "shown"),
    [
        (186.3, 2, "190"),
        (-30244.0, 4, "-30,244"),
        (0.00413, 2, "0.0041"),
        (0.0, 2, "0"),
        (1.2345e9, 2, "1.2e9"),
        (2.34e-7, 2, "2.3e-7"),
        (float("nan"), 2, "nan"),
        (float("inf"), 2, "inf"),
    ],
)
def test_numbers_have_so_many_digits_and_no_needless_exponent(value, digits, shown):
    assert rounded(value, digits) == shown


def test_json_of_unseen_characters_is_the_same_value():
    value = {EVIL: ["\U000e0041", EVIL]}
    text = json_escaped(json.dumps(value, ensure_ascii=False, indent=1))
    assert json.loads(text) == value
    assert not UNSEEN.search(text)


@pytest.fixture(scope="module")
def frame():
    rng = np.random.default_rng(0)
    city = rng.choice([f"{EVIL}a", f"{EVIL}b", f"{EVIL}c"], 120)
    frame = pd.DataFrame({f"{EVIL}x": rng.normal(size=120), f"{EVIL}y": rng.normal(size=120)})
    frame[f"{EVIL}city"] = pd.Categorical(city)
    return frame


@pytest.fixture(scope="module")
def target(frame):
    return np.where(frame.iloc[:, 0] + frame.iloc[:, 1] > 0, f"{EVIL}yes", f"{EVIL}no").astype(
        object
    )


@pytest.fixture(scope="module")
def forest(frame, target):
    return ObliqueForestClassifier(12, random_state=0, n_jobs=1).fit(frame, target)


def assert_safe(text):
    assert not UNSEEN.search(text), UNSEEN.search(text)


TEXTS = {
    "tree": lambda f, _X, _y: f.forest_.tree(0),
    "tree_rules": lambda f, X, _y: analysis.tree_rules(f, X=X),
    "forest_rules": lambda f, _X, _y: analysis.forest_rules(f),
    "path_rules": lambda f, X, _y: analysis.path_rules(f, X[:1]),
    "top_rules": lambda f, X, y: analysis.top_rules(f, X, y),
    "shapley": lambda f, X, _y: analysis.shapley_values(f, X[:3], X[:5], random_state=0),
    "reliability": lambda f, X, y: analysis.calibration(f, X, y),
    "prototypes": lambda f, X, y: analysis.prototypes(f, X, y, kind="all"),
    "estimator": lambda f, _X, _y: f,
}
KINDS = ("gini", "permutation", "projection", "split_frequency")


@pytest.mark.parametrize("make", TEXTS.values(), ids=TEXTS)
def test_results_print_names_as_text(make, forest, frame, target):
    result = make(forest, frame, target)
    assert_safe(str(result))
    assert_safe(repr(result))


@pytest.mark.parametrize("kind", KINDS)
def test_importances_print_names_as_text(kind, forest, frame, target):
    rows = (frame, target) if kind == "permutation" else ()
    assert_safe(repr(analysis.importance(forest, kind, *rows)))


def test_notes_of_a_bounded_scale_print_names_as_text(frame, target):
    forest = ObliqueForestClassifier(3, scale="minmax_clip", random_state=0, n_jobs=1)
    assert_safe(str(forest.fit(frame, target).forest_.tree(0)))


@pytest.fixture
def files(tmp_path, forest, frame, target):
    forest.save(tmp_path / "model.bevel")
    frame.assign(**{f"{EVIL}class": target}).to_parquet(tmp_path / "rows.parquet")
    lone = copy(forest)
    lone.feature_names_in_ = np.array(["\ud800[red]", "y", "city"], dtype=object)
    lone.save(tmp_path / "lone.bevel")
    return tmp_path


COMMANDS = [
    ["inspect", "model.bevel"],
    ["inspect", "model.bevel", "--verify", "--json"],
    ["predict", "model.bevel", "rows.parquet", "--proba"],
    ["predict", "model.bevel", "rows.parquet", "--json", "--proba"],
    ["inspect", "lone.bevel"],
    ["inspect", "lone.bevel", "--json"],
    ["predict", "lone.bevel", "rows.parquet"],
    ["explain", "model.bevel", "rows.parquet"],
    ["explain", "model.bevel", "rows.parquet", "--json"],
    ["export", "model.bevel", "--to", "c", "--out", "model.c"],
    ["inspect", f"{EVIL}.bevel"],
]


@pytest.mark.parametrize("words", COMMANDS, ids=lambda words: " ".join(map(repr, words))[:60])
def test_commands_print_names_as_text(words, files, monkeypatch):
    monkeypatch.chdir(files)
    result = invoke(app, words)
    assert result.exception is None or isinstance(result.exception, SystemExit)
    assert_safe(result.output)
    if words[0] == "inspect" and "--json" not in words:
        assert "[red]" in result.output  # a name, not a style


def test_pages_hold_names_as_text(files, monkeypatch):
    pytest.importorskip("matplotlib")
    monkeypatch.chdir(files)
    words = ["explain", "model.bevel", "rows.parquet", "--out", "page.html"]
    result = invoke(app, words)
    assert result.exit_code == 0, result.output
    page = (files / "page.html").read_text("utf-8")
    assert "<b>*/" not in page
    assert "\x1b" not in page


def test_exported_c_is_plain_ascii_and_keeps_its_comments_closed(forest):
    text = forest.to_c()
    assert text.isascii()
    code = re.sub(r'/\*.*?\*/|"(?:\\.|[^"\\])*"', "", text, flags=re.DOTALL)
    assert "[red]" not in code
    assert "gone" not in code


@pytest.mark.parametrize(
    ("value", "spread", "shown"),
    [
        (17329.4, None, "17,329"),
        (5_276_000.0, None, "5,276,000"),
        (2015.0, None, "2015"),
        (-122.25712, 0.14, "−122.257"),
        (-122.25712, None, "−122.3"),
        (47.5, 0.1, "47.5"),
        (0.0001234, None, "0.0001234"),
        (0.00001234, None, "1.234e−5"),
        (0.004, 250.0, "0"),
        (-0.0, None, "0"),
        (9_999_999.6, None, "10,000,000"),
        (9999.6, 1e4, "10,000"),
        (2.5e12, None, "2.5e12"),
        (float("nan"), None, "nan"),
        (float("-inf"), 3.0, "−inf"),
        (12.0, float("nan"), "12"),
    ],
)
def test_numbers_have_the_digits_that_their_spread_needs(value, spread, shown):
    assert number(value, spread) == shown


@given(st.floats(1e-4, 1e7), st.sampled_from([1.0, -1.0]))
def test_numbers_of_people_have_no_exponent_and_four_digits(size, sign):
    text = number(sign * size)
    assert "e" not in text
    read = float(text.replace("−", "-").replace(",", ""))
    assert read == pytest.approx(sign * size, rel=5.1e-4)


LONG = "a rather long measurement of the engine"


@pytest.mark.parametrize(
    ("names", "shown"),
    [
        (["age", "bmi"], ["age", "bmi"]),
        ([f"{LONG}, mean", f"{LONG}, error"], ["…mean", "…error"]),
        ([f"mean of {LONG}", f"error of {LONG}"], ["mean…", "error…"]),
        ([f"{LONG} 1", "age", f"{LONG} 2"], ["…1", "age", "…2"]),
        ([LONG], ["a rather long m…e engine"]),
        ([LONG, LONG], ["a rather long m…e engine"] * 2),
    ],
)
def test_long_names_are_shortened_where_they_do_not_differ(names, shown):
    assert shorten_names(names, 24) == shown


@given(st.lists(st.text("ab _", max_size=60), unique=True, max_size=20))
def test_shortened_names_keep_their_order_and_short_ones(names):
    short = shorten_names(names, 24)
    assert len(short) == len(names)
    assert all(s == n for s, n in zip(short, names, strict=True) if len(n) <= 24)
    assert all(len(s) <= 49 for s in short)
