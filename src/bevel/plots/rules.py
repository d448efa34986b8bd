"""A tree as a picture: root on the left, leaves on the right, rules in words; a surrogate tree in
the same form.
"""

import textwrap
from dataclasses import dataclass
from itertools import pairwise
from types import SimpleNamespace
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from bevel.analysis.results import SurrogateTree, TreeRules
from bevel.errors import SeveralOutputsError, wrong_type, wrong_value
from bevel.plots.canvas import FAINT, INK, RULE, panel
from bevel.plots.planes import CLASS_COLOURS
from bevel.text.predictions import OutputPredictions

if TYPE_CHECKING:
    from matplotlib.axes import Axes

__all__ = [
    "SurrogateRules",
    "surrogate_rules",
    "tree",
]


@dataclass(frozen=True)
class _Predictions:
    """Texts and shares of the nodes."""

    texts: tuple[str, ...]
    classes: tuple[str, ...]
    means: NDArray[np.float64]  # (n_nodes, n_classes), or (n_nodes, 1) in regression

    @property
    def range(self) -> tuple[float, float]:
        return float(self.means.min()), float(self.means.max())

    def summary(self, place: int) -> str:
        return self.texts[place]


@dataclass(frozen=True)
class SurrogateRules:
    """Nodes in preorder; -1 where a node has no child or no parent."""

    left: NDArray[np.int64]
    right: NDArray[np.int64]
    parent: NDArray[np.int64]
    depth: NDArray[np.int64]
    split_texts: tuple[Any, ...]
    predictions: _Predictions
    cut: NDArray[np.bool_]
    notes: tuple[str, ...]

    def __len__(self) -> int:
        return len(self.left)

    @property
    def n_leaves(self) -> int:
        return int(np.sum(self.left < 0))


def surrogate_rules(tree: SurrogateTree) -> SurrogateRules:
    """The tree's nodes, with the text of each."""
    n_nodes = len(tree.tests)
    parent, depth = np.full(n_nodes, -1), np.zeros(n_nodes, dtype=np.int64)
    inner = [place for place, test in enumerate(tree.tests) if test is not None]
    left = np.full(n_nodes, -1)
    left[inner] = np.array(inner, dtype=np.int64) + 1
    for place in inner:
        for child in (int(left[place]), int(tree.right[place])):
            parent[child], depth[child] = place, depth[place] + 1
    splits = tuple(
        None if test is None else SimpleNamespace(sides=(test.text(tree.names),))
        for test in tree.tests
    )
    first, *_, rounding = str(tree).split("\n")
    return SurrogateRules(
        left=left,
        right=np.asarray(tree.right, dtype=np.int64),
        parent=parent,
        depth=depth,
        split_texts=splits,
        predictions=_predictions(tree),
        cut=np.zeros(n_nodes, dtype=bool),
        notes=(f"{first[:1].upper()}{first[1:]}.", rounding),
    )


def _predictions(tree: SurrogateTree) -> _Predictions:
    texts = tuple(tree.claim(place) for place in range(len(tree.tests)))
    if not tree.is_classifier:
        means = np.asarray(tree.prediction, dtype=np.float64).reshape(-1, 1)
        return _Predictions(texts, (), means)
    labels = [str(label) for label in tree.prediction]
    classes = tuple(sorted(set(labels)))
    means = np.array([[label == each for each in classes] for label in labels], dtype=np.float64)
    return _Predictions(texts, classes, means)


READABLE_DEPTH = 4
MAX_LEAVES = 64
SIGNS = "+−≤≥<>"
WRAP = 30  # characters of a rule in one line
# In inches: a character and a line of text, the gap between nodes, the gap between levels of the
# tree, and the bar of a leaf.
LETTER, LINE, GAP, STEP, BAR = 0.072, 0.165, 0.16, 0.62, 0.46


