"""The common style of all plots, and the axes they are drawn on: given ones or new ones.

New figures belong to pyplot, so that notebooks and `pyplot.show` show them; inside `detached` they
do not. Their layout is constrained: labels, titles and legends stay inside the picture.

The module also has styles for several results in one picture, names and numbers beside bars, and
titles that state a finding.
"""

import textwrap
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from functools import partial
from typing import TYPE_CHECKING, Any, TypeVar

import numpy as np
from numpy.typing import NDArray

from bevel.errors import wrong_type, wrong_value
from bevel.extras import import_optional
from bevel.printable import grouped, number, shorten_names

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

__all__ = [
    "COLOURS",
    "FAINT",
    "INK",
    "LINES",
    "LONGEST_NAME",
    "MARKERS",
    "RULE",
    "STYLE",
    "course",
    "decimals_for",
    "detached",
    "digits",
    "is_dates",
    "largest_of",
    "legend",
    "line",
    "mark_dates",
    "marker",
    "named",
    "new_figure",
    "panel",
    "panels",
    "plain_ticks",
    "set_finding",
    "shorten_sum",
    "text_width",
    "value_texts",
    "wrapped",
    "write_values",
]

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
    "text.parse_math": False,  # column names may contain dollar signs
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


MARGIN = 0.09  # inches around each panel
LETTER = 0.083  # inches of a letter of label size, rounded up
_DETACHED: ContextVar[bool] = ContextVar("bevel_detached_figures", default=False)


@contextmanager
def detached() -> Iterator[None]:
    """Context in which new figures do not belong to pyplot: no window, and nothing to close.

    For code that writes figures to files, in scripts, servers and threads.
    """
    before = _DETACHED.set(True)
    try:
        yield
    finally:
        _DETACHED.reset(before)


def new_figure(needed_by: str, width: float, height: float) -> "Figure":
    """A white figure of the given size in inches, whose layout keeps all text inside.

    Make it outside of `rc_context`: the first figure of a notebook sets up matplotlib's backend,
    which `rc_context` would undo.
    """
    import_optional("matplotlib", needed_by=needed_by, install="bevel[plot]")
    from matplotlib.layout_engine import ConstrainedLayoutEngine

    layout = ConstrainedLayoutEngine(w_pad=MARGIN, h_pad=MARGIN)
    look: Any = {"figsize": (width, height), "layout": layout, "facecolor": "white"}
    if _DETACHED.get():
        from matplotlib.figure import Figure

        return Figure(**look)
    from matplotlib import pyplot

    return pyplot.figure(**look)


def mark_dates(axis: Any) -> None:
    """Write the ticks of an axis of days since 1970-01-01 as dates, as short as they can be."""
    from matplotlib.dates import AutoDateLocator, ConciseDateFormatter

    locator: Any = AutoDateLocator(minticks=3, maxticks=7)  # type: ignore[no-untyped-call]
    axis.set_major_locator(locator)
    axis.set_major_formatter(ConciseDateFormatter(locator))  # type: ignore[no-untyped-call]


def is_dates(axis: Any) -> bool:
    """Whether the ticks of an axis are dates, which choose their number themselves."""
    from matplotlib.dates import DateLocator

    return isinstance(axis.get_major_locator(), DateLocator)


@contextmanager
def panel(
    ax: "Axes | None", needed_by: str, width: float = 6.4, height: float = 4.2
) -> Iterator["Axes"]:
    """Axes to draw on in the common style: the given ones, or those of a new figure."""
    import_optional("matplotlib", needed_by=needed_by, install="bevel[plot]")
    from matplotlib import rc_context
    from matplotlib.axes import Axes

    if ax is None:
        figure = new_figure(needed_by, width, height)
        with rc_context(STYLE):
            ax = figure.add_subplot()
    elif not isinstance(ax, Axes):
        raise wrong_type("ax", "axes of matplotlib, or None", ax, "Pass pyplot.subplots()[1].")
    with rc_context(STYLE):
        yield ax
        plain_ticks(ax)


