"""What the papers tune, where it differs from one paper to the next."""

from functools import partial

from bevel_lab.systems.base import Grid, Task

__all__ = ["SPORF_GRIDS", "THESIS_GRIDS", "WIDE"]

POWERS = ("p**0.25", "p**0.5", "p**0.75", "p")
DENSITIES = (1, 2, 3, 4, 5)


def _candidates(more: tuple[str, ...], task: Task) -> list[dict[str, object]]:  # noqa: ARG001
    """d alone."""
    return [{"n_projections": power} for power in (*POWERS, *more)]


def _combinations(task: Task) -> list[dict[str, object]]:
    """SPORF 3.2: d and the number of features that F-RC combines, λp.

    From two on, as in 4.4: with one it is RF, which the paper has beside it.
    """
    numbers = [number for number in DENSITIES[1:] if number <= task.p] or [1]
    return [
        {"n_projections": power, "n_combined": number}
        for power in (*POWERS, "p**2")
        for number in numbers
    ]


def _thesis(more: tuple[str, ...], task: Task) -> list[dict[str, object]]:
    """Thesis 2.3.1: every d up to p where there are five features at most."""
    few: tuple[int | str, ...] = tuple(range(1, task.p + 1))
    return [{"n_projections": d} for d in (few if task.p <= 5 else POWERS) + more]


WIDE = Grid(partial(_candidates, ("p**2",)))  # d up to p², all else given
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
