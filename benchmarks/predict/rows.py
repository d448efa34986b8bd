"""The rows of the prediction table: which forest, which peer, how fast is fast enough."""

from dataclasses import dataclass, replace
from itertools import product

from benchmarks.speed.rows import Work, resolve
from benchmarks.tasks import TASKS

__all__ = ["N_BATCH", "ROWS", "Forest", "Row", "quick"]

N_BATCH = 10_000
NONE = float("nan")


@dataclass(frozen=True)
class Forest:
    """What both sides are asked to grow: full depth, bootstrap, d directions at each node.

    Of boosting: 31 leaves, no bootstrap, as in `benchmarks.speed.boosting`.
    """

    task: str
    # "axis": √p single features; "sparse": p signed sums of about three; "boost-axis" and
    # "boost-sparse": boosting on all features, on p sums for each iteration; "boost-symmetric-…":
    # by symmetric trees
    mode: str
    n_trees: int
    n_rows: int | None = None  # None: the task's own number

    @property
    def n(self) -> int:
        return self.n_rows or TASKS[self.task].n_rows

    def work(self, n_features: int, scale: str | None = None) -> Work:
        d = resolve("sqrt" if self.mode == "axis" else "p", n_features)
        return Work(self.mode, d, self.n_trees, scale=scale)


@dataclass(frozen=True)
class Row:
    """One comparison. `at_least` and `aim` are ratios: the peer's time or size over Bevel's.

    `kind` is what is compared: "batch", seconds for 10 000 rows; "visit", the same divided by the
    splits that the rows pass; "one", seconds for one row; "load", seconds until a saved forest is
    there, and "answer", until it has predicted a row; "size", bytes of a file for each node.

    "ydf-prepared" is given a data set of ydf's own, "ydf" an array, which costs it more than the
    walk when there is one row. The peer "estimator" is Bevel's own, beside its `predictor_`.
    """

    kind: str
    forest: Forest
    peer: str
    n_threads: int
    at_least: float = NONE
    aim: float = NONE

    @property
    def system(self) -> str:
        """Who grows the peer's forest."""
        return self.peer.removesuffix("-prepared")

    @property
    def name(self) -> str:
        forest = self.forest
        words = (self.kind, forest.mode, self.peer, forest.task, forest.n_trees)
        return "-".join(map(str, words)) + f"-t{self.n_threads}"


def batch_rows(mode: str, peer: str, bounds: tuple[float, float], *loads: tuple) -> list[Row]:
    """One and two threads on each load (task, trees, rows); bounds are those of two threads."""
    return [
        Row(
            "batch", Forest(task, mode, *rest), peer, n_threads, *(bounds if n_threads == 2 else ())
        )
        for (task, *rest), n_threads in product(loads, (2, 1))
    ]


BIG = Forest("higgs28", "axis", 100)  # about a million nodes

ROWS = (
    *batch_rows(
        *("axis", "sklearn", (3, 8)),
        *(("parity20", 100), ("parity20", 500), ("higgs28", 100), ("higgs28", 500)),
        *(("image784", 100), ("many100", 100)),
    ),
    *batch_rows("axis", "sklearnex", (1, 2), ("parity20", 500), ("higgs28", 100), ("higgs28", 500)),
    *batch_rows(
        "sparse", "ydf-prepared", (4, 8), ("parity20", 100), ("parity20", 500), ("higgs28", 100)
    ),
    # treeple needs minutes at the task's 100 000 rows; both sides get the same 25 000.
    *batch_rows(
        *("sparse", "treeple", (3, 8)),
        *(("parity20", 100), ("parity20", 500), ("higgs28", 100, 25_000)),
    ),
    *(Row("visit", BIG, peer, 2, 1, 3) for peer in ("xgboost", "tl2cgen")),
    *(Row("visit", BIG, peer, 1) for peer in ("xgboost", "tl2cgen")),
    *(
        Row("one", Forest(task, "axis", 100), "sklearn", 1, 30, 100)
        for task in ("parity20", "higgs28")
    ),
    *(
        Row("one", Forest(task, "sparse", 100), "ydf", 1, 10, 40)
        for task in ("parity20", "higgs28")
    ),
    Row("one", Forest("parity20", "sparse", 100), "ydf-prepared", 1),
    *(
        Row("one", Forest("parity20", mode, n_trees), "estimator", 1)
        for mode, n_trees in product(("axis", "sparse"), (100, 500))
    ),
    *(
        Row(kind, Forest("higgs28", mode, 100, 20_000), "lightgbm", n_threads, *bounds)
        for mode, (kind, n_threads, *bounds) in product(
            ("boost-axis", "boost-sparse"),
            (("batch", 1, 2, 4), ("batch", 2), ("one", 1, 5, 20)),
        )
    ),
    *(
        Row("batch", Forest("higgs28", mode, 500, 20_000), "catboost", 1, 1, 1.4)
        for mode in ("boost-symmetric-axis", "boost-symmetric-sparse")
    ),
    Row("load", Forest("parity20", "axis", 500), "sklearn", 1, 20, 100),
    Row("answer", Forest("parity20", "axis", 500), "sklearn", 1),
    Row("size", Forest("parity20", "axis", 500), "sklearn", 1, 4, 6),
)

QUICK_ROWS, QUICK_TREES = 2_000, {100: 10, 500: 20}


def quick(row: Row) -> Row:
    """The row cut down to few rows and trees on both sides."""
    n_rows = min(row.forest.n, QUICK_ROWS)
    n_trees = QUICK_TREES[row.forest.n_trees]
    return replace(row, forest=replace(row.forest, n_rows=n_rows, n_trees=n_trees))
