"""Classes and levels in C: the text of a class, and codes of the labels of nominal columns."""

from __future__ import annotations

import numbers
from collections.abc import Iterator, Mapping
from typing import Any

import numpy as np

from bevel.data.nominal import Levels
from bevel.errors import shorten
from bevel.export.c.literals import code, narrow, remark, table, text_table
from bevel.export.c.model import Model

__all__ = ["is_numbered", "write_class_names", "write_levels"]


def write_class_names(model: Model) -> Iterator[str]:
    """Texts of the classes and the function that returns them."""
    yield remark("Texts of the classes.")
    yield from text_table(f"{model.name}_classes", model.classes)
    yield code(_CLASS_NAME, model.name)


def write_levels(model: Model) -> Iterator[str]:
    """Functions that turn labels into codes: one for columns of text, one for those of numbers."""
    nominal = model.encoding.nominal
    texts = {f: _text_codes(f, column) for f, column in nominal.items() if not is_numbered(column)}
    numbered = {f: _number_codes(column) for f, column in nominal.items() if is_numbered(column)}
    if texts:
        yield remark("Labels of nominal features, sorted within a feature, and their codes.")
        labels = [label for codes in texts.values() for label in codes]
        yield from text_table(f"{model.name}_label", labels or [""])
        yield from _write_search(model, "text", texts)
    if numbered:
        yield remark("Labels of nominal features that are numbers, sorted, and their codes.")
        values = [value for codes in numbered.values() for value in codes]
        yield from table(f"{model.name}_number", np.array(values or [0.0]))
        yield from _write_search(model, "number", numbered)


def is_numbered(column: Levels) -> bool:
    """Whether the labels are numbers in C too; Python compares 1, 1.0 and True as equal."""
    return len(column.labels) > 0 and all(map(_is_double, column.labels))


def _is_double(label: Any) -> bool:
    try:
        return isinstance(label, numbers.Real) and float(label) == label
    except OverflowError:
        return False


def _text_codes(feature: int, column: Levels) -> dict[str, int]:
    """Codes by text, in the order of UTF-8; other labels by their string in Python.

    C ends a string at a null character, so that labels that contain one cannot be matched.
    """
    codes: dict[str, int] = {}
    for place, label in enumerate(column.labels):
        text = str(label)
        if text in codes:
            raise ValueError(
                f"to_c needs labels of nominal column {feature} that differ as text; got "
                f"several that print as {shorten(text)}. Convert the column to text before fit."
            )
        if "\0" not in text:
            codes[text] = place
    return dict(sorted(codes.items(), key=lambda pair: pair[0].encode("utf-8", "surrogatepass")))


def _number_codes(column: Levels) -> dict[float, int]:
    return dict(sorted((float(label), place) for place, label in enumerate(column.labels)))


def _write_search(model: Model, kind: str, columns: Mapping[int, dict[Any, int]]) -> Iterator[str]:
    name = model.name
    codes = [place for labels in columns.values() for place in labels.values()]
    start = np.cumsum([0] + [len(labels) for labels in columns.values()])
    levels = [model.encoding.nominal[feature] for feature in columns]
    yield from table(f"{name}_{kind}_code", narrow(np.array(codes or [0])))
    yield from table(f"{name}_{kind}_feature", narrow(np.array(list(columns))))
    yield from table(f"{name}_{kind}_start", narrow(start))
    yield from table(f"{name}_{kind}_missing", narrow(np.array([len(c.labels) for c in levels])))
    yield from table(f"{name}_{kind}_unseen", narrow(np.array([c.n_codes for c in levels])))
    yield code(_COMPARE_TEXT if kind == "text" else "", name)
    words = {word: code(text, name) for word, text in _WORDS[kind].items()}
    yield code(_LEVEL, name, kind=kind, n=len(columns), **words)


_CLASS_NAME = """
const char *model_class_name(int index)
{
    return index >= 0 && index < MODEL_N_CLASSES ? model_classes[index] : NULL;
}
"""

_COMPARE_TEXT = """
/* Less than, equal to or greater than zero, by the order of bytes. */
static int model_compare(const char *one, const char *other)
{
    while (*one != 0 && *one == *other) {
        ++one;
        ++other;
    }
    return (int)(unsigned char)*one - (int)(unsigned char)*other;
}
"""

_WORDS = {
    "text": {
        "function": "model_level(int feature, const char *label)",
        "is_missing": "label == NULL",
        "is_before": "model_compare(model_label[middle], label) < 0",
        "is_found": "model_compare(model_label[first], label) == 0",
    },
    "number": {
        "function": "model_level_of_number(int feature, double label)",
        "is_missing": "label != label",
        "is_before": "model_number[middle] < label",
        "is_found": "model_number[first] == label",
    },
}

_LEVEL = """
int $function
{
    int column;
    for (column = 0; column < $n; ++column) {
        uint32_t first = model_${kind}_start[column], last = model_${kind}_start[column + 1];
        const uint32_t end = last;
        if ((int)model_${kind}_feature[column] != feature) continue;
        if ($is_missing) return model_${kind}_missing[column];
        while (first < last) {
            const uint32_t middle = first + (last - first) / 2;
            if ($is_before)
                first = middle + 1;
            else
                last = middle;
        }
        if (first < end && $is_found) return model_${kind}_code[first];
        return model_${kind}_unseen[column];
    }
    return -1;
}
"""
