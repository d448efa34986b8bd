"""The systems of the papers by name, at the settings of their papers.

Each function returns an ordinary estimator, not fitted yet; `presets.TABLE` lists them all.

>>> from bevel import presets
>>> presets.sporf(random_state=0)
ObliqueForestClassifier(bootstrap=True, n_estimators=500, random_state=0,
                        scale=None, voting='hard')

What the papers tune on each data set (mostly the number of candidates) stands at the value that
they recommend, or else at the usual one. Where a system departs from its paper its docstring says
so; these departures are common to all:

- Nominal columns are split by subsets of their levels, where the papers encode them as numbers, and
  missing values need no imputation.
- Rows of a node are counted once, however often they are in the bag.
- Papers that know classification only do not say how to do regression. There the same directions
  are compared by squared error, and trees are averaged.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from bevel import projections as P
from bevel.errors import wrong_value
from bevel.estimators import (
    RegularizedRotationClassifier,
    RegularizedRotationRegressor,
    RotatedBoostingClassifier,
    RotatedBoostingRegressor,
    StackedRotationClassifier,
)
from bevel.preset_table import Boosting, Forest, Registry, check_names, make_forest
from bevel.projections.base import check_integer, check_word

__all__ = [
    "TABLE",
    "ccf",
    "data_agnostic",
    "extra_trees",
    "forest_rc",
    "frank",
    "multi_rotation",
    "orf_lda",
    "orf_ridge",
    "orf_rnd",
    "random_forest",
    "random_point",
    "random_side",
    "regularized_rotation",
    "rotation_forest",
    "rr_et",
    "rr_gbm",
    "rr_rf",
    "s_rerf",
    "sporf",
    "stacked_rotation",
]

_registry = Registry()
_preset = _registry.preset

BLASER = "Blaser, Random rotations in machine learning (thesis)"
LIN_JEON = "Lin and Jeon 2006, as reviewed by Duan 2016"
MENZE = "Menze et al. 2011, On oblique random forests"
RODRIGUEZ = "Rodriguez et al. 2006, Rotation forest"
SPORF = "Tomita et al. 2020, Sparse projection oblique randomer forests"
TOMITA = "Tomita 2018, Generalized linear splitting rules (thesis)"


# In regression, R's randomForest leaves nodes of 5 rows, and extraTrees those of fewer than 5.
_RANDOM_FOREST_REGRESSION = {"min_samples_split": 6}
_EXTRA_TREES_REGRESSION = {"min_samples_split": 5}
# Defaults of R's gbm: interaction.depth, bag.fraction and n.minobsinnode.
_GBM = {"max_depth": 1, "subsample": 0.5, "min_samples_leaf": 10}


@_preset("RF", SPORF, "sections 2.1 and 3.2")
def random_forest(*, task: str = "classification", **parameters: Any) -> Forest:
    """Breiman's random forest: the best cut on √p features drawn at each node.

    500 bootstrapped trees, grown until their leaves are pure, each with one vote; in regression p/3
    features and leaves of 5 rows, the defaults of R's randomForest, which Blaser used. The number
    of features is tuned in the paper: p^1/4, p^1/2, p^3/4 or p.
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


@_preset("ET", BLASER, "section 1.6.3")
def extra_trees(*, task: str = "classification", **parameters: Any) -> Forest:
    """Extremely randomised trees: one random cut on each of √p features, the best kept.

    The system is that of Geurts et al. 2006; Blaser used R's extraTrees at its defaults: no
    bootstrap, pure leaves; in regression p/3 features, and nodes of fewer than 5 rows are leaves.
    Departs: 500 trees, the package's default, for Blaser's 5000 (see `rr_rf`). Geurts et al. grow
    100 and draw all features in regression: `n_estimators=100, n_projections="p"`.
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


@_preset("F-RC", TOMITA, "sections 2.2.4 and 2.3.1")
def forest_rc(*, task: str = "classification", **parameters: Any) -> Forest:
    """Breiman's Forest-RC: combinations of L = 2 features with weights uniform on (−1, 1).

    500 bootstrapped trees (1000 on data sets of at most 1000 rows, section 2.3.3); nodes of fewer
    than 10 rows are leaves. Features are as they are. With the scalings of section 2.2.5 it is
    called F-RC(r), or `frank`, with `scale="rank"`; F-RC(n) with `scale="minmax"`; F-RC(z) with
    `scale="standard"`. The thesis tunes the number of candidates from p^1/4 to p²; here it is p.
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


