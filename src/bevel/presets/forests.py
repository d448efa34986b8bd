"""Forests whose nodes choose among random features, combinations, rotations or node models."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from bevel import projections as P
from bevel.presets.table import BLASER, MENZE, RODRIGUEZ, SPORF, TOMITA, Forest, make_forest, preset

__all__ = [
    "ccf",
    "extra_trees",
    "forest_rc",
    "frank",
    "orf_lda",
    "orf_ridge",
    "orf_rnd",
    "random_forest",
    "rotation_forest",
    "rr_et",
    "rr_rf",
    "s_rerf",
    "sporf",
]

# In regression, R's randomForest leaves nodes of 5 rows, and extraTrees those of fewer than 5.
_RANDOM_FOREST_REGRESSION = {"min_samples_split": 6}
_EXTRA_TREES_REGRESSION = {"min_samples_split": 5}
# The longest side of a patch, that of the images of bars: the cost of a direction grows with the
# number of its pixels.
_LONGEST_SIDE = 20


@preset("RF", SPORF, "sections 2.1 and 3.2")
def random_forest(*, task: str = "classification", **parameters: Any) -> Forest:
    """Breiman's random forest: the best cut on √p features drawn at each node.

    500 bootstrapped trees, grown until their leaves are pure, each with one vote; in regression p/3
    features and leaves of 5 rows, the defaults of R's randomForest, which Blaser used. The number
    of features is tuned in the paper: p^1/4, p^1/2, p^3/4 or p.

    Examples
    --------
    >>> from bevel import presets
    >>> from bevel.datasets import load_wine
    >>> X, y = load_wine()
    >>> forest = presets.random_forest(n_estimators=20, random_state=0).fit(X[::2], y[::2])
    >>> round(forest.score(X[1::2], y[1::2]), 2)
    0.93
    """
    return make_forest(
        task,
        parameters,
        n_estimators=500,
        projection="axis",
        bootstrap=True,
        scale=None,
        regression=_RANDOM_FOREST_REGRESSION,
    )


@preset("ET", BLASER, "section 1.6.3")
def extra_trees(*, task: str = "classification", **parameters: Any) -> Forest:
    """Extremely randomised trees: one random cut on each of √p features, the best kept.

    The system is that of Geurts et al. 2006; Blaser used R's extraTrees at its defaults: no
    bootstrap, pure leaves; in regression p/3 features, and nodes of fewer than 5 rows are leaves.
    Departs: 500 trees, the package's default, for Blaser's 5000 (see `rr_rf`). Geurts et al. grow
    100 and draw all features in regression: `n_estimators=100, n_projections="p"`.

    Examples
    --------
    >>> from bevel import presets
    >>> from bevel.datasets import load_wine
    >>> X, y = load_wine()
    >>> forest = presets.extra_trees(n_estimators=20, random_state=0).fit(X[::2], y[::2])
    >>> round(forest.score(X[1::2], y[1::2]), 2)
    0.98
    """
    return make_forest(
        task,
        parameters,
        n_estimators=500,
        projection="axis",
        threshold="random",
        bootstrap=False,
        scale=None,
        regression=_EXTRA_TREES_REGRESSION,
    )


@preset("F-RC", TOMITA, "sections 2.2.4 and 2.3.1")
def forest_rc(*, task: str = "classification", **parameters: Any) -> Forest:
    """Breiman's Forest-RC: combinations of L = 2 features with weights uniform on (−1, 1).

    500 bootstrapped trees (1000 on data sets of at most 1000 rows, section 2.3.3); nodes of fewer
    than 10 rows are leaves. Features are as they are. With the scalings of section 2.2.5 it is
    called F-RC(r), or `frank`, with `scale="rank"`; F-RC(n) with `scale="minmax"`; F-RC(z) with
    `scale="standard"`. The thesis tunes the number of candidates from p^1/4 to p²; here it is p.

    Examples
    --------
    >>> from bevel import presets
    >>> from bevel.datasets import load_wine
    >>> X, y = load_wine()
    >>> forest = presets.forest_rc(n_estimators=20, random_state=0).fit(X[::2], y[::2])
    >>> round(forest.score(X[1::2], y[1::2]), 2)
    0.96
    """
    return make_forest(
        task,
        parameters,
        n_estimators=500,
        projection="combination",
        min_samples_split=10,
        bootstrap=True,
        scale=None,
    )


@preset("FRANK", TOMITA, "sections 2.2.5 and 2.3.1")
def frank(*, task: str = "classification", **parameters: Any) -> Forest:
    """Forest-RC on ranks, F-RC(r): features in any unit, with any outliers.

    All else is as in `forest_rc`, where the scalings (n) and (z) are, too.

    Examples
    --------
    >>> from bevel import presets
    >>> from bevel.datasets import load_wine
    >>> X, y = load_wine()
    >>> forest = presets.frank(n_estimators=20, random_state=0).fit(X[::2], y[::2])
    >>> round(forest.score(X[1::2], y[1::2]), 2)
    0.97
    """
    return forest_rc(task=task, **({"scale": "rank"} | parameters))


@preset("RR-RF", BLASER, "sections 1.4 to 1.6")
def rr_rf(*, flip: bool = False, task: str = "classification", **parameters: Any) -> Forest:
    """Random rotation random forest: each tree is grown on randomly rotated features.

    The trees are those of `random_forest`, with the defaults of R's randomForest (1.6.3). Features
    are first scaled to [0, 1] and cut to it, the basic scaling of 1.6.2, which had the best mean
    rank (1.6.4); the other two are `scale="quantile"` and `scale="relative_rank"`, and
    `scale="rank"` makes RR-RF(r) of Tomita's thesis. Departs: 500 trees, which sufficed for RR-RF
    in SPORF's section 3.2, where Blaser has 5000 "in the hope of achieving full convergence": each
    keeps the axes it uses, and memory grows with up to trees times p².

    Parameters
    ----------
    flip : bool, default=False
        Admit reflections, the flip rotations of 1.6.3.

    Examples
    --------
    >>> from bevel import presets
    >>> from bevel.datasets import load_wine
    >>> X, y = load_wine()
    >>> forest = presets.rr_rf(n_estimators=20, random_state=0).fit(X[::2], y[::2])
    >>> round(forest.score(X[1::2], y[1::2]), 2)
    0.97
    """
    return make_forest(
        task,
        parameters,
        n_estimators=500,
        projection=P.RandomRotation(flip=flip),
        bootstrap=True,
        scale="minmax_clip",
        regression=_RANDOM_FOREST_REGRESSION,
    )


@preset("RR-ET", BLASER, "sections 1.4 to 1.6")
def rr_et(*, flip: bool = False, task: str = "classification", **parameters: Any) -> Forest:
    """Random rotation extra trees: random cuts on features rotated at random.

    The trees are those of `extra_trees`; scalings and number of trees are those of `rr_rf`, for the
    same reasons. Quantile scaling suited RR-ET best (1.6.4): `scale="quantile"`.

    Parameters
    ----------
    flip : bool, default=False
        Admit reflections, the flip rotations of 1.6.3.

    Examples
    --------
    >>> from bevel import presets
    >>> from bevel.datasets import load_wine
    >>> X, y = load_wine()
    >>> forest = presets.rr_et(n_estimators=20, random_state=0).fit(X[::2], y[::2])
    >>> round(forest.score(X[1::2], y[1::2]), 2)
    0.96
    """
    return make_forest(
        task,
        parameters,
        n_estimators=500,
        projection=P.RandomRotation(flip=flip),
        threshold="random",
        bootstrap=False,
        scale="minmax_clip",
        regression=_EXTRA_TREES_REGRESSION,
    )


@preset("Rotation Forest", RODRIGUEZ, "sections 2 and 3")
def rotation_forest(*, task: str = "classification", **parameters: Any) -> Forest:
    """Rotation Forest: each tree is grown on principal components of random groups of features.

    10 trees on all rows, all components at every node, class shares averaged as in the paper;
    features are scaled to [0, 1] as in WEKA, with which its experiments were made. Departs: the
    paper's trees are WEKA's J48, which chooses by gain ratio and can prune; here it is information
    gain and no pruning. More trees do better; the other papers grow 100 to 5000. Table 3.1 of
    Tomita's thesis has principal components of disjoint subsets of the features at each node:
    `projection=P.PrincipalRotation(per="node")`. Rodriguez et al. rotate once for a tree, as here.

    Examples
    --------
    >>> from bevel import presets
    >>> from bevel.datasets import load_wine
    >>> X, y = load_wine()
    >>> forest = presets.rotation_forest(n_estimators=20, random_state=0).fit(X[::2], y[::2])
    >>> round(forest.score(X[1::2], y[1::2]), 2)
    0.97
    """
    return make_forest(
        task,
        parameters,
        n_estimators=10,
        projection="principal",
        criterion="entropy",
        bootstrap=False,
        voting="soft",
        scale="minmax",
    )


def _menze(projection: str, task: str, parameters: Mapping[str, Any]) -> Forest:
    """300 bootstrapped trees, one direction per node, features scaled in the node alone."""
    return make_forest(
        task,
        parameters,
        n_estimators=300,
        projection=projection,
        n_projections=1,
        bootstrap=True,
        scale=None,
    )


@preset("oRF-rnd", MENZE, "sections 2 and 3")
def orf_rnd(*, task: str = "classification", **parameters: Any) -> Forest:
    """Oblique random forest with one random direction per node.

    300 bootstrapped trees, grown until classes are separated. At each node √p features are
    standardised and combined with normal weights; the cut is chosen by Gini impurity.

    Examples
    --------
    >>> from bevel import presets
    >>> from bevel.datasets import load_wine
    >>> X, y = load_wine()
    >>> forest = presets.orf_rnd(n_estimators=20, random_state=0).fit(X[::2], y[::2])
    >>> round(forest.score(X[1::2], y[1::2]), 2)
    0.92
    """
    return _menze("gaussian", task, parameters)


@preset("oRF-lda", MENZE, "sections 2 and 3")
def orf_lda(*, task: str = "classification", **parameters: Any) -> Forest:
    """Oblique random forest with a linear discriminant of √p features at each node.

    300 bootstrapped trees, grown until classes are separated; features are standardised in the
    node. Departs: beyond the paper's two classes, all K − 1 discriminants of a node compete.

    Examples
    --------
    >>> from bevel import presets
    >>> from bevel.datasets import load_wine
    >>> X, y = load_wine()
    >>> forest = presets.orf_lda(n_estimators=20, random_state=0).fit(X[::2], y[::2])
    >>> round(forest.score(X[1::2], y[1::2]), 2)
    0.96
    """
    return _menze("lda", task, parameters)


@preset("oRF-ridge", MENZE, "sections 2 and 3")
def orf_ridge(*, task: str = "classification", **parameters: Any) -> Forest:
    """Oblique random forest with a ridge regression on √p features at each node.

    300 bootstrapped trees; features are standardised in the node; λ = 10^−5, …, 10^5 is chosen on
    the out-of-bag rows that reach the node, and where there are none, growing stops. There is thus
    no out-of-bag score. Departs: beyond the paper's two classes, K − 1 directions compete.

    Examples
    --------
    >>> from bevel import presets
    >>> from bevel.datasets import load_wine
    >>> X, y = load_wine()
    >>> forest = presets.orf_ridge(n_estimators=20, random_state=0).fit(X[::2], y[::2])
    >>> round(forest.score(X[1::2], y[1::2]), 2)
    0.97
    """
    return _menze("ridge", task, parameters)


@preset("CCF", SPORF, "section 3.2")
def ccf(*, task: str = "classification", **parameters: Any) -> Forest:
    """Canonical correlation forest: directions that correlate most with the classes.

    The system is that of Rainforth and Wood 2015. 500 trees, fully grown, on all rows; each node
    computes directions on a bootstrap of its rows (projection bootstrapping), and cuts are chosen
    by entropy, on all of them. No scale: canonical correlation has its own. SPORF's authors tune
    the number of features, p^1/4, p^1/2, p^3/4 or p; here it is √p.

    Examples
    --------
    >>> from bevel import presets
    >>> from bevel.datasets import load_wine
    >>> X, y = load_wine()
    >>> forest = presets.ccf(n_estimators=20, random_state=0).fit(X[::2], y[::2])
    >>> round(forest.score(X[1::2], y[1::2]), 2)
    0.93
    """
    return make_forest(
        task,
        parameters,
        n_estimators=500,
        projection="cca",
        criterion="entropy",
        bootstrap=False,
        scale=None,
    )


@preset("SPORF", SPORF, "sections 3.1, 3.2 and 5.2")
def sporf(*, task: str = "classification", **parameters: Any) -> Forest:
    """Sparse projection oblique randomer forest: sums and differences of about 3 features.

    500 bootstrapped trees, fully grown, each with one vote; d = p candidates of density λ = 3/p,
    the defaults of section 5.2. The best of the paper's grid, at a higher price, was d = p² and λ =
    4/p: `n_projections="p**2", projection=P.SparseSigns(4)`. With fewer than four numeric features,
    of which 3/p would put all into every direction, λ is 1/2, as the paper has no value below four.
    Departs: where none of the d directions can cut a node whose rows differ, which the paper would
    make a leaf, directions are drawn again, up to eight times. Features are as they are: the paper
    scales none. `ObliqueForestClassifier(projection="sparse")` is SPORF with scaled
    features and soft votes.

    Examples
    --------
    >>> from bevel import presets
    >>> from bevel.datasets import load_wine
    >>> X, y = load_wine()
    >>> forest = presets.sporf(n_estimators=20, random_state=0).fit(X[::2], y[::2])
    >>> round(forest.score(X[1::2], y[1::2]), 2)
    0.94
    """
    return make_forest(
        task, parameters, n_estimators=500, projection="sparse", bootstrap=True, scale=None
    )


@preset("S-RerF", TOMITA, "section 3.3.8")
def s_rerf(
    shape: int | tuple[int, ...],
    *,
    shuffle: bool = False,
    task: str = "classification",
    **parameters: Any,
) -> Forest:
    """Structured randomer forest: sums over patches of neighbouring pixels.

    Fully grown, bootstrapped trees as in `sporf`. The section gives no numbers: 500 trees are
    SPORF's and d = p candidates the default RerF's. Sides of patches are uniform from 1 to those of
    the image, at most 20, and patches lie inside it. Departs: the text has random weights in a
    patch, here all are 1. With them ten images of bars leave an error of 5 %, near the thesis'
    figure; with weights of ±1 they leave 21 %. On digits ±1 is the better choice:
    `projection=P.Patches(shape, inside=True, max=8)`.

    Parameters
    ----------
    shape : int or tuple of int
        Shape of the image, series or volume that a row of X holds.
    shuffle : bool, default=False
        The paper's control: as many pixels, but anywhere.

    Examples
    --------
    >>> from bevel import presets
    >>> from bevel.datasets import bars
    >>> X, y = bars(100, random_state=0)
    >>> forest = presets.s_rerf((20, 20), n_estimators=20, random_state=0).fit(X[:50], y[:50])
    >>> round(forest.score(X[50:], y[50:]), 2)
    1.0
    """
    checked = P.Patches(shape).shape
    sides = checked if isinstance(checked, tuple) else (checked,)
    longest = tuple(min(int(side), _LONGEST_SIDE) for side in sides)
    return make_forest(
        task,
        parameters,
        n_estimators=500,
        projection=P.Patches(shape, max=longest, weights="ones", shuffle=shuffle, inside=True),
        bootstrap=True,
        scale=None,
    )
