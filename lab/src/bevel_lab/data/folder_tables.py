"""Data sets of a folder, read once in each process and kept while its cells are being run."""

from functools import lru_cache
from pathlib import Path

from bevel.datasets import FolderEntry, LabelledTable, load_folder
from bevel.errors import join_names, wrong_value

__all__ = ["entries", "read_table"]


@lru_cache(maxsize=8)
def entries(folder: Path) -> dict[str, FolderEntry]:
    """The index of a folder, by name."""
    return {entry.name: entry for entry in load_folder(folder)}


@lru_cache(maxsize=2)  # cells come data set by data set; one more for the change-over
def read_table(folder: Path, name: str) -> LabelledTable:
    """A data set of a folder, from memory when it was read before."""
    known = entries(folder)
    if name not in known:
        names = join_names(sorted(known))
        raise wrong_value("data", f"a set of {folder} ({names})", name, "Look into its index.csv.")
    return known[name].load()
