"""The regions of classifiers in the plane, and maps of their probabilities."""

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from bevel.errors import SeveralOutputsError, join_names, wrong_type, wrong_value
from bevel.plots.canvas import INK, MARKERS, panel, panels, wrapped
from bevel.text.predictions import called

if TYPE_CHECKING:
    from matplotlib.axes import Axes

__all__ = [
    "CLASS_COLOURS",
    "Window",
    "check_classes",
    "decision_boundaries",
    "decision_boundary",
    "draw_points",
    "draw_regions",
    "feature_names",
    "grid_rows",
    "palette",
    "posterior_map",
    "read_labels_of",
    "read_points",
    "window_of",
]

# Predictions of a model of two features over the plane, shared by several plots.

# Okabe and Ito's palette, in an order whose neighbours differ for colour-blind readers.
CLASS_COLOURS = ("#0072B2", "#E69F00", "#009E73", "#CC79A7", "#56B4E9", "#D55E00", "#F0E442")
TINT = 0.62  # share of white mixed into the regions, so that points stand out on them
RESOLUTION = 500  # pixels along each side of a panel


class Window(NamedTuple):
    """The visible part of the plane, by its corners."""

    low: NDArray[np.float64]
    high: NDArray[np.float64]

    @property
    def extent(self) -> tuple[float, float, float, float]:
        """Left, right, bottom and top."""
        (left, bottom), (right, top) = self
        return float(left), float(right), float(bottom), float(top)

    def axes(self) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        """Coordinates at which the plane is evaluated."""
        across = np.linspace(self.low[0], self.high[0], RESOLUTION)
        return across, np.linspace(self.low[1], self.high[1], RESOLUTION)


def read_points(X: ArrayLike, caller: str) -> NDArray[np.float64]:
    """Points of the plane; raises unless they have two features."""
    try:
        points = np.asarray(X, dtype=np.float64)
    except (TypeError, ValueError) as error:
        raise ValueError(
            f"{caller} draws two features that are numbers; got X with other values ({error}). "
            "Choose numeric columns and train the classifiers on them."
        ) from error
    if points.ndim != 2 or points.shape[1] != 2:
        raise ValueError(
            f"{caller} draws two features; X has shape {points.shape}. "
            "Choose two columns and train the classifiers on them."
        )
    return points


def check_classes(n_classes: int, caller: str) -> None:
    """Raise if there are more classes than colours."""
    if n_classes > len(CLASS_COLOURS):
        raise ValueError(
            f"{caller} has colours for {len(CLASS_COLOURS)} classes; y has {n_classes}. "
            "Draw fewer classes."
        )


def palette(n_classes: int) -> NDArray[np.float64]:
    """Colours of the classes, as red, green and blue."""
    from matplotlib.colors import to_rgb

    return np.array([to_rgb(colour) for colour in CLASS_COLOURS[:n_classes]])


def window_of(points: NDArray[np.float64]) -> Window:
    """Window around all points, with a margin."""
    low, high = np.nanmin(points, axis=0), np.nanmax(points, axis=0)
    extent = high - low
    margin = 0.03 * np.where(extent > 0.0, extent, 1.0)
    return Window(low - margin, high + margin)


def grid_rows(window: Window, X: Any, model: Any) -> Any:
    """All grid points of a window as rows, in a frame like X if the model has feature names."""
    if (n_outputs := getattr(model, "n_outputs_", 1)) > 1:
        raise SeveralOutputsError(
            f"A picture of predictions is of one target; got a model of {n_outputs} outputs. Draw "
            "one of them: forest.output('y0'), or its name."
        )
    rows = np.stack(np.meshgrid(*window.axes()), axis=-1).reshape(-1, 2)
    names = getattr(model, "feature_names_in_", None)
    if names is None or not hasattr(X, "columns"):
        return rows
    if list(names) != list(X.columns):  # the axes of the plot would be swapped
        required = f"the columns of the fit in their order ({join_names(list(names))})"
        got = join_names([str(name) for name in X.columns])
        raise wrong_value("X", required, got, "Pass X[model.feature_names_in_].")
    return type(X)({name: rows[:, place] for place, name in enumerate(names)})


