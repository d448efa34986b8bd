"""
Tables without natural axes
===========================

The class depends on the first of four features alone. Then the table is rotated, as a change of
coordinates would do. A random forest depends on the coordinates; forests on random rotations do
not.
"""

import matplotlib.pyplot as plt
import numpy as np

from bevel import ObliqueForestClassifier
from bevel.datasets import rotate

rng = np.random.default_rng(0)
X = rng.normal(size=(2400, 4))
y = (np.abs(X[:, 0]) < 0.7).astype(int)
turned = rotate(X, random_state=0)

families = ["axis", "sparse", "rotation", "auto"]
errors = np.empty((2, len(families)))
for i, table in enumerate((X, turned)):
    for j, family in enumerate(families):
        forest = ObliqueForestClassifier(100, projection=family, random_state=0)
        errors[i, j] = 1 - forest.fit(table[:1200], y[:1200]).score(table[1200:], y[1200:])

place = np.arange(len(families))
fig, ax = plt.subplots(layout="constrained")
ax.bar(place - 0.2, errors[0], width=0.38, label="as measured")
ax.bar(place + 0.2, errors[1], width=0.38, label="rotated")
ax.set(xticks=place, ylabel="test error", title="What a change of coordinates costs")
ax.set_xticklabels(families)
ax.legend()

# %%
# The random forest has the least error as long as its axes are the right ones, and the largest
# when they are not. The default is close to the better family in both cases.
