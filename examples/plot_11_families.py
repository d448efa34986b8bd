"""
Which family wins where?
========================

The default lets families of directions compete on each table. Four tables, four results.
"""

import matplotlib.pyplot as plt
import numpy as np
from sklearn.datasets import load_breast_cancer, load_digits

from bevel import ObliqueForestClassifier
from bevel.datasets import orthant, sparse_parity, trunk

tables = {
    "orthant": orthant(1000, random_state=0),
    "sparse parity": sparse_parity(2000, random_state=0),
    "trunk": trunk(300, 20, random_state=0),
    "breast cancer": load_breast_cancer(return_X_y=True),
    "digits": load_digits(return_X_y=True),
}
shares = {}
for name, (X, y) in tables.items():
    record = ObliqueForestClassifier(100, random_state=0).fit(X, y).families_
    shares[name] = record.to_pandas()["trees"]

families = list(dict.fromkeys(family for share in shares.values() for family in share.index))
fig, ax = plt.subplots(figsize=(8, 3.6), layout="constrained")
start = np.zeros(len(shares))
for family in families:
    width = np.array([share.get(family, 0) for share in shares.values()])
    ax.barh(list(shares), width, left=start, label=family)
    start += width
ax.set(xlabel="trees of 100", title="The table decides which family grows the trees")
ax.invert_yaxis()
fig.legend(loc="outside right center")

# %%
# Axes suit the orthants, which were made for them. Sparse sums suit parities. Discriminants suit
# Gaussian classes.
