"""Bevel and its peers behind one interface: grow once, then predict batches and single rows.

Growing is that of `benchmarks.speed.systems`, so that both tables are about the same forests.
Libraries are imported when they are asked for; an interpreter needs only what it runs.
"""

import gc
import shutil
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks.machine import version
from benchmarks.predict.exchange import to_xgboost, visits_of_xgboost
from benchmarks.speed.rows import Work
from benchmarks.speed.systems import make_system, must_be_accelerated
from benchmarks.tasks import Data

__all__ = [
    "BevelPredictor",
    "PredictionSystem",
    "YdfPrepared",
    "batch_seconds",
    "make_prediction_system",
    "one_seconds",
]

# A measurement of single rows goes through this many different ones, for at least this long.
SINGLE_ROWS, SINGLE_SECONDS = 200, 0.02
# tl2cgen's own choice; a million nodes take minutes.
C_OPTIONS = ("-O3",)


# Whether to add up the time of all processors of this process; set by the command line.
use_processor_time = False


def now() -> float:
    """Seconds, from any start."""
    return time.process_time() if use_processor_time else time.perf_counter()


class PredictionSystem:
    """A grown forest with scikit-learn's interface."""

    megabytes = float("nan")  # of the model, where its size matters

    def __init__(self, name: str, data: Data, work: Work) -> None:
        system = make_system(name, data, work)
        system.fit()
        self.version = system.version
        self.model: Any = system.model  # type: ignore[attr-defined]

    def ready(self, X: np.ndarray) -> Any:
        """The rows in the form that is handed over; making it is not timed."""
        return X

    def predict_proba(self, rows: Any, n_threads: int) -> np.ndarray:
        """Class probabilities."""
        if self.model.n_jobs != n_threads:
            self.model.n_jobs = n_threads
        return self.model.predict_proba(rows)

    def visits(self, _X: np.ndarray) -> float:
        """Splits that a row passes in all trees, mean over rows; NaN if they are not counted."""
        return float("nan")

    def close(self) -> None:
        """Release what the system holds."""


class Bevel(PredictionSystem):
    """Bevel itself."""

    def visits(self, X: np.ndarray) -> float:
        forest = self.model.forest_
        leaves = self.model.apply(X) + forest.tree_offset[:-1]
        return float(forest.depth[leaves].sum(axis=1).mean())


class BevelPredictor(Bevel):
    """Bevel's object for servers: no checks, one row of float32 in."""

    def __init__(self, model: Any) -> None:
        if not hasattr(model, "predictor_"):
            raise RuntimeError("This build of Bevel has no predictor_.")
        self.version = version("bevel")
        self.model = model
        self.predictor = model.predictor_

    def predict_proba(self, rows: Any, _n_threads: int) -> np.ndarray:
        return self.predictor.predict_proba(rows)


class Intelex(PredictionSystem):
    """scikit-learn-intelex, unless it leaves predict_proba to scikit-learn."""

    def __init__(self, name: str, data: Data, work: Work) -> None:
        super().__init__(name, data, work)
        with must_be_accelerated("predict_proba"):
            self.model.predict_proba(data.X_test[:100])


class Ydf(PredictionSystem):
    """ydf given an array: what one row costs where rows arrive as arrays."""

    def __init__(self, name: str, data: Data, work: Work) -> None:
        super().__init__(name, data, work)
        engines = self.model.list_compatible_engines()  # the first is the fastest, and is used
        self.version = f"{self.version} ({engines[0] if engines else 'slow engine'})"

    def predict_proba(self, rows: Any, n_threads: int) -> np.ndarray:
        return self.model.predict({"x": rows}, num_threads=n_threads)


class YdfPrepared(Ydf):
    """ydf given a data set of its own making: its engine by itself, the fastest way."""

    def __init__(self, grown: Ydf) -> None:
        self.version, self.model = grown.version, grown.model

    def ready(self, X: np.ndarray) -> Any:
        import ydf

        spec = self.model.data_spec()
        return ydf.create_vertical_dataset({"x": X}, data_spec=spec, required_columns=[])

    def predict_proba(self, rows: Any, n_threads: int) -> np.ndarray:
        return self.model.predict(rows, num_threads=n_threads)


class CatBoost(PredictionSystem):
    """CatBoost, whose number of threads is an argument."""

    def predict_proba(self, rows: Any, n_threads: int) -> np.ndarray:
        return self.model.predict_proba(rows, thread_count=n_threads)


class XGBoost(PredictionSystem):
    """XGBoost walking Bevel's trees."""

    def __init__(self, forest: Any) -> None:
        self.version = version("xgboost")
        self.model = to_xgboost(forest)
        self.megabytes = len(self.model.save_raw("ubj")) / 1e6

    def predict_proba(self, rows: Any, n_threads: int) -> np.ndarray:
        self.model.set_param({"nthread": n_threads})
        return self.model.inplace_predict(rows)

    def visits(self, X: np.ndarray) -> float:
        return visits_of_xgboost(self.model, X)


class Tl2cgen(XGBoost):
    """The same trees as compiled C."""

    def __init__(self, forest: Any) -> None:
        import tl2cgen
        import treelite

        super().__init__(forest)
        self.version = version("tl2cgen")
        self.folder = tempfile.mkdtemp()
        self.library = Path(self.folder) / "forest.so"
        tl2cgen.export_lib(
            treelite.frontend.from_xgboost(self.model),
            toolchain="gcc",
            libpath=self.library,
            params={"parallel_comp": forest.n_trees},
            options=list(C_OPTIONS),
            nthread=2,
        )
        self.megabytes = self.library.stat().st_size / 1e6
        self.predictors: dict[int, Any] = {}

    def ready(self, X: np.ndarray) -> Any:
        import tl2cgen

        return tl2cgen.DMatrix(X)

    def predict_proba(self, rows: Any, n_threads: int) -> np.ndarray:
        if n_threads not in self.predictors:
            import tl2cgen

            self.predictors[n_threads] = tl2cgen.Predictor(self.library, nthread=n_threads)
        return self.predictors[n_threads].predict(rows).ravel()

    def close(self) -> None:
        self.predictors.clear()
        shutil.rmtree(self.folder, ignore_errors=True)


def make_prediction_system(name: str, data: Data, work: Work, ours: Any = None) -> PredictionSystem:
    """A system by name, grown on the data; some predict with the trees of `ours` instead."""
    from_ours: dict[str, Callable[[], PredictionSystem]] = {
        "xgboost": lambda: XGBoost(ours.forest_),
        "tl2cgen": lambda: Tl2cgen(ours.forest_),
    }
    if name in from_ours:
        return from_ours[name]()
    kinds = {"bevel": Bevel, "catboost": CatBoost, "sklearnex": Intelex, "ydf": Ydf}
    return kinds.get(name, PredictionSystem)(name, data, work)


def batch_seconds(side: PredictionSystem, X: np.ndarray, n_threads: int) -> float:
    """Seconds for all rows at once."""
    rows = side.ready(X)
    gc.collect()
    start = now()
    side.predict_proba(rows, n_threads)
    return now() - start


def one_seconds(side: PredictionSystem, X: np.ndarray, n_threads: int) -> float:
    """Seconds for one row, mean over calls with different rows."""
    rows = [side.ready(X[i : i + 1]) for i in range(min(len(X), SINGLE_ROWS))]
    side.predict_proba(rows[0], n_threads)
    gc.collect()
    calls = 0
    start = now()
    while now() - start < SINGLE_SECONDS:
        for row in rows:
            side.predict_proba(row, n_threads)
        calls += len(rows)
    return (now() - start) / calls
