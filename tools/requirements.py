"""Print what Bevel needs at run time, and the extras that are named, one requirement a line.

python tools/requirements.py test lint >requirements.txt
"""

from __future__ import annotations

import sys
import tomllib
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent


def requirements(extras: list[str]) -> list[str]:
    """Of the package and of its extras, each once."""
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    lists = [project["dependencies"], *(project["optional-dependencies"][name] for name in extras)]
    return list(dict.fromkeys(each for names in lists for each in names))


if __name__ == "__main__":
    print("\n".join(requirements(sys.argv[1:])))
