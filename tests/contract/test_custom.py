"""`Custom`: what a function of the user's is shown, what it may return, and how it fails."""

from __future__ import annotations

import copy
import gc
import pickle
import signal
import subprocess
import sys
import textwrap
import threading
import time
import weakref
from collections import Counter

import numpy as np
import pandas as pd
import pytest
import scipy.sparse as sp
from sklearn.base import clone
from support.forests import bag_rows, differing_arrays, grow, options, problem
from support.grown_nodes import grown_nodes

from bevel import ObliqueForestClassifier, ObliqueForestRegressor, _core
from bevel import projections as P
from bevel.projections.custom import read_directions

BOTH = pytest.mark.parametrize("estimator", [ObliqueForestClassifier, ObliqueForestRegressor])
RNG = np.random.default_rng(0)
X = RNG.normal(size=(150, 4))
y = (X[:, 0] + X[:, 1] * X[:, 2] > 0).astype(int)


def pairs(rng, X, y, weight):  # noqa: ARG001
    """Differences of random pairs of features."""
    directions = np.zeros((X.shape[1], 3))
    for direction in directions.T:
        direction[rng.choice(X.shape[1], 2, replace=False)] = 1, -1
    return directions


def same(one, other):
    arrays = one.forest_.arrays(), other.forest_.arrays()
    return all(np.array_equal(array, arrays[1][name]) for name, array in arrays[0].items())


class Witness:
    """Remembers what it is shown, and where."""

    def __init__(self, n_directions=2):
        self.n_directions = n_directions
        self.calls = []

    def __call__(self, seed, place, X, y, weight):
        self.calls.append((place, X, y, weight))
        directions = np.random.default_rng(seed).normal(size=(X.shape[1], self.n_directions))
        found = read_directions(directions, X.shape[1], "witness")
        return found.offset, found.index, found.weight


@pytest.mark.parametrize("growth", ["depth_first", "best_first"])
@pytest.mark.parametrize("others", ["alone", "rotation", "nominal"])
@pytest.mark.parametrize("n_classes", [2, 3, 0])
@pytest.mark.parametrize("weights", ["none", "real", "balanced"])
def test_function_is_shown_the_rows_of_every_node(n_classes, others, growth, weights):
    if n_classes == 0 and weights == "balanced":
        pytest.skip("classes only")
    rng = np.random.default_rng(1)
    table = rng.normal(size=(120, 5))
    table[:, 2] = rng.integers(0, 3, 120)
    target = rng.integers(0, n_classes, 120) if n_classes else rng.normal(size=120)
    table[rng.random(120) < 0.2, 1] = np.nan
    w = rng.uniform(0, 2, 120) * (rng.random(120) < 0.9) if weights == "real" else None
    data = problem(table, target, n_classes, w, [0, 0, 3, 0, 0])
    witness = Witness()
    families = [_core.Family("custom", 1, 4, source=witness)]
    families += {"alone": [], "rotation": [("rotation", 1, 4)], "nominal": [("categorical", 1)]}[
        others
    ]
    how = options(
        *families,
        criterion="gini" if n_classes else "squared_error",
        bag_size=120,
        balanced_subsample=weights == "balanced",
        max_depth=5,
        growth=growth,
        max_leaf_nodes=10**6 if growth == "best_first" else 0,
    )
    forest = grow(data, how, 2)
    features = np.flatnonzero(data.levels == 0)
    shown = Counter()
    for (tree, depth), *arrays in witness.calls:
        assert [a.dtype for a in arrays] == [np.float32, data.target.dtype, np.float64]
        shown[tree, depth, *(a.tobytes() for a in arrays)] += 1
    wanted = Counter()
    for grown in grown_nodes(data, how, forest):
        depth = grown.tree.depths()[grown.node.number]
        if grown.node.is_leaf and (depth == 5 or grown.is_pure):
            continue
        filled = data.X[np.ix_(grown.rows, features)]
        filled = np.where(np.isnan(filled), data.medians[features], filled)
        row_weight = grown.weight[grown.rows]
        if weights == "balanced":  # the core multiplies in another order
            continue
        arrays = filled, data.target[grown.rows], row_weight
        wanted[grown.tree.number, depth, *(a.tobytes() for a in arrays)] += 1
    if weights == "balanced":
        (_, depth), _, labels, weight = witness.calls[0]
        assert depth == 0
        np.testing.assert_allclose(
            np.bincount(labels, weight), weight.sum() / n_classes, rtol=1e-12
        )
        rows, _ = bag_rows(data, how, 0)
        assert len(labels) == len(rows)
        return
    assert shown == wanted


