"""The house style of all pictures, and the axes they are drawn on: given ones or new ones."""

from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

from bevel.extras import import_optional

if TYPE_CHECKING:
    from matplotlib.axes import Axes

__all__ = ["COLOURS", "FAINT", "INK", "LINES", "MARKERS", "RULE", "STYLE", "panel"]

INK = "#1f2933"
FAINT = "#6b7782"
RULE = "#d5dae0"
# Okabe and Ito's colours, dark ones first; the yellow is too pale for lines on white.
COLOURS = ("#0072B2", "#D55E00", "#009E73", "#1f2933", "#CC79A7", "#E69F00", "#56B4E9", "#7a7a7a")
MARKERS = ("o", "s", "^", "D", "v", "P", "X", "<", ">", "*")
LINES: tuple[Any, ...] = ("-", (0, (5, 2)), (0, (1.5, 1.5)), (0, (6, 2, 1.5, 2)))

STYLE: Any = {
    "svg.fonttype": "none",  # text stays text: small, searchable, in the reader's own font
    "svg.hashsalt": "bevel",
    "text.parse_math": False,  # names of columns may hold dollar signs
    "font.size": 10,
    "axes.edgecolor": FAINT,
    "axes.labelcolor": INK,
    "axes.titlecolor": INK,
    "axes.titlesize": 10,
    "axes.titleweight": "bold",
    "axes.spines.top": False,
    "axes.spines.right": False,
    "axes.axisbelow": True,
    "xtick.color": FAINT,
    "ytick.color": FAINT,
    "xtick.labelcolor": INK,
    "ytick.labelcolor": INK,
    "text.color": INK,
    "legend.frameon": False,
    "figure.facecolor": "white",
}


@contextmanager
def panel(
    ax: "Axes | None", needed_by: str, width: float = 6.4, height: float = 4.2
) -> Iterator["Axes"]:
    """Axes to draw on in the house style: the given ones, or those of a new figure.

    A new figure is not attached to pyplot's window list: save it with
    ``ax.figure.savefig(path, bbox_inches="tight")``.
    """
    import_optional("matplotlib", needed_by=needed_by, install="bevel[plot]")
    from matplotlib import rc_context
    from matplotlib.figure import Figure

    with rc_context(STYLE):
        yield Figure(figsize=(width, height)).add_subplot() if ax is None else ax
