"""Small tables for the cells of notebooks, in the notebook's own fonts and colours."""

from __future__ import annotations

from collections.abc import Sequence
from html import escape

from bevel.printable import printable

__all__ = ["html_table", "html_text"]

# No colour is set: the text is dark on light paper and light on dark paper, as the notebook's is.
_TITLE = "font-weight:bold;margin:0 0 .3em 0;max-width:60em"
_NOTE = "opacity:.75;font-size:90%;margin:.3em 0 0 0;max-width:60em"
_LEFT, _RIGHT = "text-align:left", "text-align:right;font-variant-numeric:tabular-nums"
_LONGEST_NUMBER = 24  # characters: longer cells are words, and begin at the left


def html_table(
    title: str,
    header: Sequence[str],
    rows: Sequence[Sequence[str]],
    notes: Sequence[str] = (),
) -> str:
    """HTML of a table.

    Parameters
    ----------
    title : str
        What the table is of.
    header : sequence of str
        Names of the columns; empty for none.
    rows : sequence of sequences of str
        Cells. The first column and columns of words begin at the left, others end at the right.
    notes : sequence of str, default=()
        Written below.
    """
    columns = list(zip(*rows, strict=True)) if rows else [()] * len(header)
    styles = [_style(place, cells) for place, cells in enumerate(columns)]
    head = f"<thead><tr>{_cells('th', header, styles)}</tr></thead>" if header else ""
    body = "".join(f"<tr>{_cells('td', row, styles)}</tr>" for row in rows)
    below = "".join(f'<p style="{_NOTE}">{_safe(note)}</p>' for note in notes)
    # Not a caption, which would be as narrow as the table.
    above = f'<p style="{_TITLE}">{_safe(title)}</p>' if title else ""
    return f"<div>{above}<table>{head}<tbody>{body}</tbody></table>{below}</div>"


def html_text(text: str) -> str:
    """HTML of text whose lines and columns are kept."""
    lines = "\n".join(escape(printable(line)) for line in text.split("\n"))
    return f'<pre style="background:none;color:inherit;overflow-x:auto">{lines}</pre>'


def _style(place: int, cells: Sequence[str]) -> str:
    words = place == 0 or any(len(cell) > _LONGEST_NUMBER for cell in cells)
    return _LEFT if words else _RIGHT


def _cells(tag: str, cells: Sequence[str], styles: Sequence[str]) -> str:
    pairs = zip(cells, styles, strict=True)
    return "".join(f'<{tag} style="{style}">{_safe(cell)}</{tag}>' for cell, style in pairs)


def _safe(text: str) -> str:
    """Text without markup of its own; blanks before it stay, as they indent names."""
    indent = len(text) - len(text.lstrip(" "))
    return "&ensp;" * indent + escape(printable(text[indent:]))
