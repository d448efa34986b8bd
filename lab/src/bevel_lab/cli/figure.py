"""``bevel lab figure``: figures of the papers that need no run."""

from pathlib import Path
from typing import Annotated

import typer

from bevel.cli import output
from bevel.errors import wrong_value
from bevel.plots.canvas import detached
from bevel_lab.paper_figures import FIGURES

__all__ = ["EXAMPLES", "figure"]

EXAMPLES = output.examples(
    "bevel lab figure",
    "bevel lab figure blaser-2.1 --out weights.png",
    "bevel lab figure menze-5 --data FOLDER --share 1",
)


def figure(
    name: Annotated[str | None, typer.Argument(help="Of the figure; none lists them.")] = None,
    out: Annotated[Path | None, typer.Option(help="Picture to write, NAME.png by default.")] = None,
    share: Annotated[
        float, typer.Option(min=0.01, max=1.0, help="Of the paper's trees, repeats and points.")
    ] = 0.2,
    data: Annotated[Path | None, typer.Option(help="Folder of data sets, where needed.")] = None,
    seed: Annotated[int, typer.Option(min=0, help="Of all random choices.")] = 0,
) -> None:
    """Compute and draw a figure of the papers; without a name, list them."""
    if name is None:
        for each in FIGURES.values():
            print(f"{each.name:12} {each.paper}: {each.sentence}")
        return
    if name not in FIGURES:
        required = f"one of {', '.join(FIGURES)}"
        raise wrong_value("The figure", required, name, "Run bevel lab figure for the list.")
    chosen = FIGURES[name]
    if chosen.needs_data and data is None:
        raise ValueError(
            f"{name} needs the data sets of its paper; got no folder. Give it as --data FOLDER."
        )
    with detached():
        drawn, lines = chosen.draw(share, seed, data)
    path = out or Path(f"{name}.png")
    drawn.savefig(path, dpi=110)
    print("\n".join([*lines, f"Picture: {path}"]))
