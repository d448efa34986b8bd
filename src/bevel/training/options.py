"""Training options in resolved numbers, and checks of combinations of parameters.

Single parameters are defined in `bevel.parameters`. Here combinations of them are checked,
also with the size of the data; combinations that cannot be fulfilled raise.
"""

from __future__ import annotations

import itertools
import math
import numbers
import warnings
from collections.abc import Iterable, Mapping, Sequence, Set
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Protocol

import numpy as np
import numpy.typing as npt

from bevel.errors import NoOutOfBagError, join_names, shorten, wrong_type, wrong_value
from bevel.forest.bags import Bags
from bevel.projections.base import FamilySpec, SparseDirections
from bevel.projections.families import ProjectionDraws, TableShape, resolve_families

if TYPE_CHECKING:
    from bevel.data.row_groups import RowGroups

__all__ = [
    "CLASS_CRITERIA",
    "NUMBER_CRITERIA",
    "DescribedColumns",
    "FeatureConstraints",
    "TrainingOptions",
    "check_combinations",
    "check_constrained",
    "check_counts",
    "check_directions",
    "core_name",
    "count_draws",
    "draw_seed",
    "draws_bags",
    "is_regression",
    "leaf_share",
    "read_constraints",
    "resolve_options",
]

# The criteria of forests: their tasks, and the targets that they need.

CLASS_CRITERIA = ("gini", "entropy", "log_loss")
NUMBER_CRITERIA = ("squared_error", "absolute_error", "poisson")


def is_regression(criterion: str) -> bool:
    """Whether a criterion is for regression; "auto" is for classification."""
    return criterion in NUMBER_CRITERIA


def core_name(criterion: str) -> str:
    """Name of the criterion in the core, which has one name for each."""
    return "entropy" if criterion == "log_loss" else criterion


def check_counts(values: npt.NDArray[np.float64], weights: npt.NDArray[np.float64] | None) -> None:
    """Raise if targets cannot be counts, as `criterion="poisson"` needs them."""
    remedy = 'Use criterion="squared_error", or shift the target.'
    row = int(values.argmin())
    if values[row] < 0:
        raise ValueError(
            'criterion="poisson" needs targets of zero or more; got '
            f"{values[row]:g} (row index {row}). {remedy}"
        )
    counted = values if weights is None else values[weights > 0]
    if not (counted > 0).any():
        raise ValueError(
            'criterion="poisson" needs a target above zero in some row with a weight; got zeros '
            "only. Check y: without any count there is no rate to model."
        )


# Reads `monotonic_cst` and `interaction_cst`, constraints that a model satisfies on any data.


@dataclass(frozen=True)
class FeatureConstraints:
    """Constraints by the positions of columns.

    Attributes
    ----------
    monotone : tuple of int
        For each column 1, -1 or 0; empty when none is constrained.
    groups : tuple of tuple of int
        Groups of columns that may share a path; every column is in one. Empty when all may.
    """

    monotone: tuple[int, ...] = ()
    groups: tuple[tuple[int, ...], ...] = ()

    def __bool__(self) -> bool:
        return bool(self.monotone or self.groups)

    def check_classes(self, n_classes: int) -> None:
        """Raise if a classifier cannot satisfy them."""
        if self.monotone and n_classes > 2:
            raise ValueError(
                "monotonic_cst needs one output: a regression or two classes; got "
                f"{n_classes} classes. Leave it out, or fit a model for each class."
            )


class DescribedColumns(Protocol):
    """Description of the columns of a table, see `bevel.data.tables.Table`."""

    @property
    def n_features(self) -> int: ...

    def describe(self, feature: int) -> str: ...


