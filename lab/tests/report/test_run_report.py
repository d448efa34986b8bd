"""The page of a run says what was done, who was better, what failed and what is missing."""

import json
import re
import shutil
import subprocess

import numpy as np
import pytest
from lab_support.results import description, row, rows_of, write_store
from support.command_line import run

from bevel_lab.report.report_tables import data_tables
from bevel_lab.report.run_report import Run, read_run, render, summarise
from bevel_lab.report.tally import Tally


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    folder = tmp_path_factory.mktemp("run")
    write_store(folder)
    return folder


@pytest.fixture(scope="module")
def page(folder):
    return render(read_run(folder), "bevel lab report run")


def test_page_needs_nothing_else_and_states_how_it_was_made(page):
    assert not re.search(r'(src|href)="(?!#|data:)', page)
    assert "bevel lab run sporf-uci --only &#x27;two words&#x27;" in page
    assert "bevel lab report run" in page
    assert "bevel 9.9" in page
    assert "An &lt;odd&gt; processor" in page
    assert "A paper, section 5" in page


def test_labels_are_in_the_order_of_the_systems_of_the_run():
    described = description(systems=["rf", "ccf", "sporf"])
    described["labels"] = {"ccf": "CCF", "rf": "RF", "sporf": "SPORF"}
    assert list(Run([], described).labels.values()) == ["RF", "CCF", "SPORF"]


def test_page_has_a_line_per_system_and_figures_and_claims(page):
    for words in ("SPORF", "RF", "CCF", "mean rank", "against SPORF", "wins / ties / losses"):
        assert words in page
    assert page.count("<svg") == 3
    assert "Over all data sets SPORF has a higher kappa than RF" in page
    assert "2 of 2 claims hold" in page  # those about systems that did not take part are not judged


@pytest.mark.parametrize(("n_sets", "counted"), [(1, "1 data set"), (2, "2 data sets")])
def test_data_sets_are_counted_in_words(n_sets, counted):
    errors = np.linspace(0.1, 0.2, n_sets * 3 * 2).reshape(n_sets, 3, 2)
    page = render(Run(rows_of(errors), description()), "bevel lab report run")
    assert f"over {counted}; " in page
    assert f"Means over the {counted} that" in page


def test_page_shows_failures_skipped_cells_and_absent_systems_escaped(page):
    assert "ValueError: &lt;b&gt;no&lt;/b&gt;" in page
    assert "too small" in page
    assert "ydf-oblique needs ydf" in page
    assert "1 failed, 1 skipped" in page


def test_page_of_an_unfinished_run_says_how_much_is_done(tmp_path):
    write_store(tmp_path, n_sets=2, n_cells=28)
    run = read_run(tmp_path)
    assert run.progress == "incomplete: 14 of 28 cells are done (50%)"
    assert "The run is incomplete: 14 of 28 cells" in render(run, "")


def test_page_of_a_run_without_results_can_be_written():
    page = render(Run([], description(n_cells=10)), "")
    assert "No cell is finished yet." in page
    failed = render(Run([row(status="failed", message="why")], description(n_cells=1)), "")
    assert "why" in failed


def test_table_of_data_sets_marks_the_best_and_greys_what_is_clearly_worse():
    best = np.array([0.10, 0.11, 0.09, 0.12, 0.10])
    noise = np.array([0.01, -0.01, 0.012, -0.008, 0.0])
    rows = rows_of([[best, best + 0.001 + noise, best + 0.2]])
    table = data_tables(Tally(rows), {})
    cells = re.findall(r'<td class="number([^"]*)" data-value="[^"]*">([\d.]+)</td>', table)
    assert [(kind.strip(), text) for kind, text in cells[3:6]] == [
        ("strong", "10.4"),
        ("", "10.6"),
        ("faint", "30.4"),
    ]
    assert "Wilcoxon&#x27;s cannot reach 5&nbsp;% on 5" in table


def test_summary_holds_the_numbers_of_the_page(folder):
    run = read_run(folder, reference="random-forest")
    facts = summarise(run)
    (comparison,) = facts["comparisons"]
    assert comparison["reference"] == "random-forest"
    assert [line["system"] for line in comparison["systems"]] == ["sporf", "random-forest", "ccf"]
    first = comparison["systems"][0]
    assert (first["wins"], first["ties"], first["losses"]) == (8, 0, 0)
    assert first["p_value"] == pytest.approx(2 / 2**8)
    assert (facts["n_failed"], facts["n_skipped"], facts["complete"]) == (1, 1, True)


def test_variants_of_a_system_compete_under_the_systems_label():
    rows = [row(system="ccf", error=0.1), row(system="ccf", setting={"trees": 17}, error=0.2)]
    run = Run(rows, description())
    assert run.labels["ccf (17 trees)"] == "CCF (17 trees)"
    assert run.tally.systems == ("ccf", "ccf (17 trees)")


