"""The skeleton of every report: one self-contained HTML file.

A page is a title, sections, the command that makes it again, and versions. Parts are
strings of HTML made by the functions here, which escape their arguments:

>>> rows = [["iris", 0.04], ["wine", TableCell("0.017", strong=True)]]
>>> scores = table(["data set", "error"], rows)
>>> html = page("Two sets", [PageSection("Errors", scores)], command="bevel lab report run")
"""

from __future__ import annotations

import base64
import datetime
import hashlib
import html
import numbers
import os
import platform
import re
import sys
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from importlib import metadata, resources
from io import StringIO
from pathlib import Path
from string import Template
from typing import TYPE_CHECKING, Any
from urllib.parse import quote

from bevel.extras import import_optional
from bevel.plots.canvas import COLOURS, FAINT, INK, LINES, MARKERS, RULE, STYLE
from bevel.printable import number, printable
from bevel.training.threads import count_threads

if TYPE_CHECKING:
    from matplotlib.figure import Figure

__all__ = [
    "COLOURS",
    "FAINT",
    "INK",
    "LINES",
    "MARKERS",
    "RULE",
    "WITH_PEERS",
    "PageSection",
    "TableCell",
    "beside",
    "bullets",
    "canvas",
    "code",
    "definitions",
    "describe_environment",
    "environment_lines",
    "escaped",
    "figure",
    "figures",
    "link",
    "page",
    "paragraph",
    "picture",
    "svg",
    "table",
    "wide",
]

# The canvas of all figures, with common styles, and its conversion to SVG text.


@contextmanager
def canvas(width: float, height: float) -> Iterator[Figure]:
    """A figure of the given size in inches, with the common style while it is drawn."""
    import_optional("matplotlib", needed_by="A figure of a report", install="bevel[plot]")
    from matplotlib import rc_context
    from matplotlib.figure import Figure

    with rc_context(STYLE):
        yield Figure(figsize=(width, height))


def svg(figure: Figure) -> str:
    """The drawing as SVG text, cropped to its contents, without background, date or creator."""
    out = StringIO()
    nothing: Any = {"Date": None, "Creator": None, "Format": None, "Type": None}
    looks: Any = {"bbox_inches": "tight", "pad_inches": 0.05, "transparent": True}
    figure.savefig(out, format="svg", metadata=nothing, **looks)
    return out.getvalue()


# The environment of results: the command, the versions, the machine.

OWN = ("bevel", "numpy", "scipy", "scikit-learn")
WITH_PEERS = (*OWN, "xgboost", "lightgbm", "catboost", "ydf", "aeon", "sktime")


def describe_environment(packages: Sequence[str] = OWN) -> dict[str, Any]:
    """Description of the environment as JSON values, with the installed ones of `packages`."""
    return {
        "started": datetime.datetime.now().astimezone().isoformat(timespec="seconds"),
        "command": [Path(sys.argv[0]).name, *sys.argv[1:]],
        "versions": {
            "python": platform.python_version(),
            **{name: version for name in packages if (version := _version(name))},
        },
        "machine": {
            "processor": _processor(),
            "cores": count_threads(None),
            "memory_gb": _memory_gb(),
            "system": f"{platform.system()} {platform.release()} {platform.machine()}",
        },
    }


def environment_lines(description: Mapping[str, Any]) -> dict[str, str]:
    """Versions and machine of such a description, as lines for a page."""
    words = {"memory_gb": "GB of memory:", "processor": "on", "cores": "cores:", "system": "under"}
    known = {**description.get("versions", {}), **description.get("machine", {})}
    return {words.get(name, name): str(what) for name, what in known.items() if what}


def _version(package: str) -> str | None:
    try:
        return metadata.version(package)
    except metadata.PackageNotFoundError:
        return None


def _processor() -> str:
    """Name of the processor as the system gives it."""
    info = Path("/proc/cpuinfo")
    if info.is_file():
        for line in info.read_text().splitlines():
            if line.startswith("model name"):
                return line.partition(":")[2].strip()
    return platform.processor() or platform.machine()


