"""The table as a page of Markdown."""

from collections import Counter
from collections.abc import Iterable, Sequence

from bevel_lab.papers.rows import VERDICTS, Document, Row, read_documents

__all__ = ["page"]

_HEAD = """# The papers, row by row

Every system, measure, experiment, table and figure of the five documents that Bevel implements:
where it is, how to run it, what the document says, and what came out here. The page is written by
`bevel lab papers --out docs/papers.md` from `lab/src/bevel_lab/papers/rows.toml`; a test compares
them.
"""

_COLUMNS = ("place", "what", "in Bevel", "run", "document", "ours", "verdict")


def page(documents: Sequence[Document] | None = None) -> str:
    """The page; `documents` are those of the file unless given."""
    documents = read_documents() if documents is None else documents
    parts = [_HEAD, _summary(documents), _meanings(), *map(_section, documents)]
    return "\n".join(parts)


def _summary(documents: Sequence[Document]) -> str:
    lines = _table_head(("document", *VERDICTS))
    for document in documents:
        counts = Counter(row.verdict for row in document.rows)
        lines.append(_line((_short(document), *(str(counts[name] or "–") for name in VERDICTS))))
    return "\n".join(lines) + "\n"


def _meanings() -> str:
    return "".join(f"- *{name}*: {meaning}.\n" for name, meaning in VERDICTS.items())


def _section(document: Document) -> str:
    lines = [f"## {document.title}", "", *_table_head(_COLUMNS)]
    lines += [_line(_cells(row)) for row in document.rows]
    return "\n".join(lines) + "\n"


def _cells(row: Row) -> Iterable[str]:
    run = f"`{row.run}`" if row.run.startswith(("bevel ", "python ")) else row.run
    return (row.place, row.what, row.where, run, row.paper, row.ours, row.verdict)


def _short(document: Document) -> str:
    return document.title.partition(",")[0] + ", " + document.title.rpartition(", ")[2]


def _table_head(names: Sequence[str]) -> list[str]:
    return [_line(names), _line(["---"] * len(names))]


def _line(cells: Iterable[str]) -> str:
    return "| " + " | ".join(cell.replace("|", "\\|") or "–" for cell in cells) + " |"
