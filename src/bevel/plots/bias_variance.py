"""Bias, variance, variance effect and error along a setting (SPORF, Fig. 12)."""

from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any

from numpy.typing import NDArray

from bevel.errors import wrong_type, wrong_value
from bevel.plots.canvas import RULE, panels
from bevel.plots.series import legend, line, marker

if TYPE_CHECKING:
    from bevel.analysis.results import BiasAndVariance, ClassEffects

__all__ = ["bias_and_variance"]

Measure = Callable[["ClassEffects"], float]
OF_CLASSES: tuple[tuple[str, Measure], ...] = (
    ("bias", lambda each: each.bias),
    ("variance", lambda each: each.variance),
    ("variance effect", lambda each: each.variance_effect),
    ("error", lambda each: each.error),
)
OF_VALUES: "tuple[tuple[str, Callable[[BiasAndVariance], float]], ...]" = (
    ("squared bias", lambda each: each.squared_bias),
    ("variance", lambda each: each.variance),
    ("squared error", lambda each: each.squared_error),
)


def bias_and_variance(
    results: "Mapping[str, Mapping[float, BiasAndVariance]]",
    *,
    along: str = "training rows",
    ax: Any = None,
) -> NDArray[Any]:
    """Draw bias, variance, variance effect and error of classifiers side by side.

    Regressions have three panels: squared bias, variance and squared error.

    Parameters
    ----------
    results : mapping of str to mapping of float to BiasAndVariance
        Results by system, and then by the setting on the horizontal axis, such as the number of
        training rows.
    along : str, default="training rows"
        Name of the setting.
    ax : matplotlib Axes or sequence of them, default=None
        Axes that are divided into panels, or one for each panel; None makes a new figure.

    Returns
    -------
    ndarray of matplotlib Axes, shape (n_panels,)

    Examples
    --------
    >>> from functools import partial
    >>> from bevel import ObliqueForestClassifier, analysis, plots
    >>> from bevel.datasets import sparse_parity
    >>> X_test, y_test = sparse_parity(200, 10, random_state=0)
    >>> def measure(n_rows):
    ...     draw = partial(sparse_parity, n_rows, 10)
    ...     forest = ObliqueForestClassifier(5, projection="sparse")
    ...     options = {"X_test": X_test, "y_test": y_test, "n_repeats": 3, "random_state": 0}
    ...     return analysis.bias_and_variance(forest, draw, **options)
    >>> axes = plots.bias_and_variance({"sparse": {n: measure(n) for n in (50, 100)}})
    """
    if not isinstance(results, Mapping) or not all(
        isinstance(each, Mapping) for each in results.values()
    ):
        required = "results by system, and then by what runs across"
        remedy = 'Write for example {"SPORF": {500: result, 1000: result}}.'
        raise wrong_type("results", required, results, remedy)
    measures = _measures(results)
    size = (2.6 * len(measures), 2.9)
    with panels(ax, "bias_and_variance", (1, len(measures)), size) as grid:
        axes: NDArray[Any] = grid[0]
        for each, (title, curves) in zip(axes, measures.items(), strict=True):
            for number, (name, points) in enumerate(curves.items()):
                look = {**line(number), **marker(number)}
                each.plot(*zip(*points, strict=True), lw=1.4, ms=4.5, label=name, **look)
            each.set(xlabel=along, title=title)
            low, high = each.get_ylim()
            each.set_ylim(min(0.0, low), high + 0.06 * (high - min(0.0, low)))
            each.grid(axis="y", color=RULE, lw=0.6)
        legend(axes[0], results)
    return axes


def _measures(
    results: "Mapping[str, Mapping[float, BiasAndVariance]]",
) -> dict[str, dict[str, list[tuple[float, float]]]]:
    """Points of each system, by panel."""
    every = [each for by_setting in results.values() for each in by_setting.values()]
    if not every or len({each.classes is None for each in every}) > 1:
        required = "results of classifiers, or of regressions, at least one"
        got = "none" if not every else "both kinds"
        raise wrong_value("results", required, got, "Draw the two kinds by themselves.")
    if every[0].classes is None:
        return {title: _points(results, read) for title, read in OF_VALUES}
    return {title: _points(results, _of_classes(read)) for title, read in OF_CLASSES}


def _of_classes(read: Measure) -> "Callable[[BiasAndVariance], float]":
    return lambda each: read(each.classes) if each.classes is not None else float("nan")


def _points(
    results: "Mapping[str, Mapping[float, BiasAndVariance]]",
    read: "Callable[[BiasAndVariance], float]",
) -> dict[str, list[tuple[float, float]]]:
    return {
        name: [(setting, read(each)) for setting, each in sorted(by_setting.items())]
        for name, by_setting in results.items()
    }
