"""Results of a search, in a file of JSON lines from which a later run continues.

The first line describes the search; every other line is a candidate with a number of trees, and
is on the disk before the next one begins. A line that was truncated by a crash is dropped.
"""

from __future__ import annotations

import json
import math
import os
from collections.abc import Mapping
from dataclasses import asdict, fields
from pathlib import Path
from typing import Any

from bevel.errors import join_names
from bevel.tuning.evaluation import Evaluation

__all__ = ["Store"]

FORMAT = "bevel tuning 1"


class Store:
    """Results of earlier runs, and those of this one.

    Parameters
    ----------
    path : path or None
        Path of the file; None stores nothing.
    meaning : mapping of str to str
        Description of everything that the results depend on, except the candidate and its trees. A
        file with another description is refused.
    """

    def __init__(self, path: str | os.PathLike[str] | None, meaning: Mapping[str, str]) -> None:
        self._path = None if path is None else Path(path)
        self._evaluations: dict[tuple[str, int], Evaluation] = {}
        self._sizes: dict[float, int] = {}
        if self._path is None:
            return
        if self._path.exists() and self._path.stat().st_size > 0:
            self._read(self._path, meaning)
        else:
            self._append({"format": FORMAT, **meaning})

    def find(self, candidate: str, n_trees: int) -> Evaluation | None:
        """Evaluation of a candidate with `n_trees` trees, if it is known."""
        return self._evaluations.get((candidate, n_trees))

    def add(self, candidate: str, evaluation: Evaluation) -> None:
        """Store the evaluation of a candidate."""
        self._evaluations[candidate, evaluation.n_trees] = evaluation
        self._append({"candidate": candidate, **asdict(evaluation)})

    def find_size(self, seconds: float) -> int | None:
        """Number of candidates of an earlier run with this time limit."""
        return self._sizes.get(seconds)

    def add_size(self, seconds: float, n_candidates: int) -> None:
        """Store the number of candidates of a run with a time limit, which depends on the speed."""
        self._sizes[seconds] = n_candidates
        self._append({"seconds": seconds, "n_candidates": n_candidates})

    def _append(self, line: Mapping[str, Any]) -> None:
        if self._path is None:
            return
        text = json.dumps(line, ensure_ascii=True, allow_nan=False) + "\n"
        with self._path.open("ab") as stream:
            stream.write(text.encode("ascii"))
            stream.flush()
            os.fsync(stream.fileno())

    def _read(self, path: Path, meaning: Mapping[str, str]) -> None:
        content = path.read_bytes()
        whole = content[: content.rfind(b"\n") + 1]
        first, *others = whole.split(b"\n")[:-1] or [b""]
        _check_meaning(path, first, meaning)
        for number, line in enumerate(others, start=2):
            try:
                self._take(json.loads(line))
            except (ValueError, TypeError, KeyError):
                raise _damaged(path, number) from None
        if len(whole) < len(content):
            with path.open("r+b") as stream:
                stream.truncate(len(whole))

    def _take(self, line: Any) -> None:
        if "n_candidates" in line:
            self._sizes[float(line["seconds"])] = _whole(line["n_candidates"])
            return
        values = {field.name: _finite(line[field.name]) for field in fields(Evaluation)}
        evaluation = Evaluation(**{**values, "n_trees": _whole(line["n_trees"])})  # type: ignore[arg-type]
        self._evaluations[str(line["candidate"]), evaluation.n_trees] = evaluation


def _whole(value: object) -> int:
    if type(value) is not int or value < 1:
        raise ValueError(value)
    return value


def _finite(value: Any) -> float:
    if type(value) not in (int, float) or not math.isfinite(value):
        raise ValueError(value)
    return float(value)


def _check_meaning(path: Path, first: bytes, meaning: Mapping[str, str]) -> None:
    try:
        before = json.loads(first)
        is_store = before["format"] == FORMAT
    except (ValueError, TypeError, KeyError):
        is_store = False
    if not is_store:
        raise ValueError(
            f"store must be a file that tuning has written, or a new one; got {path}, which is "
            "something else. Give another name; the file is left as it is."
        )
    differing = [name for name in meaning if before.get(name) != meaning[name]]
    if differing:
        raise ValueError(
            f"store must belong to the same search; {path} was written with other "
            f"{join_names(differing)}. Give another name, or what it was begun with; the file is "
            "left as it is."
        )


def _damaged(path: Path, number: int) -> ValueError:
    return ValueError(
        f"store must hold one result on each line; line {number} of {path} holds none. Remove the "
        "line, which is then computed again, or give another name."
    )
