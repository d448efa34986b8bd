"""Settings of the documentation site: `nox -s docs` builds it into `build/docs`."""

from __future__ import annotations

import inspect
import os
import re
from pathlib import Path
from typing import Any

import bevel
from bevel.estimators._base import DOCUMENTATION

project = "Bevel"
author = "The Bevel developers"
copyright = author  # noqa: A001, the name that Sphinx reads
release = version = bevel.__version__

extensions = [
    "sphinx.ext.autodoc",
    "sphinx.ext.autosummary",
    "sphinx.ext.intersphinx",
    "numpydoc",
    "myst_parser",
    "sphinx_design",
    "sphinx_copybutton",
    "sphinx_gallery.gen_gallery",
]
exclude_patterns = [
    "_build",
    "api/_templates",
    "sg_execution_times.rst",
    "gallery/**/*.py.md5",
    "README.md",
]
source_suffix = {".md": "markdown", ".rst": "restructuredtext"}
# scikit-learn's own docstrings of metadata routing refer to terms of its glossary.
suppress_warnings = ["ref.term"]
default_role = "literal"
highlight_language = "none"  # blocks without a language are outputs and commands

html_theme = "pydata_sphinx_theme"
html_title = f"Bevel {version}"
html_static_path = ["_static"]
html_css_files = ["bevel.css"]
html_logo = html_favicon = "_static/logo.svg"
html_baseurl = f"{DOCUMENTATION}/" if DOCUMENTATION else ""
if DOCUMENTATION:  # a sitemap has full addresses, which there are once the site is published
    extensions.append("sphinx_sitemap")
html_theme_options = {
    "logo": {"text": html_title},
    "show_toc_level": 2,
    "navigation_with_keys": False,
    "header_links_before_dropdown": 6,
    "navbar_align": "left",
    "show_prev_next": False,
    "footer_start": ["copyright"],
    "footer_end": [],
    "pygments_light_style": "tango",
}
html_sidebars = {"index": [], "install": [], "tutorial": [], "glossary": [], "changelog": []}
sitemap_url_scheme = "{link}"

myst_enable_extensions = ["colon_fence", "deflist"]
myst_heading_anchors = 3
copybutton_prompt_text = r">>> |\.\.\. |\$ "
copybutton_prompt_is_regexp = True

toc_object_entries_show_parents = "hide"  # fit(), not ObliqueForestClassifier.fit()
autosummary_generate = True
autodoc_typehints = "none"
numpydoc_show_class_members = False
numpydoc_class_members_toctree = False
templates_path = ["api/_templates"]

# Links to other projects need a network; without one they stay plain text.
intersphinx_mapping = (
    {
        "numpy": ("https://numpy.org/doc/stable", None),
        "sklearn": ("https://scikit-learn.org/stable", None),
        "pandas": ("https://pandas.pydata.org/docs", None),
    }
    if os.environ.get("BEVEL_DOCS_ONLINE")
    else {}
)

sphinx_gallery_conf = {
    "examples_dirs": "../examples",
    "gallery_dirs": "gallery",
    "filename_pattern": r"/plot_",
    "ignore_pattern": r"biomarkers\.py",
    "download_all_examples": False,
    "show_memory": False,
    "min_reported_time": 10,
    "remove_config_comments": True,
    "within_subsection_order": "FileNameSortKey",
    "plot_gallery": os.environ.get("BEVEL_DOCS_GALLERY", "1") == "1",
    "abort_on_example_error": True,
}

# Files of the repository, as documents link to them.
_CODE = re.compile(r"\]\((\.\./)*(src|cpp|benchmarks|lab|tests|tools|examples)/[^)]*\)")


def _plain_links_to_code(_app: Any, _name: str, source: list[str]) -> None:
    """Links to files of the repository become plain text: the site does not have them."""
    source[0] = _CODE.sub("]", source[0])


_RELATIVE = re.compile(r"\]\((?!https?:)")


def with_addresses(text: str, base: str) -> str:
    """Links of a text, with the address of the site before them; as they are without an address."""
    return _RELATIVE.sub(f"]({base}", text)


def _write_files_of_the_site(app: Any, failure: Exception | None) -> None:
    """What machines read at the top of the site; robots.txt says where the sitemap is."""
    if failure is not None or app.builder.name != "html":
        return
    base, out = app.config.html_baseurl, Path(app.outdir)
    text = (Path(app.confdir) / "llms.txt").read_text("utf-8")
    (out / "llms.txt").write_text(with_addresses(text, base), "utf-8")
    if base:
        robots = f"User-agent: *\nAllow: /\nSitemap: {base}sitemap.xml\n"
        (out / "robots.txt").write_text(robots, "utf-8")


_ATTRIBUTE = re.compile(r"(\w)_(?=[,)])")  # n_classes_ in a shape is no link
_LABEL = re.compile(r":ref:`([^`<]*?)\s*(?:<[^`]*>)?`")  # labels of scikit-learn's own site


def _mend_docstring(_app: Any, *arguments: Any) -> None:
    lines = arguments[-1]
    lines[:] = _LABEL.sub(r"\1", "\n".join(lines)).split("\n")
    lines[:] = [_ATTRIBUTE.sub(r"\1\\_", line) if "shape (" in line else line for line in lines]


def _signature_of_parameters(
    _app: Any, what: str, _name: str, thing: Any, _options: Any, signature: str | None, _result: Any
) -> tuple[str, None] | None:
    """Estimators show their parameters; autodoc would show those of `__new__`, which has none."""
    if what != "class" or signature != "(*_, **parameters)":
        return None
    from sphinx.util.inspect import stringify_signature

    return stringify_signature(inspect.signature(thing), show_annotation=False), None


def setup(app: Any) -> None:
    app.connect("source-read", _plain_links_to_code)
    app.connect("autodoc-process-docstring", _mend_docstring)
    app.connect("autodoc-process-signature", _signature_of_parameters)
    app.connect("build-finished", _write_files_of_the_site)
    (Path(app.confdir) / "api" / "generated").mkdir(exist_ok=True)
