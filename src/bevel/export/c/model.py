"""What is exported: the facts of a fitted estimator that its C file needs."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from bevel.data.dataset import Encoding
from bevel.errors import wrong_type, wrong_value
from bevel.forest.flat_forest import FlatForest

__all__ = ["Model", "read_model"]

_IDENTIFIER = re.compile(r"[A-Za-z][A-Za-z0-9_]*", re.ASCII)


@dataclass(frozen=True, eq=False)
class Model:
    """A forest with all that stands between the user's rows and its answers.

    Attributes
    ----------
    name : str
        Prefix of everything in the C file.
    forest : FlatForest
        The trees.
    encoding : Encoding
        How rows are read.
    classes : sequence of str
        Text of each class; empty in regression.
    hard : bool
        Whether trees vote.
    feature_names : sequence of str or None
        Names of the columns, if they have any.
    """

    name: str
    forest: FlatForest
    encoding: Encoding
    classes: Sequence[str]
    hard: bool
    feature_names: Sequence[str] | None

    @property
    def has_splits(self) -> bool:
        """Whether any tree looks at the row at all."""
        return bool((self.forest.right >= 0).any())


def read_model(estimator: Any, name: str) -> Model:
    """Collect the facts of a fitted estimator; `name` is checked."""
    _check_name(name)
    forest = estimator.forest_
    names = getattr(estimator, "feature_names_in_", None)
    is_classifier = forest.n_classes > 0
    return Model(
        name=name,
        forest=forest,
        encoding=estimator._encoding,
        classes=[str(label) for label in estimator.classes_.tolist()] if is_classifier else [],
        hard=is_classifier and estimator.voting == "hard",
        feature_names=None if names is None else [str(each) for each in names],
    )


def _check_name(name: object) -> None:
    required = "a C identifier that begins with a letter"
    remedy = 'It begins every name in the C file: write for example name="model".'
    if not isinstance(name, str):
        raise wrong_type("name", required, name, remedy)
    if not _IDENTIFIER.fullmatch(name):
        raise wrong_value("name", required, name, remedy)
