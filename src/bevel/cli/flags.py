"""Messages of `bevel.workflow` name parameters; the command line replaces them with its flags."""

import re
import shlex

__all__ = ["as_flags"]

# A parameter in a message: `drop`, `header=True`, `task="regression"`, `types={'a': "number"}`.
PARAMETER = re.compile(r"`(\w+)(?:=(?:\"([^\"`]+)\"|\{'([^`]+)': \"(\w+)\"\}|(\w+)))?`")
FLAGS = {
    "budget": "--budget",
    "class_weight": "--class-weight",
    "competing_risks": "--competing-risks",
    "decimal": "--decimal",
    "delimiter": "--delimiter",
    "drop": "--drop",
    "encoding": "--encoding",
    "entry": "--entry",
    "event": "--event",
    "first_trees": "--first-trees",
    "header": "--header",
    "interval": "--interval",
    "keep_id": "--keep-id",
    "keep_targets": "--keep-targets",
    "missing": "--missing",
    "nominal": "--nominal",
    "params": "--params",
    "proba": "--proba",
    "projection": "--projection",
    "row_id": "--id",
    "rows": "--row",
    "seconds": "--seconds",
    "store": "--store",
    "target": "--target",
    "task": "--task",
    "time": "--time",
    "types": "--types",
    "weights": "--weights",
}


def as_flags(text: str) -> str:
    """A message with the parameters in it written as flags; other text stays."""
    return PARAMETER.sub(_flag, text)


def _flag(found: re.Match[str]) -> str:
    name, word, column, kind, value = found.groups()
    if name not in FLAGS:
        return found.group()
    if value == "False":
        return FLAGS[name].replace("--", "--no-", 1)
    if column:
        return f"{FLAGS[name]} {shlex.quote(f'{column}={kind}')}"
    return f"{FLAGS[name]} {word}" if word else FLAGS[name]
