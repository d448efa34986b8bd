"""Plan of successive halving: number of candidates of each round, and of their trees.

The first round tries all candidates with few trees. The better half goes on with twice as many,
until three or fewer are left. Trees are added to those that exist.
"""

from __future__ import annotations

from dataclasses import dataclass

__all__ = ["Round", "most_candidates", "n_trees_of", "plan_rounds"]

FINALISTS = 3  # rounds with this many candidates are not halved again


@dataclass(frozen=True)
class Round:
    """A round of the search.

    Attributes
    ----------
    n_candidates : int
        Number of candidates.
    n_trees : int
        Number of trees of each at its end.
    """

    n_candidates: int
    n_trees: int


def plan_rounds(n_candidates: int, first_trees: int) -> list[Round]:
    """Rounds for a number of candidates, the first of `first_trees` trees each."""
    rounds = [Round(n_candidates, first_trees)]
    while rounds[-1].n_candidates > FINALISTS:
        last = rounds[-1]
        rounds.append(Round((last.n_candidates + 1) // 2, 2 * last.n_trees))
    return rounds


def n_trees_of(rounds: list[Round]) -> int:
    """Number of trees that are grown in all rounds together."""
    before, total = 0, 0
    for each in rounds:
        total += each.n_candidates * (each.n_trees - before)
        before = each.n_trees
    return total


def most_candidates(budget: int, first_trees: int, available: int) -> int:
    """The largest number of candidates whose rounds cost at most `budget` trees; 0 if none."""
    affordable = (
        n
        for n in range(min(available, budget // first_trees), 0, -1)
        if n_trees_of(plan_rounds(n, first_trees)) <= budget
    )
    return next(affordable, 0)
