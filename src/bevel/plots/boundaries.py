"""What classifiers make of the plane: regions in the colours of their classes, side by side."""

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from bevel.extras import import_optional

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

__all__ = ["decision_boundaries"]

# Okabe and Ito's palette, in an order whose neighbours stay apart for colour-blind readers.
CLASS_COLOURS = ("#0072B2", "#E69F00", "#009E73", "#CC79A7", "#56B4E9", "#D55E00", "#F0E442")
INK = "#1f2933"
TINT = 0.62  # share of white mixed into the regions, so that points stand out on them
RESOLUTION = 500  # pixels along each side of a panel
PANEL, GAP, HEAD, FOOT = 5.2, 0.1, 0.6, 0.4  # inches: a panel with its gaps, titles, caption


def decision_boundaries(
    classifiers: Mapping[str, Any],
    X: ArrayLike,
    y: ArrayLike,
    *,
    true_lines: Sequence[tuple[float, float]] = (),
) -> "Figure":
    """Draw the regions of several fitted classifiers of two features, one panel each.

    The colour of a place is the mix of the class colours in the proportions of ``predict_proba``;
    the black line is where the predicted class changes. Training points are drawn on top.

    Parameters
    ----------
    classifiers : mapping of str to fitted classifier
        Panel titles and the classifiers they belong to, trained on two features.
    X, y : array-like, shapes (n_rows, 2) and (n_rows,)
        Points to draw, usually the training rows. At most seven classes.
    true_lines : sequence of (slope, intercept), optional
        The boundary that a perfect classifier would find, drawn dashed where it is known.

    Returns
    -------
    matplotlib.figure.Figure
        Save it with ``figure.savefig(path)``; it is not attached to pyplot's window list.
    """
    points = np.asarray(X, dtype=np.float64)
    if points.ndim != 2 or points.shape[1] != 2:
        raise ValueError(
            f"decision_boundaries draws two features; X has shape {points.shape}. "
            "Choose two columns and train the classifiers on them."
        )
    classes, labels = np.unique(np.asarray(y), return_inverse=True)
    if len(classes) > len(CLASS_COLOURS):
        raise ValueError(
            f"decision_boundaries has colours for {len(CLASS_COLOURS)} classes; y has "
            f"{len(classes)}. Draw fewer classes."
        )
    import_optional("matplotlib", needed_by="decision_boundaries", install="bevel[plot]")
    from matplotlib.colors import to_rgb
    from matplotlib.figure import Figure

    palette = np.array([to_rgb(colour) for colour in CLASS_COLOURS[: len(classes)]])
    low, high = points.min(axis=0), points.max(axis=0)
    margin = 0.03 * (high - low)
    window = (low - margin, high + margin)

    figure = Figure(figsize=(PANEL * len(classifiers), PANEL + HEAD + FOOT))
    panels = [
        figure.add_axes((*corner, *size)) for corner, size in _squares(figure, len(classifiers))
    ]
    for axes, (name, classifier) in zip(panels, classifiers.items(), strict=True):
        _draw_regions(axes, classifier, window, palette)
        for slope, intercept in true_lines:
            axes.axline((0.0, intercept), slope=slope, color="white", linestyle=(0, (4, 3)), lw=1.4)
        _draw_points(axes, points, labels, palette)
        axes.set(xlim=(window[0][0], window[1][0]), ylim=(window[0][1], window[1][1]))
        axes.set_title(name, fontsize=13, color=INK, pad=10)
    if true_lines:
        figure.supxlabel("dashed: the true boundary", y=0.02, fontsize=11, color=INK)
    return figure


def _squares(
    figure: "Figure", n_panels: int
) -> list[tuple[tuple[float, float], tuple[float, float]]]:
    """Corner and size of square panels in a row, as shares of the figure."""
    width, height = figure.get_size_inches()
    side = PANEL - 2 * GAP
    size = (side / width, side / height)
    return [(((PANEL * n + GAP) / width, (FOOT + GAP) / height), size) for n in range(n_panels)]


def _draw_regions(
    axes: "Axes",
    classifier: Any,
    window: tuple[NDArray[np.float64], NDArray[np.float64]],
    palette: NDArray[np.float64],
) -> None:
    low, high = window
    across = np.linspace(low[0], high[0], RESOLUTION)
    upward = np.linspace(low[1], high[1], RESOLUTION)
    grid = np.stack(np.meshgrid(across, upward), axis=-1)
    shares = classifier.predict_proba(grid.reshape(-1, 2)).reshape(RESOLUTION, RESOLUTION, -1)
    colours = (1.0 - TINT) * (shares @ palette) + TINT
    axes.imshow(
        colours, origin="lower", extent=(low[0], high[0], low[1], high[1]), aspect="auto", zorder=0
    )
    for lead in _leads(shares):
        if lead.min() < 0.0 < lead.max():
            axes.contour(across, upward, lead, levels=[0.0], colors=INK, linewidths=1.4, zorder=2)
    axes.set_xticks([])
    axes.set_yticks([])
    for edge in axes.spines.values():
        edge.set_visible(False)


def _leads(shares: NDArray[np.float64]) -> list[NDArray[np.float64]]:
    """Each class's share minus the best other one: zero on the border of its region."""
    n_classes = shares.shape[-1]
    drawn = range(n_classes if n_classes > 2 else n_classes - 1)  # two classes share one border
    return [shares[..., label] - np.delete(shares, label, axis=-1).max(axis=-1) for label in drawn]


def _draw_points(
    axes: "Axes",
    points: NDArray[np.float64],
    labels: NDArray[np.int64],
    palette: NDArray[np.float64],
) -> None:
    markers = "os^Dv<>"  # shape repeats what colour says
    for label, colour in enumerate(palette):
        mine = points[labels == label]
        axes.scatter(
            mine[:, 0],
            mine[:, 1],
            s=20,
            marker=markers[label],
            color=colour,
            edgecolors="white",
            linewidths=0.6,
            zorder=3,
        )
