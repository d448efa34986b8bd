"""Values for every parameter of the estimators: usual, at the border, and absurd.

Values are Python expressions, so that a case can be told, kept and made smaller.
"""

from __future__ import annotations

import random
from collections.abc import Mapping

from bevel.parameters.parameter import (
    Constraint,
    Flag,
    Float,
    Integer,
    NoneOption,
    Parameter,
    StrOptions,
)
from bevel.parameters.parameter import Function as FunctionConstraint

ABSURD = ("2**63", "2**64", "-1", "10**400", "nan", "inf", "'abc'", "None", "[]", "{}", "1j")
ABSURD += (
    "np.int64(-1)",
    "np.float32(2)",
    "b'x'",
    "True",
    "'\\ud800'",
    "object",
    "np.array([1, 2])",
)
ABSURD += ("2**63 - 1", "2**31", "-2**63", "1e308", "5e-324", "Fraction(1, 3)", "Decimal('0.5')")

# Honest but endless work: these take small numbers, or such as no machine could hold.
COSTLY = (
    "n_estimators",
    "n_projections",
    "n_rotations",
    "n_thresholds",
    "n_micro_trees",
    "max_rotated",
)

PROJECTIONS = (
    *(
        "'auto'",
        "'auto'",
        "'axis'",
        "'sparse'",
        "'combination'",
        "'gaussian'",
        "'rotation'",
        "'multirotation'",
    ),
    *("'principal'", "'ridge'", "'lda'", "'logistic'", "'pls'", "'cca'", "'cox'", "'cox'"),
    *("P.Cox()", "P.Cox(alpha=1e-300)", "P.Cox(alpha=1e300, n_steps=50)", "P.Cox(alpha=5e-324)"),
    *("P.Gaussian(1.0)", "P.Gaussian(1)"),
    *("P.Axis()", "P.SparseSigns(1)", "P.SparseSigns(100)", "P.SparseSigns(1e-300)"),
    *("P.SparseSigns(1e300)", "P.SparseSigns(nan)", "P.RandomCombination(1)"),
    *(
        "P.RandomCombination(4)",
        "P.RandomCombination(2**63)",
        "P.Gaussian('p')",
        "P.Gaussian(0.01)",
    ),
    *("P.Gaussian('p**1e9')", "P.Gaussian(2**64)", "P.RandomRotation('node', True)"),
    *("P.RandomRotation(max_features=2)", "P.RandomRotation(max_features=2**70)"),
    *("P.MultiRotation(2, True)", "P.MultiRotation(1)", "P.MultiRotation(3, max_features=2)"),
    *(
        "P.PrincipalRotation(2)",
        "P.PrincipalRotation(1, 'node')",
        "P.PrincipalRotation(3, share=1e-9)",
    ),
    *("P.PrincipalRotation(2**63)", "P.PrincipalRotation(2, share=1.0)"),
    *("P.Ridge('p', tune='gcv')", "P.Ridge(2, [1e-300, 1e300], 'gcv')", "P.Ridge(alphas=[])"),
    *("P.Ridge(2, tune='gcv', record=True)", "P.Ridge(2, [5e-324])", "P.Ridge(2, [1e308])"),
    *("P.Ridge('p', when_exhausted='parent')", "P.LDA('p', record=True)", "P.LDA(1)"),
    *("P.Logistic('p', 1e-300)", "P.Logistic('p', 1e300, 50)", "P.Logistic(2, record=True)"),
    *("P.Logistic(2, 5e-324, 1)", "P.PLS('p', 3)", "P.PLS(2, 2**63)", "P.CCA('p')"),
    *(
        "P.CCA('p', None)",
        "P.CCA(1, 'projection')",
        "P.Patches(4)",
        "P.Patches((2, 2), shuffle=True)",
    ),
    *(
        "P.Patches(4, 2, 3, 'uniform', wrap=True)",
        "P.Patches((2, 2), channel_axis=-1, channels='one')",
    ),
    *("P.Patches(2**62)", "P.Patches((2**40, 2**40), 1, 2**39)", "P.Patches(5)"),
    *("P.Custom(np.eye(4))", "P.Custom(np.full((4, 2), 9e29))", "P.Custom(np.full((4, 3), 3e38))"),
    *("P.Custom(np.full((4, 1), 1e-45))", "P.Custom(np.full((4, 1), 1e300))"),
    *("P.Custom(np.array([[9e29], [-9e29], [1], [0]]))", "P.Custom(np.zeros((4, 2)))"),
    *("P.Custom(np.eye(3))", "P.Custom(np.array([[nan], [1], [0], [0]]))"),
    *("P.Custom(sp.csc_array(np.eye(4) * 9e29))", "P.Custom(np.eye(4, dtype=bool))"),
    *("P.Custom(signs)", "P.Custom(huge)", "P.Custom(odd)", "P.Custom(lambda *_: None)"),
    *("P.Custom(wrong_shape)", "P.Custom(empty)", "P.Custom(many)", "P.Custom(fails)"),
    *("['axis', 'sparse']", "[P.Axis(), (P.SparseSigns(3), 'p'), (P.Ridge(2, tune='gcv'), 1)]"),
    *("[('axis', 2**63)]", "[]", "['axis'] * 50", "[('axis', 1, 1)]", "[['axis']]", "[None]"),
    *(
        "[P.RandomRotation(), P.RandomRotation()]",
        "[P.CCA(), P.Axis()]",
        "[P.Custom(huge), 'axis']",
    ),
)

