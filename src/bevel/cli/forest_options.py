"""Options for the parameters of a forest."""

from collections.abc import Mapping, Sequence
from enum import StrEnum
from typing import Annotated, Any

import typer

from bevel.projections import NAMED, SparseSigns
from bevel.projections.families import AUTOMATIC
from bevel.training.criteria import CLASS_CRITERIA, NUMBER_CRITERIA

__all__ = [
    "ClassWeight",
    "Criterion",
    "CriterionName",
    "Density",
    "Directions",
    "MaxDepth",
    "MinLeaf",
    "Monotonic",
    "ProjectionNames",
    "forest_arguments",
    "forest_parameters",
    "read_directions",
    "read_projection",
]

PANEL = "The forest"


class CriterionName(StrEnum):
    """Gain of a split."""

    vars().update({name: name for name in (*CLASS_CRITERIA, *NUMBER_CRITERIA)})


ProjectionNames = Annotated[
    str,
    typer.Option(
        help="Where directions come from: auto (families share the trees), "
        f"{', '.join(NAMED)}, or several with commas.",
        rich_help_panel=PANEL,
    ),
]
Density = Annotated[
    float | None,
    typer.Option(
        help="Features that a direction of --projection sparse combines on average.",
        rich_help_panel=PANEL,
    ),
]
Directions = Annotated[
    str,
    typer.Option(
        "--d",
        "--n-projections",
        metavar="COUNT",
        help="Directions tried at each node: auto, a number, sqrt, log2, p, p**0.75, or a share "
        "such as 0.5.",
        rich_help_panel=PANEL,
    ),
]
MaxDepth = Annotated[
    int | None,
    typer.Option(min=1, help="Depth of the trees; the default is no limit.", rich_help_panel=PANEL),
]
MinLeaf = Annotated[
    int | None,
    typer.Option(
        "--min-samples-leaf", min=1, help="Rows that a leaf has at least.", rich_help_panel=PANEL
    ),
]
Criterion = Annotated[
    CriterionName | None,
    typer.Option(
        help="What a split improves; the default goes by the task.", rich_help_panel=PANEL
    ),
]
ClassWeight = Annotated[
    list[str] | None,
    typer.Option(
        metavar="CLASS=WEIGHT",
        help="balanced, or the weight of a class, 1 for those not named; may be repeated.",
        rich_help_panel=PANEL,
    ),
]
Monotonic = Annotated[
    list[str] | None,
    typer.Option(
        metavar="COLUMN=SIGN",
        help="1 for a column that predictions must not fall with, -1 for one they must not rise "
        "with; may be repeated.",
        rich_help_panel=PANEL,
    ),
]


def read_projection(text: str, density: float | None) -> Any:
    """A name, a list of names, or sparse signs of a density."""
    names = [name.strip() for name in text.split(",") if name.strip()]
    if density is None:
        return names if len(names) > 1 else text.strip()
    if names not in ([SparseSigns.name], [AUTOMATIC]):  # the default gives way to a density
        raise ValueError(
            f"--density belongs to --projection {SparseSigns.name}; got --projection {text}. Leave "
            "out one of the two."
        )
    return SparseSigns(density)


def read_directions(text: str) -> int | float | str:
    """A count as the estimators take it: a number where it is one."""
    for kind in (int, float):
        try:
            return kind(text)
        except ValueError:
            pass
    return text


def forest_parameters(
    max_depth: int | None,
    min_samples_leaf: int | None,
    criterion: str | None,
    class_weight: Sequence[str] | None,
    monotonic: Sequence[str] | None = None,
) -> dict[str, Any]:
    """Parameters of the estimator that were given."""
    given: dict[str, Any] = {
        "max_depth": max_depth,
        "min_samples_leaf": min_samples_leaf,
        "criterion": None if criterion is None else str(criterion),
        "class_weight": _read_weights(class_weight) if class_weight else None,
        "monotonic_cst": _read_signs(monotonic) if monotonic else None,
    }
    return {name: value for name, value in given.items() if value is not None}


def _read_signs(texts: Sequence[str]) -> dict[str, int]:
    signs = {}
    for text in texts:
        name, equals, sign = text.rpartition("=")
        if not equals or sign not in ("1", "+1", "-1"):
            raise ValueError(
                f"--monotonic must be COLUMN=1 or COLUMN=-1; got {text!r}. Write for example "
                "--monotonic age=1."
            )
        signs[name] = int(sign)
    return signs


def _read_weights(texts: Sequence[str]) -> Mapping[str, float] | str:
    if list(texts) == ["balanced"]:
        return "balanced"
    weights = {}
    for text in texts:
        label, equals, weight = text.rpartition("=")
        try:
            weights[label] = float(weight)
        except ValueError:
            equals = ""
        if not equals:
            raise ValueError(
                f"--class-weight must be balanced or CLASS=WEIGHT; got {text!r}. Write for example "
                "--class-weight yes=2."
            )
    return weights


def forest_arguments(
    projection: str, density: float | None, directions: str, parameters: Mapping[str, Any]
) -> list[str]:
    """The same settings as arguments of a command line."""
    words = ["--projection", projection]
    words += [] if density is None else ["--density", f"{density:g}"]
    words += [] if directions == "auto" else ["--d", directions]
    for name, value in parameters.items():
        option = f"--{name.replace('_', '-')}"
        each = [f"{k}={v:g}" for k, v in value.items()] if isinstance(value, dict) else [str(value)]
        words += [word for text in each for word in (option, text)]
    return words