def read_constraints(
    monotonic_cst: Any, interaction_cst: Any, table: DescribedColumns, levels: npt.NDArray[np.int32]
) -> FeatureConstraints:
    """Read both parameters as given to an estimator.

    Parameters
    ----------
    monotonic_cst : array-like, mapping or None
        Constraint 1, -1 or 0 for each column, or by name.
    interaction_cst : str, sequence of sets of columns, or None
        Groups of columns that may interact.
    table : DescribedColumns
        Training table that the columns belong to.
    levels : ndarray of int32
        Levels of each column, 0 for numeric ones.
    """
    return FeatureConstraints(
        () if monotonic_cst is None else _monotone(monotonic_cst, table, levels),
        () if interaction_cst is None else _groups(interaction_cst, table),
    )


_SIGNS = "1 (predictions rise with the column), -1 (they fall) or 0 for each column"
_SIGNS_REMEDY = "Write for example monotonic_cst=[1, 0, -1] or monotonic_cst={'age': 1}."


def _monotone(
    given: Any, table: DescribedColumns, levels: npt.NDArray[np.int32]
) -> tuple[int, ...]:
    p = table.n_features
    signs = [0] * p
    if isinstance(given, Mapping):
        for key, sign in given.items():
            signs[_column("monotonic_cst", key, table)] = _sign(sign, given)
    else:
        if isinstance(given, str) or not isinstance(given, Iterable):
            raise wrong_type("monotonic_cst", _SIGNS, given, _SIGNS_REMEDY)
        values = list(given)
        if len(values) != p:
            required = f"of one entry per column ({p})"
            raise wrong_value("monotonic_cst", required, f"{len(values)} entries", _SIGNS_REMEDY)
        signs = [_sign(sign, given) for sign in values]
    nominal = [table.describe(f) for f in range(p) if signs[f] and levels[f]]
    if nominal:
        raise ValueError(
            "monotonic_cst must be 0 for nominal columns, whose levels have no order; got "
            f"{join_names(nominal)}. Set them to 0, or make the columns numeric."
        )
    return tuple(signs) if any(signs) else ()


def _sign(value: Any, given: object) -> int:
    if not isinstance(value, numbers.Real) or float(value) not in (-1.0, 0.0, 1.0):
        raise wrong_value("monotonic_cst", _SIGNS, given, _SIGNS_REMEDY)
    return int(float(value))


_GROUPS = '"pairwise", "no_interactions", or a sequence of sets of columns'
_GROUPS_REMEDY = "Write for example interaction_cst=[{0, 1}, {2, 3, 4}]."


def _groups(given: Any, table: DescribedColumns) -> tuple[tuple[int, ...], ...]:
    p = table.n_features
    if isinstance(given, str):
        if given == "no_interactions":
            return tuple((f,) for f in range(p))
        if given == "pairwise":
            return tuple(itertools.combinations(range(p), 2)) if p > 1 else ((0,),)
        raise wrong_value("interaction_cst", _GROUPS, given, _GROUPS_REMEDY)
    if not isinstance(given, Sequence | Set) or len(given) == 0:
        raise wrong_type("interaction_cst", _GROUPS, given, _GROUPS_REMEDY)
    groups = []
    for group in given:
        if isinstance(group, str) or not isinstance(group, Iterable):
            raise wrong_type("interaction_cst", _GROUPS, given, _GROUPS_REMEDY)
        columns = sorted({_column("interaction_cst", key, table) for key in group})
        if not columns:
            raise wrong_value("interaction_cst", "made of sets with a column each", given, _DROP)
        groups.append(tuple(columns))
    rest = tuple(sorted(set(range(p)).difference(*groups)))
    return (*groups, rest) if rest else tuple(groups)


_DROP = "Drop the empty set; columns that no set names form one of their own."


def _column(parameter: str, key: Any, table: DescribedColumns) -> int:
    """Position of a column given by position or name."""
    p = table.n_features
    if isinstance(key, numbers.Integral) and not isinstance(key, bool):
        position = int(key)
        if not 0 <= position < p:
            required = f"of columns from 0 to {p - 1}"
            raise wrong_value(parameter, required, position, "Check the positions.")
        return position
    if not isinstance(key, str):
        required = "of columns by position or name"
        raise wrong_type(parameter, required, key, "Use integers or strings.")
    known = {table.describe(feature): feature for feature in range(p)}
    if repr(key) not in known:
        raise ValueError(
            f"{parameter} must name columns of X ({join_names(list(known))}); got {key!r}. Check "
            "the spelling, and pass a data frame: arrays have no names."
        )
    return known[repr(key)]


