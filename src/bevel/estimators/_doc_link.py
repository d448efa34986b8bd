"""The link from an estimator in a notebook to its documentation, if that is published."""

from __future__ import annotations

from collections.abc import Iterable
from importlib.metadata import metadata

__all__ = ["DOCUMENTATION", "LinksToDocuments", "published_at"]


def published_at(urls: Iterable[str]) -> str:
    """The URL of a distribution that is labelled Documentation; empty if there is none."""
    for line in urls:
        name, _, address = line.partition(",")
        if name.strip().lower() == "documentation":
            return address.strip().rstrip("/")
    return ""


# Where the documents of docs/ are published, from `project.urls` of pyproject.toml. While there is
# no such entry nothing is published, and estimators are shown without a link.
DOCUMENTATION = published_at(metadata("bevel").get_all("Project-URL") or ())


class LinksToDocuments:
    """Estimators whose HTML has a link to their section of docs/reference/estimators.md.

    scikit-learn reads these three names. A foreign module name suppresses the link; without the
    names scikit-learn would link to its own documentation.
    """

    _doc_link_module = "bevel" if DOCUMENTATION else ""
    _doc_link_template = f"{DOCUMENTATION}/reference/estimators.html#{{section}}"

    def _doc_link_url_param_generator(self, *_: object) -> dict[str, str]:
        # Some versions of scikit-learn pass the estimator as an argument too.
        return {"section": type(self).__name__.lower()}
