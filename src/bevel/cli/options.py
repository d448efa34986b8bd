"""Common options of the commands."""

from typing import Annotated

import typer

__all__ = ["Force", "Jobs", "Json", "Seed"]

Force = Annotated[bool, typer.Option("--force", help="Overwrite files that exist.")]
Json = Annotated[bool, typer.Option("--json", help="Print JSON instead of text.")]
Seed = Annotated[int, typer.Option(min=0, help="Seed of all random choices.")]
Jobs = Annotated[
    int | None, typer.Option(min=1, help="Threads; the default is all available cores.")
]