COUNTS = ("'auto'", "1", "2", "3", "4", "5", "'sqrt'", "'log2'", "'p'", "'p**2'", "'p**0.5'", "0.5")
COUNTS += ("1.0", "1e-300", "'p**1e9'", "'p**-1e9'", "'p**nan'", "2**31", "0", "0.0")

SPECIAL: Mapping[str, tuple[str, ...]] = {
    "projection": PROJECTIONS,
    "n_projections": COUNTS,
    "categorical_features": (
        *("'from_dtype'", "None", "[]", "[0]", "[0, 0]", "[-1]", "[2**63]", "['c0']", "['x']"),
        *(
            "[0, 1, 2, 3]",
            "[True, False, True, False]",
            "np.array([0])",
            "(1,)",
            "0",
            "'x'",
            "[nan]",
        ),
        *(
            "np.ones(4, bool)",
            "np.zeros(4, bool)",
            "[None]",
            "[[0]]",
            "[1.0]",
            "slice(2)",
            "{0: 1}",
        ),
    ),
    "class_weight": (
        *("None", "'balanced'", "'balanced_subsample'", "{0: 0.0}", "{0: 0.0, 1: 0.0}", "{0: -1}"),
        *("{0: nan}", "{1: inf}", "{0: 1e308, 1: 1e308}", "{0: 5e-324, 1: 5e-324}", "{}", "{7: 1}"),
        *(
            "{'no': 0, 'yes': 0, 'perhaps': 0}",
            "{'no': 1e300}",
            "{0: 'a'}",
            "{0: None}",
            "{0: 10**400}",
        ),
        *(
            "{0: -1.0, 1: -2.0}",
            "{0: 2, 1: 3}",
            "{-1: 0, 0: 0, 1: 1}",
            "[{0: 1}]",
            "{0: [1]}",
            "{0: 1j}",
        ),
    ),
    "random_state": (
        "0",
        "2**32 - 1",
        "2**32",
        "np.random.RandomState(3)",
        "np.random.default_rng(1)",
    ),
    "n_jobs": (
        "1",
        "2",
        "None",
        "-1",
        "-2",
        "-99",
        "0",
        "64",
        "-(2**63)",
        "-(10**30)",
        "2**31 - 1",
    ),
    "oob_score": ("True", "False", "score", "bad_score", "wrong_score"),
    "callback": ("None", "tick", "failing_tick", "strict_tick"),
    "verbose": ("0", "1", "True", "2**40"),
    "max_iter": ("'auto'", "1", "4", "60", "0", "10**6 + 1", "2**31", "2**63"),
    "learning_rate": ("'auto'", "1.0", "10.0", "0.1", "1e-300", "5e-324", "0", "11.0", "nan"),
    "l2_regularization": ("0", "0.0", "1e-300", "1e300", "1e308", "5e-324", "-1.0", "inf", "nan"),
    "loss": (
        *("'log_loss'", "'squared_error'", "'absolute_error'", "'huber'", "'quantile'"),
        *("'poisson'", "'gamma'", "square_loss", "square_loss", "steep_loss", "flat_loss"),
        *("odd_loss", "loss_of_other_shape", "bad_loss", "lambda *_: None", "'\\ud800'"),
    ),
    "scoring": (
        *("'loss'", "None", "'roc_auc'", "'accuracy'", "'neg_log_loss'", "'r2'", "'f1'"),
        *("'nonsense'", "scorer", "odd_scorer", "bad_scorer", "len"),
    ),
    "subsample": ("1.0", "0.5", "0.9", "1e-9", "5e-324", "1", "0.0"),
    "monotonic_cst": (
        *("None", "[1, 0, -1, 0]", "[1, 1, 1, 1]", "np.array([-1, 0, 0, 1])", "{'c0': 1}"),
        *("{0: 1}", "{'x': 1}", "{}", "[]", "[1]", "[2, 0, 0, 0]", "[nan] * 4", "'x'", "[[1]]"),
        *("[1.0, 0.0, 0.0, 0.5]", "[True, False, True, False]", "['1'] * 4", "{'c0': nan}"),
    ),
    "interaction_cst": (
        *("None", "'pairwise'", "'no_interactions'", "[{0, 1}, {2, 3}]", "[[0], [1]]", "[{9}]"),
        *("[set()]", "[]", "[{-1}]", "'odd'", "[{'c0'}]", "[{0: 1}]", "[{0}] * 500", "[{0.5}]"),
        *("[{True}]", "[[[0]]]", "[None]", "[{2**63}]", "0"),
    ),
    "quantile": (
        *("[0.1, 0.9]", "[0.1, 0.5, 0.9]", "[0.9, 0.1]", "[0.5, 0.5]", "[]", "[nan]", "[[0.5]]"),
        *("None", "0.5", "0.9", "5e-324", "1 - 2**-53", "0.0", "1.0", "nan"),
    ),
    "h": ("None", "1", "2", "0.5", "1e300", "5e-324", "2**63", "10**400"),
    "max_depth": ("None", "1", "2", "2**31 - 1", "2**31", "2**32", "2**63", "2**64"),
    "max_redraws": ("'auto'", "0", "1", "1000", "1001", "-1", "2**32", "2**64", "0.5", "True"),
    "max_leaf_nodes": ("None", "2", "3", "2**31 - 1", "2**31", "2**32 + 1", "2**63", "2**64"),
    "contamination": (
        *("'auto'", "0.1", "0.2", "0.5", "np.float32(0.25)", "5e-324", "1e-9", "0.5 + 2**-52"),
        *("0.0", "0", "1", "-0.1", "nan", "inf", "'legacy'", "None", "Fraction(1, 4)", "True"),
    ),
    "max_samples": (
        "'auto'",
        "None",
        "1",
        "2",
        "5",
        "0.5",
        "1.0",
        "1e-300",
        "2**31",
        "2**63",
        "5e-324",
    ),
}


