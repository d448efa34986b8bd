"""How long a run will still take, from what its cells have cost so far."""

from collections import defaultdict
from collections.abc import Callable, Iterable
from dataclasses import dataclass

from bevel_lab.cells import Cell, canonical

__all__ = ["RemainingTime"]


@dataclass
class _Kind:
    """Cells that differ in repeat and fold only, and so cost about the same."""

    cost: float  # of one of them, as estimated before any is run
    n_left: int = 0
    n_done: int = 0
    spent: float = 0.0

    @property
    def seconds_left(self) -> float:
        return self.n_left * self.spent / self.n_done if self.n_done else 0.0

    @property
    def cost_left(self) -> float:
        return 0.0 if self.n_done else self.n_left * self.cost


class RemainingTime:
    """Seconds that remain: those of a cell of the same kind, or else in proportion to its cost.

    Cells of one system on one data set in one setting are of one kind. Of other kinds the cost is
    only estimated, and a unit of it takes as long as it did in other cells of the system, or of all
    systems where nothing is known of this one.

    Parameters
    ----------
    cells : iterable of Cell
        All that are to be run.
    cost : callable
        ``cost(cell)``: an estimate above 0, in any unit.
    """

    def __init__(self, cells: Iterable[Cell], cost: Callable[[Cell], float]) -> None:
        self._kinds: dict[tuple[str, str, str], _Kind] = {}
        self._known = 0.0  # seconds left in kinds of which a cell was run
        self._unknown: dict[str, float] = defaultdict(float)  # cost left in others, by system
        self._spent: dict[str, float] = defaultdict(float)
        self._done: dict[str, float] = defaultdict(float)
        for cell in cells:
            kind = self._kinds.setdefault(_name(cell), _Kind(cost(cell)))
            kind.n_left += 1
            self._unknown[cell.system] += kind.cost

    def finished(self, cell: Cell, seconds: float) -> None:
        """Learn from a cell."""
        kind = self._kinds[_name(cell)]
        self._known -= kind.seconds_left
        self._unknown[cell.system] -= kind.cost_left
        kind.n_left -= 1
        kind.n_done += 1
        kind.spent += seconds
        self._known += kind.seconds_left
        self._done[cell.system] += kind.cost
        self._spent[cell.system] += seconds

    def seconds(self) -> float:
        """Seconds of one thread that the remaining cells need; NaN before the first one is done."""
        done = sum(self._done.values())
        if done == 0.0:
            return float("nan")
        usual = sum(self._spent.values()) / done
        estimated = sum(
            left * (self._spent[name] / self._done[name] if self._done[name] else usual)
            for name, left in self._unknown.items()
        )
        return max(0.0, self._known + estimated)


def _name(cell: Cell) -> tuple[str, str, str]:
    return cell.system, cell.data, canonical(dict(cell.setting))
