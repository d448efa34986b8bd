"""The rows of the speed table: which task, which peer, how much work, how fast is fast enough."""

import math
from dataclasses import dataclass, replace

from benchmarks.speed import N_THREADS
from benchmarks.tasks import TASKS

__all__ = ["ROWS", "Row", "Work", "quick", "resolve", "select"]

DENSITY = 3


@dataclass(frozen=True)
class Work:
    """What one side is asked to grow. Depth is never limited, out-of-bag scores never computed."""

    # "sparse": ±1 on `density` features on average; "axis": single features; "ridge" (tuned out of
    # bag), "ridge-gcv", "lda", "cca": models of √p features; "rotation": PCA of groups of 3;
    # "patches": of 1 to 5 by 1 to 5 pixels of a square image; "boost-axis", "boost-sparse":
    # boosting, and "boost-symmetric-…", see `boosting.py`, n_trees iterations with d directions for
    # each (ydf: each node).
    mode: str
    d: int  # directions drawn at each node
    n_trees: int
    n_threads: int = N_THREADS
    split_search: str = "auto"  # Bevel only
    scale: str | None = None  # Bevel only; the peers work on the features as they are
    density: float = DENSITY
    seed: int = 0


@dataclass(frozen=True)
class Row:
    """One comparison. `at_least` and `aim` are ratios: seconds of the peer over Bevel's."""

    name: str
    task: str
    mode: str
    d: str  # "p", "sqrt", "p/3" or "1"
    peer: str
    at_least: float
    aim: float
    n_rows: int | None = None  # None: the task's own number
    n_trees: int = 100
    split_search: str = "auto"
    peer_mode: str | None = None  # None: as Bevel's
    peer_d: str | None = None
    peer_density: float = DENSITY
    peer_threads: int = N_THREADS

    @property
    def n(self) -> int:
        return self.n_rows or TASKS[self.task].n_rows

    def work(self, n_features: int) -> Work:
        """Bevel's side of the row."""
        d = resolve(self.d, n_features)
        return Work(self.mode, d, self.n_trees, split_search=self.split_search)

    def peer_work(self, n_features: int) -> Work:
        """The peer's side: the same, except where the row says otherwise."""
        d = resolve(self.peer_d or self.d, n_features)
        mode, density = self.peer_mode or self.mode, self.peer_density
        return Work(mode, d, self.n_trees, self.peer_threads, density=density)


