"""The native core: what crosses is checked in Python before; see ARCHITECTURE.md."""

from collections.abc import Callable, Mapping, Sequence
from typing import Any, ClassVar

import numpy as np
import numpy.typing as npt

class CancellationToken:
    def __init__(self) -> None: ...
    def cancel(self) -> None: ...
    def run(self, work: Callable[[], Any]) -> Any: ...

class Family:
    def __init__(self, kind: str, n_draws: int, n_nonzeros: int = 0, **settings: Any) -> None: ...
    @property
    def n_draws(self) -> int: ...

class Options:
    criterion: str
    threshold: str
    n_thresholds: int
    split_search: str
    growth: str
    max_depth: int
    min_samples_split: int
    min_samples_leaf: int
    min_weight_leaf: float
    max_leaf_nodes: int
    min_impurity_decrease: float
    max_redraws: int
    split_pure_nodes: bool
    bag_size: int
    leaf_share: float
    replace: bool
    balanced_subsample: bool
    families: list[Family]
    monotone: Sequence[int]
    interaction_groups: Sequence[Sequence[int]]
    seed: int
    simd: str
    def __init__(self) -> None: ...
    def set_bag_groups(self, groups: npt.NDArray[np.uint32], n_groups: int) -> None: ...

def simd_level() -> str: ...

class BoostingOptions:
    loss: str
    quantiles: list[float]
    n_outputs: int
    learning_rate: float
    max_iter: int
    symmetric: bool
    shares_trees: bool
    max_leaf_nodes: int
    max_depth: int
    min_samples_leaf: int
    l2: float
    linear_leaves: bool
    min_hessian: float
    subsample: float
    samples_by_gradient: bool
    max_bins: int
    n_iter_no_change: int
    tol: float
    eval_at: int
    first_iter: int
    # Gradients, hessians and losses from raw predictions; a score from those of validation rows.
    user_loss: Callable[[npt.NDArray[np.float64]], tuple[npt.NDArray[np.float64], ...]] | None
    scorer: Callable[[npt.NDArray[np.float64]], float] | None
    def __init__(self) -> None: ...

def exponentials(x: npt.NDArray[np.float64]) -> npt.NDArray[np.float64]: ...
def code_bytes(n_columns: int) -> int: ...

class BoostingData:
    def __init__(
        self,
        *,
        X: npt.NDArray[np.float32] | None,
        sparse: SparseTable | None = None,
        levels: npt.NDArray[np.int32],
        medians: npt.NDArray[np.float32],
        has_nan: npt.NDArray[np.uint8],
        target: npt.NDArray[np.float64],
        weights: npt.NDArray[np.float64] | None = None,
        roles: npt.NDArray[np.uint8] | None = None,
        baseline: npt.NDArray[np.float64] | None = None,
        raw_before: npt.NDArray[np.float64] | None = None,
        scaler: Scaler | None = None,
        feature_room: npt.NDArray[np.uint8] | None = None,
        direction_room: npt.NDArray[np.uint8] | None = None,
        level_terms: npt.NDArray[np.int32] | None = None,
        is_idle: npt.NDArray[np.uint8] | None = None,
        groups: npt.NDArray[np.uint32] | None = None,
        event: npt.NDArray[np.uint8] | None = None,
        entry: npt.NDArray[np.float64] | None = None,
    ) -> None: ...

def boost(
    data: BoostingData,
    options: Options,
    boosting: BoostingOptions,
    n_threads: int,
    progress: Callable[[int, float], None] | None = None,
) -> dict[str, Any]: ...

# Rows are in the order of their times; times are ranks of event times, events are causes, 0 for a
# censored row, and `row` is the number of a row before it was sorted.
class SurvivalTimes:
    def __init__(
        self,
        *,
        rank: npt.NDArray[np.uint32],
        event: npt.NDArray[np.uint8],
        row: npt.NDArray[np.uint32],
        n_times: int,
        entry: npt.NDArray[np.uint32] | None = None,
        n_causes: int = 1,
    ) -> None: ...

