"""Messages of `bevel.workflow` name parameters; the command line replaces them with its flags."""

import re

__all__ = ["as_flags"]

# A parameter in a message: `drop`, `header=True` or `task="regression"`.
PARAMETER = re.compile(r"`(\w+)(?:=(?:\"(\w+)\"|(\w+)))?`")
FLAGS = {
    "drop": "--drop",
    "header": "--header",
    "keep_targets": "--keep-targets",
    "nominal": "--nominal",
    "proba": "--proba",
    "rows": "--row",
    "target": "--target",
    "task": "--task",
    "tuning_trees": "--tuning-trees",
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
