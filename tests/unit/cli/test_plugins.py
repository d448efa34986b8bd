"""Commands of other packages are added, and their faults stay theirs."""

from __future__ import annotations

import ast
from importlib.metadata import EntryPoint
from pathlib import Path

import pytest
import typer
from support.command_line import invoke

import bevel
from bevel.cli import app as plugins


def app_with(monkeypatch: pytest.MonkeyPatch, *points: EntryPoint) -> typer.Typer:
    monkeypatch.setattr(plugins, "entry_points", lambda group: [*points])  # noqa: ARG005
    app = typer.Typer(cls=plugins.Commands)
    app.command("own")(lambda: typer.echo("own"))
    app.callback()(lambda: None)  # a lone command would be no group
    return app


def test_lab_that_is_not_installed_says_how_to_install_it(monkeypatch):
    app = app_with(monkeypatch)
    for words in (["lab"], ["lab", "run", "sporf-uci", "--quick"], ["lab", "--help"]):
        result = invoke(app, words)
        assert result.exit_code == 1
        assert "pip install bevel-lab" in result.stderr


def test_lab_that_is_not_installed_is_no_command_of_the_help(monkeypatch):
    listed = invoke(app_with(monkeypatch), ["--help"]).output
    assert "own" in listed
    assert "lab" not in listed


def test_command_that_cannot_be_loaded_says_so_and_leaves_the_others_alone(monkeypatch):
    app = app_with(monkeypatch, EntryPoint("lab", "no_such_module:app", plugins.GROUP))
    result = invoke(app, ["lab", "list"])
    assert result.exit_code == 1
    assert "No module named 'no_such_module'" in result.stderr
    assert invoke(app, ["own"]).output == "own\n"


def test_installed_command_is_added(monkeypatch):
    point = EntryPoint("extra", f"{__name__}:extra", plugins.GROUP)
    monkeypatch.setattr(EntryPoint, "load", lambda _: extra)
    app = app_with(monkeypatch, point)
    assert invoke(app, ["extra", "hello"]).output == "hello\n"
    assert "extra" in invoke(app, ["--help"]).output


extra = typer.Typer()
extra.command("hello")(lambda: typer.echo("hello"))
extra.command("other")(lambda: None)


def test_library_imports_neither_the_lab_nor_the_benchmarks():
    for path in Path(bevel.__file__).parent.rglob("*.py"):
        for node in ast.walk(ast.parse(path.read_text("utf-8"))):
            names = [each.name for each in node.names] if isinstance(node, ast.Import) else []
            names += [node.module or ""] if isinstance(node, ast.ImportFrom) else []
            packages = {name.partition(".")[0] for name in names}
            assert not packages & {"bevel_lab", "benchmarks"}, path
