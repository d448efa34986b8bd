"""What all figures share: an empty canvas in the house style, and its way to SVG text."""

from collections.abc import Iterator
from contextlib import contextmanager
from io import StringIO
from typing import TYPE_CHECKING, Any

from bevel.extras import import_optional

if TYPE_CHECKING:
    from matplotlib.figure import Figure

__all__ = ["COLOURS", "FAINT", "INK", "LINES", "MARKERS", "RULE", "canvas", "svg"]

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
def canvas(width: float, height: float) -> Iterator["Figure"]:
    """A figure of so many inches, in the house style as long as it is being drawn."""
    import_optional("matplotlib", needed_by="A figure of the lab", install="bevel[plot]")
    from matplotlib import rc_context
    from matplotlib.figure import Figure

    with rc_context(STYLE):
        yield Figure(figsize=(width, height))


def svg(figure: "Figure") -> str:
    """The drawing as SVG text, cropped to its ink, without date or maker."""
    out = StringIO()
    nothing: Any = {"Date": None, "Creator": None, "Format": None, "Type": None}
    figure.savefig(out, format="svg", bbox_inches="tight", pad_inches=0.05, metadata=nothing)
    return out.getvalue()