def varied(name, values, n_sets, systems=("random-forest", "ccf")):
    rng = np.random.default_rng(0)
    return [
        {**each, "setting": {name: value}, "chance_error": 0.5, "error": rng.random() / 2}
        for value in values
        for each in rows_of(np.zeros((n_sets, len(systems), 2)), systems=systems)
    ]


@pytest.mark.parametrize(
    ("rows", "words"),
    [
        (varied("noise_dims", (0, 10, 100), 7), "mean κ"),
        (varied("n_train", (10, 100), 2), "training rows"),
        (varied("transform", ("raw", "rotated"), 7), "(error − RF's) / chance error"),
        (varied("offset", (1.0, 10.0), 2), "offset"),
    ],
)
def test_what_was_varied_has_a_figure(rows, words):
    page = render(Run([{**each, "auc": 0.5} for each in rows], description()), "")
    assert any(words in svg for svg in re.findall(r"<svg.*?</svg>", page, re.DOTALL))


def test_a_grid_of_settings_has_its_ranks_drawn():
    rng = np.random.default_rng(0)
    rows = [
        row(f"set {n}", "sporf", fold, setting={"d": d, "density": k}, error=rng.random() + k)
        for n in range(6)
        for fold in range(2)
        for d in ("p", "p²")
        for k in (1, 2, 3)
    ]
    page = render(Run(rows, description()), "")
    assert "Median rank of the settings of SPORF over 6 data sets" in page


def test_a_study_of_time_has_curves_and_ranks_nobody():
    rows = [
        row("parity", system, setting={"study": study, name: value}, error=0.1, seconds_fit=0.1)
        for study, name, values in (
            ("rows", "n_train", (100, 1000)),
            ("candidates", "candidates", ("p", "p²")),
            ("threads", "threads", (1, 2)),
        )
        for value in values
        for system in ("sporf", "ccf")
    ]
    page = render(Run(rows, description()), "")
    assert page.count("<svg") == 2
    assert "T₁ / Tₙ" in page
    assert "lowest mean rank" not in page


def invoke(*arguments):
    return run("lab", "report", *arguments)


def test_command_writes_the_page_and_never_over_another(folder, tmp_path):
    out = tmp_path / "page.html"
    result = invoke(folder, "--out", out)
    assert result.exit_code == 0, result.output
    assert "complete: 50 cells" in result.output
    before = out.read_text("utf-8")
    refused = invoke(folder, "--out", out)
    assert refused.exit_code == 1
    assert "pass --force" in refused.output
    assert invoke(folder, "--out", out, "--force").exit_code == 0
    assert out.read_text("utf-8").split("<footer>")[0] == before.split("<footer>")[0]


def test_command_with_a_paper_prints_json_with_the_agreement(folder, tmp_path):
    paper = tmp_path / "table1_kappa.csv"
    lines = [f"set {n},{75 - n},2" for n in range(8)]
    paper.write_text("\n".join(["name,rf,rf_sem", *lines]))
    result = invoke(folder, "--paper", paper, "--out", tmp_path / "p.html", "--json")
    facts = json.loads(result.output)
    (line,) = facts["paper"]
    assert line["system"] == "random-forest"
    assert line["theirs"] == pytest.approx(np.mean([(0.25 + n / 100) * 0.6 for n in range(8)]))
    assert "Beside the paper" in (tmp_path / "p.html").read_text("utf-8")


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["nowhere"], "must be a folder that `bevel lab run` has written"),
        (["FOLDER", "--reference", "nobody"], "must be a system of the run"),
        (["FOLDER", "--paper", "nowhere.csv"], "nowhere.csv"),
    ],
)
def test_command_says_in_one_line_what_is_wrong(folder, tmp_path, arguments, words):
    given = [str(folder) if each == "FOLDER" else each for each in arguments]
    result = invoke(*given, "--out", tmp_path / "x.html")
    assert result.exit_code == 1
    assert words in result.output
    assert len(result.output.strip().splitlines()) == 1


@pytest.mark.skipif(shutil.which("chromium") is None, reason="chromium is not installed")
def test_page_opens_in_a_browser_and_fits_a_phone(page, tmp_path):
    probe = (
        "<script>document.title = 'rows ' + document.querySelectorAll('tbody tr').length + ' wide '"
        " + (document.documentElement.scrollWidth > window.innerWidth)</script></body>"
    )
    path = tmp_path / "page.html"
    path.write_text(page.replace("</body>", probe), encoding="utf-8")
    command = ["chromium", "--headless", "--no-sandbox", "--disable-gpu", "--dump-dom"]
    command += [f"--user-data-dir={tmp_path / 'profile'}", "--window-size=390,800", path.as_uri()]
    dom = subprocess.run(command, capture_output=True, text=True, timeout=120, check=True).stdout
    title = re.search(r"<title>(rows (\d+) wide (\w+))</title>", dom)
    assert title, dom[:300]
    assert int(title[2]) > 20
    assert title[3] == "false"
