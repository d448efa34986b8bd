"""A tree drawn with characters."""

from __future__ import annotations

import textwrap
from typing import TYPE_CHECKING

import numpy as np

from bevel.text.decimals import counted

if TYPE_CHECKING:
    from bevel.text.tree_rules import TreeRules

__all__ = ["notes_text", "tree_text"]

WIDTH = 100
TURN, TEE, LINE, BLANK = "└─ ", "├─ ", "│  ", "   "
DEEPEST_INDENT = 40  # depth after which lines begin at the left again, with the depth in brackets


def tree_text(rules: TreeRules) -> str:
    """The nodes of a tree, one line each, then the notes."""
    prefix = [""] * len(rules)  # prefixes of the lines below a node
    lines = [_title(rules)]
    if len(rules) == 1:
        lines.append(f"always: {rules.predictions.summary(0)}")
    for place in range(1, len(rules)):
        above = int(rules.parent[place])
        last = rules.right[above] == place
        lines.append(prefix[above] + (TURN if last else TEE) + _line(rules, place))
        deeper = rules.depth[place] % DEEPEST_INDENT
        inside = prefix[above] + (BLANK if last else LINE)
        prefix[place] = inside if deeper else f"[{rules.depth[place]}] "
    return "\n".join((*lines, *notes_text(rules.notes)))


def notes_text(notes: tuple[str, ...]) -> list[str]:
    """Notes as lines of a readable length."""
    return [line for note in notes for line in textwrap.wrap(note, WIDTH)]


def _title(rules: TreeRules) -> str:
    n_leaves, depth = rules.n_leaves, int(rules.depth.max())
    title = f"tree {rules.tree} of {rules.n_trees}: "
    title += f"{n_leaves} {'leaf' if n_leaves == 1 else 'leaves'}, depth {depth}"
    rows = float(rules.predictions.rows[0])
    return title if np.isnan(rows) else f"{title}, {counted(rows)}"


def _line(rules: TreeRules, place: int) -> str:
    condition = rules.condition(place)
    if rules.left[place] >= 0:
        return str(condition)
    mark = " …" if rules.cut[place] else ""
    return f"{condition}: {rules.predictions.summary(place)}{mark}"
