"""``bevel demo``: the default beside random forests on small problems, and one model in detail."""

from __future__ import annotations

import io
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer
from rich.box import SIMPLE_HEAD
from rich.table import Table

from bevel import report, workflow
from bevel.cli import options, output
from bevel.cli.flags import Command
from bevel.extras import import_optional
from bevel.files.atomic import write_whole
from bevel.printable import printable

if TYPE_CHECKING:
    from bevel.report.demo import Comparison
    from bevel.workflow.demo_problems import ForestSize, Measurement

__all__ = ["EXAMPLES", "demo"]

EXAMPLES = output.examples(
    "bevel demo",
    "bevel demo --quick --out quick_demo",
    "bevel demo --trees 500 --seed 1 --force",
)
EXAMPLE = "breast_cancer"
FILES = (
    "report.html",
    "decision_boundaries.png",
    "results.csv",
    f"{EXAMPLE}.csv",
    f"{EXAMPLE}.bevel",
    f"{EXAMPLE}.html",
)
SHORT = ("bevel", "axis", "sklearn")  # names of the contenders in narrow columns

CAPTION = """\
bevel    Bevel as it is             error %   wrong labels on unseen rows, lowest in bold
axis     Bevel's random forest      seconds   to fit the forest once, fastest of the splits
sklearn  scikit-learn's             faster    times faster than scikit-learn
All with {settings}; otherwise at their defaults."""


def demo(
    trees: Annotated[int, typer.Option(min=1, help="Trees in each forest.")] = 300,
    seed: options.Seed = 0,
    jobs: options.Jobs = None,
    quick: Annotated[bool, typer.Option("--quick", help="Fewer problems and splits.")] = False,
    out: Annotated[
        Path,
        typer.Option("--out", "-o", file_okay=False, help="Folder for the pages and the picture."),
    ] = Path("bevel_demo"),
    as_json: options.Json = False,
    force: options.Force = False,
) -> None:
    """Compare Bevel with random forests on bundled data, in about a minute.

    Writes a page of the comparison, and the page of one model as bevel fit makes it.
    """
    import_optional("matplotlib", needed_by="bevel demo", install="bevel[plot]")
    output.check_free([out / name for name in FILES if (out / name).exists()], force=force)
    from bevel.training.threads import count_threads

    size = workflow.demo_problems.ForestSize(n_trees=trees, n_threads=count_threads(jobs))
    comparison = _run(size, seed, quick)
    console = output.console()
    if not as_json:
        console.print(_table(comparison))
        console.print(CAPTION.format(settings=comparison.settings))
        console.print(
            "\n" + "\n".join(report.demo.headline(comparison)), markup=False, highlight=False
        )
    given = {"quick": quick or None, "trees": trees, "seed": seed, "out": out}
    commands = str(Command("demo", [], given)), _example_command(size, seed)
    _write(out, comparison, _picture(size, seed), *commands)
    _write_example(out, size, seed)
    if as_json:
        output.print_json(
            report.demo.as_dict(comparison) | {"files": [out / name for name in FILES]}
        )
    else:
        folder = printable(str(out))
        console.print(f"\nWritten to {folder}: {', '.join(FILES)}", markup=False, highlight=False)
        console.print(f"Open {printable(str(out / FILES[0]))} in a browser.", markup=False)


def _picture(size: ForestSize, seed: int) -> bytes:
    from bevel.plots import decision_boundaries
    from bevel.plots.canvas import detached

    plane = workflow.demo_problems.fit_plane(size, seed)
    titles = {
        name: f"{name}\ntest error {report.demo.percent(plane.errors[name])} %"
        for name in plane.errors
    }
    with detached():
        axes = decision_boundaries(
            {titles[name]: classifier for name, classifier in plane.classifiers.items()},
            plane.X,
            plane.y,
            true_lines=plane.true_lines,
        )
    picture = io.BytesIO()
    axes[0].figure.savefig(picture, dpi=150, format="png")
    return picture.getvalue()


def _write(
    out: Path, comparison: Comparison, picture: bytes, command: str, example_command: str
) -> None:
    out.mkdir(parents=True, exist_ok=True)
    page = report.demo.as_html(comparison, picture, command, f"{EXAMPLE}.html", example_command)
    contents = (page.encode(), picture, report.demo.as_csv(comparison).encode())
    for name, content in zip(FILES[:3], contents, strict=True):
        write_whole(out / name, [content])


def _example_command(size: ForestSize, seed: int) -> str:
    """The command that makes the model and the page of the example again."""
    data, model, page = FILES[3:]
    given = {"target": workflow.demo_problems.EXAMPLE_TARGET, "model": workflow.tasks.FOREST}
    sizes = {"trees": size.n_trees, "seed": seed}
    return str(Command("fit", [data], {**given, **sizes, "out": model, "report": page}))


def _write_example(out: Path, size: ForestSize, seed: int) -> None:
    """Write the rows, the model file and the page of one model, as `bevel fit` does."""
    data, model, page = (out / name for name in FILES[3:])
    write_whole(data, [workflow.demo_problems.example_csv().encode()])
    with output.steps() as advance:
        found = workflow.fit(
            data,
            workflow.demo_problems.EXAMPLE_TARGET,
            model=workflow.tasks.FOREST,
            n_estimators=size.n_trees,
            random_state=seed,
            n_jobs=size.n_threads,
            curve=True,
            on_progress=advance,
        )
    found.model.save(model)
    command = _example_command(size, seed)
    with output.progress("writing the page of a model", report.fit.n_steps(found)) as advance_page:
        text = report.fit.fit_report(
            data.name, found, command, model_file=model.name, on_step=advance_page
        )
    write_whole(page, [text.encode("utf-8")])


def _run(size: ForestSize, seed: int, quick: bool) -> Comparison:
    field = workflow.demo_problems.contenders(size)
    tasks = workflow.demo_problems.problems(quick=quick)
    n_fits = len(field) * sum(each.n_splits for each in tasks)
    done = 0
    with output.progress("", n_fits) as advance:

        def count(problem: str, contender: str) -> None:
            nonlocal done
            done += 1
            advance(done, f"{problem}, {contender}")

        measurements = list(workflow.demo_problems.compare(tasks, field, seed=seed, on_fit=count))
    threads = f"{size.n_threads} thread{'s' if size.n_threads > 1 else ''}"
    settings = f"{size.n_trees} trees, {threads}, seed {seed}"
    return report.demo.Comparison(tuple(each.name for each in field), measurements, settings)


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
        f"[bold]{report.demo.percent(error)}[/bold]" if best else report.demo.percent(error)
        for error, best in zip(
            measurement.errors, report.demo.best_contenders(measurement), strict=True
        )
    ]
    return [
        measurement.problem,
        str(measurement.n_rows),
        str(measurement.n_features),
        str(measurement.n_classes),
        *errors,
        *(f"{seconds:.3f}" for seconds in measurement.seconds),
        *(f"{ratio:.1f}×" for ratio in report.demo.speed_ratios(measurement)),
    ]
