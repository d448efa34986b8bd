"""Read the table of what the documents have."""

import tomllib
from dataclasses import dataclass
from importlib.resources import files

__all__ = ["KINDS", "VERDICTS", "Document", "Row", "read_documents"]

KINDS = ("system", "measure", "experiment", "table", "figure", "theory")

# From what is there and agrees to what is not there, with the meaning of each.
VERDICTS = {
    "built": "it is there, and tests compare it with its definition",
    "holds": "it was run, and the document's statement holds",
    "partly": "a part of it is there, or a part of the statement holds",
    "undecided": "it was run, and the interval includes both answers",
    "fails": "it was run, and the statement does not hold",
    "not kept": "it was built and measured, gave no gain, and is not part of the library",
    "not run": "the command is there, and its result is not in the table yet",
    "not built": "it is not in Bevel",
}


@dataclass(frozen=True)
class Row:
    """One system, measure, experiment, table or figure; `rows.toml` describes the fields."""

    place: str
    kind: str
    what: str
    where: str
    run: str
    paper: str
    ours: str
    verdict: str


@dataclass(frozen=True)
class Document:
    """One of the five."""

    key: str
    title: str
    rows: tuple[Row, ...]


def read_documents() -> tuple[Document, ...]:
    """The documents with their rows, in the order of the file."""
    text = files("bevel_lab.papers").joinpath("rows.toml").read_text(encoding="utf-8")
    documents = tomllib.loads(text)["document"]
    return tuple(
        Document(each["key"], each["title"], tuple(Row(**row) for row in each["rows"]))
        for each in documents
    )