def feature_names(X: Any) -> list[str]:
    """Names of the two columns of a frame; empty for an array."""
    names = [str(name) for name in getattr(X, "columns", ())]
    return names if len(names) == 2 else []


def read_labels_of(points: NDArray[np.float64], y: ArrayLike) -> NDArray[Any]:
    """Targets of the points; raises unless there is one for each."""
    labels = np.asarray(y)
    if labels.shape != (len(points),):
        required = f"one target for each of the {len(points)} rows of X"
        raise wrong_value("y", required, f"shape {labels.shape}", "Pass X and y of the same rows.")
    return labels


def draw_regions(
    axes: "Axes", shares: NDArray[np.float64], window: Window, colours: NDArray[np.float64]
) -> None:
    """Colour each point by its class shares, and draw a line where the class changes."""
    shares = shares.reshape(RESOLUTION, RESOLUTION, -1)
    mixed = (1.0 - TINT) * (shares @ colours) + TINT
    axes.imshow(mixed, origin="lower", extent=window.extent, aspect="auto", zorder=0)
    for lead in _leads(shares):
        if lead.min() < 0.0 < lead.max():
            axes.contour(*window.axes(), lead, levels=[0.0], colors=INK, linewidths=1.4, zorder=2)


def _leads(shares: NDArray[np.float64]) -> list[NDArray[np.float64]]:
    """Share of each class minus the best other one: zero on the border of its region."""
    n_classes = shares.shape[-1]
    drawn = range(n_classes if n_classes > 2 else n_classes - 1)  # two classes share one border
    return [shares[..., label] - np.delete(shares, label, axis=-1).max(axis=-1) for label in drawn]


def draw_points(
    axes: "Axes",
    points: NDArray[np.float64],
    labels: NDArray[np.int64],
    colours: NDArray[np.float64],
    names: Sequence[str] = (),
) -> None:
    """Draw points in the colour and shape of their class, with names for a legend."""
    for label, colour in enumerate(colours):
        mine = points[labels == label]
        axes.scatter(
            mine[:, 0],
            mine[:, 1],
            s=20,
            marker=MARKERS[label],  # redundant with the colour
            color=colour,
            edgecolors="white",
            linewidths=0.6,
            zorder=3,
            label=names[label] if names else None,
        )


PANEL, HEAD, KEY = 4.4, 0.6, 1.1  # inches: a panel, its title, the legend
MAP = "cividis"  # ordered in grey and for colour-blind readers too


def decision_boundary(
    classifier: Any, X: ArrayLike, y: ArrayLike, *, ax: "Axes | None" = None
) -> "Axes":
    """Draw the regions of a fitted classifier of two features, and points on top.

    The colour of a point is the mix of the class colours in the proportions of ``predict_proba``;
    the line is where the predicted class changes.

    Parameters
    ----------
    classifier : fitted classifier
        Classifier of two features; a tree of a forest by `bevel.analysis.single_tree`.
    X, y : array-like, shapes (n_rows, 2) and (n_rows,)
        Points to draw, usually the training rows. At most seven classes.
    ax : matplotlib.axes.Axes, default=None
        Axes to draw on; None makes a new figure.

    Returns
    -------
    matplotlib.axes.Axes
        The axes; ``ax.figure.savefig(path)`` saves the picture.

    Examples
    --------
    >>> from bevel import ObliqueForestClassifier, datasets, plots
    >>> X, y = datasets.spirals(300, random_state=0)
    >>> forest = ObliqueForestClassifier(50, random_state=0).fit(X, y)
    >>> ax = plots.decision_boundary(forest, X, y)
    """
    points = read_points(X, "decision_boundary")
    classes = _classes(classifier, "decision_boundary")
    check_classes(len(classes), "decision_boundary")
    labels = _positions(read_labels_of(points, y), classes)
    window = window_of(points)
    shares = classifier.predict_proba(grid_rows(window, X, classifier))
    with panel(ax, "decision_boundary", width=5.6, height=4.8) as axes:
        colours = palette(len(classes))
        draw_regions(axes, shares, window, colours)
        draw_points(axes, points, labels, colours, [wrapped(str(label), 24) for label in classes])
        _finish(axes, window, X)
        axes.legend(loc="upper left", bbox_to_anchor=(1.0, 1.0), handletextpad=0.2)
    return axes


