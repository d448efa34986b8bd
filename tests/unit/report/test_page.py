"""The skeleton of reports: escaping, sorting, figures, and what a browser makes of it."""

import os
import re
import shutil
import subprocess

import pytest

from bevel.report.page import (
    PageSection,
    TableCell,
    definitions,
    figure,
    page,
    paragraph,
    picture,
    table,
)

SVG = """<?xml version="1.0"?>
<svg width="9" height="9"><defs><path id="a"/></defs><use href="#a"/></svg>"""
CHROMIUM = shutil.which("chromium") or shutil.which("chromium-browser") or shutil.which("chrome")


def test_whatever_is_given_as_text_is_escaped():
    evil = "<script>alert(1)</script>"
    parts = [paragraph(evil), definitions({evil: evil}), table([evil], [[evil], [TableCell(evil)]])]
    parts += [figure(SVG, evil), picture(b"", evil, evil)]
    body = "".join(parts)
    html = page(evil, [PageSection(evil, body)], evil, subtitle=evil, made_with={evil: evil})
    assert "<script>alert" not in html
    assert "&lt;script&gt;alert" in html


def test_page_fetches_nothing_and_fills_every_place():
    html = page("t", [PageSection("One", figure(SVG, "drawn"))], "bevel fit", subtitle="s")
    assert "http" not in html
    assert "$" not in html
    assert "bevel fit" in html
    assert re.search(r"numpy \d", html)


def test_numbers_stand_to_the_right_and_sort_by_size():
    html = table(["name", "n"], [["b", 1200], ["a", None], ["c", 3.14159]])
    assert '<td class="number" data-value="1200.0">1,200</td>' in html
    assert '<td class="number" data-value="3.14159">3.142</td>' in html
    assert '<td class="number"></td>' in html
    assert "<td>b</td>" in html


def test_cell_may_have_a_second_line_and_short_tables_stay_whole_on_paper():
    html = table(["n"], [[TableCell("0.7", below="0.6 to 0.8 <")]])
    assert "<td>0.7<small>0.6 to 0.8 &lt;</small></td>" in html
    assert 'class="table"' in html
    assert 'class="table long"' in table(["n"], [[n] for n in range(40)])


def test_no_line_of_text_begins_with_a_percent_sign():
    assert "95&nbsp;% of" in paragraph("95 % of")
    assert "95&nbsp;% of" in figure(SVG, "95 % of")


def test_two_drawings_do_not_share_ids():
    other = SVG.replace('width="9"', 'width="8"')
    ids = re.findall(r' id="([^"]+)"', figure(SVG) + figure(other))
    links = re.findall(r'href="#([^"]+)"', figure(SVG) + figure(other))
    assert len(set(ids)) == 2
    assert ids == links


def test_drawing_that_is_no_svg_is_refused():
    with pytest.raises(ValueError, match="must be SVG text"):
        figure("PNG")


def test_many_sections_get_links_that_lead_to_them():
    sections = [PageSection(f"Part {number}", "") for number in range(4)]
    html = page("t", sections, "c")
    assert '<a href="#part-2">' in html
    assert '<h2 id="part-2">' in html
    assert "<nav>" not in page("t", sections[:3], "c")


@pytest.mark.skipif(CHROMIUM is None, reason="Chromium is not installed")
def test_browser_sorts_a_table_at_a_click(tmp_path):
    rows = [["b", 10], ["c", 9], ["a", 100], ["d", None]]
    html = page("t", [PageSection("", table(["name", "n"], rows))], "c")
    script = """<script>
      for (const order of ["up", "down"]) {
        document.querySelectorAll("th")[1].click();
        const names = [...document.querySelectorAll("td:first-child")].map(td => td.textContent);
        document.body.append(`${order}=${names.join("")};`);
      }
    </script></body>"""
    path = tmp_path / "page.html"
    path.write_text(html.replace("</body>", script), "utf-8")
    dom = in_browser(path, tmp_path)
    assert "up=cbad;down=abcd;" in dom  # an empty cell stays last


@pytest.mark.skipif(CHROMIUM is None, reason="Chromium is not installed")
def test_what_is_folded_is_unfolded_for_paper_and_folded_again(tmp_path):
    folds = "<details>a</details><details open>b</details>"
    script = """<script>
      for (const event of ["beforeprint", "afterprint"]) {
        dispatchEvent(new Event(event));
        const open = [...document.querySelectorAll("details")].map(each => each.open);
        document.body.append(`${event}=${open};`);
      }
    </script></body>"""
    path = tmp_path / "page.html"
    html = page("t", [PageSection("", folds)], "c")
    path.write_text(html.replace("</body>", script), "utf-8")
    assert "beforeprint=true,true;afterprint=false,true;" in in_browser(path, tmp_path)


@pytest.mark.skipif(CHROMIUM is None, reason="Chromium is not installed")
def test_page_is_no_wider_than_a_phone(tmp_path):
    wide = table([f"column {number}" for number in range(30)], [list(range(30))])
    parts = [wide, figure(SVG.replace('width="9"', 'width="900"'), "x" * 300), paragraph("y" * 300)]
    path = tmp_path / "page.html"
    html = page("z" * 200, [PageSection("", "".join(parts))], "w" * 300)
    frame = tmp_path / "frame.html"  # headless windows are never narrower than 500
    path.write_text(html, "utf-8")
    frame.write_text(
        '<iframe id="f" src="page.html" style="width:390px;height:800px;border:0"></iframe>'
        "<script>onload = () => document.body.append("
        "'w=' + f.contentDocument.documentElement.scrollWidth)</script>",
        "utf-8",
    )
    dom = in_browser(frame, tmp_path, "--allow-file-access-from-files")
    assert int(re.search(r"w=(\d+)</body>", dom)[1]) <= 390


def in_browser(path, profile, *options):
    """The document after its scripts have run."""
    command = [CHROMIUM, "--headless", "--no-sandbox", "--disable-gpu", *options]
    command += [f"--user-data-dir={profile / 'profile'}", "--virtual-time-budget=2000"]
    # Under a sanitizer only this process loads its library.
    env = {name: value for name, value in os.environ.items() if name != "LD_PRELOAD"}
    done = subprocess.run(
        [*command, "--dump-dom", path.as_uri()],
        env=env,
        capture_output=True,
        text=True,
        timeout=60,
        check=True,
    )
    return done.stdout
