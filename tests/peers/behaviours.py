"""What the boosting libraries accept or refuse, and what Bevel does.

LightGBM's and XGBoost's packages ship no tests. `docs/coming_from/differences.md` shows this
table, and `test_differences.py` tries what it says of those that are installed.
"""

from dataclasses import dataclass

ACCEPTS, RAISES = "accepts", "raises"


@dataclass(frozen=True)
class Behaviour:
    """What happens in a situation, by library; `key` names the trial of Bevel."""

    key: str
    situation: str
    lightgbm: str
    xgboost: str
    bevel: str
    remark: str = ""


BEHAVIOURS = (
    Behaviour("subclass", "a subclass with an `__init__` of its own", ACCEPTS, ACCEPTS, ACCEPTS),
    Behaviour("nan", "NaN among the features", ACCEPTS, ACCEPTS, ACCEPTS),
    Behaviour(
        *("infinity", "infinities among the features", ACCEPTS, RAISES, RAISES),
        "The message names the column and the row.",
    ),
    Behaviour("nan target", "NaN in the target", RAISES, RAISES, RAISES),
    Behaviour(
        *("labels", "class labels that are text", ACCEPTS, RAISES, ACCEPTS),
        "XGBoost needs classes from 0 on.",
    ),
    Behaviour(
        *("unknown", "a parameter that does not exist", ACCEPTS, ACCEPTS, RAISES),
        "The message gives the name that it has here.",
    ),
    Behaviour(
        *("eval_set", "`fit(X, y, eval_set=[(X_val, y_val)])`", ACCEPTS, ACCEPTS, RAISES),
        "Write `fit(X, y, X_val=X_val, y_val=y_val)`.",
    ),
    Behaviour("columns", "other columns in `predict` than in `fit`", RAISES, RAISES, RAISES),
    Behaviour("no rows", "a table without rows", RAISES, ACCEPTS, RAISES),
    Behaviour("refit", "a second `fit` with other columns", ACCEPTS, ACCEPTS, ACCEPTS),
)


def table() -> str:
    """The behaviours as a table in Markdown."""
    rows = ["| | LightGBM | XGBoost | Bevel | |", "| --- | --- | --- | --- | --- |"]
    for each in BEHAVIOURS:
        cells = (each.situation, each.lightgbm, each.xgboost, each.bevel, each.remark)
        rows.append("| " + " | ".join(cells) + " |")
    return "\n".join(rows).replace("|  |", "| |")
