"""What classifiers make of the plane: regions in the colours of their classes, side by side."""

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from bevel.errors import join_names, wrong_value
from bevel.plots.canvas import INK, panels
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

__all__ = ["decision_boundaries"]

PANEL, HEAD = 4.4, 0.6  # inches: a panel, its title


def decision_boundaries(
    classifiers: Mapping[str, Any],
    X: ArrayLike,
    y: ArrayLike,
    *,
    true_lines: Sequence[tuple[float, float]] = (),
    ax: Any = None,
) -> NDArray[Any]:
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
    ax : matplotlib Axes or sequence of them, default=None
        Where to draw: axes whose place is divided, or one for each classifier; None makes a new
        figure.

    Returns
    -------
    ndarray of matplotlib Axes, shape (n_classifiers,)
    """
    points = read_points(X, "decision_boundaries")
    classes, labels = np.unique(read_labels_of(points, y), return_inverse=True)
    check_classes(len(classes), "decision_boundaries")
    for name, classifier in classifiers.items():
        known = getattr(classifier, "classes_", classes)
        if list(known) != list(classes):
            required = f"those of the classifier {name!r} ({_listed(known)})"
            raise wrong_value("Classes of y", required, _listed(classes), "Pass rows of each.")
    if not classifiers:
        raise wrong_value("classifiers", "at least one", "none", "Pass some by name.")
    window = window_of(points)
    count = len(classifiers)
    with panels(ax, "decision_boundaries", (1, count), (PANEL * count, PANEL + HEAD)) as grid:
        drawn: NDArray[Any] = grid[0]
        colours = palette(len(classes))
        for axes, (name, classifier) in zip(drawn, classifiers.items(), strict=True):
            shares = classifier.predict_proba(grid_rows(window, X, classifier))
            draw_regions(axes, shares, window, colours)
            _hide_frame(axes)
            for slope, intercept in true_lines:
                axes.axline((0.0, intercept), slope=slope, color="white", ls=(0, (4, 3)), lw=1.4)
            draw_points(axes, points, labels, colours)
            axes.set(xlim=window.extent[:2], ylim=window.extent[2:], box_aspect=1)
            axes.set_title(name, fontsize=13, fontweight="normal", color=INK, pad=8)
        if true_lines:
            drawn[0].set_xlabel("dashed: the true boundary", fontsize=11, color=INK, loc="left")
    return drawn


def _listed(classes: Any) -> str:
    return join_names([str(label) for label in classes])


def _hide_frame(axes: "Axes") -> None:
    axes.set_xticks([])
    axes.set_yticks([])
    for edge in axes.spines.values():
        edge.set_visible(False)
