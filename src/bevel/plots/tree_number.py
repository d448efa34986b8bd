"""Out-of-bag error against the number of trees."""

from collections.abc import Mapping
from typing import TYPE_CHECKING

import numpy as np

from bevel.plots.canvas import RULE, panel
from bevel.plots.findings import digits, set_finding
from bevel.plots.series import legend, line, named

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from bevel.analysis.results import OutOfBagCurve

__all__ = ["out_of_bag_curve"]


def out_of_bag_curve(
    results: "OutOfBagCurve | Mapping[str, OutOfBagCurve]", *, ax: "Axes | None" = None
) -> "Axes":
    """Draw the out-of-bag loss against the number of trees.

    Parameters
    ----------
    results : OutOfBagCurve, or mapping of str to them
        Result of one forest, or of several by name.
    ax : matplotlib Axes, default=None
        Axes to draw on; None makes a new figure.

    Returns
    -------
    matplotlib.axes.Axes

    Examples
    --------
    >>> from bevel import ObliqueForestClassifier, analysis, plots
    >>> from sklearn.datasets import load_iris
    >>> X, y = load_iris(return_X_y=True, as_frame=True)
    >>> forest = ObliqueForestClassifier(50, random_state=0).fit(X, y)
    >>> ax = plots.out_of_bag_curve(analysis.out_of_bag_curve(forest, X, y))
    """
    forests = named(results)
    with panel(ax, "out_of_bag_curve") as axes:
        for number, (name, curve) in enumerate(forests.items()):
            axes.plot(curve.n_trees, curve.loss, lw=1.6, label=name, **line(number))
        measures = dict.fromkeys(curve.measure for curve in forests.values())
        axes.set(xlabel="trees", ylabel=f"out-of-bag {' or '.join(measures)}")
        highest = max(float(np.nanmax(curve.loss)) for curve in forests.values())
        axes.set_ylim(0.0, 1.05 * highest if highest > 0.0 else 1.0)
        axes.set_xlim(left=0)
        axes.grid(axis="y", color=RULE, lw=0.6)
        legend(axes, forests)
        what = f"Out-of-bag {' or '.join(measures)}"
        if len(forests) == 1:
            (curve,) = forests.values()
            n_trees = int(curve.n_trees[-1])
            what += f" {digits(float(curve.loss[-1]))} with {n_trees:,} trees"
        set_finding(axes, what)
    return axes
