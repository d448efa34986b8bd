"""Several results in one plot: their names, and styles that differ without colour too."""

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, TypeVar

from bevel.errors import wrong_value
from bevel.plots.canvas import COLOURS, LINES, MARKERS

if TYPE_CHECKING:
    from matplotlib.axes import Axes

__all__ = ["legend", "line", "marker", "named"]

T = TypeVar("T")


def named(results: T | Mapping[str, T], argument: str = "results") -> dict[str, T]:
    """Results by name; a single one needs no name. `argument`: their name in messages."""
    if isinstance(results, Mapping) and not results:
        raise wrong_value(argument, "at least one", "none", "Pass one, or some by name.")
    return dict(results) if isinstance(results, Mapping) else {"": results}


def line(number: int) -> dict[str, Any]:
    """Colour and dashes of line `number`."""
    return {"color": COLOURS[number % len(COLOURS)], "linestyle": LINES[number % len(LINES)]}


def marker(number: int) -> dict[str, Any]:
    """Colour and marker of series `number`."""
    return {"color": COLOURS[number % len(COLOURS)], "marker": MARKERS[number % len(MARKERS)]}


def legend(axes: "Axes", names: Mapping[str, object], **placing: Any) -> None:
    """A legend, unless there is a single result without a name."""
    if any(names):
        axes.legend(**placing)
