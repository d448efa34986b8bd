"""``bevel explain``: importances of a model, and explanations of its predictions."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import numpy as np
import typer
from rich.table import Table
from rich.text import Text

from bevel import report, workflow
from bevel.cli import options, output
from bevel.cli.flags import Command, as_flags
from bevel.cli.options import Entry, Event, ModelData, Time, reads_tables, source_of
from bevel.extras import import_optional
from bevel.files.atomic import write_whole
from bevel.printable import grouped, printable
from bevel.tables.options import TableKeywords

if TYPE_CHECKING:
    from bevel.analysis.results import Directions, Importance, RuleSet, TopRules
    from bevel.workflow.explaining import Explanation

__all__ = ["EXAMPLES", "explain"]

EXAMPLES = output.examples(
    "bevel explain iris.bevel iris.csv --target species --out explain.html",
    "bevel explain iris.bevel new.csv --row 12 --row 40 --out new.html",
    "bevel explain iris.bevel iris.csv --json",
)
MAX_LINES = 10


@reads_tables
def explain(
    model: Annotated[Path, typer.Argument(help="A file that fit --out or save has written.")],
    data: ModelData,
    target: Annotated[
        str | None, typer.Option(help="Column of true targets, if the file has one.")
    ] = None,
    time: Time = None,
    event: Event = None,
    entry: Entry = None,
    out: Annotated[
        Path | None, typer.Option("--out", "-o", "--report", help="HTML page to write.")
    ] = None,
    positive: options.Positive = None,
    row: Annotated[
        list[int] | None,
        typer.Option(
            metavar="NUMBER",
            min=1,
            help="A row to explain, 1 for the first below the header; may be repeated.",
        ),
    ] = None,
    seed: options.Seed = 0,
    jobs: options.Jobs = None,
    as_json_: options.Json = False,
    force: options.Force = False,
    *,
    table: TableKeywords,
) -> None:
    """Explain a model: which features and combinations matter, rules, and single rows.

    The rows of the fit are recognised, and predicted by the trees that have not seen them.
    """
    output.check_free([out], force=force)
    if out is not None:
        import_optional("matplotlib", needed_by="bevel explain --out", install="bevel[plot]")
    with source_of(data) as source, output.steps() as advance:
        found = workflow.explain(
            model,
            source,
            target=target,
            time=time,
            event=event,
            entry=entry,
            rows=row or (),
            positive=positive,
            random_state=seed,
            n_jobs=jobs,
            on_note=output.silent if as_json_ else output.note,
            on_progress=advance,
            **table,
        )
        if out is not None:
            advance("drawing", 0, 1)
            columns = {"target": target, "time": time, "event": event, "entry": entry}
            given = {**columns, "positive": positive, "row": row, **table, "seed": seed, "out": out}
            command = Command("explain", [model, data], given)
            page = report.explain.explain_report(model.name, data.name, found, str(command))
    if out is not None:
        write_whole(out, [page.encode("utf-8")])
    if as_json_:
        output.print_json(_as_json(model, data, target, out, found))
    else:
        _print(data, out, found)


def _print(data: Path, out: Path | None, found: Explanation) -> None:
    words = report.tasks.words_of_model(found.model)
    lines = {
        words.aggregation.name: report.explain.describe_model(found.model),
        "rows": report.explain.describe_rows(str(data), found),
    }
    kind = {"new": "", "out-of-bag": "out-of-bag ", "grown on": "in-bag "}[found.row_kind]
    for name, estimate in found.scores.items():
        lines[f"{kind}{name}"] = report.headline.score_line(name, estimate)
    bands = [] if found.quantiles is None else found.quantiles.bands
    for band in bands:
        if band.covered is not None:
            name = f"{kind}coverage of {100 * band.share:.0f} %"
            lines[name] = report.headline.score_line("coverage", band.covered)
    output.print_lines(lines)
    if words.aggregation.rows_note and found.scores:
        output.note(words.aggregation.rows_note)
    elif found.scores and found.row_kind == "new":
        output.note("Taken for new rows: scores of training rows would be in-bag, and too good.")
    if found.quantiles is not None and found.quantiles.missing:
        output.note(found.quantiles.missing)
    console = output.console()
    console.print(_features(found))
    if found.directions is None:
        output.note(found.missing)
    elif len(found.directions.combinations()):
        console.print(_combinations(found.directions.combinations(), words.removed_in_table))
    if found.groups is not None and len(found.groups):
        console.print(Text(str(found.groups)), soft_wrap=True)
        console.print()
    console.print("Page written to" if out else "A page with rules and single rows: --out", end=" ")
    console.print(Text(printable(str(out or "explain.html"))))


def _features(found: Explanation) -> Table:
    """The most important features by the last measure, with all measures."""
    told = report.tasks.words_of_model(found.model)
    measures = [each.in_percent() for each in found.importances]
    last, effects = measures[-1], _direction_words(measures)
    head = ["feature"]
    head += [told.removed_in_table if each.kind == "gini" else each.kind for each in measures]
    lines = [f"{last.kind}: {last.measures.split(';')[0]}"]
    if effects is not None:
        head.append("effect")  # directions have another meaning here
        lines.append(f"effect: whether the {told.rises(found)} rises or falls with the feature")
    rows = [
        [
            measures[0].names[place],
            *(grouped(float(each.values[place]), _decimals(each)) for each in measures),
            *([] if effects is None else [effects[place]]),
        ]
        for place in last.order[:MAX_LINES]
    ]
    made = output.table(head, rows, left={0, len(measures) + 1})
    made.caption = "\n".join(map(printable, lines))
    made.caption_justify = "left"
    return made


def _decimals(found: Importance) -> int:
    """Four digits of the largest value, four decimals at most."""
    largest = float(np.abs(found.values).max(initial=0.0))
    return min(4, max(0, 3 - int(np.floor(np.log10(largest))))) if largest > 0.0 else 4


def _direction_words(importances: Sequence[Importance]) -> list[str] | None:
    """Sign of the effect of each feature, and its class, in words."""
    found = importances[-1]
    if found.direction is None:
        return None
    of = [""] * len(found) if found.effect_of is None else [f"{each} " for each in found.effect_of]
    return [f"{label}{way}" if way else "" for way, label in zip(found.direction, of, strict=True)]


def _combinations(directions: Directions, removed: str) -> Table:
    best = directions.top(MAX_LINES)
    found = zip(best.words, best.share, best.count, strict=True)
    rows = [(words, f"{100 * share:.2f}", f"{count:,}") for words, share, count in found]
    return output.table(("combination", f"% of {removed}", "splits"), rows)


def _as_json(
    model: Path, data: Path, target: str | None, out: Path | None, found: Explanation
) -> dict[str, Any]:
    """All results as JSON values."""
    return {
        "model": model,
        "data": data,
        "target": target,
        "page": out,
        "n_rows": found.n_rows,
        "n_used": found.n_used,
        "rows_are": found.row_kind,
        "scores": workflow.scores.as_json(found.scores),
        "importance_measures": {each.kind: each.measures for each in found.importances},
        "importance": {
            each.kind: dict(zip(each.names, each.values.tolist(), strict=True))
            for each in found.importances
        },
        "direction": _direction_of(found.importances[-1]),
        **_survival(found),
        **_decisions(found),
        **_quantiles(found),
        "rows": [_row(found, place) for place in range(len(found.rows))],
        "missing": found.missing or None,
        "notes": [as_flags(text) for text in found.notes],
    }


def _survival(found: Explanation) -> Mapping[str, Any]:
    """Brier score, groups and calibration of a survival forest; empty for others."""
    if found.survival is None or found.survival.scores is None:
        return {}
    scores, groups = found.survival.scores, found.survival.groups
    return {
        "n_events": found.survival.n_events,
        "integrated_brier_score": scores.integrated_brier_score,
        "integrated_brier_score_without_features": scores.reference,
        "mean_auc": scores.mean_auc,
        "brier_score": dict(zip(scores.times.tolist(), scores.brier_score.tolist(), strict=True)),
        "risk_groups": None
        if groups is None
        else [
            {"group": name, "rows": int(n), "events": int(events), "survival": float(curve[-1])}
            for name, n, events, curve in zip(
                groups.names, groups.count, groups.n_events, groups.observed, strict=True
            )
        ],
        "calibration_error": {
            each.time: each.expected_calibration_error for each in found.survival.calibrations
        },
    }


def _direction_of(found: Importance) -> dict[str, Any] | None:
    if found.direction is None:
        return None
    return dict(zip(found.names, found.direction.tolist(), strict=True))


def _decisions(found: Explanation) -> Mapping[str, Any]:
    """Directions, rules and the tree; empty for a slim forest."""
    if found.directions is None or found.tree is None:
        return {}
    precision = report.tasks.words_of_model(found.model).precision_name
    best = found.directions.top(MAX_LINES)
    columns = zip(best.words, best.share.tolist(), best.count.tolist(), strict=True)
    return {
        "directions": [
            dict(zip(("direction", "share", "splits"), each, strict=True)) for each in columns
        ],
        "n_directions": len(found.directions),
        "combined_share": report.explain.combined_share(found.directions),
        "rules": None if found.rules is None else _rules(found.rules, precision),
        "short_rules": _short_rules(found.groups, precision),
        "short_rules_imitate": _imitation(found.groups),
        "tree": {"explained": found.tree_explains, **found.tree.to_dict()},
    }


def _rules(rules: TopRules, precision: str) -> list[dict[str, Any]]:
    estimates = [None if each != each else each for each in rules.out_of_bag.tolist()]
    figures = (rules.purity, estimates, rules.n_rows, rules.coverage, rules.explained)
    listed = zip(rules.rules, rules.prediction, *figures, strict=True)
    names = ("rule", "prediction", precision, "out_of_bag", "n_rows", "coverage", "explained")
    return [dict(zip(names, each, strict=True)) for each in listed]


def _short_rules(groups: RuleSet | None, precision: str) -> list[dict[str, Any]] | None:
    """Rules of different groups, as on the page."""
    if groups is None:
        return None
    return [
        {
            "rule": rule.text,
            "prediction": rule.prediction,
            precision: rule.precision,
            "lift": None if rule.lift != rule.lift else rule.lift,
            "out_of_bag": None if rule.out_of_bag != rule.out_of_bag else rule.out_of_bag,
            "n_rows": rule.n_rows,
            "coverage": rule.coverage,
            "new": rule.new,
            "agreement": rule.agreement,
        }
        for rule in groups.rules
    ]


def _imitation(groups: RuleSet | None) -> dict[str, Any] | None:
    """Source of short rules, and their agreement with the forest."""
    if groups is None:
        return None
    fidelity = None if groups.fidelity != groups.fidelity else groups.fidelity
    return {"source": groups.source, "fidelity": fidelity, "covered": groups.covered}


def _quantiles(found: Explanation) -> Mapping[str, Any]:
    """Bands of quantiles and their coverage, or why there are none; empty in classification."""
    if found.quantiles is None:
        return {}
    bands = [
        {
            "share": band.share,
            "covered": None if band.covered is None else band.covered.as_dict(),
            "median_width": band.width,
        }
        for band in found.quantiles.bands
    ]
    return {"bands": bands, "bands_missing": found.quantiles.missing or None}


def _row(found: Explanation, place: int) -> dict[str, Any]:
    row, values = found.rows[place], found.shapley
    classes = values.classes
    truth = row.truth if classes is None or row.truth is None else classes[int(row.truth)]
    return {
        "row": row.number,
        "why": row.why,
        "sentence": report.explain.row_sentence(found, row, place),
        "predicted": row.predicted[0]
        if classes is None
        else dict(zip(map(str, classes), row.predicted, strict=True)),
        "true": truth,
        "base": values.base_values,
        "shapley": dict(zip(values.names, values.values[place].tolist(), strict=True)),
    }
