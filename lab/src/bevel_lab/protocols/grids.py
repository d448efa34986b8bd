"""What the papers tune, where it differs from one paper to the next."""

from dataclasses import replace
from functools import partial

from bevel.tuning.candidates import DENSITIES, POWERS
from bevel_lab.systems import SYSTEMS
from bevel_lab.systems.base import Grid, Task
from bevel_lab.systems.ours import UP_TO_P

__all__ = [
    *("COMBINED", "SCALED_GRIDS", "SCALES", "SPORF_GRIDS", "THESIS_GRIDS", "UNSCALED"),
    *("WIDE", "combining"),
]


def _candidates(task: Task) -> list[dict[str, object]]:  # noqa: ARG001
    """d alone."""
    return [{"n_projections": power} for power in POWERS]


def _combinations(powers: tuple[str, ...], fewest: int, task: Task) -> list[dict[str, object]]:
    """d and the number of features that F-RC combines, λp."""
    numbers = [number for number in DENSITIES if fewest <= number <= task.p] or [1]
    return [
        {"n_projections": power, "n_combined": number} for power in powers for number in numbers
    ]


def combining(powers: tuple[str, ...] = POWERS, fewest: int = 1) -> dict[str, Grid]:
    """The grid of SPORF 3.2 for F-RC: from one feature on, which is RF, to five."""
    return {"forest-rc": Grid(partial(_combinations, powers, fewest))}


def _thesis(more: tuple[str, ...], task: Task) -> list[dict[str, object]]:
    """Thesis 2.3.1: every d up to p where there are five features at most."""
    few: tuple[int | str, ...] = tuple(range(1, task.p + 1))
    return [{"n_projections": d} for d in (few if task.p <= 5 else UP_TO_P) + more]


WIDE = Grid(_candidates)  # d up to p², all else given
# Other systems have the grids of SPORF 3.2 of their own.
SPORF_GRIDS = combining()
# With one feature F-RC can be RF, which the paper has beside it. Where single features are best, as
# on orthant, the out-of-bag error then chooses RF's directions, with d up to p².
COMBINED = {"combined": combining(fewest=2)}

# As features are, and the ranks (r), percentiles (n) and z-scores (z) of thesis 2.2.5.
SCALES = (None, "rank", "minmax", "standard")


def _scaled(grid: Grid, task: Task) -> list[dict[str, object]]:
    """Every setting of a grid with every scale of the features."""
    return [{"scale": scale, **setting} for scale in SCALES for setting in grid.settings(task)]


def _own_grid(system: str) -> Grid:
    grid = SPORF_GRIDS.get(system, SYSTEMS[system].tuning)
    assert grid is not None, system
    return grid


# What combines features is sensitive to their scales, which thesis 2.2.5 varies in all experiments;
# directions of CCF do not depend on them.
UNSCALED = {"unscaled": {name: _own_grid(name) for name in ("sporf", "forest-rc", "rr-rf")}}
SCALED_GRIDS = {
    name: replace(grid, settings=partial(_scaled, grid))
    for name, grid in UNSCALED["unscaled"].items()
}

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