@_preset("FRANK", TOMITA, "sections 2.2.5 and 2.3.1")
def frank(*, task: str = "classification", **parameters: Any) -> Forest:
    """Forest-RC on ranks, F-RC(r): features in any unit, with any outliers.

    All else is as in `forest_rc`, where the scalings (n) and (z) are, too.
    """
    return forest_rc(task=task, **({"scale": "rank"} | parameters))


@_preset("RR-RF", BLASER, "sections 1.4 to 1.6")
def rr_rf(*, flip: bool = False, task: str = "classification", **parameters: Any) -> Forest:
    """Random rotation random forest: each tree sees the features rotated at random.

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


@_preset("RR-ET", BLASER, "sections 1.4 to 1.6")
def rr_et(*, flip: bool = False, task: str = "classification", **parameters: Any) -> Forest:
    """Random rotation extra trees: random cuts on features rotated at random.

    The trees are those of `extra_trees`; scalings and number of trees are those of `rr_rf`, for the
    same reasons. Quantile scaling suited RR-ET best (1.6.4): `scale="quantile"`.

    Parameters
    ----------
    flip : bool, default=False
        Admit reflections, the flip rotations of 1.6.3.
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


@_preset("Rotation Forest", RODRIGUEZ, "sections 2 and 3")
def rotation_forest(*, task: str = "classification", **parameters: Any) -> Forest:
    """Rotation Forest: each tree sees the principal components of random groups of 3 features.

    10 trees on all rows, all components at every node, class shares averaged as in the paper;
    features are scaled to [0, 1] as in WEKA, with which its experiments were made. Departs: the
    paper's trees are WEKA's J48, which chooses by gain ratio and can prune; here it is information
    gain and no pruning. More trees do better; the other papers grow 100 to 5000.
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


@_preset("oRF-rnd", MENZE, "sections 2 and 3")
def orf_rnd(*, task: str = "classification", **parameters: Any) -> Forest:
    """Oblique random forest with one random direction per node.

    300 bootstrapped trees, grown until classes are separated. At each node √p features are
    standardised and combined with normal weights; the cut is chosen by Gini impurity.
    """
    return _menze("gaussian", task, parameters)


@_preset("oRF-lda", MENZE, "sections 2 and 3")
def orf_lda(*, task: str = "classification", **parameters: Any) -> Forest:
    """Oblique random forest with a linear discriminant of √p features at each node.

    300 bootstrapped trees, grown until classes are separated; features are standardised in the
    node. Departs: beyond the paper's two classes, all K − 1 discriminants of a node compete.
    """
    return _menze("lda", task, parameters)


@_preset("oRF-ridge", MENZE, "sections 2 and 3")
def orf_ridge(*, task: str = "classification", **parameters: Any) -> Forest:
    """Oblique random forest with a ridge regression on √p features at each node.

    300 bootstrapped trees; features are standardised in the node; λ = 10^−5, …, 10^5 is chosen on
    the out-of-bag rows that reach the node, and where there are none, growing stops. There is thus
    no out-of-bag score. Departs: beyond the paper's two classes, K − 1 directions compete.
    """
    return _menze("ridge", task, parameters)


@_preset("CCF", SPORF, "section 3.2")
def ccf(*, task: str = "classification", **parameters: Any) -> Forest:
    """Canonical correlation forest: directions that correlate most with the classes.

    The system is that of Rainforth and Wood 2015. 500 trees, fully grown, on all rows; each node
    computes directions on a bootstrap of its rows (projection bootstrapping), and cuts are chosen
    by entropy, on all of them. No scale: canonical correlation has its own. SPORF's authors tune
    the number of features, p^1/4, p^1/2, p^3/4 or p; here it is √p.
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


@_preset("SPORF", SPORF, "sections 3.1, 3.2 and 5.2")
def sporf(*, task: str = "classification", **parameters: Any) -> Forest:
    """Sparse projection oblique randomer forest: sums and differences of about 3 features.

    500 bootstrapped trees, fully grown, each with one vote; d = p candidates of density λ = 3/p,
    the defaults of section 5.2. The best of the paper's grid, at a higher price, was d = p² and λ =
    4/p: `n_projections="p**2", projection=P.SparseSigns(4)`. With fewer than four numeric features,
    of which 3/p would put all into every direction, λ is 1/2. Features are as they are: the paper
    scales none. `ObliqueForestClassifier()` is SPORF as we would have it: scaled, soft votes.
    """
    return make_forest(
        task, parameters, n_estimators=500, projection="sparse", bootstrap=True, scale=None
    )