@BOTH
def test_forest_is_the_same_for_any_number_of_threads(estimator):
    forests = [
        estimator(8, projection=P.Custom(pairs), n_jobs=n_jobs, random_state=0).fit(X, y)
        for n_jobs in (1, 2, 7)
    ]
    assert same(forests[0], forests[1])
    assert same(forests[0], forests[2])
    assert forests[0].score(X, y) > 0.8


def test_large_trees_call_the_function_from_several_threads():
    rng = np.random.default_rng(0)
    data = problem(rng.normal(size=(20_000, 4)), rng.integers(0, 2, 20_000))
    how = options(_core.Family("custom", 1, 4, source=Witness()), max_depth=6)
    one, two = (grow(data, how, n_threads=n) for n in (1, 2))
    assert differing_arrays(one, two) == []


def test_generator_differs_between_nodes_and_trees_and_repeats_with_the_seed():
    draws = []

    def draw(rng, X, y, weight):
        draws.append(rng.random())
        return pairs(rng, X, y, weight)

    def fit(seed):
        draws.clear()
        forest = ObliqueForestClassifier(
            4, projection=P.Custom(draw), n_jobs=1, random_state=seed
        ).fit(X, y)
        return forest, list(draws)

    (one, first), (other, second), (_, third) = fit(0), fit(0), fit(1)
    assert first == second
    assert same(one, other)
    assert len(set(first)) == len(first)
    assert not set(first) & set(third)


@pytest.mark.parametrize("form", [sp.csr_matrix, sp.csc_matrix, sp.csc_array, sp.coo_array])
def test_sparse_matrix_is_read_column_by_column(form):
    dense = np.random.default_rng(0).normal(size=(4, 6)) * (np.arange(24).reshape(4, 6) % 5 > 0)
    one, other = (read_directions(matrix, 4, "m") for matrix in (dense, form(dense)))
    for name, array in vars(one).items():
        np.testing.assert_array_equal(array, getattr(other, name))


def test_matrix_is_the_same_however_it_is_given_and_draws_are_without_replacement():
    dense = np.array([[1, 0, 0, 0], [-1, 0, 1, 0], [0, 0, 1, 2.5], [0, 0, 0, 0]])
    forms = [dense, dense.astype(np.float32), np.asfortranarray(dense)]
    forms += [form(dense) for form in (sp.csr_matrix, sp.csc_array, sp.coo_array)]
    doubled = sp.coo_array((np.r_[1, -1, 1, 1, 2, 0.5], ([0, 1, 1, 2, 2, 2], [0, 0, 2, 2, 3, 3])))
    places = (doubled.row, doubled.col)  # one of them twice
    forms.append(sp.coo_array((doubled.data, places), shape=(4, 4)))
    for n_projections in ("auto", 2):
        forests = [
            ObliqueForestClassifier(
                5, projection=P.Custom(form), n_projections=n_projections, random_state=0
            ).fit(X, y)
            for form in forms
        ]
        assert all(same(forests[0], other) for other in forests[1:])
    how = options(
        _core.Family("custom", 2, 4, pool=tuple(vars(read_directions(dense, 4, "m")).values()))
    )
    seen = Counter()
    for tree in range(300):
        offset, index, weight = _core.sample_candidates(how, np.zeros(4, np.int32), tree)
        drawn = [tuple(zip(index[a:b], weight[a:b])) for a, b in zip(offset, offset[1:])]  # noqa: B905, RUF007
        assert len(set(drawn)) == 2
        seen.update(drawn)
    assert set(seen) == {((0, 1), (1, -1)), ((1, 1), (2, 1)), ((2, 2.5),)}
    assert min(seen.values()) > 150


