"""Directions that a model of the node's rows finds: they look at the target."""

from __future__ import annotations

import numbers
from collections.abc import Sequence
from dataclasses import dataclass, fields
from typing import Any, ClassVar

from bevel.errors import wrong_type, wrong_value
from bevel.projections.base import (
    Count,
    FamilySpec,
    Projection,
    check_fits,
    check_flag,
    check_integer,
    check_option,
    is_positive,
    resolve_count,
)

# Menze et al. 2011, section 2, step 4a.
MENZE_ALPHAS = tuple(10.0**i for i in range(-5, 6))


@dataclass(frozen=True, repr=False)
class _NodeModel(Projection):
    """What the models share: a random subspace, and one model per node by default."""

    reads_target: ClassVar[bool] = True
    combines_levels: ClassVar[bool] = True
    combines_units: ClassVar[bool] = False  # features are standardised in the node
    n_features: Count = "sqrt"

    def __post_init__(self) -> None:
        resolve_count(f"{type(self).__name__}(n_features=)", self.n_features, 1)

    def __repr__(self) -> str:
        """Show what differs from the defaults: eleven penalties would drown the rest."""
        shown = {f.name: repr(getattr(self, f.name)) for f in fields(self)}
        given = [
            f"{f.name}={shown[f.name]}" for f in fields(self) if shown[f.name] != repr(f.default)
        ]
        return f"{type(self).__name__}({', '.join(given)})"

    def default_draws(self, n_features: int, regression: bool) -> int:  # noqa: ARG002
        """One model per node."""
        return 1

    def family(self, n_draws: int, n_numeric: int) -> FamilySpec:
        name = f"{type(self).__name__}(n_features=)"
        n_features = resolve_count(name, self.n_features, n_numeric)
        check_fits(name, n_features, n_numeric)
        return FamilySpec(self.name, n_draws, n_features, self._settings(), fits_models=True)

    def _settings(self) -> dict[str, Any]:
        """How the model is fitted, by the names of the core."""
        return {}


@dataclass(frozen=True, repr=False)
class Ridge(_NodeModel):
    """Ridge regression of the target on a random subspace: oRF-ridge.

    Source: Menze et al. 2011, "On Oblique Random Forests", section 2. The features of the subspace
    are standardised in the node; the penalty pulls the direction from the one that separates the
    classes best (LDA) towards the one along which the data vary most (PCA). Beyond the paper's two
    classes, scores of the K classes are regressed on the features, which gives up to K − 1
    directions, all of which are evaluated; in regression it is the target itself.

    Parameters
    ----------
    n_features : int, float or str, default="sqrt"
        mtry, the number of distinct features in the subspace: an integer, a share of the numeric
        features in (0, 1], "sqrt", "log2", "p" or "p**k" of their number.
    alphas : sequence of float, default=10^−5, 10^−4, …, 10^5
        Penalties to choose from, λ in the paper. They multiply the squared length of the
        coefficients, beside the sum over rows of squared errors.
    tune : {"oob", "gcv"}, default="oob"
        How each node chooses. "oob", the paper's way: the penalty whose best cut predicts the
        tree's out-of-bag rows that reach the node with the smallest squared error (of class shares,
        or of the target); there is then no unbiased out-of-bag score. "gcv": generalised
        cross-validation on the node's own rows, which leaves the out-of-bag rows alone.
    when_exhausted : {"stop", "parent"}, default="stop"
        With tune="oob", what a node does that no out-of-bag row reaches: propose nothing, so that a
        forest of nothing else stops there as in the paper, or go on with its parent's penalty.
    record : bool, default=False
        Keep the p-value of each coefficient in `forest_.entry_p_value`, for Menze's importance.

    Examples
    --------
    >>> from bevel import ObliqueForestClassifier, projections as P
    >>> from bevel.datasets import load_wine
    >>> X, y = load_wine()
    >>> forest = ObliqueForestClassifier(20, projection=P.Ridge(tune="gcv"), random_state=0)
    >>> round(forest.fit(X[::2], y[::2]).score(X[1::2], y[1::2]), 2)
    0.96
    """

    name: ClassVar[str] = "ridge"
    alphas: Sequence[float] = MENZE_ALPHAS
    tune: str = "oob"
    when_exhausted: str = "stop"
    record: bool = False

    def __post_init__(self) -> None:
        super().__post_init__()
        _check_alphas(self.alphas)
        # A tuple can be compared and does not change when the caller's list does.
        object.__setattr__(self, "alphas", tuple(float(alpha) for alpha in self.alphas))
        check_option("Ridge(tune=)", self.tune, ("oob", "gcv"))
        check_option("Ridge(when_exhausted=)", self.when_exhausted, ("stop", "parent"))
        check_flag("Ridge(record=)", self.record)
        if self.when_exhausted == "parent" and self.tune == "gcv":
            required = '"stop" with tune="gcv", which never runs out of rows'
            raise wrong_value("Ridge(when_exhausted=)", required, "parent", "Leave it out.")

    @property
    def needs_out_of_bag(self) -> bool:
        return self.tune == "oob"

    def check_survival(self) -> None:
        if self.tune == "oob":
            remedy = 'Use P.Ridge(tune="gcv") or P.Cox().'
            raise wrong_value("projection", "able to learn times", self, remedy)

    def _settings(self) -> dict[str, Any]:
        return {
            "alphas": tuple(sorted(self.alphas)),
            "tune": "out_of_bag" if self.tune == "oob" else "cross_validation",
            "parent_when_exhausted": self.when_exhausted == "parent",
            "record": self.record,
        }


