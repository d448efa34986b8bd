"""A folder of data sets as the lab reads them, and plans of its experiments."""

import gzip
import itertools

import numpy as np

from bevel_lab.data import folder_tables as tables
from bevel_lab.protocols import PROTOCOLS, Plan

LABELS = np.array(["a"] * 50 + ["b"] * 30 + ["c"] * 20)


def forget_tables():
    """Let files be read again that were read before."""
    tables.entries.cache_clear()
    tables.read_table.cache_clear()


def rows_of(seed=0, n=100):
    """Height with holes, colour with a level of one row, and a width that no two rows share."""
    rng = np.random.default_rng(seed)
    heights = rng.normal(size=n).round(3).astype(str)
    heights[::11] = ""
    colours = rng.choice(["x", "y"], n).astype("<U4")
    colours[7] = "rare"
    widths = rng.permutation(n) + 0.5
    return [list(row) for row in zip(heights, colours, widths.astype(str), LABELS, strict=True)]


def write_folder(path, rows):
    text = "\n".join(["height,colour,width,target", *(",".join(row) for row in rows)]) + "\n"
    (path / "mixed.csv.gz").write_bytes(gzip.compress(text.encode()))
    (path / "index.csv").write_text(
        f"name,n,n_classes,categorical_columns\nmixed,{len(rows)},3,colour\n"
    )


def plan_of(name, **options):
    return Plan(systems=PROTOCOLS[name].default_systems, **options)


def some_cells(name, plan, n=1):
    return list(itertools.islice(PROTOCOLS[name].cells(plan), n))