def check_constrained(
    monotonic_cst: Any, interaction_cst: Any, members: Sequence[ProjectionDraws]
) -> None:
    """Raise for a projection of a forest whose directions cannot satisfy a constraint.

    Parameters
    ----------
    monotonic_cst, interaction_cst
        Constraints as given to an estimator.
    members : sequence of ProjectionDraws
        Projections of the estimator.
    """
    name = "monotonic_cst" if monotonic_cst is not None else "interaction_cst"
    if monotonic_cst is None and interaction_cst is None:
        return
    for member in members:
        if not member.projection.can_be_constrained:
            raise _cannot_hold(name, member)


def _cannot_hold(name: str, member: ProjectionDraws) -> ValueError:
    return ValueError(
        f"{name} needs directions of few features whose coefficients may be chosen; got "
        f"projection={shorten(member.projection)}, which combines features with "
        'coefficients of its own. Use "auto", "axis", "sparse", "combination" or '
        f"P.Patches, or leave {name} out."
    )


def check_directions(
    constraints: FeatureConstraints,
    members: Sequence[ProjectionDraws],
    families: Sequence[FamilySpec],
    levels: npt.NDArray[np.int32],
) -> None:
    """Raise for a projection whose directions cannot satisfy the constraints.

    Parameters
    ----------
    constraints : FeatureConstraints
        Constraints from `read_constraints`.
    members : sequence of ProjectionDraws
        Projections that `families` were resolved from, in the same order.
    families : sequence of FamilySpec
        Samplers, which may end with one for nominal columns.
    levels : ndarray of int32
        Levels of each column, 0 for numeric ones.
    """
    if not constraints:
        return
    name = "monotonic_cst" if constraints.monotone else "interaction_cst"
    for member, family in zip(members, families, strict=False):
        if not member.projection.can_be_constrained:
            raise _cannot_hold(name, member)
        if "pool" in family.settings:
            _check_pool(constraints, family.settings["pool"], levels)


def _check_pool(
    constraints: FeatureConstraints, pool: SparseDirections, levels: npt.NDArray[np.int32]
) -> None:
    column_of = np.flatnonzero(levels == 0)  # directions are over the numeric columns
    for d, (first, last) in enumerate(itertools.pairwise(pool.offset)):
        columns = [int(column_of[i]) for i in pool.index[first:last]]
        if constraints.monotone:
            ways = {
                sign * np.sign(weight)
                for f, weight in zip(columns, pool.weight[first:last], strict=True)
                if (sign := constraints.monotone[f]) and weight
            }
            if len(ways) > 1:
                raise ValueError(
                    "monotonic_cst needs directions along which all constrained columns push "
                    f"predictions the same way; got direction {d} of P.Custom, along which some "
                    "push up and some down. Change the signs of its coefficients, or leave it out."
                )
        if constraints.groups and not any(set(columns) <= set(g) for g in constraints.groups):
            raise ValueError(
                "interaction_cst needs directions whose columns are all in one set; got direction "
                f"{d} of P.Custom with columns {columns}. Leave it out, or join the sets."
            )


# Expected share of distinct rows in a bootstrap of n rows, 1 - 1/e; the default of ranger too.
DISTINCT_SHARE = 0.632
SURVIVAL_CRITERIA = ("log_rank", "log_rank_score")


