"""Bevel and its peers behind one face: prepare once, fit with a stopwatch, describe the forest.

Libraries are imported when a system is made, so that an interpreter needs only what it runs.
Each `fit` includes the library's own Python layer and validation, as a user would pay for them.
"""

import gc
import logging
import math
import re
import time
from abc import ABC, abstractmethod
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from itertools import pairwise
from typing import Any, Protocol

import numpy as np

from benchmarks.machine import version
from benchmarks.speed.rows import Work
from benchmarks.tasks import Data

__all__ = ["Described", "System", "make_system", "must_be_accelerated"]

# Of the rows of the chosen classes, for the PCA of a group: the default of aeon and sktime. The
# paper, and Bevel's default, is 0.75.
ROTATION_SHARE = 0.5


@dataclass(frozen=True)
class Described:
    """What a fit produced: the means are over the trees, and over the leaves of all trees."""

    nodes: float  # nodes per tree, leaves included
    depth: float  # mean depth of a leaf, the root being 0
    score: float  # held-out accuracy, or R² in regression


class System(Protocol):
    """What the stopwatch needs."""

    version: str
    prepare_seconds: float  # making the library's own data set, outside the timed fit

    def fit(self) -> float:
        """Train once from scratch; seconds."""
        ...

    def describe(self) -> Described:
        """Size and held-out score of the last fit."""
        ...


def make_system(name: str, data: Data, work: Work) -> System:
    """A system by name, warmed up (imports, thread pools) on a few rows."""
    if work.mode.startswith("boost"):
        from benchmarks.speed.boosting import make_booster

        return make_booster(name, data, work)
    known = {
        "bevel": Bevel,
        "sklearn": ScikitLearn,
        "sklearnex": Intelex,
        "ydf": Ydf,
        "treeple": Treeple,
        "aeon": Aeon,
        "sktime": Sktime,
    }
    return known[name](data, work)


# Whether times are those of all processors together, for machines that do other work as well.
use_processor_time = False


def stopwatch(call: Any) -> tuple[float, Any]:
    """Seconds and result of a call, garbage collected beforehand."""
    gc.collect()
    clock = time.process_time if use_processor_time else time.perf_counter
    start = clock()
    result = call()
    return clock() - start, result


def score(data: Data, predicted: np.ndarray) -> float:
    """Accuracy, or R² in regression, on the held-out rows."""
    if data.is_regression:
        return float(1 - np.var(data.y_test - predicted) / np.var(data.y_test))
    return float(np.mean(predicted == data.y_test))


def warm_rows(data: Data) -> tuple[np.ndarray, np.ndarray]:
    """A few rows for the first call, of two trees; not every class needs to be among them."""
    return data.X[:300], data.y[:300]


class Estimator(ABC):
    """Base of the systems that follow scikit-learn's API."""

    version: str
    prepare_seconds = 0.0

    def __init__(self, data: Data, work: Work) -> None:
        self.data = data
        self.work = work
        self.model: Any = None
        self.make().set_params(n_estimators=2).fit(*warm_rows(data))

    @abstractmethod
    def make(self) -> Any: ...

    def fit(self) -> float:
        self.model = None  # frees the last forest before the clock starts
        model = self.make()
        seconds, self.model = stopwatch(lambda: model.fit(self.data.X, self.data.y))
        return seconds

    def describe(self) -> Described:
        nodes, depth = tree_sizes([tree.tree_ for tree in self.model.estimators_])
        return Described(nodes, depth, score(self.data, self.model.predict(self.data.X_test)))


def tree_sizes(trees: list[Any]) -> tuple[float, float]:
    """Nodes per tree and mean leaf depth of scikit-learn's tree structures."""
    depths = [leaf_depths(tree.children_left, tree.children_right) for tree in trees]
    n_nodes = sum(len(tree.children_left) for tree in trees)
    return n_nodes / len(trees), float(np.concatenate(depths).mean())


def leaf_depths(left: np.ndarray, right: np.ndarray) -> np.ndarray:
    """Depth of each leaf of one tree, given the children of its nodes (negative: none)."""
    depth = np.zeros(len(left), dtype=np.int64)
    level = np.array([0])
    while len(level):
        inner = level[left[level] >= 0]
        children = np.concatenate([left[inner], right[inner]])
        depth[children] = np.concatenate([depth[inner], depth[inner]]) + 1
        level = children
    return depth[left < 0]


