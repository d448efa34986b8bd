"""Compare the outputs printed in documents with what their Python code prints, or write them anew.

    python tools/printed_outputs.py            # lists documents whose outputs differ
    python tools/printed_outputs.py --write    # writes them
    python tools/printed_outputs.py docs/reference/importance.md

An output is a block without a language that follows a block of Python, with nothing between them
but blank lines: what the code prints, and the value of its last expression.
"""

from __future__ import annotations

import argparse
import ast
import contextlib
import io
import os
import re
import sys
import tempfile
from pathlib import Path
from typing import Any

ROOT = Path(__file__).parents[1]
BLOCK = re.compile(
    r"^```python\n(?P<code>.*?)^```\n(?:\s*^```\n(?P<output>.*?)^```\n)?", re.MULTILINE | re.DOTALL
)


def run(code: str, session: dict[str, Any], line: int) -> str:
    """What a cell of a notebook would show; tracebacks count lines from `line` on."""
    tree = ast.increment_lineno(ast.parse(code), line)
    shown = io.StringIO()
    last = tree.body[-1] if tree.body else None
    with contextlib.redirect_stdout(shown):
        if isinstance(last, ast.Expr):
            tree.body.pop()
            exec(compile(tree, "document", "exec"), session)
            value = eval(compile(ast.Expression(last.value), "document", "eval"), session)
            if value is not None:
                print(value)
        else:
            exec(compile(tree, "document", "exec"), session)
    return "".join(f"{line.rstrip()}\n" for line in shown.getvalue().splitlines())


def rerun(text: str) -> str:
    """A document with the outputs of today."""
    session: dict[str, Any] = {"__name__": "document"}
    parts, place = [], 0
    for found in BLOCK.finditer(text):
        output = run(found["code"], session, text.count("\n", 0, found.start("code")))
        if found["output"] is not None:
            parts += [text[place : found.start("output")], output]
            place = found.end("output")
    return "".join([*parts, text[place:]])


def has_outputs(text: str) -> bool:
    return any(found["output"] is not None for found in BLOCK.finditer(text))


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("documents", nargs="*", type=Path)
    parser.add_argument("--write", action="store_true", help="write what the code prints")
    arguments = parser.parse_args()
    documents = arguments.documents or [ROOT / "README.md", *sorted((ROOT / "docs").rglob("*.md"))]
    os.environ.setdefault("MPLBACKEND", "Agg")
    n_different = n_failed = 0
    for document in (each.resolve() for each in documents):
        text = document.read_text(encoding="utf-8")
        if not has_outputs(text):
            continue
        with tempfile.TemporaryDirectory() as folder, contextlib.chdir(folder):
            try:
                new = rerun(text)
            except Exception as error:
                print(f"{document}: does not run, {error!r}")
                n_failed += 1
                continue
        if new == text:
            continue
        n_different += 1
        print(document)
        if arguments.write:
            document.write_text(new, encoding="utf-8")
    return n_failed + (0 if arguments.write else n_different)


if __name__ == "__main__":
    sys.exit(main())