# Either labels, with n_classes, or targets, or survival times.
class TrainingData:
    def __init__(
        self,
        *,
        X: npt.NDArray[np.float32] | None,
        sparse: SparseTable | None = None,
        levels: npt.NDArray[np.int32],
        medians: npt.NDArray[np.float32],
        has_nan: npt.NDArray[np.uint8] | None = None,
        weights: npt.NDArray[np.float64] | None = None,
        n_classes: int = 0,
        labels: npt.NDArray[np.int32] | None = None,
        targets: npt.NDArray[np.float64] | None = None,
        output_classes: npt.NDArray[np.int32] | None = None,
        survival: SurvivalTimes | None = None,
        level_terms: npt.NDArray[np.int32] | None = None,
        is_idle: npt.NDArray[np.uint8] | None = None,
    ) -> None: ...

def train(
    data: TrainingData,
    options: Options,
    trees: npt.NDArray[np.uint64],
    n_threads: int,
    progress: Callable[[int], None] | None = None,
) -> dict[str, npt.NDArray[Any]]: ...
def bag(
    options: Options,
    n_rows: int,
    tree: int,
    weights: npt.NDArray[np.float64] | None = None,
    of_leaves: bool = False,
) -> npt.NDArray[np.int32]: ...
def summarise_columns(
    X: npt.NDArray[np.float32], levels: npt.NDArray[np.int32], n_threads: int
) -> tuple[npt.NDArray[np.float32], npt.NDArray[np.uint8]]: ...
def store_columns(
    source: npt.NDArray[np.floating[Any]],
    limit: float,
    n_threads: int,
    target: npt.NDArray[np.float32],
) -> tuple[
    tuple[int, int] | None, tuple[npt.NDArray[np.float32], npt.NDArray[np.uint8]] | None
]: ...

class Scaler:
    MAX_STORED: ClassVar[float]
    @staticmethod
    def identity(n_features: int) -> Scaler: ...
    @staticmethod
    def linear(
        shift: npt.NDArray[np.float64], span: npt.NDArray[np.float64], clip: bool
    ) -> Scaler: ...
    @staticmethod
    def quantile(low: npt.NDArray[np.float64], high: npt.NDArray[np.float64]) -> Scaler: ...
    @staticmethod
    def rank(
        relative: bool,
        n_present: npt.NDArray[np.int64],
        complete: npt.NDArray[np.bool_],
        offset: npt.NDArray[np.int64],
        knots: npt.NDArray[np.float64],
        ranks: npt.NDArray[np.float64],
    ) -> Scaler: ...
    def with_codes(self, levels: npt.NDArray[np.int32]) -> Scaler: ...
    @property
    def n_features(self) -> int: ...
    def transform(
        self,
        source: npt.NDArray[np.floating[Any]],
        first_feature: int,
        n_threads: int,
        target: npt.NDArray[np.float32],
    ) -> None: ...
    def transform_columns(
        self, source: npt.NDArray[np.floating[Any]], offset: npt.NDArray[np.int64]
    ) -> npt.NDArray[np.float32]: ...

class SparseTable:
    def __init__(
        self,
        n_rows: int,
        offset: npt.NDArray[np.int64],
        rows: npt.NDArray[np.int32],
        values: npt.NDArray[np.float32],
        common: npt.NDArray[np.float32],
    ) -> None: ...
    def summarise(
        self, n_threads: int
    ) -> tuple[npt.NDArray[np.float32], npt.NDArray[np.uint8]]: ...

def raise_shares(shares: npt.NDArray[np.float64], halves: int) -> None: ...

class PackedForest:
    def __init__(self, view: ForestView, simd: str = "auto") -> None: ...
    @property
    def nbytes(self) -> int: ...
    def predict_proba(
        self,
        X: npt.NDArray[np.floating[Any]],
        scaler: Scaler,
        limit: float,
        hard: bool,
        n_threads: int,
        out: npt.NDArray[np.float64],
    ) -> bool: ...
    def predict_class(
        self,
        X: npt.NDArray[np.floating[Any]],
        scaler: Scaler,
        limit: float,
        hard: bool,
        n_threads: int,
        out: npt.NDArray[np.int32],
    ) -> bool: ...
    def predict_value(
        self,
        X: npt.NDArray[np.floating[Any]],
        scaler: Scaler,
        limit: float,
        n_threads: int,
        out: npt.NDArray[np.float64],
    ) -> bool: ...
    def add_values(
        self,
        X: npt.NDArray[np.floating[Any]],
        scaler: Scaler,
        limit: float,
        first: int,
        last: int,
        n_outputs: int,
        n_threads: int,
        out: npt.NDArray[np.float64],
    ) -> bool: ...