@dataclass(frozen=True)
class TrainingOptions:
    """Training options in resolved numbers; field names are the native ones."""

    criterion: str
    threshold: str
    n_thresholds: int
    split_search: str
    growth: str
    max_depth: int  # -1: no limit
    min_samples_split: int
    min_samples_leaf: int
    min_weight_leaf: float
    max_leaf_nodes: int  # 0: no limit
    min_impurity_decrease: float
    max_redraws: int  # -1: as families do by default
    split_pure_nodes: bool
    bag_size: int  # 0: all rows, no bag
    replace: bool
    balanced_subsample: bool
    families: tuple[FamilySpec, ...]
    seed: int
    monotone: tuple[int, ...] = ()  # by column; empty: none is constrained
    interaction_groups: tuple[tuple[int, ...], ...] = ()  # empty: all columns may meet
    chooses_node_size: bool = False  # min_samples_split is chosen with the families
    groups: RowGroups | None = None  # drawn with all of their rows; None: rows are drawn
    leaf_share: float = 0.0  # of the rows of a bag, for the leaves of honest trees; 0: not honest

    def bags(self, n_rows: int) -> Bags:
        """The bags of a forest."""
        how = (self.bag_size, self.replace, self.seed, self.groups, self.leaf_share)
        return Bags(n_rows, *how)

    def leaves_rows_out(self, n_rows: int) -> bool:
        """Whether any row can be out of a bag."""
        return self.bags(n_rows).leaves_rows_out


def draw_seed(random_state: Any) -> int:
    """Seed of a forest: 64 bits drawn from scikit-learn's random state."""
    try:
        from sklearn.utils import check_random_state  # not for the names of criteria alone

        generator = check_random_state(random_state)
    except ValueError:
        required = "None, an integer from 0 to 2**32 - 1 or a RandomState"
        remedy = "Use for example random_state=0."
        raise wrong_value("random_state", required, random_state, remedy) from None
    return int(generator.randint(0, np.iinfo(np.uint64).max, dtype=np.uint64))


def draws_bags(bootstrap: bool | str, members: Sequence[ProjectionDraws]) -> bool:
    """Resolve `bootstrap`: "auto" draws bags unless a projection needs all rows."""
    takes_all_rows = [m.projection for m in members if m.projection.takes_all_rows]
    if bootstrap == "auto":
        return not takes_all_rows
    if bootstrap and takes_all_rows:
        raise ValueError(
            f'bootstrap must be False or "auto" with {shorten(takes_all_rows[0])}, which '
            "bootstraps rows at the nodes and needs all of them in every tree; got True. Leave it "
            "out, or use CCA(bootstrap=None)."
        )
    return bool(bootstrap)


def check_combinations(values: Mapping[str, Any], members: Sequence[ProjectionDraws]) -> None:
    """Raise if two parameters contradict each other, whatever the data.

    Parameters
    ----------
    values : mapping
        Parameters as given to the estimator, each checked by itself.
    members : sequence of ProjectionDraws
        From `bevel.projections.families.read_projection`.
    """
    _check_splits(values, members)
    if values.get("split_pure_nodes", False):
        _check_purity(values, members)
    _check_bags(values)
    check_constrained(values.get("monotonic_cst"), values.get("interaction_cst"), members)
    _check_out_of_bag(values, members)
    if leaf_share(values):
        _check_honest(values, members)


def leaf_share(values: Mapping[str, Any]) -> float:
    """Share of the rows of a bag that give the leaves of honest trees their values; 0 if none."""
    honest = values.get("honest", False)
    return 0.5 if honest is True else float(honest)


def _check_honest(values: Mapping[str, Any], members: Sequence[ProjectionDraws]) -> None:
    """Raise for parameters that contradict honest trees."""
    tuned = [m.projection for m in members if m.projection.needs_out_of_bag]
    if tuned:
        raise ValueError(
            "honest needs splits that are learnt on their part of the bag alone; got "
            f"{shorten(tuned[0])}, which chooses its penalty on out-of-bag rows. Use "
            'Ridge(tune="gcv").'
        )
    if values["criterion"] in ("absolute_error", "poisson"):
        raise ValueError(
            'honest needs criterion="squared_error", whose leaves hold means of any rows; got '
            f'criterion="{values["criterion"]}". Use "squared_error", or leave honest out.'
        )
    if values.get("monotonic_cst") is not None:
        raise ValueError(
            "honest needs leaves whose values are free, as they are means of rows that no split "
            f"has seen; got monotonic_cst={shorten(values['monotonic_cst'])}. Leave one of them "
            "out."
        )


