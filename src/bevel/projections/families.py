"""Resolves `projection` and `n_projections` into the list of samplers that a trainer runs.

Everything that depends on the number of columns is decided here, once per fit: how many draws each
member makes, how many of them are nominal columns, and whether the data can honour them.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from bevel.errors import nearest, shorten, wrong_type, wrong_value
from bevel.projections import NAMED, NEED_SETTINGS, Projection
from bevel.projections.base import Count, FamilySpec, resolve_count

__all__ = [
    "ProjectionDraws",
    "TableShape",
    "read_projection",
    "resolve_families",
    "tuned_out_of_bag",
]

# The largest number of weights in the directions of a node. They take a quarter of a gigabyte for
# each thread, and SparseSigns, which marks the cells that are taken, up to two more.
MAX_WEIGHTS = 2**25


AUTOMATIC = "auto"


@dataclass(frozen=True)
class TableShape:
    """What the samplers need to know about the training table."""

    n_rows: int
    n_numeric: int
    n_nominal: int
    n_with_terms: int = 0  # nominal columns whose levels directions may combine

    @property
    def n_combined(self) -> int:
        """Columns that directions may combine."""
        return self.n_numeric + self.n_with_terms

    @property
    def n_features(self) -> int:
        """All columns: the p of `n_projections`."""
        return self.n_numeric + self.n_nominal


@dataclass(frozen=True)
class ProjectionDraws:
    """One member of the list: a projection, its number of draws, whether it was given by name."""

    projection: Projection
    n_projections: Count
    by_name: bool = False


def read_projection(projection: object, n_projections: Count) -> list[ProjectionDraws]:
    """Read the two parameters as given by the user into a list of members.

    Parameters
    ----------
    projection : str, Projection or sequence
        A name, an object of `bevel.projections`, or a list of these and of pairs
        `(member, n_projections)`.
    n_projections : int, float or str
        Draws per node; must be "auto" with a list, whose members carry their own number, and with
        the projection "auto".

    Returns
    -------
    list of ProjectionDraws
        Empty for "auto": the families are chosen on the data, in `bevel.training.automatic`.
    """
    if isinstance(projection, str) and projection == AUTOMATIC:
        return _read_automatic(n_projections)
    if not isinstance(projection, list | tuple):
        return [_read_member(projection, n_projections)]
    if n_projections != "auto":
        required = '"auto" when projection is a list'
        remedy = "Give the number with its member: projection=[(P.Axis(), 10), ...]."
        raise wrong_value("n_projections", required, n_projections, remedy)
    if len(projection) == 0:
        raise wrong_value(
            "projection", "at least one member", projection, "Use for example [P.Axis()]."
        )
    return [_read_list_member(member) for member in projection]


def _read_automatic(n_projections: Count) -> list[ProjectionDraws]:
    if n_projections != "auto":
        required = '"auto" with projection="auto", whose families have numbers of their own'
        remedy = 'Name a family, as in projection="sparse", or leave n_projections out.'
        raise wrong_value("n_projections", required, n_projections, remedy)
    return []


def _read_list_member(member: object) -> ProjectionDraws:
    if not isinstance(member, tuple):
        return _read_member(member, "auto")
    if len(member) != 2:
        required = "made of projections and pairs (projection, n_projections)"
        raise wrong_value(
            "projection", required, member, 'Write for example (P.SparseSigns(3), "p").'
        )
    return _read_member(member[0], member[1])


def _read_member(projection: object, n_projections: Count) -> ProjectionDraws:
    if isinstance(projection, str) and projection == AUTOMATIC:
        required = "made of families by name or object"
        raise wrong_value("projection", required, [AUTOMATIC], 'Pass projection="auto" alone.')
    names = ", ".join(f'"{name}"' for name in (AUTOMATIC, *NAMED))
    required = f"one of {names}, an object of bevel.projections, or a list of them"
    if isinstance(projection, str):
        if projection in NEED_SETTINGS:
            remedy = f"Pass the object, which has settings of its own: {NEED_SETTINGS[projection]}."
            raise wrong_value("projection", required, projection, remedy)
        if projection not in NAMED:
            close = nearest(projection, list(NAMED))
            remedy = f'Did you mean "{close}"?' if close else "Check the spelling."
            raise wrong_value("projection", required, projection, remedy)
        return ProjectionDraws(NAMED[projection](), n_projections, by_name=True)
    if isinstance(projection, type) and issubclass(projection, Projection):
        remedy = f"Add parentheses: P.{projection.__name__}()."
        raise wrong_type("projection", required, projection, remedy)
    if not isinstance(projection, Projection):
        remedy = 'Write for example projection="sparse" or projection=P.SparseSigns(3).'
        raise wrong_type("projection", required, projection, remedy)
    return ProjectionDraws(projection, n_projections)


def resolve_families(
    members: Sequence[ProjectionDraws],
    shape: TableShape,
    *,
    regression: bool,
    single_draw: bool = False,
    survival: bool = False,
) -> list[FamilySpec]:
    """Resolve members into samplers for a table.

    With nominal columns, round(d·p_nominal/p) of a member's d draws, at least one, are nominal
    columns without replacement; the rest, at least one if there are numeric columns, are
    directions. A member with d = 1 therefore evaluates one of each. The nominal draws of all
    members are made by one sampler.

    Parameters
    ----------
    members : sequence of ProjectionDraws
        From `read_projection`.
    shape : TableShape
        Size of the training table.
    regression : bool
        Chooses the "auto" number of draws.
    single_draw : bool, default=False
        One draw per member, for `threshold="purely_random"`, which compares no candidates.
    survival : bool, default=False
        Whether the target is right-censored times.
    """
    families: list[FamilySpec] = []
    nominal_draws = 0
    for member in members:
        projection = _projection_for(member, shape)
        n_combined = shape.n_combined if projection.combines_levels else shape.n_numeric
        projection.check_columns(n_combined, shape.n_nominal)
        if survival:
            projection.check_survival()
        else:
            projection.check_task(regression)
        if single_draw:
            directions, nominal = _divide(1, n_combined, shape)
        else:
            directions, nominal = _draws(member, projection, n_combined, shape, regression)
        nominal_draws += nominal
        if n_combined:
            families.append(projection.family(directions, n_combined))
            _check_weights(families, member, projection)
    if nominal_draws:
        families.append(FamilySpec("categorical", min(nominal_draws, shape.n_nominal)))
    return families


def _check_weights(
    families: Sequence[FamilySpec], member: ProjectionDraws, projection: Projection
) -> None:
    """Raise if a node would hold more weights of directions than there is room for."""
    n_weights = sum(family.n_weights for family in families)
    if n_weights > MAX_WEIGHTS:
        raise wrong_value(
            "n_projections",
            f"so small that the directions of a node have at most {MAX_WEIGHTS} weights in all",
            member.n_projections,
            f"With {shorten(projection)} that would be {n_weights}. Draw fewer, or make directions "
            "of fewer features.",
        )


def combines_units(members: Sequence[ProjectionDraws]) -> bool:
    """Whether some member combines features that may be in different units."""
    return any(member.projection.combines_units for member in members)


def tuned_out_of_bag(members: Sequence[ProjectionDraws]) -> str:
    """The first projection that chooses penalties on out-of-bag rows, as text; empty if none."""
    tuned = [member.projection for member in members if member.projection.needs_out_of_bag]
    return shorten(tuned[0]) if tuned else ""


def _projection_for(member: ProjectionDraws, shape: TableShape) -> Projection:
    projection = member.projection
    n_combined = shape.n_combined if projection.combines_levels else shape.n_numeric
    return projection.shrunk_to(n_combined) if member.by_name and n_combined else projection


def _draws(
    member: ProjectionDraws,
    projection: Projection,
    n_combined: int,
    shape: TableShape,
    regression: bool,
) -> tuple[int, int]:
    """Draws of directions and of nominal columns; raises if there are not so many directions."""
    most = projection.most_draws(n_combined)
    if member.n_projections == "auto":
        n_draws = projection.default_draws(shape.n_features, regression)
        directions, nominal = _divide(n_draws, n_combined, shape)
        if most is not None:
            directions = most if projection.tries_all else min(directions, most)
        return directions, nominal
    projection.check_draws(member.n_projections)
    n_draws = resolve_count("n_projections", member.n_projections, shape.n_features, '"auto", ')
    directions, nominal = _divide(n_draws, n_combined, shape)
    if most is not None and directions > most:
        required = (
            f"at most {most + nominal} for {shorten(projection)}, which draws without replacement"
        )
        got = member.n_projections
        remedy = "Draw fewer, or use a projection drawn with replacement such as P.SparseSigns()."
        raise wrong_value("n_projections", required, got, f"That is {n_draws} draws. {remedy}")
    return directions, nominal


def _divide(n_draws: int, n_combined: int, shape: TableShape) -> tuple[int, int]:
    """Divide d draws into directions and nominal columns in proportion to the columns.

    Nominal columns whose levels are combined count for both.
    """
    if shape.n_nominal == 0:
        return n_draws, 0
    nominal = min(max(1, _share(n_draws, shape.n_nominal, shape)), shape.n_nominal)
    directions = n_draws - nominal + _share(n_draws, n_combined - shape.n_numeric, shape)
    return max(directions, min(1, n_combined)), nominal


def _share(n_draws: int, n_columns: int, shape: TableShape) -> int:
    """The share of some columns in the draws, rounded."""
    return (2 * n_draws * n_columns + shape.n_features) // (2 * shape.n_features)