def test_directions_of_a_matrix_are_over_numeric_features_and_all_are_tried():
    rng = np.random.default_rng(0)
    table = pd.DataFrame({"a": X[:, 0], "level": pd.Categorical(list("xyz" * 50))})
    table["b"], table["c"] = X[:, 1], X[:, 2]
    table["other"] = pd.Categorical(list("uv" * 75))
    directions = np.array([[1.0, 1, 0], [0, -1, 1], [0, 0, 2]])
    target = rng.permutation(y)
    for projection in (P.Custom(directions), P.Custom(lambda *_: directions)):
        forest = ObliqueForestClassifier(10, projection=projection, scale=None, random_state=0).fit(
            table, target
        )
        used = set()
        for tree in forest.forest_:
            for node in np.flatnonzero(tree.children_right >= 0):
                features, weights = tree.projection(node)
                used.add(tuple(zip(features.tolist(), weights.tolist(), strict=True)))
        numeric = {((0, 1),), ((0, 1), (2, -1)), ((2, 1), (3, 2))}
        assert used - numeric == {((1, 1),), ((4, 1),)}
        assert used >= numeric
    # All three directions beside a share of the nominal columns: every direction gets to the root.
    stump = ObliqueForestClassifier(
        1, projection=P.Custom(np.eye(3)), max_depth=1, bootstrap=False, scale=None
    )
    for feature, column in enumerate((0, 2, 3)):
        forest = stump.fit(table, X[:, feature] > 0).forest_
        assert forest.entry_index[0] == column


class OwnError(Exception):
    pass


FAILURES = {
    "raises": (lambda *_: 1 / 0, ZeroDivisionError, "division by zero"),
    "shape": (lambda *_: np.ones((3, 2)), ValueError, r"matrix of 4 rows .*; got \(3, 2\)"),
    "ndim": (lambda *_: np.ones(4), ValueError, r"got \(4,\)"),
    "nan": (lambda *_: np.full((4, 1), np.nan), ValueError, "finite numbers; got nan"),
    "large": (lambda *_: np.full((4, 1), 1e300), ValueError, r"got 1e\+300"),
    "sparse": (lambda *_: sp.csr_array(np.full((4, 1), -np.inf)), ValueError, "got -inf"),
    "list": (lambda *_: [[1.0]] * 4, TypeError, "of type list"),
    "none": (lambda *_: None, TypeError, "got None"),
    "complex": (lambda *_: np.ones((4, 1)) * 1j, TypeError, "complex128"),
    "words": (lambda *_: np.full((4, 1), "a"), TypeError, "U1"),
    "arguments": (lambda: np.ones((4, 1)), TypeError, "argument"),
}


@BOTH
@pytest.mark.parametrize("failure", FAILURES)
def test_failure_names_its_place_and_carries_its_cause(estimator, failure):
    function, error, message = FAILURES[failure]
    forest = estimator(4, projection=P.Custom(function), n_jobs=2)
    with pytest.raises(
        RuntimeError,
        match=rf"in tree \d at a node of depth 0 with \d+ rows: {error.__name__}: .*{message}",
    ) as caught:
        forest.fit(X, y)
    assert type(caught.value.__cause__) is error
    assert not hasattr(forest, "forest_")
    forest.set_params(projection="axis").fit(X, y)  # nothing is left of it


