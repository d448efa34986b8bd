"""Check who includes whom in the C++ core: `python tools/check_includes.py`.

A room (a folder of `cpp/bevel`) may include the rooms and single headers that the table names, and
itself. The table is the drawing of ARCHITECTURE.md: rooms know one another by their products.
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
    # Where directions come from is none of its business.
    "split": ["support", "random", "data", "options.h", "projection/candidates.h"],
    "tree": ["support", "random", "data", "options.h", "projection", "split"],
    "forest": ["support", "random", "data", "options.h", "projection", "split", "tree"],
    # A finished forest: its arrays and flags, and bags drawn again; neither samplers nor searches.
    "predict": [
        *("support", "data", "options.h", "tree/node_store.h"),
        *("forest/bag.h", "forest/forest_fields.h"),
    ],
    "analysis": ["support", "random", "predict", "tree/node_store.h"],
    "file": ["support", "predict", "tree/node_store.h", "forest/forest_fields.h"],
}
OF_OTHERS = ("Python.h", "nanobind", "pybind11", "numpy", "Eigen")


def room_of(path: str) -> str:
    return path.partition("/")[0]


def allows(room: str, target: str) -> bool:
    """Whether a file of a room may include `<x/y>` or `"x/y"`."""
    name = target[1:-1]
    if target.startswith("<") or not name.startswith("bevel/"):
        stranger = room_of(name)
        return stranger not in OF_OTHERS or f"<{stranger}>" in MAY_INCLUDE[room]
    name = name.removeprefix("bevel/")
    return room_of(name) == room or room_of(name) in MAY_INCLUDE[room] or name in MAY_INCLUDE[room]


def faults(core: Path) -> Iterator[str]:
    for file in sorted(path for path in core.rglob("*") if path.suffix in {".h", ".cpp", ".inc"}):
        room = file.relative_to(core).parts[0]
        if room not in MAY_INCLUDE:
            yield f"{file}:1: the room {room!r} is not in the table of tools/check_includes.py"
            continue
        for number, line in enumerate(file.read_text(encoding="utf-8").splitlines(), start=1):
            found = INCLUDE.match(line)
            if found and not allows(room, found[1]):
                allowed = ", ".join(MAY_INCLUDE[room]) or "no other room"
                yield f"{file}:{number}: {room} includes {found[1]}; it may include {allowed}"


def main() -> int:
    rooms = {room: {room_of(r) for r in rule if r[0] != "<"} for room, rule in MAY_INCLUDE.items()}
    TopologicalSorter(rooms).prepare()  # raises CycleError: the table itself must have an order
    found = list(faults(Path(sys.argv[1]) if len(sys.argv) > 1 else CORE))
    print("\n".join(found) if found else f"{CORE.name}: every include is allowed")
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
