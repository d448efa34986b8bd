"""How far a run has come."""

from dataclasses import dataclass

from bevel_lab.cells import Result

__all__ = ["Step"]


@dataclass(frozen=True)
class Step:
    """How far a run has come, after one more result."""

    result: Result
    n_done: int  # of the cells that this run had to do
    n_cells: int
    seconds_left: float
