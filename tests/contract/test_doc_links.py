"""Links of estimators in notebooks lead to a document that there is, or are not shown."""

from __future__ import annotations

import re
import runpy
import subprocess
import sys
import tomllib
from importlib.metadata import metadata
from pathlib import Path

import pytest
from sklearn.utils import estimator_html_repr

import bevel
from bevel import estimators
from bevel.analysis import ProximityImputer
from bevel.estimators import _base
from bevel.estimators._base import DOCUMENTATION, DocumentationLink, published_at

ROOT = Path(__file__).parents[2]
DOCUMENT = ROOT / "docs" / "reference" / "estimators.md"
CLASSES = [*(getattr(estimators, name) for name in estimators.__all__), ProximityImputer]


ADDRESS = "https://example.org/bevel"


def html_of(kind):
    forest = bevel.ObliqueForestClassifier()
    return estimator_html_repr(kind(forest) if kind is ProximityImputer else kind())


@pytest.mark.parametrize("kind", CLASSES)
def test_estimator_links_to_its_section_where_the_documents_are_published(kind, monkeypatch):
    monkeypatch.setattr(DocumentationLink, "_doc_link_module", "bevel")
    template = f"{ADDRESS}/reference/estimators.html#{{section}}"
    monkeypatch.setattr(DocumentationLink, "_doc_link_template", template)
    assert f"{ADDRESS}/reference/estimators.html#{kind.__name__.lower()}" in html_of(kind)
    assert f"\n## {kind.__name__}\n" in DOCUMENT.read_text("utf-8")


@pytest.mark.parametrize("kind", CLASSES)
def test_estimator_shows_no_link_while_nothing_is_published(kind, monkeypatch):
    monkeypatch.setattr(DocumentationLink, "_doc_link_module", "")
    html = html_of(kind)
    assert "estimators.html" not in html
    assert "Documentation for" not in html


def test_address_is_the_one_of_the_distribution():
    assert published_at(()) == ""
    assert published_at(["Source, https://a.org", f"Documentation, {ADDRESS}/"]) == ADDRESS
    assert DocumentationLink._doc_link_module == ("bevel" if DOCUMENTATION else "")


def settings_of_the_site():
    return runpy.run_path(str(ROOT / "docs" / "conf.py"))


def test_site_and_its_files_have_the_address_of_the_distribution(monkeypatch):
    monkeypatch.setattr(_base, "DOCUMENTATION", ADDRESS)
    settings = settings_of_the_site()
    assert settings["html_baseurl"] == f"{ADDRESS}/"
    assert "sphinx_sitemap" in settings["extensions"]
    text = (ROOT / "docs" / "llms.txt").read_text("utf-8")
    links = re.findall(r"\]\(([^)]*)\)", settings["with_addresses"](text, f"{ADDRESS}/"))
    assert len(links) >= 8
    assert all(link.startswith(f"{ADDRESS}/") for link in links)


CONF_OF_A_SMALL_SITE = f"""
import runpy
from bevel.estimators import _base

_base.DOCUMENTATION = "{ADDRESS}"
globals().update(runpy.run_path({str(ROOT / "docs" / "conf.py")!r}))
extensions = ["sphinx.ext.autodoc", "myst_parser", "sphinx_sitemap"]
html_theme, html_theme_options, html_static_path, html_css_files = "basic", {{}}, [], []
html_sidebars, templates_path, html_logo, html_favicon = {{}}, [], None, None
"""


def test_files_of_a_built_site_have_full_addresses(tmp_path):
    """A site of two pages, with the settings of docs/ that make addresses."""
    for package in ("sphinx", "myst_parser", "sphinx_sitemap"):
        pytest.importorskip(package)
    source, out = tmp_path / "docs", tmp_path / "site"
    (source / "guide").mkdir(parents=True)
    (source / "api").mkdir()
    (source / "conf.py").write_text(CONF_OF_A_SMALL_SITE, "utf-8")
    (source / "index.md").write_text("# Start\n\n```{toctree}\nguide/one\n```\n", "utf-8")
    (source / "guide" / "one.md").write_text("# One\n", "utf-8")
    (source / "llms.txt").write_text("- [One](guide/one.html)\n", "utf-8")
    command = [sys.executable, "-m", "sphinx", "-W", "-q", str(source), str(out)]
    subprocess.run(command, check=True, cwd=tmp_path)
    listed = re.findall("<loc>(.*?)</loc>", (out / "sitemap.xml").read_text("utf-8"))
    assert {f"{ADDRESS}/index.html", f"{ADDRESS}/guide/one.html"} <= set(listed)
    for address in listed:
        assert (out / address.removeprefix(f"{ADDRESS}/")).is_file(), address
    assert f"Sitemap: {ADDRESS}/sitemap.xml\n" in (out / "robots.txt").read_text("utf-8")
    assert (out / "llms.txt").read_text("utf-8") == f"- [One]({ADDRESS}/guide/one.html)\n"
    page = (out / "guide" / "one.html").read_text("utf-8")
    assert f'<link rel="canonical" href="{ADDRESS}/guide/one.html"' in page


def test_site_has_no_sitemap_and_relative_links_while_nothing_is_published(monkeypatch):
    monkeypatch.setattr(_base, "DOCUMENTATION", "")
    settings = settings_of_the_site()
    assert settings["html_baseurl"] == ""
    assert "sphinx_sitemap" not in settings["extensions"]
    text = (ROOT / "docs" / "llms.txt").read_text("utf-8")
    assert settings["with_addresses"](text, "") == text


def test_links_of_llms_txt_lead_to_documents():
    text = (ROOT / "docs" / "llms.txt").read_text("utf-8")
    pages = [Path(link) for link in re.findall(r"\]\(([^)]*)\)", text)]
    made = {Path("gallery/index.html")}  # from examples/, by the build
    for page in set(pages) - made:
        assert any((ROOT / "docs" / page.with_suffix(s)).is_file() for s in (".md", ".rst")), page


def test_public_docstrings_name_no_file_of_the_repository():
    """A wheel has no docs/: what users read refers to pages of the site."""
    names = [bevel, *(getattr(bevel, name) for name in bevel.__all__ if name != "__version__")]
    modules = [thing for thing in names if hasattr(thing, "__path__")]
    names += [
        getattr(module, name) for module in modules for name in getattr(module, "__all__", ())
    ]
    for thing in names:
        members = vars(thing).values() if isinstance(thing, type) else ()
        for documented in (thing, *members):
            assert not re.search(r"docs/|\.md\b", documented.__doc__ or ""), documented


def test_pyproject_is_the_only_file_with_an_address_of_the_project():
    urls = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["project"].get("urls", {})
    if not urls:
        assert metadata("bevel").get_all("Project-URL") is None
        return
    assert published_at(f"{name}, {address}" for name, address in urls.items())
    command = ["git", "grep", "-lF", "-e", urls["Documentation"]]
    found = subprocess.run(command, cwd=ROOT, capture_output=True, text=True).stdout.split()
    assert found in ([], ["pyproject.toml"])  # [] without git
