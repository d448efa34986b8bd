"""Writes splits, trees and paths in the user's names and units."""

from bevel.text.tree_rules import ForestRules, TreeRules
from bevel.text.vocabulary import Vocabulary

__all__ = ["ForestRules", "TreeRules", "Vocabulary"]