def test_failure_in_the_middle_of_a_tree_names_the_place():
    def fails_below(rng, X, y, weight):
        if len(X) < 20:
            raise OwnError("too few")
        return pairs(rng, X, y, weight)

    for n_jobs in (1, 2, 7):
        with pytest.raises(
            RuntimeError, match=r"depth [1-9]\d* with 1?\d rows: OwnError"
        ) as caught:
            ObliqueForestClassifier(20, projection=P.Custom(fails_below), n_jobs=n_jobs).fit(X, y)
        assert isinstance(caught.value.__cause__, OwnError)
        names = [entry.name for entry in caught.traceback]
        assert names[-1] == "__call__"


def test_failures_neither_keep_memory_nor_threads():
    def attempt():
        kept = OwnError("kept")

        def fails(*_):
            raise kept

        reference = weakref.ref(fails)
        with pytest.raises(RuntimeError):
            ObliqueForestClassifier(6, projection=P.Custom(fails), n_jobs=2).fit(X, y)
        return reference

    before = threading.active_count()  # other tests may have started some
    references = [attempt() for _ in range(20)]
    gc.collect()
    assert not any(reference() for reference in references)
    assert threading.active_count() < before + 4


def test_function_is_released_after_a_fit():
    def function(rng, X, y, weight):
        return pairs(rng, X, y, weight)

    reference = weakref.ref(function)
    forest = ObliqueForestClassifier(2, projection=P.Custom(function)).fit(X, y)
    del function
    assert reference() is not None
    del forest
    gc.collect()
    assert reference() is None


@pytest.mark.parametrize("n_jobs", [1, 2])
@pytest.mark.parametrize("stop", [KeyboardInterrupt, SystemExit])
def test_interrupt_inside_the_function_reaches_the_caller_as_it_is(n_jobs, stop):
    calls = []

    def interrupted(rng, X, y, weight):
        calls.append(len(X))
        if len(calls) == 30:
            raise stop
        return pairs(rng, X, y, weight)

    noise = RNG.integers(0, 2, 2000)  # trees of several hundred nodes
    forest = ObliqueForestClassifier(50, projection=P.Custom(interrupted), n_jobs=n_jobs)
    with pytest.raises(stop):
        forest.fit(RNG.normal(size=(2000, 4)), noise)
    assert len(calls) < 100  # other threads do not finish their trees first


@pytest.mark.skipif(sys.platform == "win32", reason="signals differ on Windows")
def test_control_c_stops_a_slow_function_between_nodes():
    program = textwrap.dedent("""
        import time
        import numpy as np
        from bevel import ObliqueForestClassifier, projections as P
        def slow(rng, X, y, weight):
            print("called", flush=True)
            time.sleep(0.02)
            return rng.normal(size=(X.shape[1], 1))
        X = np.random.default_rng(0).normal(size=(4000, 4)); y = np.arange(4000) % 2
        ObliqueForestClassifier(2, projection=P.Custom(slow), n_jobs=2).fit(X, y)
    """)
    process = subprocess.Popen(
        [sys.executable, "-c", program],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )
    assert process.stdout.readline().startswith("called")
    start = time.monotonic()
    process.send_signal(signal.SIGINT)
    _, errors = process.communicate(timeout=60)
    assert "KeyboardInterrupt" in errors
    assert time.monotonic() - start < 5  # a whole tree takes 20 seconds and more


@BOTH
def test_function_of_a_module_is_saved_with_the_forest(estimator):
    forest = estimator(3, projection=P.Custom(np.linalg.norm), random_state=0)
    assert pickle.loads(pickle.dumps(forest)).projection.sampler is np.linalg.norm


