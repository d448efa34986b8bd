"""What classifiers make of the plane: regions in the colours of their classes, side by side."""

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike

from bevel.errors import join_names, wrong_value
from bevel.extras import import_optional
from bevel.plots.canvas import INK
from bevel.plots.plane import (
    check_classes,
    draw_points,
    draw_regions,
    grid_rows,
    palette,
    read_labels_of,
    read_points,
    window_of,
)

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

__all__ = ["decision_boundaries"]

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
    points = read_points(X, "decision_boundaries")
    classes, labels = np.unique(read_labels_of(points, y), return_inverse=True)
    check_classes(len(classes), "decision_boundaries")
    for name, classifier in classifiers.items():
        known = getattr(classifier, "classes_", classes)
        if list(known) != list(classes):
            required = f"those of the classifier {name!r} ({_listed(known)})"
            raise wrong_value("Classes of y", required, _listed(classes), "Pass rows of each.")
    import_optional("matplotlib", needed_by="decision_boundaries", install="bevel[plot]")
    from matplotlib.figure import Figure

    colours = palette(len(classes))
    window = window_of(points)

    figure = Figure(figsize=(PANEL * len(classifiers), PANEL + HEAD + FOOT))
    panels = [
        figure.add_axes((*corner, *size)) for corner, size in _squares(figure, len(classifiers))
    ]
    for axes, (name, classifier) in zip(panels, classifiers.items(), strict=True):
        shares = classifier.predict_proba(grid_rows(window, X, classifier))
        draw_regions(axes, shares, window, colours)
        _hide_frame(axes)
        for slope, intercept in true_lines:
            axes.axline((0.0, intercept), slope=slope, color="white", linestyle=(0, (4, 3)), lw=1.4)
        draw_points(axes, points, labels, colours)
        axes.set(xlim=window.extent[:2], ylim=window.extent[2:])
        axes.set_title(name, fontsize=13, color=INK, pad=10)
    if true_lines:
        figure.supxlabel("dashed: the true boundary", y=0.02, fontsize=11, color=INK)
    return figure


def _listed(classes: Any) -> str:
    return join_names([str(label) for label in classes])


def _squares(
    figure: "Figure", n_panels: int
) -> list[tuple[tuple[float, float], tuple[float, float]]]:
    """Corner and size of square panels in a row, as shares of the figure."""
    width, height = figure.get_size_inches()
    side = PANEL - 2 * GAP
    size = (side / width, side / height)
    return [(((PANEL * n + GAP) / width, (FOOT + GAP) / height), size) for n in range(n_panels)]


def _hide_frame(axes: "Axes") -> None:
    axes.set_xticks([])
    axes.set_yticks([])
    for edge in axes.spines.values():
        edge.set_visible(False)