class Replacement:
    def __init__(
        self,
        group: npt.NDArray[np.int32],
        key: npt.NDArray[np.uint64],
        n_repeats: int,
        permutes: bool,
        seed: int,
        strata: npt.NDArray[np.int32] | None = None,
    ) -> None: ...

def tree_errors(
    forest: PackedForest,
    X: npt.NDArray[np.float32],
    replacement: npt.NDArray[np.float32],
    how: Replacement,
    target: npt.NDArray[Any],
    weights: npt.NDArray[np.float64] | None,
    is_evaluated: npt.NDArray[np.bool_] | None,
    n_threads: int,
    progress: Callable[[int], None] | None,
) -> tuple[npt.NDArray[np.float64], npt.NDArray[np.float64]]: ...
def forest_errors(
    forest: PackedForest,
    X: npt.NDArray[np.float32],
    replacement: npt.NDArray[np.float32],
    how: Replacement,
    target: npt.NDArray[Any],
    weights: npt.NDArray[np.float64] | None,
    is_evaluated: npt.NDArray[np.bool_] | None,
    hard: bool,
    n_threads: int,
    progress: Callable[[int], None] | None,
) -> tuple[float, npt.NDArray[np.float64], npt.NDArray[np.float64]]: ...
def permutation(
    seed: int,
    tree: int,
    key: int,
    repeat: int,
    n_rows: int,
    strata: npt.NDArray[np.int32] | None = None,
) -> npt.NDArray[np.uint32]: ...

# Rows of the result are the axes that a tree of a rotation forest of this seed draws.
def haar_rotation(n_features: int, flip: bool, seed: int, tree: int) -> npt.NDArray[np.float64]: ...
def rotate_rows(
    rows: npt.NDArray[np.float32],
    rotation: npt.NDArray[np.float64],
    n_threads: int,
    target: npt.NDArray[np.float32],
) -> None: ...
def forest_axes(
    options: Options, levels: npt.NDArray[np.int32]
) -> tuple[npt.NDArray[np.uint32], npt.NDArray[np.int32], npt.NDArray[np.float32]]: ...
def sample_candidates(
    options: Options, levels: npt.NDArray[np.int32], tree: int
) -> tuple[npt.NDArray[np.uint32], npt.NDArray[np.int32], npt.NDArray[np.float32]]: ...
def sample_tree(
    data: TrainingData,
    options: Options,
    tree: int,
) -> tuple[
    tuple[npt.NDArray[np.uint32], npt.NDArray[np.int32], npt.NDArray[np.float32]],
    tuple[npt.NDArray[np.uint32], npt.NDArray[np.int32], npt.NDArray[np.float32]],
]: ...

