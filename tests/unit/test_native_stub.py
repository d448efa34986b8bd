"""The stub of the native module says what the module has: names, parameters, defaults and types."""

import ast
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from bevel import _core, errors

# What nanobind knows of callbacks, dictionaries, tuples and the like is less than the stub says.
UNKNOWN = {"object", "Callable", "dict", "tuple", "list", "kwargs", "Sequence", "bytes"}
WORDS = {"np", "npt", "NDArray", "Any", "bevel", "_core"}  # in the names of types


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


def _functions() -> Iterator[tuple[str, ast.FunctionDef, Any]]:
    """Functions and methods: name, definition in the stub, and what the module has."""
    for node in _stub().body:
        if isinstance(node, ast.FunctionDef):
            yield node.name, node, getattr(_core, node.name)
        for each in node.body if isinstance(node, ast.ClassDef) else []:
            if isinstance(each, ast.FunctionDef):
                native = getattr(getattr(_core, node.name), each.name)
                native = native.fget if isinstance(native, property) else native
                yield f"{node.name}.{each.name}", each, native


def _overloads(native: Any) -> list[ast.FunctionDef]:
    """Signatures of a native function; values of defaults are those of the module."""
    found = []
    for signature, _, defaults in native.__nb_signature__:
        text = re.sub(r"ndarray\[dtype=(\w+)[^\]]*\]", r"\1", signature)
        for number in reversed(range(len(defaults or ()))):
            text = text.replace(f"\\{number}", repr(defaults[number]))
        (function,) = ast.parse(text.replace("def (", "def _(") + ": ...").body
        assert isinstance(function, ast.FunctionDef)
        found.append(function)
    return found


def _parameters(function: ast.FunctionDef) -> dict[str, tuple[str, str | None]]:
    """Kind and default of each parameter, in their order."""
    given = function.args
    positional = [*given.posonlyargs, *given.args]
    defaults = [None] * (len(positional) - len(given.defaults)) + list(given.defaults)
    found = {
        each.arg: ("positional", None if default is None else ast.unparse(default))
        for each, default in zip(positional, defaults, strict=True)
    }
    for each, value in zip(given.kwonlyargs, given.kw_defaults, strict=True):
        found[each.arg] = ("keyword", None if value is None else ast.unparse(value))
    if given.kwarg is not None:
        found[given.kwarg.arg] = ("keywords", None)
    return found


def _types(annotation: ast.expr | None) -> set[str]:
    """Types of elements of arrays, scalars and classes that an annotation names."""
    assert annotation is not None
    found = set()
    for node in ast.walk(annotation):
        name = getattr(node, "id", getattr(node, "attr", None))
        name = "None" if isinstance(node, ast.Constant) and node.value is None else name
        if name == "floating":
            found |= {"float32", "float64"}
        elif name is not None:
            found.add(name.rstrip("_"))
    return found


FUNCTIONS = list(_functions())
EACH = pytest.mark.parametrize(
    ("function", "native"), [each[1:] for each in FUNCTIONS], ids=[each[0] for each in FUNCTIONS]
)


@EACH
def test_stub_has_the_parameters_of_each_function(function: ast.FunctionDef, native: Any) -> None:
    for overload in _overloads(native):
        assert _parameters(function) == _parameters(overload)


@EACH
def test_stub_has_the_types_of_each_parameter(function: ast.FunctionDef, native: Any) -> None:
    overloads = _overloads(native)
    for each in [*function.args.args, *function.args.kwonlyargs]:
        if each.arg == "self":
            continue
        known = set()
        for overload in overloads:
            same = [*overload.args.args, *overload.args.kwonlyargs]
            known |= _types(next(other for other in same if other.arg == each.arg).annotation)
        if known & UNKNOWN:
            continue
        assert _types(each.annotation) - WORDS == known - WORDS, each.arg


def test_stub_has_the_types_of_each_attribute() -> None:
    for owner in _stub().body:
        for each in owner.body if isinstance(owner, ast.ClassDef) else []:
            if not isinstance(each, ast.AnnAssign) or not isinstance(each.target, ast.Name):
                continue
            native = getattr(getattr(_core, owner.name), each.target.id)
            if not isinstance(native, property):
                continue
            (getter,) = _overloads(native.fget)
            known = _types(getter.returns)
            if not known & UNKNOWN:
                assert _types(each.annotation) - WORDS == known - WORDS, each.target.id
