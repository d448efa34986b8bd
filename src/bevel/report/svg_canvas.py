"""The canvas of all figures, with common styles, and its conversion to SVG text."""

from collections.abc import Iterator
from contextlib import contextmanager
from io import StringIO
from typing import TYPE_CHECKING, Any

from bevel.extras import import_optional
from bevel.plots.canvas import COLOURS, FAINT, INK, LINES, MARKERS, RULE, STYLE

if TYPE_CHECKING:
    from matplotlib.figure import Figure

__all__ = ["COLOURS", "FAINT", "INK", "LINES", "MARKERS", "RULE", "canvas", "svg"]


@contextmanager
def canvas(width: float, height: float) -> Iterator["Figure"]:
    """A figure of the given size in inches, with the common style while it is drawn."""
    import_optional("matplotlib", needed_by="A figure of a report", install="bevel[plot]")
    from matplotlib import rc_context
    from matplotlib.figure import Figure

    with rc_context(STYLE):
        yield Figure(figsize=(width, height))


def svg(figure: "Figure") -> str:
    """The drawing as SVG text, cropped to its contents, without background, date or creator."""
    out = StringIO()
    nothing: Any = {"Date": None, "Creator": None, "Format": None, "Type": None}
    looks: Any = {"bbox_inches": "tight", "pad_inches": 0.05, "transparent": True}
    figure.savefig(out, format="svg", metadata=nothing, **looks)
    return out.getvalue()