def tree(rules: Any, *, ax: "Axes | None" = None) -> "Axes":
    """Draw a tree: splits with their rules, leaves with bars of their class shares.

    A row that satisfies a rule goes up, by the branch labelled yes.

    Parameters
    ----------
    rules : TreeRules, SurrogateTree or TreeView
        From `bevel.analysis.tree_rules` or `surrogate_tree`, or a tree of `forest_`, which is drawn
        down to depth 4.
    ax : matplotlib.axes.Axes, default=None
        Axes to draw on; None makes a new figure, as large as the tree needs.

    Returns
    -------
    matplotlib.axes.Axes
        The axes; ``ax.figure.savefig(path)`` saves the picture.

    Examples
    --------
    >>> from bevel import ObliqueForestClassifier, plots
    >>> from sklearn.datasets import load_iris
    >>> X, y = load_iris(return_X_y=True)
    >>> forest = ObliqueForestClassifier(10, random_state=0).fit(X, y)
    >>> ax = plots.tree(forest.forest_.tree(0))
    """
    if hasattr(rules, "rules"):
        rules = rules.rules(max_depth=READABLE_DEPTH)
    if isinstance(rules, SurrogateTree):
        rules = surrogate_rules(rules)
    if not isinstance(rules, TreeRules | SurrogateRules):
        remedy = "Pass forest.forest_.tree(0), tree_rules(forest, 0) or surrogate_tree(forest, X)."
        raise wrong_type("rules", "a tree, or its rules", rules, remedy)
    if isinstance(rules, TreeRules) and isinstance(rules.predictions, OutputPredictions):
        names = rules.predictions.outputs.names
        raise SeveralOutputsError(
            f"plots.tree draws the leaves of one target; got a tree of {len(names)} outputs. Take "
            f"the tree of one of them: forest.output({names[0]!r}).forest_.tree(0)."
        )
    if rules.n_leaves > MAX_LEAVES:
        required = f"of at most {MAX_LEAVES} leaves to be drawn"
        remedy = "Prune it: tree_rules(estimator, tree, max_depth=4)."
        raise wrong_value("The tree", required, f"{rules.n_leaves} leaves", remedy)
    texts = [_text(rules, place) for place in range(len(rules))]
    height = _heights(rules, texts)
    left = _lefts(rules, texts)
    width = max(float(left[-1]), 3.0)
    notes = [line for note in _notes(rules) for line in textwrap.wrap(note, int(width / 0.065))]
    margin = max(text.count("\n") + 2 for text in texts) * 0.5 * LINE
    total = float(height.max() - height.min()) + 2 * margin
    size = (width, total + LINE * len(notes) + GAP)
    with panel(ax, "tree", *size) as axes:
        axes.set_axis_off()
        axes.set(xlim=(-0.1, width - 0.1), ylim=(height.min() - margin, height.max() + margin))
        if ax is None:
            axes.set_position((0.0, (LINE * len(notes) + GAP) / size[1], 1.0, total / size[1]))
        for place in range(len(rules)):
            x, y = float(left[rules.depth[place]]), float(height[place])
            if (above := int(rules.parent[place])) >= 0:
                start = (float(left[rules.depth[above]]), float(height[above]))
                _draw_branch(axes, start, (x, y), rules.left[above] == place)
            _draw_node(axes, rules, place, x, y, texts[place])
        if notes:
            axes.annotate(
                "\n".join(notes),
                (0.01, 0.0),
                xycoords="axes fraction",
                va="top",
                fontsize=7.5,
                color=FAINT,
            )
    return axes


def _notes(rules: Any) -> list[str]:
    """Notes for the reader, below the tree."""
    cut = ["… splits follow below, which are not drawn."] if np.any(rules.cut) else []
    return [*cut, *rules.notes]


def _lefts(rules: Any, texts: list[str]) -> NDArray[np.float64]:
    """Left end of each level of the tree, in inches, and the end of the last one."""
    width = np.zeros(int(rules.depth.max()) + 1)
    for place, text in enumerate(texts):
        longest = LETTER * max(map(len, text.split("\n"))) + (rules.left[place] < 0) * (BAR + 0.1)
        depth = int(rules.depth[place])
        # The text of a leaf may extend over the next levels, which are free at its height.
        if rules.left[place] >= 0 or depth == len(width) - 1:
            width[depth] = max(width[depth], longest)
    return np.concatenate(([0.0], np.cumsum(width + STEP)))