def decision_boundaries(
    classifiers: Mapping[str, Any],
    X: ArrayLike,
    y: ArrayLike,
    *,
    true_lines: Sequence[tuple[float, float]] = (),
    ax: Any = None,
) -> NDArray[Any]:
    """Draw the regions of several fitted classifiers of two features, one panel each.

    The colour of a point is the mix of the class colours in the proportions of ``predict_proba``;
    the black line is where the predicted class changes. Training points are drawn on top.

    Parameters
    ----------
    classifiers : mapping of str to fitted classifier
        Panel titles and their classifiers, trained on two features.
    X, y : array-like, shapes (n_rows, 2) and (n_rows,)
        Points to draw, usually the training rows. At most seven classes.
    true_lines : sequence of (slope, intercept), optional
        True decision boundary, drawn dashed where it is known.
    ax : matplotlib Axes or sequence of them, default=None
        Axes that are divided into panels, or one for each classifier; None makes a new
        figure.

    Returns
    -------
    ndarray of matplotlib Axes, shape (n_classifiers,)

    Examples
    --------
    >>> from bevel import ObliqueForestClassifier, plots
    >>> from bevel.datasets import spirals
    >>> X, y = spirals(200, random_state=0)
    >>> forests = {name: ObliqueForestClassifier(20, projection=name, random_state=0).fit(X, y)
    ...            for name in ("axis", "rotation")}
    >>> axes = plots.decision_boundaries(forests, X, y)
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
    with panels(ax, "decision_boundaries", (1, count), (PANEL * count + KEY, PANEL + HEAD)) as grid:
        drawn: NDArray[Any] = grid[0]
        colours = palette(len(classes))
        for axes, (name, classifier) in zip(drawn, classifiers.items(), strict=True):
            shares = classifier.predict_proba(grid_rows(window, X, classifier))
            draw_regions(axes, shares, window, colours)
            _frame(axes, feature_names(X))
            for slope, intercept in true_lines:
                axes.axline((0.0, intercept), slope=slope, color="white", ls=(0, (4, 3)), lw=1.4)
            draw_points(axes, points, labels, colours, [wrapped(str(c), 24) for c in classes])
            axes.set(xlim=window.extent[:2], ylim=window.extent[2:], box_aspect=1)
            axes.set_title(name, fontsize=13, fontweight="normal", color=INK, pad=8)
        drawn[-1].legend(loc="upper left", bbox_to_anchor=(1.0, 1.0), handletextpad=0.2)
        if true_lines:
            drawn[0].set_xlabel("dashed: the true boundary", fontsize=11, color=INK, loc="left")
    return drawn


def posterior_map(
    model: Any,
    X: ArrayLike,
    y: ArrayLike | None = None,
    *,
    label: Any = None,
    ax: "Axes | None" = None,
) -> "Axes":
    """Draw the probability of a class over the plane, or the predictions of a regressor.

    Parameters
    ----------
    model : fitted classifier or regressor
        Model of two features.
    X : array-like of shape (n_rows, 2)
        Points that define the window.
    y : array-like of shape (n_rows,), default=None
        Classes of the points: those of the class are drawn as dots, others as crosses.
    label : label of a class, default=None
        Class to draw; None: the last one, which of two is the second.
    ax : matplotlib.axes.Axes, default=None
        Axes to draw on; None makes a new figure.

    Returns
    -------
    matplotlib.axes.Axes
        The axes. The line of a classifier is where the probability is one half.

    Examples
    --------
    >>> from bevel import ObliqueForestClassifier, datasets, plots
    >>> X, y = datasets.spirals(300, random_state=0)
    >>> forest = ObliqueForestClassifier(50, random_state=0).fit(X, y)
    >>> ax = plots.posterior_map(forest, X, y)
    """
    points = read_points(X, "posterior_map")
    targets = None if y is None else read_labels_of(points, y)
    window = window_of(points)
    surface, chosen = _surface(model, grid_rows(window, X, model), label)
    with panel(ax, "posterior_map", width=5.9, height=4.8) as axes:
        low, high = (0.0, 1.0) if chosen is not None else (surface.min(), surface.max())
        scale: Any = {"cmap": MAP, "vmin": low, "vmax": high}
        image = axes.imshow(
            surface, origin="lower", extent=window.extent, aspect="auto", zorder=0, **scale
        )
        if chosen is None:
            if targets is not None:
                _draw_dots(axes, points, c=targets, **scale)
        else:
            if surface.min() < 0.5 < surface.max():
                axes.contour(*window.axes(), surface, levels=[0.5], colors="white", linewidths=1.4)
            if targets is not None:
                _mark(axes, points, targets == chosen, str(chosen))
        name = "prediction" if chosen is None else f"probability of {called(str(chosen))}"
        axes.figure.colorbar(image, ax=axes, label=wrapped(name)).outline.set_visible(False)
        _finish(axes, window, X)
    return axes


def _surface(model: Any, rows: Any, label: Any) -> tuple[NDArray[np.float64], Any]:
    """Predictions of the model over the plane, and the class of its probability, if any."""
    if not hasattr(model, "predict_proba"):
        if label is not None:
            remedy = "Leave it out, or draw a classifier."
            raise wrong_value("label", "None for a model without classes", label, remedy)
        return np.asarray(model.predict(rows)).reshape(RESOLUTION, RESOLUTION), None
    classes = _classes(model, "posterior_map")
    chosen = classes[-1] if label is None else label
    place = np.flatnonzero(classes == chosen)
    if len(place) != 1:
        required = f"one of the classes ({join_names([str(c) for c in classes])})"
        raise wrong_value("label", required, label, "See classes_ of the model.")
    shares = model.predict_proba(rows)[:, place[0]]
    return np.asarray(shares).reshape(RESOLUTION, RESOLUTION), chosen


def _mark(axes: "Axes", points: NDArray[np.float64], mine: NDArray[np.bool_], chosen: str) -> None:
    """Draw points of the class as white dots, others as dark crosses, visible on any ground."""
    _draw_dots(axes, points[mine], c="white", edgecolors=INK, label=wrapped(chosen, 24))
    _draw_dots(axes, points[~mine], c=INK, marker="X", label="other")
    axes.legend(loc="lower left", bbox_to_anchor=(-0.02, 1.0), ncols=2, handletextpad=0.2)


def _draw_dots(axes: "Axes", points: NDArray[np.float64], **style: Any) -> None:
    look: Any = {"s": 24, "marker": MARKERS[0], "edgecolors": "white", "linewidths": 0.7, **style}
    axes.scatter(points[:, 0], points[:, 1], **look)


def _classes(classifier: Any, caller: str) -> NDArray[Any]:
    if not hasattr(classifier, "predict_proba"):
        remedy = "Draw a regressor with posterior_map."
        raise wrong_type(f"What {caller} draws", "a classifier", classifier, remedy)
    return np.asarray(classifier.classes_)


def _positions(labels: NDArray[Any], classes: NDArray[Any]) -> NDArray[np.int64]:
    """Positions of labels among the classes; raises for labels that are not among them."""
    place = np.full(len(labels), -1, dtype=np.int64)
    for position, label in enumerate(classes):
        place[labels == label] = position
    if (place < 0).any():
        required = f"of the classes of the classifier ({join_names([str(c) for c in classes])})"
        remedy = "Leave rows of other classes out."
        raise wrong_value("y", required, str(labels[place < 0][0]), remedy)
    return place


def _finish(axes: "Axes", window: Window, X: Any) -> None:
    axes.set(xlim=window.extent[:2], ylim=window.extent[2:])
    if names := feature_names(X):
        axes.set(xlabel=wrapped(names[0]), ylabel=wrapped(names[1]))


def _listed(classes: Any) -> str:
    return join_names([str(label) for label in classes])


def _frame(axes: "Axes", names: list[str]) -> None:
    """Write names and values of the features; nothing for features without names."""
    if names:
        axes.set(xlabel=wrapped(names[0]), ylabel=wrapped(names[1]))
    else:
        axes.set_xticks([])
        axes.set_yticks([])
    for edge in axes.spines.values():
        edge.set_visible(False)
