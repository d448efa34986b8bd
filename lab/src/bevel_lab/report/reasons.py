"""Why our errors and a paper's differ on a data set, as far as is known.

Facts are those of the data folder (missing values, nominal columns, sizes other than the paper's,
remarks of its index), of the paper's table (remarks of its own, how its kappa was counted), and of
the comparison itself: what all systems share is no fault of one of them.
"""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path

import numpy as np

from bevel.datasets import FolderEntry, LabelledTable
from bevel_lab.data.folder_tables import entries
from bevel_lab.report.published import Pair, Published, same_name
from bevel_lab.statistics.printed_kappa import counted_share

__all__ = ["NONE_KNOWN", "find_index", "known_reasons"]

NONE_KNOWN = "none known"
MIN_SYSTEMS = 3  # that must differ alike before it is the data's doing
LONGEST_NOTE = 140
MAX_FILE = 50_000  # rows; larger files are not read for a remark only


def find_index(data: Path | None, paper: Path | None) -> Path | None:
    """The data folder given, or else that of the paper's table if it has an index."""
    if data is not None:
        entries(data)  # raises with what to do if it is no data folder
        return data
    beside = paper.parent if paper is not None else None
    return beside if beside is not None and (beside / "index.csv").is_file() else None


def known_reasons(
    found: Sequence[Pair],
    published: Published,
    largest_shares: Mapping[str, float],
    folder: Path | None,
) -> dict[tuple[str, str], str]:
    """Reasons for each pair that differs by more than twice the combined standard error.

    Parameters
    ----------
    found : sequence of Pair
    published : Published
    largest_shares : mapping of str to float
        Share of the largest class of each data set.
    folder : path, default=None
        The data folder, for facts of the data.

    Returns
    -------
    dict of (data set, system) to str
        ``"none known"`` where no fact explains the difference.
    """
    index = {same_name(name): each for name, each in entries(folder).items()} if folder else {}
    of_sets: dict[str, str] = {}
    for data in dict.fromkeys(pair.data for pair in found if pair.agrees is False):
        mine = [pair for pair in found if pair.data == data and pair.agrees is not None]
        entry = index.get(same_name(data))
        table = entry.load() if entry is not None and entry.n_rows <= MAX_FILE else None
        facts = _remarks(published, data)
        if table is not None:
            facts += _missing(table, published.measure)
            facts += _sizes(table, published.sizes.get(published.name_of(data), {}))
            facts += _nominal(table)
        if entry is not None:
            facts += _note(entry)
        facts += _alike(mine)
        if published.measure == "printed-kappa" and data in largest_shares:
            facts += _counted_otherwise(mine, _shares(table, largest_shares[data]))
        of_sets[data] = "; ".join(facts) or NONE_KNOWN
    return {(pair.data, pair.system): of_sets[pair.data] for pair in found if pair.agrees is False}


def _remarks(published: Published, data: str) -> list[str]:
    name = published.name_of(data)
    return [published.remarks[name]] if name in published.remarks else []


def _nominal(table: LabelledTable) -> list[str]:
    number = int(table.categorical_features.sum())
    plural = "s" if number > 1 else ""
    return [f"{number} nominal column{plural}, perhaps coded otherwise"] if number else []


def _note(entry: FolderEntry) -> list[str]:
    """The index's remarks beside what is counted here."""
    parts = [part.strip() for part in entry.note.split(";")]
    remark = "; ".join(
        p for p in parts if p and not p.startswith("DIFF") and "missing value" not in p
    )
    if len(remark) > LONGEST_NOTE:
        remark = remark[:LONGEST_NOTE] + "…"
    return [f"the index says “{remark}”"] if remark else []


def _missing(table: LabelledTable, measure: str) -> list[str]:
    n_missing = int(np.isnan(table.X).sum())
    if not n_missing:
        return []
    share = f"{n_missing:,} values missing ({n_missing / table.X.size:.1%})"
    # SPORF, appendix C. The package fills in by proximities of a forest grown on the labels.
    how = "imputed in the paper by R's randomForest, which sees the labels"
    return [f"{share}, {how}" if measure == "printed-kappa" else share]


def _sizes(table: LabelledTable, theirs: Mapping[str, float]) -> list[str]:
    n_nominal = int(table.categorical_features.sum())
    ours = {
        "n": ("rows", len(table.y)),
        "p_num": ("numeric columns", table.X.shape[1] - n_nominal),
        "p_cat": ("nominal columns", n_nominal),
        "c": ("classes", len(np.unique(table.y))),
    }
    return [
        f"{number:,} {what} here, {theirs[key]:,.0f} in the paper"
        for key, (what, number) in ours.items()
        if key in theirs and theirs[key] != number
    ]


def _alike(pairs: Sequence[Pair]) -> list[str]:
    """Whether all systems of a set err, here, on the same side of the paper's."""
    signs = {np.sign(pair.difference) for pair in pairs}
    if len(pairs) < MIN_SYSTEMS or len(signs) > 1:
        return []
    side = "more" if signs == {1.0} else "less"
    return [f"all {len(pairs)} systems err {side} here, which points to the rows, not to a system"]


def _shares(table: LabelledTable | None, largest: float) -> dict[str, float]:
    """Class shares by name; of two classes they follow from the largest."""
    if table is None:
        return {"the larger": largest, "the smaller": 1.0 - largest}
    classes, counts = np.unique(table.y, return_counts=True)
    return dict(zip(map(str, classes), (counts / counts.sum()).tolist(), strict=True))


def _counted_otherwise(pairs: Sequence[Pair], shares: Mapping[str, float]) -> list[str]:
    """Whether all printed kappas of a set would agree if another class had been counted.

    With three or more classes the error was divided by 1 − the largest share, with two by a share:
    both look like a slip in counting one class, which may have been another one.
    """
    n_classes, largest = pairs[0].n_classes, max(shares.values())
    if n_classes != len(shares):
        return []
    used = counted_share(largest_share=largest, n_classes=n_classes, name=pairs[0].data)
    for name, share in shares.items():
        ratio = (share if n_classes == 2 else 1.0 - share) / used
        if ratio != 1.0 and all(_scaled(pair, ratio).agrees for pair in pairs):
            return [f"all would agree if the printed kappa counted class {name} ({share:.0%})"]
    return []


def _scaled(pair: Pair, ratio: float) -> Pair:
    return replace(pair, theirs=ratio * pair.theirs, their_error=ratio * pair.their_error)