class Bevel(Estimator):
    """Bevel itself."""

    def __init__(self, data: Data, work: Work) -> None:
        import bevel

        self.bevel = bevel
        self.version = version("bevel")
        super().__init__(data, work)

    def make(self) -> Any:
        work = self.work
        kind = (
            self.bevel.ObliqueForestRegressor
            if self.data.is_regression
            else self.bevel.ObliqueForestClassifier
        )
        return kind(
            n_estimators=work.n_trees,
            projection=self.projection(),
            n_projections=work.d,
            split_search=work.split_search,
            oob_score=False,
            n_jobs=work.n_threads,
            random_state=work.seed,
            **self.common_parameters(),
        )

    def projection(self) -> Any:
        kinds = self.bevel.projections
        side = math.isqrt(self.data.X.shape[1])
        makers = {
            "axis": kinds.Axis,
            "sparse": lambda: kinds.SparseSigns(self.work.density),
            "ridge": lambda: kinds.Ridge(tune="oob"),
            "ridge-gcv": lambda: kinds.Ridge(tune="gcv"),
            "lda": kinds.LDA,
            "cca": kinds.CCA,
            "rotation": lambda: kinds.PrincipalRotation(group_size=3, share=ROTATION_SHARE),
            "patches": lambda: kinds.Patches((side, side)),
        }
        return makers[self.work.mode]()

    def common_parameters(self) -> dict[str, Any]:
        """Rotation Forest has no bags, cuts by entropy and scales to [0, 1]; CCA takes all rows."""
        if self.work.mode == "rotation":
            return {"bootstrap": False, "criterion": "entropy", "scale": "minmax"}
        return {"bootstrap": "auto" if self.work.mode == "cca" else True, "scale": self.work.scale}

    def describe(self) -> Described:
        nodes, depth = flat_sizes(self.model.forest_)
        return Described(nodes, depth, score(self.data, self.model.predict(self.data.X_test)))


def flat_sizes(forest: Any) -> tuple[float, float]:
    """Nodes per tree and mean leaf depth of a flat forest (preorder: left child is node + 1)."""
    offset = forest.tree_offset
    depths = []
    for first, last in pairwise(offset):
        right = forest.right[first:last]
        left = np.where(right >= 0, np.arange(1, len(right) + 1), -1)
        depths.append(leaf_depths(left, right))
    return float(offset[-1]) / (len(offset) - 1), float(np.concatenate(depths).mean())


def common_parameters(work: Work) -> dict[str, Any]:
    """Parameters that scikit-learn and the libraries with its API take under the same names."""
    return {
        "n_estimators": work.n_trees,
        "max_features": work.d,
        "bootstrap": True,
        "oob_score": False,
        "n_jobs": work.n_threads,
        "random_state": work.seed,
    }


class ScikitLearn(Estimator):
    """scikit-learn's random forest; grows to pure leaves by default."""

    def __init__(self, data: Data, work: Work) -> None:
        import sklearn
        from sklearn.ensemble import RandomForestClassifier, RandomForestRegressor

        self.kind = RandomForestRegressor if data.is_regression else RandomForestClassifier
        self.version = sklearn.__version__
        super().__init__(data, work)

    def make(self) -> Any:
        return self.kind(**common_parameters(self.work))


@contextmanager
def must_be_accelerated(method: str) -> Iterator[None]:
    """Raise if scikit-learn-intelex leaves calls of an estimator's method to scikit-learn."""
    messages: list[str] = []
    handler = logging.Handler()
    handler.emit = lambda record: messages.append(record.getMessage())  # type: ignore[method-assign]
    logger = logging.getLogger("sklearnex")
    level, propagate, handlers = logger.level, logger.propagate, logger.handlers
    logger.handlers, logger.propagate = [handler], False
    logger.setLevel(logging.INFO)
    try:
        yield
    finally:
        logger.handlers, logger.propagate = handlers, propagate
        logger.setLevel(level)
    calls = [message for message in messages if f".{method}:" in message]
    if not calls or not all("running accelerated version" in message for message in calls):
        raise RuntimeError(f"scikit-learn-intelex did not accelerate {method}; log: {messages}")


class Intelex(Estimator):
    """scikit-learn-intelex (oneDAL): 256 bins per feature, chosen once before training.

    Falls back to scikit-learn in silence when it cannot serve a call; its log is read to be sure
    that it did not.
    """

    def __init__(self, data: Data, work: Work) -> None:
        from sklearnex.ensemble import RandomForestClassifier, RandomForestRegressor

        self.kind = RandomForestRegressor if data.is_regression else RandomForestClassifier
        self.version = version("scikit-learn-intelex")
        with must_be_accelerated("fit"):
            super().__init__(data, work)

    def make(self) -> Any:
        return self.kind(**common_parameters(self.work))


