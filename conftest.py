"""Settings of all tests: the same Hypothesis examples in every run, and long statistical runs only
when asked for with `-m statistics`, other long runs with `-m slow`, pages in a browser with
`-m pages`, other packages that use the estimators with `-m clients`."""

import os
import sys
from collections.abc import Iterator

import pytest
from hypothesis import settings

os.environ.setdefault("MPLBACKEND", "agg")  # no windows
# Threads of NumPy's linear algebra wait for one another in turning loops: on small matrices, beside
# the other tests of `-n 2`, they cost many times what they save.
os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")

pytest.register_assert_rewrite("support", "lab_support")

settings.register_profile("bevel", derandomize=True, deadline=None, database=None)
settings.load_profile("bevel")


ON_REQUEST = ("statistics", "slow", "pages", "clients")


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    if config.getoption("markexpr"):
        return
    long = [item for item in items if any(map(item.get_closest_marker, ON_REQUEST))]
    if long:
        config.hook.pytest_deselected(items=long)
        items[:] = [item for item in items if not any(map(item.get_closest_marker, ON_REQUEST))]


@pytest.fixture(autouse=True)
def _close_figures() -> Iterator[None]:
    """Pictures of a test are closed after it, as a notebook closes those of a cell."""
    yield
    if "matplotlib.pyplot" in sys.modules:
        sys.modules["matplotlib.pyplot"].close("all")