@contextmanager
def panels(
    ax: Any,
    needed_by: str,
    shape: tuple[int, int],
    size: tuple[float, float],
    **grid: Any,
) -> Iterator[NDArray[Any]]:
    """Axes in rows and columns, in the common style.

    Parameters
    ----------
    ax : matplotlib Axes, array-like of Axes or None
        Axes that are divided into the panels; or as many axes as there are panels; or None
        for a new figure.
    needed_by : str
        Name of the plotting function.
    shape : (int, int)
        Number of rows and columns.
    size : (float, float)
        Width and height in inches of a new figure.
    **grid
        Options of `GridSpec`, such as `height_ratios`.
    """
    import_optional("matplotlib", needed_by=needed_by, install="bevel[plot]")
    from matplotlib import rc_context
    from matplotlib.axes import Axes

    if ax is None:
        figure = new_figure(needed_by, *size)
        with rc_context(STYLE):
            cells = figure.add_gridspec(*shape, **grid).subplots(squeeze=False)
    with rc_context(STYLE):
        if ax is not None:
            cells = _divided(ax, shape, grid) if isinstance(ax, Axes) else _given(ax, shape)
        yield cells
        for each in cells.flat:
            plain_ticks(each)


def _divided(ax: "Axes", shape: tuple[int, int], grid: dict[str, Any]) -> NDArray[Any]:
    """Divide the area of axes into rows and columns."""
    place = ax.get_subplotspec()
    if place is None:
        remedy = "Make it with pyplot.subplots, or pass one for each panel."
        raise wrong_value("ax", "made as a subplot, to be divided", "other axes", remedy)
    ax.set_axis_off()
    figure: Any = ax.figure
    lattice = place.subgridspec(*shape, **grid)
    cells = [figure.add_subplot(lattice[row, column]) for row, column in np.ndindex(*shape)]
    return _as_array(cells).reshape(shape)


def _given(ax: Any, shape: tuple[int, int]) -> NDArray[Any]:
    from matplotlib.axes import Axes

    given = list(np.asarray(ax, dtype=object).ravel())
    if not all(isinstance(each, Axes) for each in given):
        raise wrong_type("ax", "axes of matplotlib, or None", ax, "Pass pyplot.subplots()[1].")
    if len(given) != shape[0] * shape[1]:
        required = f"one, or {shape[0] * shape[1]} of them ({shape[0]} x {shape[1]} panels)"
        raise wrong_value("ax", required, len(given), "Leave it out for a new figure.")
    return _as_array(given).reshape(shape)


def _as_array(axes: "list[Axes]") -> NDArray[Any]:
    array = np.empty(len(axes), dtype=object)
    array[:] = axes
    return array


def text_width(texts: Iterable[str], most: float = 5.0) -> float:
    """Approximate width in inches of the longest line of some labels; at most `most`."""
    longest = max((len(line) for text in texts for line in text.split("\n")), default=0)
    return min(most, LETTER * longest)


def wrapped(label: str, longest: int = 42) -> str:
    """Wrap a label at `longest` characters."""
    return "\n".join(textwrap.wrap(label, longest)) or label


def decimals_for(largest: float, digits: int = 3) -> int:
    """Decimals that show the largest of some numbers with `digits` digits."""
    if not np.isfinite(largest) or largest <= 0.0:
        return 0
    return int(np.clip(digits - 1 - np.floor(np.log10(largest)), 0, 12))


# Several results in one plot: their names, and styles that differ without colour too.

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


# Bars with long names beside them: shortened names, and numbers at the ends.

LONGEST_NAME = 50  # characters


def shorten_sum(words: str, longest: int = LONGEST_NAME) -> str:
    """A sum of features, or its first terms as far as they fit."""
    if len(words) <= longest:
        return words
    ends = [words.rfind(sign, 0, longest - 1) for sign in (" + ", " − ")]
    return f"{words[: max(ends)]} …" if max(ends) > 0 else shorten_names([words], longest)[0]