# Node models, for tests only: weight, y and alphas are float64; directions are rows.
def models_ridge_path(
    X: npt.NDArray[np.float64],
    weight: npt.NDArray[np.float64],
    y: npt.NDArray[np.float64],
    n_classes: int,
    alphas: npt.NDArray[np.float64],
) -> list[npt.NDArray[np.float64]]: ...
def models_gcv(
    X: npt.NDArray[np.float64],
    weight: npt.NDArray[np.float64],
    y: npt.NDArray[np.float64],
    n_classes: int,
    alphas: npt.NDArray[np.float64],
) -> tuple[npt.NDArray[np.float64], int]: ...
def models_lda(
    X: npt.NDArray[np.float64],
    weight: npt.NDArray[np.float64],
    y: npt.NDArray[np.float64],
    n_classes: int,
) -> npt.NDArray[np.float64]: ...
def models_p_values(
    X: npt.NDArray[np.float64],
    weight: npt.NDArray[np.float64],
    y: npt.NDArray[np.float64],
    n_classes: int,
    alpha: float,
) -> tuple[npt.NDArray[np.float64], npt.NDArray[np.float64]]: ...
def models_logistic(
    X: npt.NDArray[np.float64],
    weight: npt.NDArray[np.float64],
    y: npt.NDArray[np.float64],
    n_classes: int,
    alpha: float,
    n_steps: int,
) -> npt.NDArray[np.float64]: ...
def models_logistic_p_values(
    X: npt.NDArray[np.float64],
    weight: npt.NDArray[np.float64],
    y: npt.NDArray[np.float64],
    n_classes: int,
    alpha: float,
    n_steps: int,
) -> tuple[npt.NDArray[np.float64], npt.NDArray[np.float64]]: ...
def models_normal_p_value(z: float) -> float: ...
def models_pls(
    X: npt.NDArray[np.float64],
    weight: npt.NDArray[np.float64],
    y: npt.NDArray[np.float64],
    n_classes: int,
    n_components: int,
) -> npt.NDArray[np.float64]: ...
def models_cca(
    X: npt.NDArray[np.float64],
    weight: npt.NDArray[np.float64],
    y: npt.NDArray[np.float64],
    n_classes: int,
) -> npt.NDArray[np.float64]: ...

class ForestView:
    def __init__(
        self,
        arrays: Mapping[str, npt.NDArray[Any]],
        n_features: int,
        n_classes: int,
        levels: npt.NDArray[np.int32],
        medians: npt.NDArray[np.float32],
    ) -> None: ...
    def apply(self, X: npt.NDArray[np.float32], n_threads: int) -> npt.NDArray[np.int32]: ...
    def predict_proba(
        self, X: npt.NDArray[np.float32], n_threads: int, hard: bool
    ) -> npt.NDArray[np.float64]: ...
    def predict_value(
        self, X: npt.NDArray[np.float32], n_threads: int
    ) -> npt.NDArray[np.float64]: ...
    def out_of_bag(
        self,
        X: npt.NDArray[np.float32],
        options: Options,
        first_tree: int,
        hard: bool,
        n_threads: int,
        trees: tuple[int, int] | None = None,
        weights: npt.NDArray[np.float64] | None = None,
        rows: tuple[int, int] | None = None,
        bags: npt.NDArray[np.uint8] | None = None,
        n_rows: int | None = None,
    ) -> tuple[npt.NDArray[np.float64], npt.NDArray[np.int32]]: ...
    def pruned_out_of_bag(
        self,
        X: npt.NDArray[np.float32],
        options: Options,
        first_tree: int,
        hard: bool,
        n_threads: int,
        trees: tuple[int, int],
        weights: npt.NDArray[np.float64] | None,
        node_weight: npt.NDArray[np.float32],
        sizes: npt.NDArray[np.int64],
        row_step: int,
        rows: tuple[int, int] | None = None,
        bags: npt.NDArray[np.uint8] | None = None,
        n_rows: int | None = None,
    ) -> tuple[npt.NDArray[np.float64], npt.NDArray[np.int32]]: ...
    def survival_curves(
        self,
        leaves: npt.NDArray[np.int32],
        first_point: npt.NDArray[np.int32],
        n_points: int,
        kind: int,
        n_threads: int,
        n_causes: int = 1,
        cause: int = 0,
    ) -> npt.NDArray[np.float64]: ...

class LeafSharing:
    def __init__(
        self, leaves: npt.NDArray[np.int32], tree_offset: npt.NDArray[np.int64]
    ) -> None: ...
    def nearest(
        self, queries: npt.NDArray[np.int32], first_own: int, k: int, n_threads: int
    ) -> tuple[npt.NDArray[np.int64], npt.NDArray[np.int32], npt.NDArray[np.float64]]: ...

