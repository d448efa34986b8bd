"""Options for writing a tree: depth, number of nodes and digits."""

from __future__ import annotations

from dataclasses import dataclass

from bevel.parameters.constraints import Integer, NoneOption, Number, Parameter

__all__ = ["Style"]


@dataclass(frozen=True)
class Style:
    """Options for writing a tree.

    Attributes
    ----------
    max_depth : int or None
        Subtrees at this depth become leaves; None: no limit.
    min_rows : float
        Splits with fewer (weighted) rows on one side are hidden with their subtrees.
    digits : int or None
        Digits of weights and thresholds, counted from the spread of the columns; None: as many as
        float32, in which trees compare, can distinguish.
    max_terms : int or None
        Terms of a combination that are written out; None: all.
    max_nodes : int or None
        Subtrees become leaves at the depth that leaves at most this many nodes; None: no limit.
    """

    max_depth: int | None = None
    min_rows: float = 0
    digits: int | None = 3
    max_terms: int | None = 8
    max_nodes: int | None = None

    def __post_init__(self) -> None:
        for parameter in _PARAMETERS:
            parameter.check(getattr(self, parameter.name))


def _parameter(name: str, *accepts: Integer | Number | NoneOption) -> Parameter:
    return Parameter(name, None, accepts, "", f"See the documentation of {name} in tree_rules.")


_PARAMETERS = (
    _parameter("max_depth", Integer(0), NoneOption()),
    _parameter("min_rows", Number("[0, inf]")),
    _parameter("digits", Integer(1), NoneOption()),
    _parameter("max_terms", Integer(1), NoneOption()),
    _parameter("max_nodes", Integer(1), NoneOption()),
)
