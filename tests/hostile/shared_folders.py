"""Folders of kept blocks: used by several fits at once, and damaged between two fits."""

from __future__ import annotations

import os
import random
import shutil
import tempfile
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

from sklearn.base import clone

from .damaged_tables import damage, random_change
from .exercise import rows_for
from .fitted import compare, predictions
from .small_tables import (
    estimator_expressions,
    estimator_from,
    is_refusal,
    scan_file,
    small_table,
    write_table,
)
from .verdicts import ACCEPTED, REFUSED, WrongAnswerError

FORMS = ("ipc", "parquet", "csv")
FILES = ("block", "block", "block", "table.npz", "table.json", "manifest.json")
WAYS = ("damaged",) * 6 + ("removed", "swapped", "threads", "threads", "threads", "processes")


def make(rng: random.Random) -> dict[str, Any]:
    """A table, and what happens to its folder."""
    return {
        **estimator_expressions(rng),
        "form": rng.choice(FORMS),
        "seed": rng.randrange(10**6),
        "n_rows": rng.choice((5, 12, 24)),
        "block_rows": rng.choice((None, 3, 7)),
        "way": rng.choice(WAYS),
        "file": rng.choice(FILES),
        "changes": [random_change("ipc", rng) for _ in range(rng.choice((1, 1, 3)))],
        "fits": rng.choice((2, 2, 3)),
        "rounds": rng.choice((1, 2)),
    }


def check(spec: dict[str, Any]) -> str:
    """Fit with a folder; whatever happens to it, the trees must be those of a fit without."""
    with tempfile.TemporaryDirectory(prefix="bevel-hostile-") as name:
        place = Path(name)
        table = small_table(spec["seed"], spec["n_rows"], spec["estimator"])
        path = write_table(table, spec["form"], place)
        sound = estimator_from(spec).fit(scan_file(path))
        settings = {"folder": place / "blocks", "block_rows": spec["block_rows"]}
        if spec["way"] == "threads":
            return _fit_in_threads(sound, path, settings, spec)
        if spec["way"] == "processes":
            return _fit_in_processes(sound, path, settings, spec)
        clone(sound).fit(scan_file(path, **settings))
        _damage_folder(place / "blocks", spec)
        return _fit_once_more(sound, path, settings)


def _agree(sound: Any, other: Any) -> None:
    rows = rows_for(sound)
    compare("a folder of blocks", predictions(sound, rows), predictions(other, rows))


def _fit_in_threads(sound: Any, path: Path, settings: dict[str, Any], spec: dict[str, Any]) -> str:
    """Several fits with one folder at the same time, each of which must succeed."""
    for _ in range(spec["rounds"]):
        with ThreadPoolExecutor(spec["fits"]) as pool:
            fits = [
                pool.submit(clone(sound).fit, scan_file(path, **settings))
                for _ in range(spec["fits"])
            ]
        for each in fits:
            _agree(sound, each.result())
    return ACCEPTED


def _fit_in_processes(
    sound: Any, path: Path, settings: dict[str, Any], spec: dict[str, Any]
) -> str:
    """As `_fit_in_threads`, in copies of this process."""
    children = [_fork(sound, path, settings) for _ in range(spec["fits"])]
    for status in [os.waitpid(child, 0)[1] for child in children]:
        if status:
            raise WrongAnswerError("differs", f"a fit in another process ended in {status}")
    return ACCEPTED


def _fork(sound: Any, path: Path, settings: dict[str, Any]) -> int:
    child = os.fork()
    if child:
        return child
    code = 1
    try:
        _agree(sound, clone(sound).fit(scan_file(path, **settings)))
        code = 0
    except BaseException:
        import traceback

        traceback.print_exc()
    os._exit(code)


def _damage_folder(folder: Path, spec: dict[str, Any]) -> None:
    """Change, remove or swap files of a folder that was kept."""
    files = sorted(folder.glob("*/*"))
    blocks = [file for file in files if file.suffix == ".bin"]
    named = [file for file in files if spec["file"] in file.name]
    if spec["way"] == "swapped" and len(blocks) > 1:
        first, second = blocks[0].read_bytes(), blocks[1].read_bytes()
        blocks[0].write_bytes(second)
        blocks[1].write_bytes(first)
    elif spec["way"] == "removed":
        for file in named or files:
            file.unlink()
    elif named:
        damage(named[-1], spec["changes"])
    else:
        shutil.rmtree(folder)


def _fit_once_more(sound: Any, path: Path, settings: dict[str, Any]) -> str:
    try:
        again = clone(sound).fit(scan_file(path, **settings))
    except Exception as error:
        if is_refusal(error):
            return REFUSED
        raise
    _agree(sound, again)
    return ACCEPTED
