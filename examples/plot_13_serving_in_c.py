"""
A forest as one C file
======================

``to_c`` writes the forest as C99 without dependencies. Its predictions equal those of Python bit
for bit.
"""

import ctypes
import shutil
import subprocess
import tempfile
from pathlib import Path

import matplotlib.pyplot as plt
import numpy as np
from sklearn.datasets import load_iris

from bevel import ObliqueForestClassifier

X, y = load_iris(return_X_y=True)
forest = ObliqueForestClassifier(100, random_state=0).fit(X, y)
source = forest.to_c()
print(source[: source.index("*/")][:900])

# %%
# Compile it, where there is a compiler, and compare.
compiler = shutil.which("cc") or shutil.which("gcc") or shutil.which("clang")
python = forest.predict_proba(X)
if compiler:
    folder = Path(tempfile.mkdtemp())
    (folder / "model.c").write_text(source, encoding="utf-8")
    library = folder / "model.so"
    subprocess.run(
        [compiler, "-O2", "-shared", "-fPIC", "-o", library, folder / "model.c"], check=True
    )
    model = ctypes.CDLL(str(library))
    rows = np.ascontiguousarray(X)
    c = np.empty_like(python)
    pointer = ctypes.POINTER(ctypes.c_double)
    for row, out in zip(rows, c, strict=True):
        model.model_predict_proba(row.ctypes.data_as(pointer), out.ctypes.data_as(pointer))
    print("equal bits:", np.array_equal(c, python))

sizes = [10, 30, 100]
bytes_of_c = [
    len(ObliqueForestClassifier(n, random_state=0).fit(X, y).to_c()) / 1024 for n in sizes
]
fig, ax = plt.subplots(figsize=(5, 3.4), layout="constrained")
ax.bar([f"{n} trees" for n in sizes], bytes_of_c)
ax.set(ylabel="size of the C file, KB", title="A forest for iris as C")

# %%
# The file needs no library and allocates no memory, so it fits devices where Python does not run.
