"""Pages opened in a headless Chromium, as a reader sees them: `nox -s pages`.

Off unless asked for with ``-m pages``. Needs Chromium (Debian: chromium), and for the printed pages
pdftotext (Debian: poppler-utils).
"""

from __future__ import annotations

import json
import re
import shutil
import subprocess

import pytest
from sklearn.datasets import load_diabetes, load_iris
from support.command_line import invoke

from bevel.cli.app import app

pytestmark = pytest.mark.pages

WIDTHS = (1200, 390)
# What the page says about itself once it is laid out: whether anything is wider than the window,
# text that is too small to read, drawings without a size, and what the first screen holds.
PROBE = """
<script>
addEventListener("load", () => {
  const wide = document.documentElement.scrollWidth - innerWidth;
  const small = [...document.querySelectorAll("svg text")].filter((each) => {
    const box = each.getBoundingClientRect();
    return box.height > 0 && box.height < 5.5 && each.textContent.trim();
  }).map((each) => each.textContent);
  const empty = [...document.querySelectorAll("svg[role=img], img")].filter(
    (each) => each.getBoundingClientRect().width < 40).length;
  const first = [...document.querySelectorAll("p.lead")].map((each) => each.textContent);
  const picture = document.querySelector("svg[role=img], img").getBoundingClientRect();
  const found = {wide, small: small.slice(0, 5), n_small: small.length, empty,
    n_pictures: document.querySelectorAll("svg[role=img], img").length, first,
    picture_top: picture.top, ink: getComputedStyle(document.body).color,
    paper: getComputedStyle(document.body).backgroundColor};
  document.title = "probe";
  const kept = document.createElement("pre");
  kept.id = "probe"; kept.textContent = JSON.stringify(found);
  document.body.append(kept);
});
</script>
"""


@pytest.fixture(scope="module")
def chromium():
    for name in ("chromium", "chromium-browser", "google-chrome"):
        if path := shutil.which(name):
            return path
    pytest.fail("The pages are opened in Chromium, and none was found. Install Debian's chromium.")


def opened(chromium, folder, arguments):
    """Run the browser once, with a profile of its own."""
    quiet = ["--headless", "--no-sandbox", "--disable-gpu", "--no-first-run"]
    quiet += ["--disable-background-networking", "--disable-component-update", "--disable-sync"]
    profile = folder / "profile"
    command = [chromium, *quiet, f"--user-data-dir={profile}", *arguments]
    try:
        done = subprocess.run(command, capture_output=True, timeout=300, check=True)
    finally:
        shutil.rmtree(profile, ignore_errors=True)
    return done.stdout.decode("utf-8")


def probed(chromium, folder, page, width, *options):
    """What a page says about itself in a window of some width."""
    copy = folder / f"probe_{page.name}"
    text = page.read_text("utf-8")
    assert "</body>" in text
    copy.write_text(text.replace("</body>", f"{PROBE}</body>"), encoding="utf-8")
    size = f"--window-size={width},900"
    shown = opened(chromium, folder, [size, *options, "--dump-dom", copy.as_uri()])
    found = re.search(r'<pre id="probe">(.*?)</pre>', shown, re.DOTALL)
    assert found, "the page did not finish loading"
    return json.loads(found[1].replace("&amp;", "&").replace("&lt;", "<").replace("&gt;", ">"))


@pytest.fixture(scope="module")
def pages(tmp_path_factory):
    """Pages of fit, explain and demo, as the commands write them."""
    folder = tmp_path_factory.mktemp("pages")
    iris = load_iris(as_frame=True).frame
    iris["target"] = load_iris().target_names[iris["target"]]
    iris.to_csv(folder / "iris.csv", index=False)
    load_diabetes(as_frame=True).frame.to_csv(folder / "diabetes.csv", index=False)
    for name in ("iris", "diabetes"):
        data, model = folder / f"{name}.csv", folder / f"{name}.bevel"
        few = ["--model", "forest", "--trees", "60"]
        fit = ["fit", data, "--target", "target", *few, "--out", model]
        explain = ["explain", model, data, "--target", "target"]
        run(*fit, "--report", folder / f"{name}_fit.html")
        run(*explain, "--out", folder / f"{name}_explain.html")
    run("demo", "--quick", "--trees", "20", "--out", folder / "demo")
    found = [*sorted(folder.glob("*.html")), folder / "demo" / "report.html"]
    return {page.stem: page for page in found}


def run(*words):
    done = invoke(app, [str(word) for word in words])
    assert done.exit_code == 0, done.output


NAMES = ("iris_fit", "iris_explain", "diabetes_fit", "diabetes_explain", "report")


@pytest.mark.parametrize("width", WIDTHS)
@pytest.mark.parametrize("name", NAMES)
def test_nothing_is_wider_than_the_window_or_too_small_to_read(
    name, width, chromium, pages, tmp_path
):
    found = probed(chromium, tmp_path, pages[name], width)
    assert found["wide"] <= 0
    assert found["n_small"] == 0, found["small"]
    assert found["empty"] == 0
    assert found["n_pictures"] >= 1


@pytest.mark.parametrize("name", ["iris_fit", "diabetes_fit", "report"])
def test_first_screen_has_three_sentences_and_a_picture(name, chromium, pages, tmp_path):
    found = probed(chromium, tmp_path, pages[name], 1200)
    assert len(found["first"]) == 3
    assert all(sentence.strip().endswith(".") for sentence in found["first"])
    assert found["picture_top"] < 700


def brightness(colour):
    return sum(map(float, re.findall(r"[\d.]+", colour)[:3]))


def test_dark_readers_get_light_text_on_dark_paper(chromium, pages, tmp_path):
    dark = probed(chromium, tmp_path, pages["iris_fit"], 1200, "--force-dark-mode")
    light = probed(chromium, tmp_path, pages["iris_fit"], 1200)
    assert brightness(light["ink"]) < brightness(light["paper"])
    assert brightness(dark["ink"]) > brightness(dark["paper"])


@pytest.mark.parametrize("name", ["iris_fit", "iris_explain"])
def test_printed_page_has_all_sections(name, chromium, pages, tmp_path):
    pdf = tmp_path / "page.pdf"
    opened(chromium, tmp_path, [f"--print-to-pdf={pdf}", pages[name].as_uri()])
    text = subprocess.run(
        ["pdftotext", str(pdf), "-"], capture_output=True, check=True
    ).stdout.decode("utf-8")
    headings = re.findall(r"<h2[^>]*>(.*?)</h2>", pages[name].read_text("utf-8"))
    assert headings
    assert [each for each in headings if each.replace("&#x27;", "'") not in text] == []
