"""
Hill or valley
==============

Each row is a curve of 50 points with a bump somewhere, up or down, at a random level. No single
point says which, because levels differ by more than bumps do. Differences of points do.
"""

import matplotlib.pyplot as plt
import numpy as np

from bevel import ObliqueForestClassifier

rng = np.random.default_rng(0)


def curves(n):
    """Curves of 50 points, and whether the bump is a hill."""
    hill = rng.integers(0, 2, n)
    place, width = rng.uniform(5, 45, (2, n, 1)) * [[[1]], [[0.2]]]
    bump = np.exp(-0.5 * ((np.arange(50) - place) / width) ** 2)
    level = rng.normal(0, 3, (n, 1))
    return level + (2 * hill[:, None] - 1) * bump + rng.normal(0, 0.1, (n, 50)), hill


X, y = curves(600)
X_test, y_test = curves(2000)

errors = {}
for name, projection in {
    "axis": "axis",
    "sparse": "sparse",
    "LDA": "lda",
    "default": "auto",
}.items():
    forest = ObliqueForestClassifier(100, projection=projection, random_state=0).fit(X, y)
    errors[name] = 1 - forest.score(X_test, y_test)

fig, (left, right) = plt.subplots(1, 2, figsize=(9, 3.6), layout="constrained")
for row, colour in zip(
    (*np.flatnonzero(y)[:3], *np.flatnonzero(y == 0)[:3]), "CCCCCC", strict=True
):
    left.plot(X[row], color=f"{colour}{1 - y[row]}")
left.set(title="Three hills (blue), three valleys (orange)", xlabel="point", ylabel="value")
right.bar(list(errors), list(errors.values()))
right.set(title="Test error by family of directions", ylabel="error")

# %%
# Forests on single features err on a quarter of the curves. Directions of several points compare
# points with each other. The default gives these families nearly all of its trees:
print(forest.families_)