def _memory_gb() -> float | None:
    try:
        return round(os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES") / 1e9, 1)
    except (AttributeError, OSError, ValueError):
        return None


MAX_UNBROKEN = 16  # rows of a table that is kept on one printed page


@dataclass(frozen=True)
class PageSection:
    """A part of a page under a heading; `body` is HTML. Without a heading it opens the page."""

    heading: str
    body: str


@dataclass(frozen=True)
class TableCell:
    """A cell of a table with formatting.

    `value` is its sort key, if not its text; `strong` highlights it, as the best of its row,
    and `faint` dims it, as one that is clearly worse; `below` is a second, softer line.
    """

    text: str
    value: float | None = None
    strong: bool = False
    faint: bool = False
    below: str = ""


def page(
    title: str,
    sections: Sequence[PageSection],
    command: str,
    *,
    subtitle: str = "",
    made_with: Mapping[str, str] | None = None,
) -> str:
    """Write a whole page.

    Parameters
    ----------
    title, subtitle : str
        Title and subtitle in plain text.
    sections : sequence of PageSection
        Sections in order; four or more headings get a line of links at the top.
    command : str
        Command that makes the page again.
    made_with : mapping of str to str, default=None
        Versions and machine; None takes those of this process.
    """
    template = Template(resources.files(__package__).joinpath("page.html").read_text("utf-8"))
    made_with = environment_lines(describe_environment()) if made_with is None else made_with
    return template.substitute(
        title=escaped(title),
        subtitle=escaped(subtitle),
        contents=_contents(sections),
        body="\n".join(_section(each) for each in sections),
        command=escaped(command),
        environment=escaped(", ".join(f"{name} {text}" for name, text in made_with.items())),
    )


def paragraph(text: str, *, kind: str | None = None) -> str:
    """Plain text as a paragraph; `kind` "lead" or "note" makes it more or less prominent."""
    return f"<p{_class(kind)}>{_prose(text)}</p>"


def bullets(texts: Iterable[str]) -> str:
    """Plain texts as a list."""
    return f"<ul>{''.join(f'<li>{_prose(text)}</li>' for text in texts)}</ul>"


def code(text: str, *, is_drawing: bool = False) -> str:
    """Lines of code; those of a drawing are scrolled instead of wrapped."""
    return f"<pre{_class('drawing' if is_drawing else None)}>{escaped(text)}</pre>"


def link(file: str) -> str:
    """A line with a link to a file in the folder of the page."""
    return f'<p><a href="{escaped(quote(file))}">{escaped(file)}</a></p>'


def beside(words: str, drawing: str) -> str:
    """Words and a figure side by side where the page is wide enough."""
    return f'<div class="beside"><div>{words}</div>{drawing}</div>'


def definitions(lines: Mapping[str, object]) -> str:
    """Names and values, as a list of two columns."""
    items = (
        f"<dt>{escaped(name)}</dt><dd>{escaped(str(what))}</dd>" for name, what in lines.items()
    )
    return f"<dl>{''.join(items)}</dl>"


def table(
    header: Sequence[str],
    rows: Iterable[Sequence[object]],
    *,
    numeric: Collection[int] | None = None,
    groups: Sequence[tuple[str, int]] | None = None,
    caption: str = "",
    sortable: bool = True,
) -> str:
    """A table whose columns sort at a click.

    Parameters
    ----------
    header : sequence of str
        Names of the columns.
    rows : iterable of sequences
        Cells: text, numbers (floats to four digits), None for nothing, or `TableCell`.
    numeric : collection of int, default=None
        Right-aligned columns; None selects those that hold numbers.
    groups : sequence of (str, int), default=None
        A line above the header: words and the number of columns below them.
    caption : str, default=""
        Text below the table.
    sortable : bool, default=True
        Whether the reader can sort the rows.
    """
    lines = [list(row) for row in rows]
    kind = "table" if len(lines) <= MAX_UNBROKEN else "table long"
    right = _numeric_columns(lines) if numeric is None else set(numeric)
    sorts = ' data-sorts tabindex="0"' if sortable else ""
    head = "".join(
        f"<th{_class('number' if column in right else None)}{sorts}>{escaped(name)}</th>"
        for column, name in enumerate(header)
    )
    above = "".join(f'<th colspan="{n}">{escaped(text)}</th>' for text, n in groups or ())
    body = "\n".join(
        "<tr>" + "".join(_cell(each, column in right) for column, each in enumerate(line)) + "</tr>"
        for line in lines
    )
    return (
        f'<figure class="{kind}"><div class="scroll"><table><thead>'
        + (f'<tr class="groups">{above}</tr>' if groups else "")
        + f"<tr>{head}</tr></thead>\n<tbody>\n{body}\n</tbody></table></div>"
        + f"{_caption(caption)}</figure>"
    )


def figure(svg: str, caption: str = "") -> str:
    """An SVG drawing inside the page; `caption` is plain text, which also names the drawing."""
    start = svg.find("<svg")
    if start < 0:
        raise ValueError(
            f"A figure must be SVG text with an <svg> element; got {svg[:40]!r}. Save it with "
            'format="svg", or use picture for PNG bytes.'
        )
    drawing = _with_own_ids(svg[start:].strip())
    label = escaped(caption)
    drawing = drawing.replace("<svg", f'<svg role="img" aria-label="{label}"', 1)
    return f"<figure>{drawing}{_caption(caption)}</figure>"


def picture(png: bytes, caption: str, alternative: str) -> str:
    """A PNG picture inside the page; `alternative` is its alt text."""
    data = base64.b64encode(png).decode("ascii")
    alt = escaped(alternative)
    image = f'<img src="data:image/png;base64,{data}" alt="{alt}">'
    return f"<figure>{image}{_caption(caption)}</figure>"


def figures(*drawings: str, small: bool = False) -> str:
    """Figures side by side where the page is wide enough, stacked on a phone.

    `small` figures are legible at a smaller size, which is used in print.
    """
    return f'<div class="figures{" small" if small else ""}">{"".join(drawings)}</div>'


def wide(drawing: str, *, small: bool = False) -> str:
    """A figure that keeps its size on a phone and is scrolled; `small` as in `figures`."""
    return f'<div class="scroll wide{" small" if small else ""}">{drawing}</div>'


def _contents(sections: Sequence[PageSection]) -> str:
    named = [each.heading for each in sections if each.heading]
    if len(named) < 4:
        return ""
    links = (f'<a href="#{_anchor(name)}">{escaped(name)}</a>' for name in named)
    return f"<nav>{' '.join(links)}</nav>"


def _section(section: PageSection) -> str:
    if not section.heading:
        return f"<section>{section.body}</section>"
    heading = f'<h2 id="{_anchor(section.heading)}">{escaped(section.heading)}</h2>'
    return f"<section>\n{heading}\n{section.body}\n</section>"


def escaped(text: str) -> str:
    """Text as HTML; invisible characters, except line breaks, are escaped as in Python."""
    return html.escape(_visible(text))


def _visible(text: str) -> str:
    return "\n".join(printable(line) for line in text.split("\n"))


def _anchor(heading: str) -> str:
    return re.sub(r"[^a-z0-9]+", "-", heading.lower()).strip("-")


def _class(name: str | None) -> str:
    return f' class="{name}"' if name else ""


def _caption(caption: str) -> str:
    return f"<figcaption>{_prose(caption)}</figcaption>" if caption else ""


def _prose(text: str) -> str:
    """Escaped text in which no line begins with a percent sign."""
    return escaped(text).replace(" %", "&nbsp;%")


def _cell(value: object, right: bool) -> str:
    cell = value if isinstance(value, TableCell) else TableCell(_text(value), _number(value))
    kinds = (("number", right), ("strong", cell.strong), ("faint", cell.faint))
    names = " ".join(name for name, on in kinds if on)
    sorted_by = "" if cell.value is None else f' data-value="{cell.value!r}"'
    below = f"<small>{escaped(cell.below)}</small>" if cell.below else ""
    return f"<td{_class(names)}{sorted_by}>{escaped(cell.text)}{below}</td>"


def _text(value: object) -> str:
    if value is None or value != value:
        return ""
    if isinstance(value, numbers.Integral):
        return f"{int(value):,}"
    return number(float(value)) if isinstance(value, numbers.Real) else str(value)


def _number(value: object) -> float | None:
    """Sort key of a plain number; None for everything else, including NaN."""
    is_number = isinstance(value, numbers.Real) and not isinstance(value, bool)
    return float(value) if is_number and value == value else None  # type: ignore[arg-type]


def _numeric_columns(lines: Sequence[Sequence[Any]]) -> set[int]:
    """Columns that hold only numbers and empty cells."""
    columns: dict[int, list[bool]] = {}
    for line in lines:
        for column, each in enumerate(line):
            value = each.value if isinstance(each, TableCell) else _number(each)
            empty = each is None or each in ("", "–") or each != each
            if not empty:
                columns.setdefault(column, []).append(value is not None)
    return {column for column, is_number in columns.items() if all(is_number)}


def _with_own_ids(svg: str) -> str:
    """Prefix the ids of a drawing, since two drawings of a page may use the same ones."""
    svg = _visible(svg)  # column names may contain characters that XML forbids
    prefix = "f" + hashlib.sha1(svg.encode("utf-8"), usedforsecurity=False).hexdigest()[:8]
    svg = re.sub(r'(\sid=")', rf"\1{prefix}-", svg)
    svg = re.sub(r"url\(#", f"url(#{prefix}-", svg)
    return re.sub(r'(href="#)', rf"\1{prefix}-", svg)
