"""Saved forests: how long until the first prediction, and how many bytes for a node."""

import gc
import pickle
import tempfile
import time
from pathlib import Path
from typing import Any

import numpy as np

__all__ = ["SavedPair"]


class SavedPair:
    """Bevel's file and scikit-learn's pickle of a forest with as many trees."""

    def __init__(self, ours: Any, theirs: Any) -> None:
        import bevel

        if not (hasattr(bevel, "load") and hasattr(ours, "save")):
            raise RuntimeError("This build of Bevel has no load and save.")
        self.bevel = bevel
        self.folder = tempfile.TemporaryDirectory()
        self.ours, self.theirs = (Path(self.folder.name) / name for name in ("ours", "theirs"))
        ours.save(self.ours)
        self.theirs.write_bytes(pickle.dumps(theirs, protocol=pickle.MAX_PROTOCOL))
        self.our_nodes = ours.forest_.n_nodes
        self.their_nodes = sum(tree.tree_.node_count for tree in theirs.estimators_)

    def load_seconds(self, row: np.ndarray | None) -> tuple[float, float]:
        """Until our file is mapped and their pickle read, or until they have predicted a row."""
        gc.collect()
        start = time.perf_counter()
        ours = self.bevel.load(self.ours, mmap=True)
        if row is not None:
            ours.predict_proba(row)
        middle = time.perf_counter()
        with self.theirs.open("rb") as stream:
            theirs = pickle.load(stream)
        if row is not None:
            theirs.set_params(n_jobs=1).predict_proba(row)
        return middle - start, time.perf_counter() - middle

    def bytes_per_node(self) -> tuple[float, float]:
        ours = self.ours.stat().st_size / self.our_nodes
        return ours, self.theirs.stat().st_size / self.their_nodes

    def close(self) -> None:
        self.folder.cleanup()
