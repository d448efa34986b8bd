"""The families that `projection="auto"` tries, and which of them fit a table."""

from __future__ import annotations

from dataclasses import dataclass

from bevel.projections import CCA, LDA, Axis, Projection, Ridge, SparseSigns
from bevel.projections.counts import Count
from bevel.projections.families import Member, TableShape

__all__ = ["SHARED_SCALE", "Candidate", "axis_family", "candidates_for"]


@dataclass(frozen=True)
class Candidate:
    """A family of directions with the settings that did best on average.

    Attributes
    ----------
    name : str
        Name as `families_` shows it.
    projection : Projection
        Where directions come from.
    criterion : str
        Split criterion, unless the user has chosen one.
    n_projections : int, float or str
        Draws at each node.
    wide : bool
        Whether the family is only for tables of many numeric columns.
    """

    name: str
    projection: Projection
    criterion: str
    n_projections: Count = "auto"
    wide: bool = False

    @property
    def members(self) -> list[Member]:
        """The family as a projection by name: it adapts to few columns."""
        return [Member(self.projection, self.n_projections, by_name=True)]


FEWEST_WIDE_COLUMNS = 50
SHARED_SCALE = "minmax"  # scale of all families if `scale="auto"` (docs/design/scale.md)
# The first family fits every table (docs/design/automatic_families.md).
FOR_CLASSES = (
    Candidate("axis", Axis(), "entropy"),
    Candidate("sparse", SparseSigns(), "entropy"),
    Candidate("lda", LDA(), "entropy", 3),
    Candidate("cca", CCA(bootstrap=None), "entropy"),
    Candidate("ridge", Ridge(tune="gcv"), "entropy", wide=True),
)
FOR_NUMBERS = (
    Candidate("axis", Axis(), "squared_error", "p"),
    Candidate("sparse", SparseSigns(), "squared_error"),
    Candidate("lda", LDA(), "squared_error", 5),
    Candidate("ridge", Ridge(tune="gcv"), "squared_error"),
)


def axis_family(*, regression: bool) -> Candidate:
    """The family of axis-aligned splits, which takes part in every forest."""
    return (FOR_NUMBERS if regression else FOR_CLASSES)[0]


def candidates_for(
    shape: TableShape,
    *,
    regression: bool,
    purely_random: bool,
    splits_pure: bool = False,
    constrained: str = "",
) -> tuple[list[Candidate], list[tuple[str, str]]]:
    """Families that fit a table, and the names of the others with the reason.

    Parameters
    ----------
    shape : TableShape
        Size of the training table.
    regression : bool
        Whether the target is a number.
    purely_random : bool
        Whether cuts are chosen without the target.
    splits_pure : bool, default=False
        Whether pure nodes are split, in which the target says nothing.
    constrained : str, default=""
        Name of the parameter that constrains directions, if any.
    """
    fitting, left_out = [], []
    without_target = 'threshold="purely_random" does not' if purely_random else ""
    if splits_pure:
        without_target = without_target or "split_pure_nodes cannot in pure nodes"
    for candidate in FOR_NUMBERS if regression else FOR_CLASSES:
        reason = _objection(candidate, shape, without_target, constrained)
        if reason:
            left_out.append((candidate.name, reason))
        else:
            fitting.append(candidate)
    return fitting, left_out


def _objection(
    candidate: Candidate, shape: TableShape, without_target: str, constrained: str
) -> str:
    """Reason why a family does not fit a table; empty if it does."""
    if isinstance(candidate.projection, Axis):
        return ""
    if shape.n_numeric < 2:
        columns = "no numeric columns" if shape.n_numeric == 0 else "one numeric column"
        return f"needs two numeric columns to combine; the table has {columns}"
    if candidate.wide and shape.n_numeric < FEWEST_WIDE_COLUMNS:
        return f"for tables of at least {FEWEST_WIDE_COLUMNS} numeric columns"
    if without_target and candidate.projection.reads_target:
        return f"uses the target, which {without_target}"
    if constrained and not candidate.projection.can_be_constrained:
        return f"fits its coefficients freely, which {constrained} does not allow"
    return ""
