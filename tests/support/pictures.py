"""What a reader of a picture would miss: text that is cut off, or written over other text."""

from __future__ import annotations

from typing import Any

from matplotlib.backends.backend_agg import FigureCanvasAgg


def cut_off(figure: Any) -> list[str]:
    """Parts of a figure that reach beyond its edges, after it was drawn."""
    renderer = drawn_by(figure)
    left, low, right, high = figure.bbox.extents
    parts = [*figure.axes, *figure.legends]
    parts += [each for each in (figure._suptitle, figure._supxlabel) if each is not None]
    outside = []
    for part in parts:
        box = part.get_tightbbox(renderer) if part.get_visible() else None
        if box is None:
            continue
        inside = left - 1 <= box.x0 and box.x1 <= right + 1 and low - 1 <= box.y0
        if not inside or box.y1 > high + 1:
            outside.append(f"{part}: {box.extents.round()} of {figure.bbox.extents.round()}")
    return outside


def drawn_by(figure: Any) -> Any:
    """What has drawn the figure, to be asked for the extent of text."""
    canvas = FigureCanvasAgg(figure)
    canvas.draw()
    return canvas.get_renderer()


def overlapping(labels: Any, figure: Any) -> list[tuple[str, str]]:
    """Neighbours among labels that cover each other."""
    renderer = drawn_by(figure)
    shown = [label for label in labels if label.get_text() and label.get_visible()]
    boxes = [label.get_window_extent(renderer) for label in shown]
    return [
        (one.get_text(), other.get_text())
        for one, other, a, b in zip(shown, shown[1:], boxes, boxes[1:], strict=False)
        if a.overlaps(b)
    ]