def _check_out_of_bag(values: Mapping[str, Any], members: Sequence[ProjectionDraws]) -> None:
    tuned = [m.projection for m in members if m.projection.needs_out_of_bag]
    if tuned and not values["bootstrap"]:
        raise ValueError(
            f"{shorten(tuned[0])} needs bootstrap=True: it chooses its penalty on out-of-bag rows; "
            'got bootstrap=False. Set bootstrap=True, or use Ridge(tune="gcv").'
        )
    asks = _asks_for_out_of_bag(values)
    if not asks:
        return
    if tuned and values["oob_score"]:
        raise NoOutOfBagError(
            f"oob_score must be False with {shorten(tuned[0])}, which has seen the out-of-bag rows "
            f'when it chose its penalty; got {values["oob_score"]}. Use Ridge(tune="gcv"), or '
            "estimate the score by cross-validation."
        )
    if tuned:
        raise NoOutOfBagError(
            f"calibration must be None with {shorten(tuned[0])}, which has seen the out-of-bag "
            'rows when it chose its penalty; got "power". Use Ridge(tune="gcv").'
        )
    if not values["bootstrap"]:
        takes_all_rows = any(m.projection.takes_all_rows for m in members)
        why = ' (as CCA(bootstrap="projection") has it)' if takes_all_rows else ""
        remedy = "use CCA(bootstrap=None)" if takes_all_rows else "Set bootstrap=True"
        raise NoOutOfBagError(
            f"{asks} needs bootstrap=True: without a bag no row is ever out of it; got "
            f"bootstrap=False{why}. {remedy[0].upper()}{remedy[1:]}, or {_OTHERWISE[asks]}."
        )


_OTHERWISE = {
    "oob_score": "estimate the score by cross-validation",
    'calibration="power"': "leave calibration out",
}


def _asks_for_out_of_bag(values: Mapping[str, Any]) -> str:
    """Name of a parameter that needs out-of-bag rows; empty if there is none."""
    if values["oob_score"]:
        return "oob_score"
    return 'calibration="power"' if values.get("calibration") == "power" else ""


def _check_splits(values: Mapping[str, Any], members: Sequence[ProjectionDraws]) -> None:
    """Raise for contradictions among the parameters that say how nodes are split."""
    threshold, growth = values["threshold"], values["growth"]
    n_thresholds, search = values["n_thresholds"], values["split_search"]
    purely_random = threshold == "purely_random"
    supervised = [m.projection for m in members if m.projection.reads_target]
    draws = [m.n_projections for m in members if m.n_projections not in ("auto", 1)]
    if n_thresholds != 1 and threshold != "random":
        raise ValueError(
            f'n_thresholds must be 1 unless threshold="random"; got n_thresholds={n_thresholds} '
            f'with threshold="{threshold}". Set threshold="random" or leave n_thresholds out.'
        )
    if search != "auto" and threshold != "best":
        raise ValueError(
            f'split_search must be "auto" unless threshold="best"; got split_search="{search}" '
            f'with threshold="{threshold}", which searches no best cut. Leave split_search out.'
        )
    if growth is not None and values["max_leaf_nodes"] is None and not purely_random:
        raise ValueError(
            "growth needs max_leaf_nodes: without a budget the order of splits changes nothing; "
            f'got growth="{growth}" with max_leaf_nodes=None. Set max_leaf_nodes or leave growth '
            "out."
        )
    if growth == "best_first" and purely_random:
        raise ValueError(
            'growth must be "random_leaf" or "breadth_first" with threshold="purely_random", which '
            'ignores the gain; got "best_first". Leave growth out for "random_leaf".'
        )
    if draws and purely_random:
        raise ValueError(
            'n_projections must be "auto" or 1 with threshold="purely_random", which takes one '
            f"direction without comparing any; got {shorten(draws[:1])[1:-1]}. Leave it out."
        )
    if supervised and purely_random:
        raise ValueError(
            'projection must not look at the target with threshold="purely_random"; got '
            f"{shorten(supervised[:1])[1:-1]}. Use for example P.SparseSigns()."
        )
    if values.get("monotonic_cst") is not None and purely_random:
        raise ValueError(
            'monotonic_cst must be None with threshold="purely_random", whose splits do not look '
            "at the target that they would have to follow; got "
            f'{shorten(values.get("monotonic_cst"))}. Use threshold="best" or "random".'
        )
    if values["criterion"] == "poisson" and purely_random:
        raise ValueError(
            'criterion must not be "poisson" with threshold="purely_random": splits chosen '
            "without the target may leave a side without any count; got "
            'criterion="poisson". Use criterion="squared_error", whose leaves have the same means.'
        )
    if values["min_impurity_decrease"] > 0 and purely_random:
        raise ValueError(
            'min_impurity_decrease must be 0 with threshold="purely_random", which ignores '
            f"impurity; got {values['min_impurity_decrease']}. Leave it out, or limit "
            "max_leaf_nodes."
        )