@_preset("S-RerF", TOMITA, "section 3.3.8")
def s_rerf(
    shape: int | tuple[int, ...],
    *,
    shuffle: bool = False,
    task: str = "classification",
    **parameters: Any,
) -> Forest:
    """Structured randomer forest: random weights on patches of neighbouring pixels.

    Fully grown, bootstrapped trees as in `sporf`. The section gives no numbers: 500 trees are
    SPORF's, d = p candidates and weights of ±1 are the default RerF's, and patches of 1 to 5 pixels
    a side are ours. For others: `projection=P.Patches(shape, min, max, weights)`.

    Parameters
    ----------
    shape : int or tuple of int
        Shape of the image, series or volume that a row of X holds.
    shuffle : bool, default=False
        The paper's control: as many pixels, but anywhere.
    """
    return make_forest(
        task,
        parameters,
        n_estimators=500,
        projection=P.Patches(shape, shuffle=shuffle),
        bootstrap=True,
        scale=None,
    )


@_preset("Multi-rotation", BLASER, "section 3.2")
def multi_rotation(
    *, n_rotations: int = 30, task: str = "classification", **parameters: Any
) -> Forest:
    """Multi-rotation forest: at every node the features and their random rotations compete.

    500 bootstrapped trees, fully grown; K = 30 views of the features, one of them unrotated, shared
    by all trees; √(Kp) candidates, the default of R's randomForest for Kp columns. Features are
    scaled to [0, 1] as in `rr_rf`.

    Parameters
    ----------
    n_rotations : int, default=30
        K, the number of views.
    """
    return make_forest(
        task,
        parameters,
        n_estimators=500,
        projection=P.MultiRotation(n_rotations),
        bootstrap=True,
        scale="minmax_clip",
    )


@_preset("Regularized rotation", BLASER, "chapter 2, Algorithm 2")
def regularized_rotation(
    *, weighting: str = "exp", task: str = "classification", **parameters: Any
) -> Forest:
    """Regularised rotation ensemble: more trees on rotations that make trees simple.

    M = 5000 bootstrapped trees, fully grown, on R = 100 rotations, one of them the identity, as in
    section 2.5; micro-forests of U = 10 trees, of the 10 to 20 of section 2.3. At each node there
    is one candidate: the thesis does not say so, but its trees have the sizes of such (Table 2.3:
    1369 nodes on waveform and 20.98 on iris; ours 1372 and 20.9, with √p candidates 782 and 13.7).
    `n_projections="sqrt"` errs slightly less; in regression there are p/3. Otherwise the trees are
    those of `rr_rf`, and so is the scaling to [0, 1]. With fewer than 2001 trees R is smaller, so
    that at most half of the trees are in micro-forests. `threshold="random"` grows extra trees,
    with bags.

    Parameters
    ----------
    weighting : {"rre", "cut", "exp", "bst", "new", "lin", "oob", "jnt"}, default="exp"
        How trees are shared out among rotations: the schemes of section 2.5, of which EXP is "a
        good compromise".
    """
    return make_forest(
        task,
        parameters,
        n_estimators=5000,
        weighting=weighting,
        n_projections=1,
        bootstrap=True,
        scale="minmax_clip",
        regression={**_RANDOM_FOREST_REGRESSION, "n_projections": "auto"},
        kinds=(RegularizedRotationClassifier, RegularizedRotationRegressor),
    )


@_preset("S-RRE", BLASER, "section 3.3")
def stacked_rotation(
    *, n_estimators: int = 100, task: str = "classification", **parameters: Any
) -> StackedRotationClassifier:
    """Stacked random rotations: a forest on each of 21 views, and a forest on what they say.

    S-RRE/RF of section 3.3.3: the features as they are and K = 20 rotations of them, five folds.
    Forests are those of `random_forest` with class shares instead of votes, since level 1 is to
    hear how sure they are. Features are scaled to [0, 1] as in `rr_rf`. Departs: the thesis gives
    no number of trees; 127 forests make 100 each a matter of patience. For other learners, such as
    the XGBoost of section 3.3.3, pass `level0` and `level1`. There is no regression.

    Parameters
    ----------
    n_estimators : int, default=100
        Trees of each forest of both levels.
    """
    if task != "classification":
        remedy = "For regression use for example rr_rf or rr_gbm."
        raise wrong_value("task", '"classification": level 1 hears of classes', task, remedy)
    check_names(parameters, StackedRotationClassifier)
    forest = random_forest(n_estimators=n_estimators, voting="soft")
    settings = {"level0": forest, "level1": forest, "scale": "minmax_clip"}
    return StackedRotationClassifier(**(settings | parameters))


