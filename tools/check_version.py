"""Check that every file that names the version of Bevel names the same one.

python tools/check_version.py            # the files agree
python tools/check_version.py 0.2.0      # and they name this version, as a tag does
"""

from __future__ import annotations

import re
import sys
import tomllib
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent


def named_versions() -> dict[str, str]:
    """The version by the place that names it."""
    package = _toml("pyproject.toml")
    lab = _toml("lab/pyproject.toml")
    requirement = next(r for r in lab["project"]["dependencies"] if r.startswith("bevel["))
    return {
        "pyproject.toml": package["project"]["version"],
        "lab/pyproject.toml": lab["project"]["version"],
        "lab/pyproject.toml, its dependency": requirement.partition("==")[2],
        "CITATION.cff": _first(r"^version: (\S+)", "CITATION.cff"),
        "conda/recipe.yaml": _first(r'^  version: "(\S+)"', "conda/recipe.yaml"),
        "CHANGELOG.md": _first(r"^## \[(\d\S*)\]", "CHANGELOG.md"),
    }


def _toml(name: str) -> dict:
    return tomllib.loads((ROOT / name).read_text(encoding="utf-8"))


def _first(pattern: str, name: str) -> str:
    found = re.search(pattern, (ROOT / name).read_text(encoding="utf-8"), re.MULTILINE)
    return found.group(1) if found else "none"


def main() -> int:
    versions = named_versions()
    expected = sys.argv[1] if len(sys.argv) > 1 else versions["pyproject.toml"]
    wrong = {place: version for place, version in versions.items() if version != expected}
    for place, version in wrong.items():
        print(f"{place} names version {version}, expected {expected}")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