def _text(rules: Any, place: int) -> str:
    """Text of a node: its rule, or its prediction."""
    split = rules.split_texts[place]
    if split is None:
        prediction, _, rows = rules.predictions.summary(place).rpartition(", ")
        return f"{prediction}\n{rows}{' …' if rules.cut[place] else ''}" if prediction else rows
    rule = str(split.sides[0])
    for sign in SIGNS:  # a line breaks before a sign, not after it
        rule = rule.replace(f" {sign} ", f" {sign}\N{NO-BREAK SPACE}")
    return "\n".join(textwrap.wrap(rule, WRAP, break_long_words=False))


def _heights(rules: Any, texts: list[str]) -> NDArray[np.float64]:
    """Inches below the first leaf, as negative numbers; splits are halfway between their children.

    Leaves are as far apart as their own text needs, and further where the splits between them
    have more lines.
    """
    height = np.zeros(len(rules))
    room = np.array([(text.count("\n") + 1) * LINE + GAP for text in texts])
    leaves = [place for place in range(len(rules)) if rules.left[place] < 0]
    position = 0.0
    for one, other in zip([None, *leaves[:-1]], leaves, strict=True):
        if one is not None:
            position -= 0.5 * (room[one] + room[other])
        height[other] = position
    for _ in range(len(rules)):  # move nodes apart until none of the same level overlap
        for place in range(len(rules) - 1, -1, -1):
            if rules.left[place] >= 0:
                height[place] = 0.5 * (height[rules.left[place]] + height[rules.right[place]])
        lowered = _first_overlap(rules, height, room)
        if lowered is None:
            break
        place, by = lowered
        first = place
        while rules.left[first] >= 0:
            first = int(rules.left[first])
        height[[leaf for leaf in leaves if leaf >= first]] -= by
    return height


def _first_overlap(
    rules: Any, height: NDArray[np.float64], room: NDArray[np.float64]
) -> tuple[int, float] | None:
    """A node too near to the one above it in its level, and the necessary shift."""
    for depth in range(int(rules.depth.max()) + 1):
        level = np.flatnonzero(rules.depth == depth)
        for upper, lower in pairwise(level):
            needed = 0.5 * (room[upper] + room[lower])
            missing = needed - (height[upper] - height[lower])
            if missing > 1e-9:
                return int(lower), float(missing)
    return None


def _draw_branch(
    axes: "Axes", start: tuple[float, float], end: tuple[float, float], says_yes: bool
) -> None:
    """Draw the line from a node's parent, labelled yes or no."""
    bend = end[0] - 0.26
    corner = ([start[0] + 0.1, bend, bend, end[0]], [start[1], start[1], end[1], end[1]])
    axes.plot(*corner, color=FAINT, linewidth=1.0, zorder=1, solid_joinstyle="round")
    says = "yes" if says_yes else "no"
    axes.text(bend + 0.03, end[1] + 0.03, says, fontsize=7, color=FAINT, va="bottom")


def _draw_node(axes: "Axes", rules: Any, place: int, x: float, y: float, text: str) -> None:
    if rules.split_texts[place] is None:
        _draw_shares(axes, rules, place, x, y)
        axes.text(x + BAR + 0.08, y, text, va="center", fontsize=8.5, color=INK, zorder=3)
        return
    box = {"boxstyle": "round,pad=0.35", "facecolor": "white", "edgecolor": RULE}
    axes.text(x + 0.05, y, text, va="center", fontsize=8.5, color=INK, bbox=box, zorder=3)


def _draw_shares(axes: "Axes", rules: Any, place: int, x: float, y: float) -> None:
    """Draw a bar of the class shares, or of the mean in regression."""
    predictions, start = rules.predictions, x
    thick = 1.3 * LINE
    if not predictions.classes:
        low, high = predictions.range
        shares = np.array([(predictions.means[place, 0] - low) / ((high - low) or 1.0)])
    else:
        shares = predictions.means[place]
    for label, share in enumerate(np.nan_to_num(shares)):
        colour = CLASS_COLOURS[label % len(CLASS_COLOURS)]
        axes.barh(y, BAR * share, height=thick, left=start, color=colour, lw=0, zorder=2.5)
        start += BAR * float(share)
    axes.barh(y, BAR, height=thick, left=x, fill=False, edgecolor=INK, linewidth=0.7, zorder=3)