class Treeple(Estimator):
    """treeple's oblique forest; d × p grid shuffled at each node, ±1 on `density` features."""

    def __init__(self, data: Data, work: Work) -> None:
        import treeple

        if work.mode != "sparse" or data.is_regression:
            raise ValueError("treeple is compared in sparse classification only.")
        self.kind = treeple.ObliqueRandomForestClassifier
        self.version = treeple.__version__
        super().__init__(data, work)

    def make(self) -> Any:
        return self.kind(**common_parameters(self.work), feature_combinations=self.work.density)


class Aeon(Estimator):
    """aeon's Rotation Forest: groups of 3, the PCA of each on half of the rows of some classes.

    `remove_proportion` is the share that is *kept*, in aeon's code as in sktime's. Trees are
    scikit-learn's, by entropy, on all rows and all components.
    """

    def __init__(self, data: Data, work: Work) -> None:
        from aeon.classification.sklearn import RotationForestClassifier

        self.kind = RotationForestClassifier
        self.version = version("aeon")
        super().__init__(data, work)

    def make(self) -> Any:
        if self.work.mode != "rotation" or self.data.is_regression:
            raise ValueError("aeon and sktime are compared in rotation forests only.")
        return self.kind(
            n_estimators=self.work.n_trees,
            remove_proportion=ROTATION_SHARE,
            n_jobs=self.work.n_threads,
            random_state=self.work.seed,
        )


class Sktime(Aeon):
    """sktime's, from which aeon's comes; it works in processes, aeon's in threads."""

    def __init__(self, data: Data, work: Work) -> None:
        from sktime.classification.sklearn import RotationForest

        self.kind = RotationForest
        self.version = version("sktime")
        Estimator.__init__(self, data, work)


class Ydf:
    """Yggdrasil's sparse oblique forest with exactly d projections at each node.

    ydf draws min(⌈p**exponent⌉, max_num_projections) projections (its text says max), so the
    exponent is chosen to reach d and the maximum cuts it to d. Numeric features then take part in
    these projections only: ``num_candidate_attributes`` changes nothing. Information gain is its
    only criterion. The data set is built beforehand; `prepare_seconds` is that time.
    """

    def __init__(self, data: Data, work: Work) -> None:
        import ydf

        self.data = data
        self.work = work
        self.check()
        ydf.verbose(0)
        logging.getLogger("absl").setLevel(logging.ERROR)
        self.ydf = ydf
        self.version = ydf.__version__
        self.model: Any = None
        self.learner(n_trees=2).train(self.dataset(*warm_rows(data)))
        self.prepare_seconds, self.train = stopwatch(lambda: self.dataset(data.X, data.y))

    def check(self) -> None:
        """Raise for work that it is not compared in."""
        if self.work.mode != "sparse" or self.data.is_regression:
            raise ValueError("ydf is compared in sparse classification only.")

    def dataset(self, X: np.ndarray, y: np.ndarray) -> Any:
        label = self.ydf.Column("y", self.ydf.Semantic.CATEGORICAL, min_vocab_frequency=1)
        columns = {"x": X, "y": y}
        return self.ydf.create_vertical_dataset(columns, columns=[label], include_all_columns=True)

    def learner(self, n_trees: int) -> Any:
        work = self.work
        return self.ydf.RandomForestLearner(
            label="y",
            num_trees=n_trees,
            num_threads=work.n_threads,
            random_seed=work.seed,
            max_depth=-1,
            min_examples=1,
            bootstrap_training_dataset=True,
            compute_oob_performances=False,
            winner_take_all=False,
            split_axis="SPARSE_OBLIQUE",
            sparse_oblique_num_projections_exponent=1.0 if work.d <= self.data.X.shape[1] else 2.0,
            sparse_oblique_max_num_projections=work.d,
            sparse_oblique_projection_density_factor=float(work.density),
            sparse_oblique_weights="BINARY",
            sparse_oblique_normalization="NONE",
        )

    def fit(self) -> float:
        self.model = None
        learner = self.learner(self.work.n_trees)
        seconds, self.model = stopwatch(lambda: learner.train(self.train))
        return seconds

    def describe(self) -> Described:
        text = self.model.describe("text")
        nodes = re.search(r"Total number of nodes: (\d+)", text)
        depth = re.search(r"Depth by leafs:\s*Count: \d+ Average: ([\d.]+)", text)
        if nodes is None or depth is None:
            raise RuntimeError("ydf's description of a model no longer says nodes and depth.")
        share = self.model.predict({"x": self.data.X_test})
        classes = np.array(self.model.label_classes()).astype(np.int64)
        chosen = (share > 0.5).astype(int) if share.ndim == 1 else share.argmax(axis=1)
        return Described(
            int(nodes[1]) / self.work.n_trees,
            float(depth[1]),
            score(self.data, classes[chosen]),
        )
