"""The link from an estimator in a notebook to its documentation."""

from __future__ import annotations

__all__ = ["DOCUMENTATION", "LinksToDocuments"]

# Where the documents of docs/ are published. The address is defined here only.
DOCUMENTATION = "https://bevel.readthedocs.io/en/stable"


class LinksToDocuments:
    """Estimators whose HTML has a link to their section of docs/reference/estimators.md.

    The three names are those that scikit-learn reads; without them it would link to its own pages.
    """

    _doc_link_module = "bevel"
    _doc_link_template = f"{DOCUMENTATION}/reference/estimators.html#{{section}}"

    def _doc_link_url_param_generator(self, *_: object) -> dict[str, str]:
        # Some versions of scikit-learn pass the estimator once more.
        return {"section": type(self).__name__.lower()}
