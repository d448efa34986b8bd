"""Messages of `bevel.workflow` speak of parameters; the command line has flags for them."""

import re

__all__ = ["as_flags"]

# A parameter in a message: `drop`, `header=True` or `task="regression"`.
PARAMETER = re.compile(r"`(\w+)(?:=(?:\"(\w+)\"|(\w+)))?`")
FLAGS = {
    "budget": "--budget",
    "drop": "--drop",
    "first_trees": "--first-trees",
    "header": "--header",
    "keep_targets": "--keep-targets",
    "nominal": "--nominal",
    "params": "--params",
    "proba": "--proba",
    "projection": "--projection",
    "rows": "--row",
    "seconds": "--seconds",
    "store": "--store",
    "target": "--target",
    "task": "--task",
}


def as_flags(text: str) -> str:
    """A message with the parameters in it written as flags; other text stays."""
    return PARAMETER.sub(_flag, text)


def _flag(found: re.Match[str]) -> str:
    name, word, value = found.groups()
    if name not in FLAGS:
        return found.group()
    if value == "False":
        return FLAGS[name].replace("--", "--no-", 1)
    return f"{FLAGS[name]} {word}" if word else FLAGS[name]