def resolve(d: str, n_features: int) -> int:
    """The number of directions that a word stands for; both sides are given this integer."""
    return {"p": n_features, "sqrt": math.isqrt(n_features), "p/3": n_features // 3, "1": 1}[d]


def patch_entries(length: int, longest: int = 5) -> float:
    """Mean number of pixels in a patch of a square image, where what hangs over is cut off."""
    sizes = range(1, longest + 1)
    return (sum(size * length / (length + size - 1) for size in sizes) / longest) ** 2


SIX_TIMES_SLOWER = 0.167

# Rows and iterations. A hundred classes are a hundred trees for each iteration.
BOOSTED = (
    ("higgs28", 100_000, 100),
    ("higgs28", 1_000_000, 100),
    ("regression20", 200_000, 100),
    ("many100", 20_000, 10),
    ("wide5000", 2_000, 100),
)

ROWS = (
    Row("sparse-ydf-parity20", "parity20", "sparse", "p", "ydf", 10, 20),
    Row("sparse-ydf-higgs28", "higgs28", "sparse", "p", "ydf", 10, 20),
    Row("sparse-treeple-parity20", "parity20", "sparse", "p", "treeple", 15, 35),
    # treeple needs minutes at the task's 100 000 rows; both sides get the same 25 000.
    Row("sparse-treeple-higgs28", "higgs28", "sparse", "p", "treeple", 15, 35, n_rows=25_000),
    Row("sparse-treeple-wide5000", "wide5000", "sparse", "sqrt", "treeple", 40, 150),
    Row("axis-sklearn-parity20", "parity20", "axis", "sqrt", "sklearn", 8, 20),
    Row("axis-sklearn-higgs28", "higgs28", "axis", "sqrt", "sklearn", 8, 20),
    Row("axis-sklearn-image784", "image784", "axis", "sqrt", "sklearn", 8, 20),
    Row("axis-sklearn-many100", "many100", "axis", "sqrt", "sklearn", 10, 30),
    Row("axis-sklearnex-higgs28", "higgs28", "axis", "sqrt", "sklearnex", 1.3, 2.5),
    Row(
        "histogram-sklearnex-higgs28",
        *("higgs28", "axis", "sqrt", "sklearnex", 1.3, 2.5),
        split_search="histogram",
    ),
    Row(
        "small-sklearn-small10",
        *("small10", "sparse", "p", "sklearn", 3, 10),
        n_trees=500,
        peer_mode="axis",
        peer_d="sqrt",
    ),
    Row("axis-sklearn-regression20", "regression20", "axis", "p/3", "sklearn", 8, 20),
    Row("threads-bevel-parity20", "parity20", "sparse", "p", "bevel", 1.8, 1.95, peer_threads=1),
    Row("threads-bevel-higgs28", "higgs28", "sparse", "p", "bevel", 1.8, 1.95, peer_threads=1),
    # Node models beside the sparse forest: ratios below 1 say how many times slower they are.
    *(
        Row(
            f"{mode}-sparse-{task}",
            *(task, mode, "1", "bevel", SIX_TIMES_SLOWER, float("nan")),
            peer_mode="sparse",
            peer_d="p",
        )
        for mode in ("ridge", "ridge-gcv", "lda", "cca")
        for task in TASKS
        if task.startswith("mixture")
    ),
    *(
        Row(f"rotation-{peer}-{task}", task, "rotation", "p", peer, 5, float("nan"))
        for peer in ("aeon", "sktime")
        for task in ("mixture50x2", "mixture50x5")
    ),
    # As many non-zeros on both sides; a fifth is left for noise and for trees of another size.
    Row(
        "patches-sparse-image784",
        *("image784", "patches", "sqrt", "bevel", 0.8, 1),
        peer_mode="sparse",
        peer_density=patch_entries(28),
    ),
    *(
        Row(f"boost-{peer}-{task}-{n}", task, "boost-axis", "p", peer, *bounds, n_rows=n, n_trees=k)
        for task, n, k in BOOSTED
        for peer, bounds in (("lightgbm", (1, 1.5)), ("xgboost", (1, 1.5)), ("catboost", (3, 8)))
    ),
    *(
        Row(
            f"boost-sparse-axis-{task}-{n}",
            *(task, "boost-sparse", "p", "bevel", 0.25, 0.5),
            n_rows=n,
            n_trees=n_trees,
            peer_mode="boost-axis",
        )
        for task, n, n_trees in BOOSTED
    ),
    Row("boost-sparse-ydf-higgs28", "higgs28", "boost-sparse", "p", "ydf", 10, 30),
    Row("boost-sparse-ydf-regression20", "regression20", "boost-sparse", "p", "ydf", 10, 30),
)

# Seconds instead of minutes: shows that everything runs, ratios only roughly.
QUICK_ROWS = {"wide5000": 300, "image784": 1_000, "small10": 1_000}
QUICK_TREES = 10


def quick(row: Row) -> Row:
    """The row cut down to few rows and trees on both sides."""
    n_rows = min(row.n, QUICK_ROWS.get(row.task, 4_000))
    return replace(row, n_rows=n_rows, n_trees=min(row.n_trees, QUICK_TREES))


def select(rows: tuple[Row, ...], only: str | None) -> tuple[Row, ...]:
    """Rows whose name holds one of the comma-separated words of `only`."""
    if only is None:
        return rows
    words = [word.strip() for word in only.split(",")]
    chosen = tuple(row for row in rows if any(word in row.name for word in words))
    if not chosen:
        names = ", ".join(row.name for row in rows)
        raise SystemExit(f"--only {only} matches no row. Rows: {names}.")
    return chosen
