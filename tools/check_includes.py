"""Check who includes whom in the C++ core: `python tools/check_includes.py`.

A folder of `cpp/bevel` may include the folders and single headers that the table lists, and itself.
The table has the order of the folders in ARCHITECTURE.md.
"""

import re
import sys
from collections.abc import Iterator
from graphlib import TopologicalSorter
from pathlib import Path

CORE = Path(__file__).parent.parent / "cpp" / "bevel"
INCLUDE = re.compile(r'^\s*#\s*include\s*(<[^>]+>|"[^"]+")')

MAY_INCLUDE = {
    "options.h": [],
    "support": [],
    "random": ["support"],
    "data": ["support"],
    "models": ["support", "<Eigen>"],
    "projection": ["support", "random", "data", "models", "options.h", "<Eigen>"],
    # Independent of the samplers: it sees candidates only.
    "split": ["support", "random", "data", "options.h", "projection/candidates.h"],
    "tree": ["support", "random", "data", "options.h", "projection", "split"],
    "forest": ["support", "random", "data", "options.h", "projection", "split", "tree"],
    # The upper levels of trees from sums over blocks of rows; subtrees are the trainer's part.
    "blocks": ["support", "random", "data", "options.h", "projection", "split", "tree", "forest"],
    # Trees one after the other, each on what the ones before it have left.
    "boosting": [
        *("support", "random", "data", "options.h", "projection"),
        *("split/kernels/kernels.h", "split/projection_bound.h", "split/chance_gain.h"),
        *("tree/growth.h", "tree/node_store.h", "tree/value_bounds.h", "forest/flat_forest.h"),
        *("forest/leaf_model.h", "models/algebra/dense.h"),
    ],
    # A finished forest: its arrays and flags, and bags drawn again; no samplers, no searches.
    "predict": [
        *("support", "data", "options.h", "tree/node_store.h"),
        *("forest/bag.h", "forest/forest_fields.h", "forest/leaf_model.h"),
    ],
    "analysis": ["support", "random", "predict", "tree/node_store.h"],
    "file": ["support", "predict", "tree/node_store.h", "forest/forest_fields.h"],
}
THIRD_PARTY = ("Python.h", "nanobind", "pybind11", "numpy", "Eigen")


def folder_of(path: str) -> str:
    return path.partition("/")[0]


def allows(folder: str, target: str) -> bool:
    """Whether a file of a folder may include `<x/y>` or `"x/y"`."""
    name = target[1:-1]
    if target.startswith("<") or not name.startswith("bevel/"):
        origin = folder_of(name)
        return origin not in THIRD_PARTY or f"<{origin}>" in MAY_INCLUDE[folder]
    name = name.removeprefix("bevel/")
    return (
        folder_of(name) == folder
        or folder_of(name) in MAY_INCLUDE[folder]
        or name in MAY_INCLUDE[folder]
    )


def faults(core: Path) -> Iterator[str]:
    for file in sorted(path for path in core.rglob("*") if path.suffix in {".h", ".cpp", ".inc"}):
        folder = file.relative_to(core).parts[0]
        if folder not in MAY_INCLUDE:
            yield f"{file}:1: the folder {folder!r} is not in the table of tools/check_includes.py"
            continue
        for number, line in enumerate(file.read_text(encoding="utf-8").splitlines(), start=1):
            found = INCLUDE.match(line)
            if found and not allows(folder, found[1]):
                allowed = ", ".join(MAY_INCLUDE[folder]) or "no other folder"
                yield f"{file}:{number}: {folder} includes {found[1]}; it may include {allowed}"


def main() -> int:
    folders = {
        folder: {folder_of(r) for r in rule if r[0] != "<"} for folder, rule in MAY_INCLUDE.items()
    }
    TopologicalSorter(folders).prepare()  # raises CycleError: the table itself must have an order
    found = list(faults(Path(sys.argv[1]) if len(sys.argv) > 1 else CORE))
    print("\n".join(found) if found else f"{CORE.name}: every include is allowed")
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