def _check_purity(values: Mapping[str, Any], members: Sequence[ProjectionDraws]) -> None:
    """Raise for parameters that contradict `split_pure_nodes`."""
    supervised = [m.projection for m in members if m.projection.reads_target]
    constraint = values.get("monotonic_cst")
    if supervised:
        raise ValueError(
            "split_pure_nodes needs a projection that does not look at the target, which is the "
            f"same all over a pure node; got {shorten(supervised[:1])[1:-1]}. Use for example "
            'projection="axis" or "sparse".'
        )
    if values["min_impurity_decrease"] > 0:
        raise ValueError(
            "min_impurity_decrease must be 0 with split_pure_nodes, as splits of pure nodes "
            f"decrease nothing; got {values['min_impurity_decrease']}. Leave one of them out."
        )
    if constraint is not None:
        raise ValueError(
            "monotonic_cst must be None with split_pure_nodes, which splits them without looking "
            f"at the target; got {shorten(constraint)}. Leave one of them out."
        )
    if values["criterion"] == "poisson":
        raise ValueError(
            'criterion must not be "poisson" with split_pure_nodes: a side without any count is '
            'no cut; got criterion="poisson". Use criterion="squared_error", whose leaves have '
            "the same means."
        )


def _check_bags(values: Mapping[str, Any]) -> None:
    """Raise for parameters of bags where there are none."""
    bootstrap, max_samples = values["bootstrap"], values["max_samples"]
    if max_samples is not None and not bootstrap:
        raise ValueError(
            "max_samples needs bootstrap=True: without a bag every tree takes all rows; got "
            f"max_samples={max_samples} with bootstrap=False. Set bootstrap=True; add "
            "replace=False to draw without replacement."
        )
    if not values["replace"] and not bootstrap:
        raise ValueError(
            "replace=False needs bootstrap=True: without a bag nothing is drawn; got "
            "bootstrap=False. Leave replace out, or set bootstrap=True to draw bags without "
            "replacement."
        )


