"""What the five documents have, where it is in Bevel, and what comes out: one table, one page."""

from bevel_lab.papers.page import page
from bevel_lab.papers.rows import VERDICTS, Document, Row, read_documents

__all__ = ["VERDICTS", "Document", "Row", "page", "read_documents"]