@BOTH
def test_forest_predicts_without_its_function_and_says_so_when_it_must_grow(estimator):
    forest = estimator(
        3, projection=[P.Axis(), P.Custom(lambda *a: pairs(*a))], warm_start=True, random_state=0
    ).fit(X, y)
    loaded = pickle.loads(pickle.dumps(forest))
    assert np.array_equal(loaded.predict(X), forest.predict(X))
    assert np.array_equal(loaded.apply(X), forest.apply(X))
    clone(loaded)
    assert "lambda" in repr(loaded.projection)
    loaded.set_params(n_estimators=5)
    with pytest.raises(ValueError, match=r"needs the function .*<lambda>, which was not saved"):
        loaded.fit(X, y)
    assert np.array_equal(loaded.predict(X), forest.predict(X))
    loaded.set_params(projection=[P.Axis(), P.Custom(pairs)]).fit(X, y)
    assert same(loaded, forest.set_params(n_estimators=5).fit(X, y))


def test_matrix_is_saved_with_the_forest():
    for matrix in (np.eye(4), sp.csr_array(np.eye(4))):
        forest = ObliqueForestClassifier(
            3, projection=P.Custom(matrix), warm_start=True, random_state=0
        ).fit(X, y)
        loaded = pickle.loads(pickle.dumps(forest)).set_params(n_estimators=6).fit(X, y)
        assert same(loaded, forest.set_params(n_estimators=6).fit(X, y))


@pytest.mark.parametrize("copied", [clone, copy.copy, copy.deepcopy])
def test_copies_keep_the_function(copied):
    forest = ObliqueForestClassifier(3, projection=P.Custom(lambda *a: pairs(*a)), random_state=0)
    other = copied(forest)
    assert other.projection.sampler is forest.projection.sampler
    assert same(other.fit(X, y), forest.fit(X, y))
    assert copied is clone or copied(forest.projection).sampler is forest.projection.sampler


@pytest.mark.parametrize("n_projections", [1, 3, "p"])
def test_number_of_directions_is_up_to_the_function(n_projections):
    message = 'n_projections must be "auto" with a function in Custom.*; got'
    with pytest.raises(ValueError, match=message):
        ObliqueForestClassifier(projection=P.Custom(pairs), n_projections=n_projections).fit(X, y)
    with pytest.raises(ValueError, match=message):
        ObliqueForestClassifier(projection=[(P.Custom(pairs), n_projections)]).fit(X, y)


@pytest.mark.parametrize(
    ("sampler", "error", "message"),
    [
        ([[1.0]], TypeError, r"Custom\(sampler=\) must be a function or a matrix"),
        (None, TypeError, "got None"),
        (np.ones(3), ValueError, r"got \(3,\)"),
        (np.zeros((3, 2)), ValueError, r"a column that is not zero; got \(3, 2\)"),
        (np.full((3, 2), 1e-60), ValueError, "not zero"),
        (np.ones((3, 0)), ValueError, "not zero"),
        (np.full((2, 2), np.nan), ValueError, "got nan"),
        (np.array([["a"]]), TypeError, "U1"),
    ],
)
def test_impossible_matrix_raises_when_written_down(sampler, error, message):
    with pytest.raises(error, match=message):
        P.Custom(sampler)


def test_matrix_of_another_number_of_features_raises_in_fit():
    with pytest.raises(ValueError, match=r"a matrix of 4 rows .* got \(5, 2\)"):
        ObliqueForestClassifier(projection=P.Custom(np.ones((5, 2)))).fit(X, y)
    with pytest.raises(ValueError, match="n_projections must be at most 2 for Custom"):
        ObliqueForestClassifier(projection=P.Custom(np.ones((4, 2))), n_projections=3).fit(X, y)


def test_function_that_returns_nothing_leaves_the_node_to_others():
    nothing = P.Custom(lambda rng, X, y, weight: np.zeros((4, 3)))  # noqa: ARG005
    forest = ObliqueForestClassifier(3, projection=nothing, random_state=0).fit(X, y)
    assert forest.forest_.n_nodes == 3
    both = ObliqueForestClassifier(3, projection=[nothing, P.Axis()], random_state=0).fit(X, y)
    assert both.score(X, y) > 0.9