def resolve_options(
    values: Mapping[str, Any],
    members: Sequence[ProjectionDraws],
    shape: TableShape,
    seed: int,
    groups: RowGroups | None = None,
) -> TrainingOptions:
    """Resolve parameters for a training table.

    Parameters
    ----------
    values : mapping
        Parameters as given to the estimator, checked.
    members : sequence of ProjectionDraws
        From `bevel.projections.families.read_projection`. Without any, the options have no
        families, and the criterion may be "auto".
    shape : TableShape
        Size of the training table.
    seed : int
        Seed from `draw_seed`.
    groups : RowGroups or None, default=None
        Groups of rows that bags draw together.
    """
    purely_random = values["threshold"] == "purely_random"
    regression = is_regression(values["criterion"])
    survival = values["criterion"] in SURVIVAL_CRITERIA
    families = resolve_families(
        members, shape, regression=regression, single_draw=purely_random, survival=survival
    )
    leaves = values["max_leaf_nodes"]
    if leaves is None:
        leaves = math.ceil(math.sqrt(shape.n_rows)) if purely_random else 0
    options = TrainingOptions(
        criterion=_criterion(values["criterion"], members),
        threshold=values["threshold"],
        n_thresholds=int(values["n_thresholds"]),
        split_search=values["split_search"],
        growth=_growth(values["growth"], leaves, purely_random),
        max_depth=-1 if values["max_depth"] is None else int(values["max_depth"]),
        min_samples_split=_smallest_split(values["min_samples_split"], shape.n_rows),
        min_samples_leaf=_rows(values["min_samples_leaf"], shape.n_rows),
        min_weight_leaf=float(values["min_weight_fraction_leaf"]),
        max_leaf_nodes=int(leaves),
        min_impurity_decrease=float(values["min_impurity_decrease"]),
        max_redraws=-1 if values["max_redraws"] == "auto" else int(values["max_redraws"]),
        split_pure_nodes=bool(values.get("split_pure_nodes", False)),
        bag_size=count_draws(values, shape.n_rows, groups),
        replace=bool(values["replace"]),
        balanced_subsample=bool(values["bootstrap"])
        and values.get("class_weight") == "balanced_subsample",
        families=tuple(families),
        seed=seed,
        chooses_node_size=_chooses_node_size(values, members),
        groups=groups,
        leaf_share=leaf_share(values),
    )
    asks = _asks_for_out_of_bag(values) or 'Ridge(tune="oob")'
    wanted = _asks_for_out_of_bag(values) or any(m.projection.needs_out_of_bag for m in members)
    if wanted and not options.leaves_rows_out(shape.n_rows):
        raise NoOutOfBagError(
            f"{asks} needs rows out of the bag: a bag of all rows without replacement leaves "
            f"none; got replace=False with max_samples={values['max_samples']}. Draw fewer rows."
        )
    return options


def _criterion(criterion: str, members: Sequence[ProjectionDraws]) -> str:
    return "gini" if criterion == "auto" and members else core_name(criterion)


def _growth(growth: str | None, leaves: int, purely_random: bool) -> str:
    if growth is not None:
        return growth
    if purely_random:
        return "random_leaf"
    return "best_first" if leaves else "depth_first"


def _smallest_split(count: float | str, n_rows: int) -> int:
    """Distinct rows that a node needs to be split; "auto" starts from 2."""
    return 2 if isinstance(count, str) else max(2, _rows(count, n_rows))


def _chooses_node_size(values: Mapping[str, Any], members: Sequence[ProjectionDraws]) -> bool:
    """Whether `min_samples_split` is chosen with the families."""
    return values["min_samples_split"] == "auto" and not members


def _rows(count: float, n_rows: int) -> int:
    """Number of rows of a count or a share, shares rounded up as in scikit-learn."""
    return int(count) if isinstance(count, numbers.Integral) else math.ceil(count * n_rows)


def count_draws(values: Mapping[str, Any], n_rows: int, groups: RowGroups | None = None) -> int:
    """Draws of a bag, of rows or groups; 0 if there are no bags."""
    if not values["bootstrap"]:
        return 0
    size = values["max_samples"]
    n_rows = n_rows if groups is None else groups.n_groups
    if size is None:
        size = 1.0 if values["replace"] else DISTINCT_SHARE
    if not isinstance(size, numbers.Integral):
        return max(1, round(float(size) * n_rows))
    if int(size) > n_rows:
        warn_of_few_rows(int(size), n_rows)
    return min(int(size), n_rows)


def warn_of_few_rows(max_samples: int, n_rows: int) -> None:
    """Warn that there are fewer training rows than `max_samples`."""
    warnings.warn(
        f"max_samples ({max_samples}) is greater than the total number of samples ({n_rows}). "
        f"max_samples will be set to n_samples for estimation: every tree draws {n_rows} rows.",
        UserWarning,
        stacklevel=6,
    )
