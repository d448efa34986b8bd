"""``bevel lab papers``: what the five documents have, where it is, and what came out."""

from pathlib import Path
from typing import Annotated

import typer

from bevel.cli import output
from bevel_lab.papers import page

__all__ = ["EXAMPLES", "papers"]

EXAMPLES = output.examples("bevel lab papers", "bevel lab papers --out docs/papers.md")


def papers(
    out: Annotated[
        Path | None, typer.Option(help="File to write; the default prints the page.")
    ] = None,
) -> None:
    """Write the page of the papers: every system, table and figure, ours beside theirs."""
    if out is None:
        print(page(), end="")
        return
    out.write_text(page(), encoding="utf-8")
