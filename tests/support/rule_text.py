"""Evaluates rules from their text alone, on the columns as the user has them.

[x] and rank(x) are computed here from their definitions, on the training column.
"""

from __future__ import annotations

import re

import numpy as np
import pandas as pd
from scipy.stats import rankdata


class Reader:
    """A person with the training table (numbers or labels, by name) and a rule on paper."""

    def __init__(self, table: pd.DataFrame, bounds: tuple[float, float] = (5, 95)) -> None:
        self.table = table
        self.bounds = bounds  # of [x], in percent of the rows

    def holds(self, rule: str) -> np.ndarray:
        """Whether each row fulfils the conditions, joined by "and", of a rule."""
        result = np.ones(len(self.table), dtype=bool)
        for condition in rule.split(" and "):
            bare = condition[1:-1] if condition.startswith("(") else condition
            result &= self.condition(bare)
        return result

    def condition(self, text: str) -> np.ndarray:
        """Whether each row fulfils one condition."""
        text, found, _ = text.partition(" or missing")
        if " in {" in text:
            name, _, labels = text.removesuffix("}").partition(" in {")
            column = self.table[name].astype(object)
            spoken = np.array(["missing" if pd.isna(label) else str(label) for label in column])
            return np.isin(spoken, labels.split(", "))
        pieces = re.split(r" (≤|≥|<|>) ", text)
        # What has a letter in it is the subject; the others are numbers.
        values = [self._sum(piece) for piece in pieces[::2]]
        answer = np.ones(len(self.table), dtype=bool)
        for operator, left, right in zip(pieces[1::2], values[:-1], values[1:], strict=True):
            compare = {"≤": np.less_equal, "≥": np.greater_equal, "<": np.less, ">": np.greater}
            answer &= compare[operator](left, right)
        missing = np.isnan(sum(np.asarray(value, float) for value in values))
        return np.where(missing, bool(found), answer)

    def _sum(self, text: str) -> np.ndarray | float:
        text = text.replace(" − ", " + −")
        terms = [self._term(term) for term in text.split(" + ")]
        return sum(terms[1:], start=terms[0])

    def _term(self, text: str) -> np.ndarray | float:
        sign = -1.0 if text.startswith("−") else 1.0
        factors = text.removeprefix("−").split("·")
        values = [self._factor(factor) for factor in factors]
        return sign * np.prod(np.stack(values), axis=0) if len(values) > 1 else sign * values[0]

    def _factor(self, text: str) -> np.ndarray:
        if re.fullmatch(r"[0-9.,]+(e[−+]?[0-9]+)?", text):
            return np.full(len(self.table), float(text.replace("−", "-").replace(",", "")))
        if text.startswith("["):
            return self._bounded(text[1:-1])
        if "rank(" in text:
            kind, _, name = text.removesuffix(")").partition("(")
            column = self.table[name].to_numpy(float)
            ranks = rankdata(column, nan_policy="omit")
            return ranks / (np.count_nonzero(~np.isnan(column)) + 1) if "_" in kind else ranks
        return self.table[text].to_numpy(float)

    def _bounded(self, name: str) -> np.ndarray:
        column = self.table[name].to_numpy(float)
        low, high = np.nanpercentile(column, self.bounds)
        if low == high:
            beyond = 0.01 * np.log1p(np.log1p(np.abs(column - low)))
            return low + np.where(column > low, 1 + beyond, np.where(column < low, -beyond, 0.0))
        over = 0.01 * np.log1p(np.log1p(np.maximum(column - high, 0)))
        under = 0.01 * np.log1p(np.log1p(np.maximum(low - column, 0)))
        return np.clip(column, low, high) + (high - low) * (over - under)


def leaves_by_text(reader: Reader, frame: pd.DataFrame) -> np.ndarray:
    """Leaf of each row, found with the texts of a tree's nodes (`TreeRules.to_pandas`) alone."""
    inside = {0: np.ones(len(reader.table), dtype=bool)}
    leaf = np.zeros(len(reader.table), dtype=int)
    for line in frame.itertuples():
        if line.node:
            inside[line.node] = inside[line.parent] & reader.condition(line.rule)
        if not line.split:
            leaf[inside[line.node]] = line.node
    return leaf
