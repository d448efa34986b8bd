"""`import bevel` is light, and gives the whole public API."""

import subprocess
import sys

import pytest

import bevel

OPTIONAL = (
    "dask",
    "distributed",
    "matplotlib",
    "pandas",
    "polars",
    "typer",
    "rich",
    "pyarrow",
    "onnx",
)
HEAVY = ("sklearn", "scipy", "pandas", "polars", "pyarrow", "matplotlib", "narwhals")
LAZY = ("analysis", "dask", "datasets", "plots", "workflow")


def run(code: str) -> str:
    """What `code` prints in a fresh interpreter."""
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    return done.stdout


def test_import_of_bevel_leaves_lazy_modules_and_optional_packages_out():
    # scikit-learn itself imports pandas and rich where they are installed.
    wanted = ["matplotlib", "typer", "onnx", *(f"bevel.{name}" for name in (*LAZY, "cli"))]
    assert run(f"import sys, bevel; print([n for n in {wanted} if n in sys.modules])") == "[]\n"


def test_import_of_bevel_without_any_optional_package_gives_every_module():
    block = f"import sys; sys.modules.update(dict.fromkeys({OPTIONAL})); import bevel; "
    assert run(block + f"print([getattr(bevel, n).__name__ for n in {LAZY}])") == (
        "['bevel.analysis', 'bevel.dask', 'bevel.datasets', 'bevel.plots', 'bevel.workflow']\n"
    )


@pytest.mark.parametrize("words", [["--version"], ["--help"], ["fit", "--help"]], ids=" ".join)
def test_command_line_that_only_prints_imports_no_package_of_the_models(words):
    # Each of them takes longer than the rest of the command.
    code = (
        "import sys, importlib.metadata as m; m.entry_points = lambda group: []; "
        f"sys.argv = ['bevel', *{words}]; from bevel.cli import main\n"
        "try: main()\n"
        "except SystemExit: pass\n"
        f"print([n for n in {HEAVY} if n in sys.modules])"
    )
    assert run(code).endswith("\n[]\n")


def test_version_of_the_command_line_loads_no_other_package():
    code = (
        "import sys; sys.argv = ['bevel', '--version']; from bevel.cli import main\n"
        "try: main()\n"
        "except SystemExit: pass\n"
        f"print([n for n in {(*HEAVY, 'bevel_lab')} if n in sys.modules])"
    )
    assert run(code).endswith("\n[]\n")


def test_dir_of_bevel_lists_the_public_api_only():
    # `import *` leaves out dask, datasets and mlflow, which are names of other packages too.
    assert dir(bevel) == sorted({*bevel.__all__, "dask", "datasets", "mlflow", "tuning"})
    assert all(hasattr(bevel, name) for name in dir(bevel))


def test_unknown_attribute_of_bevel_raises_attribute_error():
    with pytest.raises(AttributeError, match="module 'bevel' has no attribute 'forests'"):
        _ = bevel.forests
