"""``bevel demo``: three forests side by side on small problems, a table, a picture and a page."""

from collections.abc import Sequence
from pathlib import Path
from typing import Annotated

import typer
from rich.box import SIMPLE_HEAD
from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn
from rich.table import Table

from bevel.extras import import_optional
from bevel.lab.comparison import Measurement, compare
from bevel.lab.report import (
    Comparison,
    best_contenders,
    percent,
    speed_ratios,
    write_csv,
    write_html,
)
from bevel.lab.showcase import ForestSize, contenders, fit_plane, problems
from bevel.plots import decision_boundaries
from bevel.threads import count_threads

__all__ = ["demo"]

TABLE_WIDTH = 100
SHORT = ("sparse", "axis", "sklearn")  # the contenders, for narrow columns

CAPTION = """\
sparse   Bevel's oblique forest     error %   wrong labels on unseen rows, lowest in bold
axis     Bevel's random forest      seconds   to fit the forest once, fastest of the splits
sklearn  scikit-learn's             faster    times faster than scikit-learn
All with {settings}; otherwise at their defaults."""


def demo(
    trees: Annotated[int, typer.Option(min=1, help="Trees in each forest.")] = 300,
    seed: Annotated[int, typer.Option(min=0, help="Seed of the data and of the forests.")] = 0,
    jobs: Annotated[
        int | None, typer.Option(min=1, help="Threads; the default is all available cores.")
    ] = None,
    quick: Annotated[bool, typer.Option("--quick", help="A few seconds: fewer problems.")] = False,
    out: Annotated[
        Path, typer.Option(file_okay=False, help="Folder for the picture and the report.")
    ] = Path("bevel_demo"),
) -> None:
    """Compare oblique forests with random forests on bundled data, in about a minute."""
    import_optional("matplotlib", needed_by="bevel demo", install="bevel[plot]")
    console = _console()
    size = ForestSize(n_trees=trees, n_threads=count_threads(jobs))
    comparison = _run(console, size, seed, quick)
    console.print(_table(comparison))
    console.print(CAPTION.format(settings=comparison.settings))

    out.mkdir(parents=True, exist_ok=True)
    plane = fit_plane(size, seed)
    titles = {name: f"{name}\ntest error {percent(plane.errors[name])} %" for name in plane.errors}
    figure = decision_boundaries(
        {titles[name]: classifier for name, classifier in plane.classifiers.items()},
        plane.X,
        plane.y,
        true_lines=plane.true_lines,
    )
    picture = out / "decision_boundaries.png"
    figure.savefig(picture, dpi=150)
    write_csv(out / "results.csv", comparison)
    write_html(out / "report.html", comparison, picture.read_bytes())
    console.print(f"\nWritten to {out}: decision_boundaries.png, results.csv, report.html")


def _run(console: Console, size: ForestSize, seed: int, quick: bool) -> Comparison:
    field = contenders(size)
    tasks = problems(quick=quick)
    columns = (
        TextColumn("{task.description:<36}"),
        BarColumn(),
        MofNCompleteColumn(),
        TextColumn("fits"),
        TimeElapsedColumn(),
    )
    with Progress(*columns, console=console, transient=True) as progress:
        bar = progress.add_task("", total=len(field) * sum(each.n_splits for each in tasks))

        def advance(problem: str, contender: str) -> None:
            progress.update(bar, advance=1, description=f"{problem}, {contender}")

        measurements = list(compare(tasks, field, seed=seed, on_fit=advance))
    threads = f"{size.n_threads} thread{'s' if size.n_threads > 1 else ''}"
    settings = f"{size.n_trees} trees, {threads}, seed {seed}"
    return Comparison(tuple(each.name for each in field), measurements, settings)


def _table(comparison: Comparison) -> Table:
    table = Table(box=SIMPLE_HEAD, padding=(0, 1, 0, 0), pad_edge=False)
    table.add_column("\ndata set")
    for name in ("n", "p", "classes"):
        table.add_column(f"\n{name}", justify="right")
    for what, names in (("error %", SHORT), ("seconds", SHORT), ("faster", SHORT[:-1])):
        for number, name in enumerate(names):
            table.add_column(f"{what if number == 0 else ''}\n{name}", justify="right")
    for measurement in comparison.measurements:
        table.add_row(*_cells(measurement))
    return table


def _cells(measurement: Measurement) -> Sequence[str]:
    errors = [
        f"[bold]{percent(error)}[/bold]" if best else percent(error)
        for error, best in zip(measurement.errors, best_contenders(measurement), strict=True)
    ]
    return [
        measurement.problem,
        str(measurement.n_rows),
        str(measurement.n_features),
        str(measurement.n_classes),
        *errors,
        *(f"{seconds:.3f}" for seconds in measurement.seconds),
        *(f"{ratio:.1f}×" for ratio in speed_ratios(measurement)),
    ]


def _console() -> Console:
    """Give the table its full width where nobody watches a terminal: in a pipe or a log."""
    console = Console(highlight=False)
    return console if console.is_terminal else Console(highlight=False, width=TABLE_WIDTH)
