"""The draft of the conda-forge recipe agrees with pyproject.toml."""

import re
import tomllib
from pathlib import Path

import pytest

yaml = pytest.importorskip("yaml", reason="PyYAML reads the recipe; dask installs it")

ROOT = Path(__file__).parents[3]
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
RECIPE = yaml.safe_load((ROOT / "conda" / "recipe.yaml").read_text(encoding="utf-8"))


def named(requirement: str) -> tuple[str, str]:
    name, version = re.fullmatch(r"([\w-]+)\s*(?:>=([\d.]+(?:,<[\d.]+)?))?", requirement).groups()
    return name, version or ""


def test_version_license_and_command_are_those_of_the_package():
    assert RECIPE["context"]["version"] == PROJECT["version"]
    assert RECIPE["about"]["license"] == PROJECT["license"]
    (command,) = RECIPE["build"]["python"]["entry_points"]
    assert command == f"bevel = {PROJECT['scripts']['bevel']}"


def test_requirements_are_those_of_the_package_and_of_its_command():
    run = {named(each) for each in RECIPE["requirements"]["run"]} - {("python", "")}
    wanted = PROJECT["dependencies"] + PROJECT["optional-dependencies"]["cli"]
    assert run == {named(each) for each in wanted}


def test_build_requirements_are_there():
    host = dict(named(each) for each in RECIPE["requirements"]["host"])
    build = tomllib.loads((ROOT / "pyproject.toml").read_text())["build-system"]["requires"]
    for name, version in map(named, build):
        assert host[{"cmeel-eigen": "eigen"}.get(name, name)] == version
