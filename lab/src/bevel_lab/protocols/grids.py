"""What the papers tune, where it differs from one paper to the next."""

from functools import partial

from bevel.tuning.candidates import DENSITIES, POWERS
from bevel_lab.systems.base import Grid, Task
from bevel_lab.systems.ours import UP_TO_P

__all__ = ["SPORF_GRIDS", "THESIS_GRIDS", "WIDE"]


def _candidates(task: Task) -> list[dict[str, object]]:  # noqa: ARG001
    """d alone."""
    return [{"n_projections": power} for power in POWERS]


def _combinations(task: Task) -> list[dict[str, object]]:
    """SPORF 3.2: d and the number of features that F-RC combines, λp.

    From two on, as in 4.4: with one it is RF, which the paper has beside it.
    """
    numbers = [number for number in DENSITIES[1:] if number <= task.p] or [1]
    return [
        {"n_projections": power, "n_combined": number} for power in POWERS for number in numbers
    ]


def _thesis(more: tuple[str, ...], task: Task) -> list[dict[str, object]]:
    """Thesis 2.3.1: every d up to p where there are five features at most."""
    few: tuple[int | str, ...] = tuple(range(1, task.p + 1))
    return [{"n_projections": d} for d in (few if task.p <= 5 else UP_TO_P) + more]


WIDE = Grid(_candidates)  # d up to p², all else given
# Other systems have the grids of SPORF 3.2 of their own.
SPORF_GRIDS = {"forest-rc": Grid(_combinations)}

_NARROW_THESIS, _WIDE_THESIS = (
    Grid(partial(_thesis, ())),
    Grid(partial(_thesis, ("p**1.5", "p**2"))),
)
THESIS_GRIDS = {
    "random-forest": _NARROW_THESIS,
    "rr-rf": _NARROW_THESIS,
    "forest-rc": _WIDE_THESIS,
    "frank": _WIDE_THESIS,
}
