"""Facts of Menze et al. 2011, On Oblique Random Forests: offsets (Fig. 6), spectra (Table 2)."""

from pathlib import Path

import numpy as np
from scipy import stats

from benchmarks.intervals import paired
from benchmarks.statistics.study import Case, Finding, Results, Split, Study

__all__ = ["OFFSET", "SPECTRAL", "replicate_groups"]

OFFSETS = (0, 1, 10, 100, 1_000, 10_000, 100_000, 1_000_000)
FALLEN = 0.55  # AUC at which the axis forest is at chance
# An offset of size s leaves about n / s² of the differences between standardised features: from
# s = 5000 on less than the paper's smallest penalty, 1e-5.
SMALL_ALPHAS = tuple(10.0**i for i in range(-14, 6))
KEPT = 0.05  # loss of AUC that still counts as kept


def offset_cases(data: Path | None) -> list[Case]:  # noqa: ARG001
    from bevel import projections as P

    forests = {
        "axis": {"projection": P.Axis(), "scale": None},
        "ridge": {"projection": P.Ridge(tune="oob"), "scale": None},
        "ridge, standard": {"projection": P.Ridge(tune="oob"), "scale": "standard"},
        "ridge, small λ": {"projection": P.Ridge(alphas=SMALL_ALPHAS), "scale": None},
        "lda": {"projection": P.LDA(), "scale": None},
        "lda, standard": {"projection": P.LDA(), "scale": "standard"},
        "sparse, auto": {"projection": P.SparseSigns(3), "scale": "auto"},
    }
    return [Case(f"{size:g}", lambda r, s=size: [threenorm(s, r)], forests) for size in OFFSETS]


def threenorm(size: float, repeat: int) -> Split:
    """300 rows, as in Breiman's papers; the same rows for every size of the offset."""
    from bevel import datasets

    X, y = datasets.threenorm(300, random_state=2 * repeat)
    X_test, y_test = datasets.threenorm(2_000, random_state=2 * repeat + 1)
    X, X_test = datasets.correlated(X, X_test, size=size, random_state=repeat)
    return Split(X, y, X_test, y_test)


def judge_offset(results: Results) -> list[Finding]:
    """Where the axis forest is at chance, is the AUC of the others as it was at offset 1?

    Offset 1 and not 0: without an offset one class has two centres on the diagonal, and any offset
    moves them together. What remains is another problem, the same for all sizes from about 1 on.
    """
    fallen = [case for case in results.cases if results.mean(case, "axis", "auc").mean < FALLEN]
    findings = []
    for forest in ("ridge", "lda"):
        kept = [case for case in fallen if is_kept(results, case, forest)]
        auc = {case: results.mean(case, forest, "auc").mean for case in ("1", *fallen)}
        for cases, which in ((fallen[:1], "the first offset"), (fallen, "all offsets")):
            seen = ", ".join(f"{auc[case]:.3f} at {case}" for case in ("1", *cases))
            claim = f"{forest} keeps its AUC (within {KEPT}) at {which} where axis is at chance"
            findings.append(Finding(claim, seen, bool(cases) and set(cases) <= set(kept)))
    return findings


def is_kept(results: Results, case: str, forest: str) -> bool:
    """Is the whole interval of the loss since offset 1 below KEPT?"""
    loss = paired(results.values("1", forest, "auc"), results.values(case, forest, "auc"))
    return bool(loss.high < KEPT)


OFFSET = Study(
    "offset",
    "Menze et al. 2011, Fig. 6: threenorm with a common offset of growing size",
    *(offset_cases, judge_offset),
    n_repeats=10,
    n_trees=300,
    metric="auc",
)

# Sets whose rows are replicates of a sample, in the order of their rows: three in a row in
# mayonnaise_oil (54 samples), two in a row in ucr_meat (60 samples), row i of either half in
# ucr_beef (30 samples: nearest neighbours are 30 rows apart).
REPLICATES = {
    "mayonnaise_oil": lambda row: row // 3,
    "ucr_meat": lambda row: row // 2,
    "ucr_beef": lambda row: row % 30,
}
MOST_ROWS = 1_000
N_FOLDS = 5
ALL_RIVALS = ("axis", "gaussian", "gaussian, d = 1")


