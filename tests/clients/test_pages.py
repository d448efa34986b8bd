"""The code of docs/guide/other_packages.md runs with the packages that it is about."""

import re
from pathlib import Path

import pytest
from clients.test_clients import client

pytestmark = [pytest.mark.clients, pytest.mark.filterwarnings("default")]

PAGE = Path(__file__).parents[2] / "docs/guide/other_packages.md"
PACKAGES = ("mlflow", "skops", "shap", "optuna", "sktime", "skforecast", "mlforecast")


def test_the_code_of_the_page_runs_and_forecasts_better_than_the_last_year(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    for name in PACKAGES:
        client(name)
    known = {}
    for code in re.findall(r"```py\n(.*?)```", PAGE.read_text(), re.DOTALL):
        exec(code, known)
    for name in ("sktime", "skforecast", "mlforecast"):
        assert known[f"{name}_error"] < known["same_month"], name
    print({name: known[name] for name in known if name.endswith("_error")}, known["same_month"])