def neighbour_weights(
    view: ForestView,
    X: npt.NDArray[np.float32],
    offset: npt.NDArray[np.int64],
    row: npt.NDArray[np.int32],
    weight: npt.NDArray[np.float64],
    n_rows: int,
    trees: npt.NDArray[np.bool_] | None,
    n_threads: int,
) -> tuple[npt.NDArray[np.float64], npt.NDArray[np.int32], npt.NDArray[np.int64]]: ...
def neighbour_quantiles(
    view: ForestView,
    X: npt.NDArray[np.float32],
    offset: npt.NDArray[np.int64],
    row: npt.NDArray[np.int32],
    weight: npt.NDArray[np.float64],
    targets: npt.NDArray[np.float64],
    levels: npt.NDArray[np.float64],
    trees: npt.NDArray[np.bool_] | None,
    n_threads: int,
) -> npt.NDArray[np.float64]: ...

class ColumnReader:
    def __init__(
        self,
        encoding: str,
        dtype: str,
        length: int,
        meta: Mapping[str, int],
        parts: Mapping[str, npt.NDArray[np.uint8]],
    ) -> None: ...
    def at(self, i: int) -> int: ...
    def decode(self) -> npt.NDArray[Any]: ...

class MappedForest:
    def __init__(
        self,
        columns: Mapping[str, ColumnReader],
        n_features: int,
        n_classes: int,
        levels: npt.NDArray[np.int32],
        medians: npt.NDArray[np.float32],
    ) -> None: ...
    def apply(self, X: npt.NDArray[np.float32], n_threads: int) -> npt.NDArray[np.int32]: ...
    def predict_proba(
        self, X: npt.NDArray[np.float32], n_threads: int, hard: bool
    ) -> npt.NDArray[np.float64]: ...
    def predict_value(
        self, X: npt.NDArray[np.float32], n_threads: int
    ) -> npt.NDArray[np.float64]: ...

# Values and their variances, n x p x max(n_classes, 1); sampled pairs of tree and background row.
def shapley_values(
    view: ForestView,
    X: npt.NDArray[np.float32],
    background: npt.NDArray[np.float32],
    weights: npt.NDArray[np.float64] | None,
    drawn: npt.NDArray[np.int32] | None,
    hard: bool,
    max_exact_features: int,
    n_samples: int,
    seed: int,
    n_threads: int,
    progress: Callable[[int], None] | None,
) -> tuple[
    npt.NDArray[np.float64],
    npt.NDArray[np.float64],
    npt.NDArray[np.int64],
    npt.NDArray[np.float64],
]: ...
def shapley_interactions(
    view: ForestView,
    X: npt.NDArray[np.float32],
    background: npt.NDArray[np.float32],
    weights: npt.NDArray[np.float64] | None,
    drawn: npt.NDArray[np.int32] | None,
    hard: bool,
    max_exact_features: int,
    n_threads: int,
    progress: Callable[[int], None] | None,
) -> tuple[npt.NDArray[np.float64], bool, npt.NDArray[np.float64]]: ...
def path_values(
    view: ForestView,
    node_weight: npt.NDArray[np.float32],
    X: npt.NDArray[np.float32],
    hard: bool,
    most_boxes: int,
    n_threads: int,
    progress: Callable[[int], None] | None,
) -> tuple[npt.NDArray[np.float64], bool, npt.NDArray[np.float64]]: ...

# One or two features, each with ascending values; no second feature: -1 and no values.
class FeatureGrid:
    def __init__(
        self,
        first_feature: int,
        first: npt.NDArray[np.float32],
        second_feature: int,
        second: npt.NDArray[np.float32],
    ) -> None: ...

# Values of some features: n x n_variants x number of features.
class RowVariants:
    def __init__(
        self, features: npt.NDArray[np.int32], values: npt.NDArray[np.float32]
    ) -> None: ...

# Predictions of the variants of rows, n x max(n_classes, 1) x n_variants.
def row_curves(
    forest: PackedForest,
    X: npt.NDArray[np.float32],
    variants: FeatureGrid | RowVariants,
    hard: bool,
    is_evaluated: npt.NDArray[np.bool_] | None,
    n_threads: int,
    progress: Callable[[int], None] | None,
) -> npt.NDArray[np.float64]: ...