def value_of(parameter: Parameter, rng: random.Random) -> str:
    """A value for a parameter, as an expression."""
    if rng.random() < 0.12:
        return _absurd(parameter.name, rng)
    special = SPECIAL.get(parameter.name)
    if special is not None:
        return rng.choice(special)
    return rng.choice(_values(rng.choice(list(parameter.accepts)), parameter.name))


def _absurd(name: str, rng: random.Random) -> str:
    costly = name in COSTLY
    return rng.choice([v for v in ABSURD if not (costly and v in ("2**63 - 1", "2**31"))])


def _values(constraint: Constraint, name: str) -> tuple[str, ...]:
    match constraint:
        case Integer():
            return _integers(constraint.low, name)
        case Float():
            return _reals(constraint)
        case StrOptions():
            return tuple(repr(word) for word in constraint.words)
        case Flag():
            return ("True", "False", "np.bool_(True)")
        case NoneOption():
            return ("None",)
        case FunctionConstraint():
            return ("tick",)
    return ("None",)


def _integers(low: int | None, name: str) -> tuple[str, ...]:
    least = 1 if low is None else low
    near = (str(least), str(least + 1), str(least + 3), f"np.int8({least})", str(least - 1))
    return near if name in COSTLY else (*near, "1000", "2**31 - 1", "2**31", "2**32", "2**63")


def _reals(constraint: Float) -> tuple[str, ...]:
    low, high = constraint.interval[1:-1].split(",")
    inner = ("0.5", "0.25", "1e-300", "5e-324", "np.float32(0.25)", "1e-9")
    return (
        *inner,
        f"float('{low.strip()}')",
        f"float('{high.strip()}')",
        "1e300",
        "-1e-300",
        "nan",
    )