@dataclass(frozen=True, repr=False)
class LDA(_NodeModel):
    """Linear discriminant analysis on a random subspace: oRF-lda.

    Source: Menze et al. 2011, "On Oblique Random Forests", section 2: ridge regression with λ = 0.
    Where the features depend on each other, or outnumber the rows, it is the solution of least
    length. K classes give up to K − 1 directions (Fisher's discriminants), all evaluated; in
    regression it is least squares.

    Parameters
    ----------
    n_features : int, float or str, default="sqrt"
        mtry, the number of distinct features in the subspace, as in `Ridge`.
    record : bool, default=False
        Keep the p-value of each coefficient in `forest_.entry_p_value`, for Menze's importance.

    Examples
    --------
    >>> from bevel import ObliqueForestClassifier, projections as P
    >>> from bevel.datasets import load_wine
    >>> X, y = load_wine()
    >>> forest = ObliqueForestClassifier(20, projection=P.LDA(), random_state=0)
    >>> round(forest.fit(X[::2], y[::2]).score(X[1::2], y[1::2]), 2)
    0.96
    """

    name: ClassVar[str] = "lda"
    record: bool = False

    def __post_init__(self) -> None:
        super().__post_init__()
        check_flag("LDA(record=)", self.record)

    def _settings(self) -> dict[str, Any]:
        return {"record": self.record}


@dataclass(frozen=True, repr=False)
class Logistic(_NodeModel):
    """Logistic regression on a random subspace, by a few Newton steps; classification only.

    One of the node models that Menze et al. 2011 name in section 2. More than two classes are taken
    one against the others, which gives K directions, all evaluated.

    Parameters
    ----------
    n_features : int, float or str, default="sqrt"
        mtry, the number of distinct features in the subspace, as in `Ridge`.
    alpha : float, default=1.0
        Ridge penalty, without which classes that can be separated have no solution.
    n_steps : int, default=5
        Newton steps at most; their number bounds the work of a node.
    record : bool, default=False
        Keep the p-value of each coefficient in `forest_.entry_p_value`, for Menze's importance:
        Wald tests, each direction's own. With a small `alpha` the features that separate classes
        have large p-values (Hauck and Donner 1977): their errors grow faster than they do.

    Examples
    --------
    >>> from bevel import ObliqueForestClassifier, projections as P
    >>> from bevel.datasets import load_wine
    >>> X, y = load_wine()
    >>> forest = ObliqueForestClassifier(20, projection=P.Logistic(n_steps=3), random_state=0)
    >>> round(forest.fit(X[::2], y[::2]).score(X[1::2], y[1::2]), 2)
    0.96
    """

    name: ClassVar[str] = "logistic"
    alpha: float = 1.0
    n_steps: int = 5
    record: bool = False

    def __post_init__(self) -> None:
        super().__post_init__()
        _check_alphas([self.alpha], "Logistic(alpha=)", "a positive number")
        check_integer("Logistic(n_steps=)", self.n_steps, "steps")
        check_flag("Logistic(record=)", self.record)

    def check_task(self, regression: bool) -> None:
        if regression:
            remedy = 'Use P.Ridge(tune="gcv") or P.PLS().'
            raise wrong_value("projection", "able to learn a numeric target", self, remedy)

    def check_survival(self) -> None:
        raise wrong_value("projection", "able to learn times", self, "Use P.Cox().")

    def _settings(self) -> dict[str, Any]:
        return {"alpha": float(self.alpha), "n_steps": int(self.n_steps), "record": self.record}


@dataclass(frozen=True, repr=False)
class PLS(_NodeModel):
    """Partial least squares on a random subspace.

    One of the node models that Menze et al. 2011 name in section 2: directions along which the
    features vary most with the target, each after the one before has been taken out.

    Parameters
    ----------
    n_features : int, float or str, default="sqrt"
        mtry, the number of distinct features in the subspace, as in `Ridge`.
    n_components : int, default=1
        Directions that a model gives, all evaluated; fewer when nothing is left to explain.

    Examples
    --------
    >>> from bevel import ObliqueForestClassifier, projections as P
    >>> from bevel.datasets import load_wine
    >>> X, y = load_wine()
    >>> forest = ObliqueForestClassifier(20, projection=P.PLS(n_features=6), random_state=0)
    >>> round(forest.fit(X[::2], y[::2]).score(X[1::2], y[1::2]), 2)
    0.96
    """

    name: ClassVar[str] = "pls"
    n_components: int = 1

    def __post_init__(self) -> None:
        super().__post_init__()
        check_integer("PLS(n_components=)", self.n_components, "components")

    def _settings(self) -> dict[str, Any]:
        return {"n_components": int(self.n_components)}


