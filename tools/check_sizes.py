"""Checks that files, functions and folders stay small enough to read.

A function's size is that of its body: signature, decorators and docstring do not count, so that
estimators and commands may have many parameters. Functions are measured in Python only.
"""

import ast
import sys
from collections.abc import Iterator
from pathlib import Path

ROOTS = ("src", "lab", "cpp", "tests", "benchmarks", "tools", "examples")
SOURCES = (".py", ".pyi", ".h", ".cpp", ".inc")
MOST_LINES_OF_FILE = 450
MOST_LINES_OF_FUNCTION = 60
MOST_FILES_OF_FOLDER = 22

# Path, or path and function, that may be larger.
EXCEPTIONS = (
    "src/bevel/_core.pyi",  # one extension module has one stub
    "tests/hostile",  # one program: its steps, and the tests that run them
    "tests/support",  # flat, since tests of all folders import from it
)


def long_functions(path: Path, text: str) -> Iterator[tuple[str, int, int]]:
    """Name, size and limit of each function of a Python file."""
    for node in ast.walk(ast.parse(text)):
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
            has_docstring = ast.get_docstring(node, clean=False) is not None
            body = node.body[1:] if has_docstring else node.body
            size = body[-1].end_lineno - body[0].lineno + 1 if body else 0
            yield f"{path}:{node.name}", size, MOST_LINES_OF_FUNCTION


def sizes() -> Iterator[tuple[str, int, int]]:
    """Name, size and limit of each folder, file and function."""
    for root in ROOTS:
        files = sorted(path for path in Path(root).rglob("*") if path.suffix in SOURCES)
        for folder in sorted({path.parent for path in files}):
            n_files = sum(path.parent == folder for path in files)
            yield folder.as_posix(), n_files, MOST_FILES_OF_FOLDER
        for path in files:
            text = path.read_text(encoding="utf-8")
            yield path.as_posix(), text.count("\n"), MOST_LINES_OF_FILE
            if path.suffix == ".py":
                yield from long_functions(path, text)


if __name__ == "__main__":
    found = [each for each in sizes() if each[1] > each[2] and each[0] not in EXCEPTIONS]
    for name, size, limit in found:
        print(f"{name}: {size}, at most {limit}. Split it.")
    sys.exit(bool(found))
