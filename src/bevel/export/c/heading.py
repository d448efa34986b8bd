"""The first and last parts of the C file: comments, declarations, instructions for compilers, names
of classes and codes of labels.
"""

from __future__ import annotations

import numbers
from collections.abc import Iterator, Mapping
from importlib.metadata import version
from typing import Any

import numpy as np

from bevel.data.encoding import Levels
from bevel.errors import shorten
from bevel.export.c.literals import code, comment_text, narrow, remark, table, text_table
from bevel.export.c.model import Model
from bevel.forest.aggregation import WeightedSum

__all__ = [
    "is_numbered",
    "write_class_names",
    "write_ending",
    "write_heading",
    "write_levels",
]

# Classes and levels in C: the text of a class, and codes of the labels of nominal columns.


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


_MAX_LISTED = 100  # classes; names of features are all listed, since their order matters


def write_heading(model: Model) -> Iterator[str]:
    """Comment, declarations and requirements on the arithmetic."""
    name, aggregation = model.name, model.fitted.aggregation
    together = "a forest and boosting of" if isinstance(aggregation, WeightedSum) else "a forest of"
    yield code(
        _ABOUT,
        name,
        name=name,
        kind="boosted" if aggregation.adds_up else together,
        task="regression" if not model.classes else f"{len(model.classes)} classes",
        trees=_count(model.n_trees, "tree"),
        nodes=_count(model.n_nodes, "node"),
        version=version("bevel"),
    )
    yield from (f" * {line}".rstrip() + "\n" for line in _interface(model))
    yield " */\n"
    yield code(
        _DECLARATIONS,
        name,
        features=model.n_features,
        classes=_lengths(model),
        functions="".join(f"{line};\n" for line in _prototypes(model)),
    )
    yield code(_ARITHMETIC, name)


def write_ending(model: Model) -> str:
    """End of the file."""
    return code(_ENDING, model.name)


def _count(number: int, word: str) -> str:
    return f"{number} {word}{'' if number == 1 else 's'}"


def _n_quantiles(model: Model) -> int:
    """Number of quantiles of a boosted model that predicts several, else 0."""
    aggregation = model.fitted.aggregation
    return aggregation.n_outputs if aggregation.sorts else 0


def _lengths(model: Model) -> str:
    """Lengths of the output arrays."""
    name = model.name.upper()
    if model.classes:
        return f"#define {name}_N_CLASSES {len(model.classes)}\n"
    n_quantiles = _n_quantiles(model)
    return f"#define {name}_N_QUANTILES {n_quantiles}\n" if n_quantiles else ""


def _prototypes(model: Model) -> Iterator[str]:
    name, nominal = model.name, model.encoding.nominal.values()
    if model.classes:
        yield f"void {name}_predict_proba(const double *features, double *probabilities)"
        yield f"int {name}_predict(const double *features)"
        yield f"const char *{name}_class_name(int index)"
    elif _n_quantiles(model):
        yield f"void {name}_predict(const double *features, double *quantiles)"
    else:
        yield f"double {name}_predict(const double *features)"
    if not all(map(is_numbered, nominal)):
        yield f"int {name}_level(int feature, const char *label)"
    if any(map(is_numbered, nominal)):
        yield f"int {name}_level_of_number(int feature, double label)"


def _interface(model: Model) -> Iterator[str]:
    """Description of the interface, line by line."""
    name, nominal = model.name, model.encoding.nominal.values()
    if model.classes:
        yield f"{name}_predict_proba  writes the probability of each class"
        yield f"{name}_predict        index of the most probable class, the first of equals"
        yield f"{name}_class_name     text of a class in UTF-8, NULL if there is no such class"
    elif _n_quantiles(model):
        yield f"{name}_predict  writes {_n_quantiles(model)} quantiles in ascending order"
    else:
        yield f"{name}_predict  {model.what}"
    if not all(map(is_numbered, nominal)):
        yield f"{name}_level  code of a label (UTF-8) of a nominal feature; NULL is missing"
    if any(map(is_numbered, nominal)):
        yield f"{name}_level_of_number  the same where labels are numbers; NAN is missing"
    if nominal:
        yield "Labels never seen in training have a code too; -1: no such nominal feature."
    yield ""
    yield "Features, in order (doubles as they were in training, NAN where missing):"
    yield from (f"  {line}" for line in _features(model))
    if model.classes:
        yield ""
        yield "Classes:"
        for index, text in enumerate(model.classes[:_MAX_LISTED]):
            yield f"  {index}  {comment_text(text)}"
        if len(model.classes) > _MAX_LISTED:
            yield f"  and {len(model.classes) - _MAX_LISTED} more"


def _features(model: Model) -> Iterator[str]:
    names, nominal = model.feature_names, model.encoding.nominal
    n_features, encoding = model.n_features, model.encoding
    if names is None and not nominal and not (encoding.dates or encoding.truths):
        yield "0, without names" if n_features == 1 else f"0 to {n_features - 1}, without names"
        return
    for feature in range(n_features):
        words = [comment_text(names[feature])] if names is not None else []
        if feature in encoding.texts:
            words.append("free text, which is left out: any number")
        elif feature in encoding.left_out:
            words.append("too many labels to be levels, left out: any number")
        elif feature in nominal:
            function = "level_of_number" if is_numbered(nominal[feature]) else "level"
            levels = _count(nominal[feature].n_codes, "level")
            words.append(f"nominal, {levels}: {model.name}_{function}({feature}, label)")
        if feature in encoding.dates:
            words.append("date, in days since 1970-01-01 00:00 UTC")
        if feature in encoding.truths:
            words.append("yes or no: 1 or 0")
        yield f"{feature}  {'  '.join(words) or 'numeric'}"


_ABOUT = """\
/* $name: $kind oblique decision trees ($task, $trees, $nodes), written by bevel $version.
 *
 * C99, also C++17, with no library, no allocation and no state: any thread may call it. Compile it
 * by itself; where it is called from, take its declarations from the file itself:
 *
 *     #define MODEL_DECLARATIONS_ONLY
 *     #include "$name.c"
 *
 * Predictions equal those of Python bit for bit if arithmetic is IEEE 754 without excess precision:
 * not with -ffast-math, nor with the x87 unit of 32-bit x86 (use -msse2 -mfpmath=sse there).
 * Compilers that read neither pragma below need their own way to keep a * b + c from being rounded
 * once.
 *
"""

_DECLARATIONS = """
#ifndef MODEL_N_FEATURES
#include <stddef.h>
#include <stdint.h>

#define MODEL_N_FEATURES $features
$classes
#ifdef __cplusplus
extern "C" {
#endif
$functions\
#ifdef __cplusplus
}
#endif
#endif

#ifndef MODEL_DECLARATIONS_ONLY
"""

_ARITHMETIC = """
#if defined(__FAST_MATH__) || defined(_M_FP_FAST)
#error "Fast math changes predictions and loses missing values: switch it off for this file."
#endif
#if defined(__clang__)
#pragma STDC FP_CONTRACT OFF
#elif defined(__GNUC__)
#pragma GCC push_options
#pragma GCC optimize("fp-contract=off")
#elif defined(_MSC_VER)
#pragma fp_contract(off)
#else
#pragma STDC FP_CONTRACT OFF
#endif
"""

_ENDING = """
#if defined(__GNUC__) && !defined(__clang__)
#pragma GCC pop_options
#endif
#endif /* MODEL_DECLARATIONS_ONLY */
"""