@dataclass(frozen=True, repr=False)
class CCA(_NodeModel):
    """Canonical correlation of a random subspace with the classes: canonical correlation forests.

    Source: Rainforth and Wood 2015, "Canonical Correlation Forests", as used in SPORF (Tomita et
    al. 2020), section 3.2. All min(mtry, K − 1) directions are evaluated; in regression there is
    one. Where the node's rows are only two points, the cut is between them.

    Parameters
    ----------
    n_features : int, float or str, default="sqrt"
        Number of distinct features in the subspace, as in `Ridge`. SPORF's authors tuned it over
        p^1/4, p^1/2, p^3/4 and p.
    bootstrap : {"projection", None}, default="projection"
        "projection": every tree takes all rows, and each node computes its directions on a
        bootstrap of its rows. There are then no out-of-bag rows. None: directions are computed on
        the rows of the node, and trees take bags like any others.

    Examples
    --------
    >>> from bevel import ObliqueForestClassifier, projections as P
    >>> from bevel.datasets import load_wine
    >>> X, y = load_wine()
    >>> forest = ObliqueForestClassifier(20, projection=P.CCA(), random_state=0)
    >>> round(forest.fit(X[::2], y[::2]).score(X[1::2], y[1::2]), 2)
    0.96
    """

    name: ClassVar[str] = "cca"
    bootstrap: str | None = "projection"

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.bootstrap not in ("projection", None):
            required = '"projection" or None'
            raise wrong_value("CCA(bootstrap=)", required, self.bootstrap, "Choose one.")

    @property
    def takes_all_rows(self) -> bool:
        return self.bootstrap == "projection"

    def _settings(self) -> dict[str, Any]:
        return {"bootstrap": self.takes_all_rows}


@dataclass(frozen=True, repr=False)
class Cox(_NodeModel):
    """Proportional hazards on a random subspace, by a few Newton steps; survival only.

    Source: Jaeger et al. 2022, "Accelerated and interpretable oblique random survival forests",
    whose node model is one Newton step of a Cox regression (Cox 1972). The features of the subspace
    are standardised in the node.

    Parameters
    ----------
    n_features : int, float or str, default="sqrt"
        mtry, the number of distinct features in the subspace, as in `Ridge`.
    alpha : float, default=1.0
        Ridge penalty, without which few events in many features have no solution.
    n_steps : int, default=1
        Newton steps at most.

    Examples
    --------
    >>> from bevel import ObliqueSurvivalForest, projections as P
    >>> from bevel.datasets import proportional_hazards
    >>> X, y = proportional_hazards(300, random_state=0)
    >>> forest = ObliqueSurvivalForest(20, projection=P.Cox(n_features=4), random_state=0)
    >>> round(forest.fit(X[:200], y[:200]).score(X[200:], y[200:]), 2)
    0.77
    """

    name: ClassVar[str] = "cox"
    alpha: float = 1.0
    n_steps: int = 1

    def __post_init__(self) -> None:
        super().__post_init__()
        _check_alphas([self.alpha], "Cox(alpha=)", "a positive number")
        check_integer("Cox(n_steps=)", self.n_steps, "steps")

    def check_task(self, regression: bool) -> None:  # noqa: ARG002
        remedy = "Use it in ObliqueSurvivalForest."
        raise wrong_value("projection", "able to learn classes or numbers", self, remedy)

    def check_survival(self) -> None:
        """It is made for it."""

    def _settings(self) -> dict[str, Any]:
        return {"alpha": float(self.alpha), "n_steps": int(self.n_steps)}


def _check_alphas(
    alphas: object,
    name: str = "Ridge(alphas=)",
    required: str = "a sequence of positive numbers",
) -> None:
    remedy = "The paper tries 10**i for i from -5 to 5."
    if isinstance(alphas, str) or not hasattr(alphas, "__len__") or not hasattr(alphas, "__iter__"):
        raise wrong_type(name, required, alphas, remedy)
    if len(alphas) == 0:
        raise wrong_value(name, required, alphas, remedy)
    for alpha in alphas:
        if isinstance(alpha, bool) or not isinstance(alpha, numbers.Real):
            raise wrong_type(name, required, alpha, remedy)
        if not is_positive(alpha):
            raise wrong_value(name, required, alpha, remedy)
