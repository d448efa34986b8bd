"""The stub of the native module names what the module has, and nothing else."""

import ast
from pathlib import Path

from bevel import _core, errors


def _stub() -> ast.Module:
    return ast.parse((Path(errors.__file__).parent / "_core.pyi").read_text("utf-8"))


def _public(owner: object) -> set[str]:
    return {name for name in dir(owner) if not name.startswith("_")}


def test_stub_names_every_function_and_class_of_the_module() -> None:
    stub = {n.name for n in _stub().body if isinstance(n, ast.FunctionDef | ast.ClassDef)}
    assert stub == _public(_core)


def test_stub_names_every_member_of_each_class() -> None:
    for node in _stub().body:
        if not isinstance(node, ast.ClassDef):
            continue
        members = {n.name for n in node.body if isinstance(n, ast.FunctionDef)}
        members |= {
            n.target.id
            for n in node.body
            if isinstance(n, ast.AnnAssign) and isinstance(n.target, ast.Name)
        }
        assert members - {"__init__"} == _public(getattr(_core, node.name)), node.name
