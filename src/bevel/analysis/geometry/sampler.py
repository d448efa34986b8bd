"""One sampler of directions, resolved for a table of p numeric features."""

from __future__ import annotations

from bevel.errors import wrong_value
from bevel.projections import Projection
from bevel.projections.base import FamilySpec
from bevel.projections.counts import Count
from bevel.projections.families import TableShape, read_projection, resolve_families

__all__ = ["read_sampler"]


def read_sampler(projection: str | Projection, n_projections: Count, n_features: int) -> FamilySpec:
    """The sampler of a node; raises for samplers that learn from the target."""
    members = read_projection(projection, n_projections)
    if len(members) != 1:
        raise wrong_value("projection", "one sampler", projection, "Ask for each member by itself.")
    (member,) = members
    if member.projection.reads_target or member.projection.name in ("principal", "custom"):
        required = "a sampler that does not look at the data"
        remedy = 'Use for example "sparse", "axis" or "rotation".'
        raise wrong_value("projection", required, projection, remedy)
    (family,) = resolve_families([member], TableShape(0, n_features, 0), regression=False)
    return family
