"""The part of a fitted estimator that its C file needs."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

from bevel._types import Ints64
from bevel.data.encoding import Encoding
from bevel.errors import wrong_type, wrong_value
from bevel.forest.fitted_forest import FittedCombination, FittedForest
from bevel.forest.flat_forest import FlatForest

__all__ = ["Model", "read_model"]

_IDENTIFIER = re.compile(r"[A-Za-z][A-Za-z0-9_]*", re.ASCII)


@dataclass(frozen=True, eq=False)
class Model:
    """A fitted forest, or models with weights, and its name in C.

    Attributes
    ----------
    name : str
        Prefix of everything in the C file.
    fitted : FittedForest or FittedCombination
        The models with their encoding and links.
    is_member : bool
        Whether it is one of several models, which only predicts probabilities or values.
    """

    name: str
    fitted: FittedForest | FittedCombination
    is_member: bool = False

    @property
    def forest(self) -> FlatForest:
        """The trees of a single model, with a column for each level that directions combine."""
        return self._single.forest.with_level_columns[0]

    @property
    def level_terms(self) -> Ints64:
        """Nominal feature and level of each column that follows the features."""
        return self._single.forest.with_level_columns[1]

    @property
    def _single(self) -> FittedForest:
        (single,) = self.fitted.members
        return single

    @property
    def members(self) -> list[Model]:
        """The models that are added up, each with a name of its own."""
        return [
            Model(f"{self.name}_member{place}", each, is_member=True)
            for place, each in enumerate(self.fitted.members)
        ]

    @property
    def n_trees(self) -> int:
        """Trees of all models."""
        return sum(each.forest.n_trees for each in self.fitted.members)

    @property
    def n_nodes(self) -> int:
        """Nodes of all models."""
        return sum(each.forest.n_nodes for each in self.fitted.members)

    @property
    def n_features(self) -> int:
        """Columns of the training table."""
        return self.fitted.n_features

    @property
    def encoding(self) -> Encoding:
        """Encoding of rows."""
        return self.fitted.encoding

    @property
    def hard(self) -> bool:
        """Whether trees vote."""
        return self.fitted.aggregation.hard

    @property
    def power(self) -> float:
        """Power that mean class shares are raised to."""
        return self.fitted.aggregation.power

    @property
    def least(self) -> float:
        """The least probability of a class."""
        return self.fitted.aggregation.least

    @property
    def what(self) -> str:
        """Description of a prediction without classes."""
        return self.fitted.task.mean_of_leaves

    @property
    def feature_names(self) -> Sequence[str] | None:
        """Names of the columns, if they have any."""
        return self.fitted.feature_names

    @cached_property
    def classes(self) -> Sequence[str]:
        """Text of each class; empty in regression."""
        classes = self.fitted.classes
        return [] if classes is None else [str(label) for label in classes.tolist()]

    @property
    def has_splits(self) -> bool:
        """Whether any tree has a split."""
        return bool((self.forest.right >= 0).any())


def read_model(fitted: FittedForest | FittedCombination, name: str) -> Model:
    """Check a name for C, and wrap a fitted forest."""
    _check_name(name)
    return Model(name, fitted)


def _check_name(name: object) -> None:
    required = "a C identifier that begins with a letter"
    remedy = 'It begins every name in the C file: write for example name="model".'
    if not isinstance(name, str):
        raise wrong_type("name", required, name, remedy)
    if not _IDENTIFIER.fullmatch(name):
        raise wrong_value("name", required, name, remedy)
