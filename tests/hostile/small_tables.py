"""What cases of tables have in common: small tables, their files, estimators, and judgements."""

from __future__ import annotations

import gzip
import random
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.csv
import pyarrow.feather
import pyarrow.ipc
import pyarrow.parquet
from sklearn.base import clone
from support.model_files import estimator_of, file_of

from bevel import scan

from .exercise import rows_for
from .expressions import evaluate
from .fitted import compare, predictions
from .input_cases import is_documented

ESTIMATORS = {
    "ObliqueForestClassifier": ("n_estimators", ("1", "2", "3")),
    "ObliqueForestRegressor": ("n_estimators", ("1", "2", "3")),
    "ObliqueBoostingClassifier": ("max_iter", ("1", "2")),
    "ObliqueBoostingRegressor": ("max_iter", ("1", "2")),
}
SCALES = ("'standard'", "'minmax'", "'rank'", "'quantile'", "None")
MEMORY = "64MB"


def estimator_expressions(rng: random.Random, name: str | None = None) -> dict[str, Any]:
    """An estimator of a few trees, and its parameters."""
    name = name or rng.choice(list(ESTIMATORS))
    size, numbers = ESTIMATORS[name]
    chosen = {size: rng.choice(numbers), "random_state": "0", "n_jobs": "1"}
    if "Boosting" in name:
        chosen["min_samples_leaf"] = "1"
    elif rng.random() < 0.3:
        chosen["scale"] = rng.choice(SCALES)
    if rng.random() < 0.4:
        chosen["projection"] = rng.choice(("'axis'", "'sparse'"))
    return {"estimator": name, "parameters": chosen}


def estimator_from(spec: dict[str, Any]) -> Any:
    """The estimator of a case."""
    parameters = {name: evaluate(value) for name, value in spec["parameters"].items()}
    return evaluate(spec["estimator"])(**parameters)


def small_table(seed: int, n_rows: int, estimator: str, *, sound: bool = False) -> pd.DataFrame:
    """Columns of several types, the target `y` and the weights `w`; `sound`: nothing is missing."""
    rng = np.random.default_rng(seed)
    columns = {
        "a": rng.normal(size=n_rows).round(3),
        "b": rng.integers(-5, 9, n_rows),
        "c": rng.choice(["u", "v", "é"], n_rows),
        "d": pd.Timestamp("2024-05-31") + pd.to_timedelta(rng.integers(0, 99, n_rows), "D"),
        "e": pd.Categorical(rng.choice(["x", "y"], n_rows)),
        "f": rng.random(n_rows) < 0.5,
        "g": np.where(rng.random(n_rows) < 0.3, np.nan, rng.normal(size=n_rows)),
        "h": rng.choice(np.array(["p", None], object), n_rows),
    }
    chosen = ["a", *rng.permutation(list("bcdef" if sound else "bcdefgh"))[: rng.integers(0, 4)]]
    table = pd.DataFrame({name: columns[name] for name in chosen})
    numbers = rng.normal(size=n_rows).round(3)
    words = rng.choice(["no", "perhaps", "yes"], n_rows)
    table["y"] = numbers if estimator.endswith("Regressor") else words
    return table.assign(w=rng.integers(1, 4, n_rows).astype(float))


def write_ipc(table: pa.Table, path: Path) -> None:
    pyarrow.feather.write_feather(table, path, compression="uncompressed")


def write_compressed_ipc(table: pa.Table, path: Path) -> None:
    pyarrow.feather.write_feather(table, path, compression="zstd")


def write_blocks_of_ipc(table: pa.Table, path: Path) -> None:
    with pyarrow.ipc.new_file(path, table.schema) as file:
        file.write_table(table, max_chunksize=5)


def write_stream(table: pa.Table, path: Path) -> None:
    with pyarrow.ipc.new_stream(path, table.schema) as stream:
        stream.write_table(table, max_chunksize=5)


def write_parquet(table: pa.Table, path: Path) -> None:
    pyarrow.parquet.write_table(table, path, row_group_size=7)


def write_plain_parquet(table: pa.Table, path: Path) -> None:
    pyarrow.parquet.write_table(table, path, compression="none", use_dictionary=False)


def write_csv(table: pa.Table, path: Path) -> None:
    pyarrow.csv.write_csv(_without_dictionaries(table), path)


def write_gzip(table: pa.Table, path: Path) -> None:
    with gzip.open(path, "wb") as file:
        pyarrow.csv.write_csv(_without_dictionaries(table), file)


def _without_dictionaries(table: pa.Table) -> pa.Table:
    """The table with levels as text, as CSV has them."""
    fields = [
        pa.field(f.name, f.type.value_type if pa.types.is_dictionary(f.type) else f.type)
        for f in table.schema
    ]
    return table.cast(pa.schema(fields))


WRITERS: dict[str, tuple[str, Callable[[pa.Table, Path], None]]] = {
    "ipc": ("rows.arrow", write_ipc),
    "ipc of blocks": ("rows.arrow", write_blocks_of_ipc),
    "compressed ipc": ("rows.feather", write_compressed_ipc),
    "stream": ("rows.arrow", write_stream),
    "parquet": ("rows.parquet", write_parquet),
    "plain parquet": ("rows.parquet", write_plain_parquet),
    "csv": ("rows.csv", write_csv),
    "gzip": ("rows.csv.gz", write_gzip),
}


def write_table(frame: pd.DataFrame, form: str, folder: Path) -> Path:
    """A file of a table."""
    name, write = WRITERS[form]
    write(pa.Table.from_pandas(frame, preserve_index=False), folder / name)
    return folder / name


def scan_file(path: Path, **settings: Any) -> Any:
    """The table of a file, in little memory."""
    return scan(path, target="y", weight="w", **{"memory": MEMORY, **settings})


def is_refusal(error: BaseException) -> bool:
    """Whether a fit may end so: in a documented exception with a message."""
    if not str(error) or "std::" in str(error):
        return False
    return is_documented(error) or isinstance(error, OSError | MemoryError | pa.ArrowException)


def examine(estimator: Any) -> dict[str, np.ndarray]:
    """Predictions of a fitted estimator, which those of its file must equal."""
    rows = rows_for(estimator)
    answers = predictions(estimator, rows)
    compare("a loaded file", answers, predictions(estimator_of(file_of(estimator)), rows))
    return answers


def check_again(estimator: Any, answers: dict[str, np.ndarray], **other: Any) -> None:
    """Fit anew with another number of threads; the predictions must be the same."""
    again = clone(estimator).set_params(n_jobs=2).fit(scan_file(**other))
    compare("other threads and blocks", answers, predictions(again, rows_for(estimator)))