# Sums over the rows of a group, n_trees x n_groups x max(n_classes, 1) x n_variants.
def tree_curves(
    forest: PackedForest,
    X: npt.NDArray[np.float32],
    variants: FeatureGrid | RowVariants,
    group: npt.NDArray[np.int32],
    n_groups: int,
    n_parts: int,
    weights: npt.NDArray[np.float64] | None,
    hard: bool,
    is_evaluated: npt.NDArray[np.bool_] | None,
    n_threads: int,
    progress: Callable[[int], None] | None,
) -> npt.NDArray[np.float64]: ...
def forest_fields() -> list[tuple[str, str, str, str, str]]: ...
def pack_bits(numbers: npt.NDArray[np.uint64], width: int) -> npt.NDArray[np.uint8]: ...
def check_forest(
    arrays: Mapping[str, npt.NDArray[Any]],
    n_features: int,
    n_classes: int,
    levels: npt.NDArray[np.int32],
    medians: npt.NDArray[np.float32],
) -> None: ...

class BlockGrower:
    def __init__(
        self,
        options: Options,
        trees: npt.NDArray[np.uint64],
        n_rows: int,
        n_classes: int,
        whole_weights: bool,
        largest_weight: float,
        low: float,
        high: float,
        sample: npt.NDArray[np.float32],
        levels: npt.NDArray[np.int32],
        medians: npt.NDArray[np.float32],
        gather_rows: int,
    ) -> None: ...
    def histogram_request(self, most_numbers: int, n_threads: int) -> tuple[bytes, int]: ...
    def take_histograms(self, cells: npt.NDArray[np.int64]) -> None: ...
    def rows_request(
        self, most_rows: int
    ) -> tuple[bytes, list[tuple[int, int, int, int, int, int, float]]]: ...
    def put_subtree(self, tree: int, node: int, arrays: dict[str, npt.NDArray[Any]]) -> None: ...
    def take_all_rows(self, tree: int) -> None: ...
    def takes_all(self, tree: int) -> bool: ...
    @property
    def n_trees_done(self) -> int: ...
    @property
    def gain_unit(self) -> float: ...
    def finish(self) -> dict[str, npt.NDArray[Any]]: ...

def add_block_histograms(
    X: npt.NDArray[np.float32],
    levels: npt.NDArray[np.int32],
    medians: npt.NDArray[np.float32],
    target: npt.NDArray[Any],
    weights: npt.NDArray[np.float64] | None,
    first_row: int,
    request: bytes,
    cells: npt.NDArray[np.int64],
    n_threads: int,
) -> None: ...
def find_block_rows(
    X: npt.NDArray[np.float32],
    levels: npt.NDArray[np.int32],
    medians: npt.NDArray[np.float32],
    target: npt.NDArray[Any],
    weights: npt.NDArray[np.float64] | None,
    first_row: int,
    request: bytes,
    n_nodes: int,
    n_threads: int,
) -> tuple[npt.NDArray[np.int64], npt.NDArray[np.uint32], npt.NDArray[np.int32]]: ...
def grow_block_subtree(
    X: npt.NDArray[np.float32],
    levels: npt.NDArray[np.int32],
    medians: npt.NDArray[np.float32],
    has_nan: npt.NDArray[np.uint8],
    target: npt.NDArray[Any],
    n_classes: int,
    weights: npt.NDArray[np.float64] | None,
    draws: npt.NDArray[np.int32],
    options: Options,
    tree: int,
    key: int,
    depth: int,
    tree_weight: float,
    gain_unit: float,
    n_threads: int,
) -> dict[str, npt.NDArray[Any]]: ...
def draw_bags(
    options: Options,
    n_rows: int,
    first_tree: int,
    n_trees: int,
    weights: npt.NDArray[np.float64] | None,
    n_threads: int,
) -> npt.NDArray[np.uint8]: ...
def block_bag(
    options: Options, n_rows: int, tree: int, first_row: int, n: int
) -> npt.NDArray[np.int32]: ...
def block_out_of_bag(
    view: ForestView,
    X: npt.NDArray[np.float32],
    options: Options,
    n_rows: int,
    first_row: int,
    takes_all: npt.NDArray[np.uint8],
    hard: bool,
    n_threads: int,
) -> tuple[npt.NDArray[np.float64], npt.NDArray[np.int32]]: ...
def describe_block_request(request: bytes) -> dict[str, Any]: ...