@_preset("RR-GBM", BLASER, "section 1.6.5")
def rr_gbm(*, n_estimators: int = 50, task: str = "classification", **parameters: Any) -> Boosting:
    """Random rotation gradient boosting: 100 groups of 50 boosted trees, a rotation for each.

    Shrinkage is 0.05, and groups vote. The thesis boosts with R's gbm and names no other setting,
    so its defaults hold: trees of one split, each on a random half of the rows, at least 10 of them
    in a leaf. Features are scaled to [0, 1] as in `rr_rf`; the "rank only" variant of Table 1.5 is
    `scale="relative_rank"`, and its figures without ranks are met with `scale=None`, which suits
    iris, all in centimetres. Departs: scikit-learn's gradient boosting does the boosting.

    Parameters
    ----------
    n_estimators : int, default=50
        Trees of each group; their number is `n_groups`.
    """
    from sklearn.ensemble import GradientBoostingClassifier, GradientBoostingRegressor

    check_word("task", task, ("classification", "regression"))
    boosted = {"n_estimators": n_estimators, "learning_rate": 0.05, **_GBM}
    settings = {"scale": "minmax_clip"}
    if task == "classification":
        check_names(parameters, RotatedBoostingClassifier)
        booster = GradientBoostingClassifier(**boosted)
        return RotatedBoostingClassifier(**({"booster": booster} | settings | parameters))
    check_names(parameters, RotatedBoostingRegressor, RotatedBoostingClassifier)
    booster = GradientBoostingRegressor(**boosted)
    return RotatedBoostingRegressor(**({"booster": booster} | settings | parameters))


@_preset("Data-agnostic RerF", TOMITA, "section 3.3.5, Theorem 3")
def data_agnostic(*, task: str = "classification", **parameters: Any) -> Forest:
    """Randomer forest whose partitions never look at the target; universally consistent.

    At a random leaf one sparse direction and one cut are drawn, until there are ⌈√n⌉ leaves, a
    budget that grows, but more slowly than n, as the theorem asks. Set `max_leaf_nodes` for
    another. The theorem gives no other numbers: all else is as in `sporf`.
    """
    return sporf(task=task, **({"threshold": "purely_random"} | parameters))


def _nearest_neighbours(
    k: int, task: str, parameters: Mapping[str, Any], **settings: Any
) -> Forest:
    """100 trees on all rows, split down to k rows; trees are averaged (soft votes)."""
    check_integer("k", k, "rows")
    return make_forest(
        task,
        parameters,
        n_estimators=100,
        projection="axis",
        min_samples_split=k + 1,
        bootstrap=False,
        voting="soft",
        scale=None,
        **settings,
    )


@_preset("Random side selection", LIN_JEON, "Terminal Node Size and Splitting Schemes")
def random_side(*, k: int = 1, task: str = "classification", **parameters: Any) -> Forest:
    """Random input selection with F = 1: the best cut on one random feature.

    100 trees whose predictions are averaged. For other F pass `n_projections`; the paper's
    regression has F = 3. Trees take all rows: the review does not say, but with bags the voting
    points need not be potential nearest neighbours (Proposition 2). Departs: pure nodes are not
    split further, which changes no prediction.

    Parameters
    ----------
    k : int, default=1
        Terminal node size: nodes of more rows are split. Tune it where there are many rows and few
        features.
    """
    return _nearest_neighbours(k, task, parameters, n_projections=1)


@_preset("Random point selection", LIN_JEON, "Terminal Node Size and Splitting Schemes")
def random_point(*, k: int = 1, task: str = "classification", **parameters: Any) -> Forest:
    """Random point selection: one random cut on every feature, the best kept.

    Cuts are uniform between the extremes of the node; all else is as in `random_side`.

    Parameters
    ----------
    k : int, default=1
        Terminal node size: nodes of more rows are split.
    """
    return _nearest_neighbours(k, task, parameters, threshold="random", n_projections="p")


TABLE = _registry.table()