def value_texts(values: NDArray[np.float64]) -> list[str]:
    """Numbers with a common number of decimals; empty for those that are not finite."""
    known = values[np.isfinite(values)]
    decimals = decimals_for(float(np.abs(known).max())) if len(known) else 0
    texts = [grouped(value, decimals).replace("-", "−") for value in values.tolist()]
    return [text if np.isfinite(x) else "" for text, x in zip(texts, values, strict=True)]


def write_values(axes: "Axes", values: NDArray[np.float64]) -> None:
    """Write numbers at the ends of the bars, with a common number of decimals."""
    for place, text in enumerate(value_texts(values)):
        value = float(values[place])
        if text:
            axes.annotate(
                text,
                (max(value, 0.0), place),
                (4, 0),
                textcoords="offset points",
                va="center",
                fontsize=9,
                color=FAINT,
            )
    axes.margins(x=0.12)


# Titles that state the finding of a plot, wrapped to its width.

LONGEST_TITLE = 46  # characters of a bold line above the narrowest bars
LEVEL = 0.02  # smaller reversals, as a share of the range, are ignored


def set_finding(axes: "Axes", what: str, finding: str = "", longest: int = LONGEST_TITLE) -> None:
    """Write a title above the axes: the content of the plot, and the finding."""
    text = f"{what}: {finding}" if finding else what
    axes.set_title("\n".join(textwrap.wrap(text, longest)), loc="left")


def largest_of(
    names: Sequence[str],
    values: NDArray[np.float64],
    doubtful: NDArray[np.bool_],
    things: str = "feature",
) -> str:
    """Name of the largest value, unless it may be due to chance."""
    if not len(values) or not np.max(values) > 0.0:
        return ""
    best = int(np.argmax(values))
    if doubtful.all():
        return f"no {things} is clear of zero"
    return f"largest for {names[best]}" if not doubtful[best] else ""


def course(values: NDArray[np.float64]) -> str:
    """Shape of a curve in words: its ends, or its range."""
    first, last = float(values[0]), float(values[-1])
    low, high = float(np.min(values)), float(np.max(values))
    if not high > low:
        return f"{digits(low)} throughout"
    falls = float(np.max(np.maximum.accumulate(values) - values)) / (high - low)
    rises = float(np.max(values - np.minimum.accumulate(values))) / (high - low)
    if falls <= LEVEL:
        return f"rises from {digits(first)} to {digits(last)}"
    if rises <= LEVEL:
        return f"falls from {digits(first)} to {digits(last)}"
    return f"between {digits(low)} and {digits(high)}"


def digits(value: float) -> str:
    """A number with three digits, in the words of a title."""
    return number(float(f"{value:.3g}"))


# Ticks: the one rule for numbers, and a letter for thousands and millions.

UNITS = ((1e13, ""), (1e9, "G"), (1e6, "M"), (1e5, "k"))  # with an exponent beyond


def plain_ticks(axes: "Axes") -> None:
    """Write the numbers of both axes without exponents and offsets: 0, 0.5M, 1M."""
    from matplotlib.ticker import FuncFormatter, ScalarFormatter

    for axis in (axes.xaxis, axes.yaxis):
        if type(axis.get_major_formatter()) is ScalarFormatter and axis.get_scale() == "linear":
            axis.set_major_formatter(FuncFormatter(partial(_tick, axis)))


def _tick(axis: Any, value: float, _place: object) -> str:
    low, high = axis.get_view_interval()
    largest, step = max(abs(low), abs(high)), abs(high - low) / 20.0
    unit, letter = next((each for each in UNITS if largest >= each[0]), (1.0, ""))
    unit = {"k": 1e3, "": 1.0}.get(letter, unit)
    if letter == "M" and step < 5e3:  # a few thousands around a million
        unit, letter = 1e3, "k"
    text = number(value / unit, spread=step / unit if step > 0.0 else None)
    return text if text == "0" else text + letter
