"""Writes splits, trees and paths in the user's names and units."""

from bevel.wording.tree_rules import ForestRules, TreeRules
from bevel.wording.vocabulary import Vocabulary

__all__ = ["ForestRules", "TreeRules", "Vocabulary"]