def spectral_cases(data: Path | None) -> list[Case]:
    from bevel import datasets
    from bevel import projections as P

    if data is None:
        raise ValueError("the study of spectra needs a folder of data.")
    forests = {
        "axis": {"projection": P.Axis()},
        "gaussian": {"projection": P.Gaussian()},
        "gaussian, d = 1": {"projection": P.Gaussian(), "n_projections": 1},  # the paper's
        "lda": {"projection": P.LDA()},
        "ridge": {"projection": P.Ridge(tune="oob")},
    }
    entries = datasets.load_folder(data / "spectral" if (data / "spectral").is_dir() else data)
    return [
        Case(entry.name, lambda r, e=entry: spectral_folds(e, r), forests)
        for entry in entries
        if entry.task == "classification"
    ]


def spectral_folds(entry: object, repeat: int) -> list[Split]:
    """Folds of a cross-validation with the replicates of a sample in one fold.

    Of large sets each repeat takes 1000 rows at random.
    """
    from sklearn.model_selection import StratifiedGroupKFold

    table = entry.load()  # type: ignore[attr-defined]
    X, y, groups = table.X, table.y, replicate_groups(entry.name, len(table.y))  # type: ignore[attr-defined]
    if len(y) > MOST_ROWS:
        chosen = np.random.default_rng(repeat).permutation(len(y))[:MOST_ROWS]
        X, y, groups = X[chosen], y[chosen], groups[chosen]
    folds = StratifiedGroupKFold(N_FOLDS, shuffle=True, random_state=repeat)
    return [
        Split(X[train], y[train], X[test], y[test]) for train, test in folds.split(X, y, groups)
    ]


def replicate_groups(name: str, n_rows: int) -> np.ndarray:
    """The sample that each row is a measurement of; rows of other sets are samples of their own."""
    rows = np.arange(n_rows)
    return REPLICATES.get(name, lambda row: row)(rows)


def judge_spectral(results: Results) -> list[Finding]:
    """Ahead on more than half of the sets that differ at all, by mean AUC, of either rival."""
    findings = []
    for ours in ("ridge", "lda"):
        for rival in ALL_RIVALS:
            gap = np.array(
                [results.difference(case, ours, rival, "auc").mean for case in results.cases]
            )
            ahead, behind = int(np.sum(gap > 1e-9)), int(np.sum(gap < -1e-9))
            seen = f"ahead on {ahead}, behind on {behind} of {len(gap)} sets"
            findings.append(
                Finding(
                    f"{ours} has a higher AUC than {rival} on most spectral sets",
                    f"{seen}; mean gap {gap.mean():+.4f}, worst {gap.min():+.4f}",
                    ahead > (ahead + behind) / 2,
                )
            )
    findings.append(mean_ranks(results))
    return findings


def mean_ranks(results: Results) -> Finding:
    auc = np.array(
        [[results.mean(case, f, "auc").mean for f in results.forests] for case in results.cases]
    )
    ranks = stats.rankdata(np.round(-auc, 9), axis=1).mean(axis=0)
    order = np.argsort(ranks)
    listed = ", ".join(f"{results.forests[i]} {ranks[i]:.2f}" for i in order)
    rivals = min(rank for f, rank in zip(results.forests, ranks, strict=True) if f in ALL_RIVALS)
    ours = max(rank for f, rank in zip(results.forests, ranks, strict=True) if f not in ALL_RIVALS)
    return Finding("ridge and LDA have the two best mean ranks", listed, bool(ours < rivals))


SPECTRAL = Study(
    "spectral",
    "Menze et al. 2011, Table 2: spectral data by AUC",
    *(spectral_cases, judge_spectral),
    n_repeats=3,
    n_trees=100,
    metric="auc",
    needs_data=True,
)
