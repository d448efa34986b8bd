"""How long a run will still take, from what its cells have cost so far."""

from collections import defaultdict
from collections.abc import Callable, Iterable

from bevel_lab.cells import Cell

__all__ = ["RemainingTime"]

# Entries of a table too small to matter: scores and set-up cost as much.
FIXED_COST = 20_000


class RemainingTime:
    """Seconds per entry of the training table, for each system, applied to what is left.

    Systems of which nothing is known yet cost as much as the others do on average.
    """

    def __init__(self, cells: Iterable[Cell], size: Callable[[Cell], int]) -> None:
        self._size = size
        self._left: dict[str, float] = defaultdict(float)
        self._spent: dict[str, float] = defaultdict(float)
        self._done: dict[str, float] = defaultdict(float)
        for cell in cells:
            self._left[cell.system] += self._cost(cell)

    def finished(self, cell: Cell, seconds: float) -> None:
        """Learn from a cell."""
        cost = self._cost(cell)
        self._left[cell.system] -= cost
        self._done[cell.system] += cost
        self._spent[cell.system] += seconds

    def seconds(self) -> float:
        """Seconds of one thread that the remaining cells need; NaN before the first one is done."""
        done = sum(self._done.values())
        if done == 0.0:
            return float("nan")
        usual = sum(self._spent.values()) / done
        return sum(
            left * (self._spent[name] / self._done[name] if self._done[name] else usual)
            for name, left in self._left.items()
        )

    def _cost(self, cell: Cell) -> float:
        return float(self._size(cell) + FIXED_COST)
