"""Check what `src/bevel` imports from the package itself: `python tools/check_imports.py`.

`lint-imports` checks the order of the folders, but it cannot tell the compiled module `bevel._core`
from `bevel/__init__.py`, so its contracts leave out imports of `bevel`. This tool refuses the ones
that would evade them: from `bevel` itself come only `_core` and modules that the contracts know.
"""

import ast
import sys
from collections.abc import Iterator
from pathlib import Path

PACKAGE = Path(__file__).parent.parent / "src" / "bevel"
REASON = "it may take _core and sub-modules from bevel, other names from where they are defined"


def is_module(package: Path, name: str) -> bool:
    return (package / name / "__init__.py").is_file() or (package / f"{name}.py").is_file()


def refused(package: Path, node: ast.AST) -> Iterator[str]:
    """The imports of one statement that must not be."""
    if isinstance(node, ast.Import):
        for each in node.names:
            if each.name == "bevel" or (each.name.startswith("bevel.") and each.asname is None):
                yield f"import {each.name}"
    elif isinstance(node, ast.ImportFrom) and node.level:
        yield f"from {'.' * node.level}{node.module or ''} import ..."
    elif isinstance(node, ast.ImportFrom) and node.module == "bevel":
        for each in node.names:
            if each.name != "_core" and not is_module(package, each.name):
                yield f"from bevel import {each.name}"


def faults(package: Path) -> Iterator[str]:
    for file in sorted(package.rglob("*.py")):
        if file == package / "__init__.py":
            continue
        for node in ast.walk(ast.parse(file.read_text(encoding="utf-8"))):
            for text in refused(package, node):
                yield f"{file}:{node.lineno}: {text}; {REASON}"


def main() -> int:
    found = list(faults(Path(sys.argv[1]) if len(sys.argv) > 1 else PACKAGE))
    print("\n".join(found) if found else "bevel: every import of the package itself is allowed")
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
