"""The top of the C file: description, declarations, and checks of the compiler."""

from __future__ import annotations

from collections.abc import Iterator
from importlib.metadata import version

from bevel.export.c.labels import is_numbered
from bevel.export.c.literals import code, comment_text
from bevel.export.c.model import Model

__all__ = ["write_ending", "write_heading"]

_MOST_LISTED = 100  # classes; names of features are all listed, since their order matters


def write_heading(model: Model) -> Iterator[str]:
    """Comment, declarations and requirements on the arithmetic."""
    name, forest = model.name, model.forest
    yield code(
        _ABOUT,
        name,
        name=name,
        kind="a forest of" if model.fitted.additive is None else "boosted",
        task="regression" if not model.classes else f"{len(model.classes)} classes",
        trees=_count(forest.n_trees, "tree"),
        nodes=_count(forest.n_nodes, "node"),
        version=version("bevel"),
    )
    yield from (f" * {line}".rstrip() + "\n" for line in _interface(model))
    yield " */\n"
    yield code(
        _DECLARATIONS,
        name,
        features=forest.n_features,
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
    additive = model.fitted.additive
    return additive.n_outputs if additive is not None and additive.link == "sorted" else 0


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
        for index, text in enumerate(model.classes[:_MOST_LISTED]):
            yield f"  {index}  {comment_text(text)}"
        if len(model.classes) > _MOST_LISTED:
            yield f"  and {len(model.classes) - _MOST_LISTED} more"


def _features(model: Model) -> Iterator[str]:
    names, nominal = model.feature_names, model.encoding.nominal
    n_features = model.forest.n_features
    if names is None and not nominal and not model.encoding.dates:
        yield "0, without names" if n_features == 1 else f"0 to {n_features - 1}, without names"
        return
    for feature in range(n_features):
        words = [comment_text(names[feature])] if names is not None else []
        if feature in nominal:
            function = "level_of_number" if is_numbered(nominal[feature]) else "level"
            levels = _count(nominal[feature].n_codes, "level")
            words.append(f"nominal, {levels}: {model.name}_{function}({feature}, label)")
        if feature in model.encoding.dates:
            words.append("date, in days since 1970-01-01 00:00 UTC")
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
