"""
A staircase against a slanted cut
=================================

Two classes are separated by the line x + y = 0. Trees that split single features can only
approximate it by steps. Trees that split combinations of features follow it.
"""

import numpy as np

from bevel import ObliqueForestClassifier, plots

rng = np.random.default_rng(0)
X = rng.uniform(-1, 1, size=(300, 2))
y = (X.sum(axis=1) > 0).astype(int)
X_test = rng.uniform(-1, 1, size=(5000, 2))
y_test = (X_test.sum(axis=1) > 0).astype(int)

forests = {
    "random forest": ObliqueForestClassifier(100, projection="axis", random_state=0).fit(X, y),
    "oblique forest": ObliqueForestClassifier(100, projection="sparse", random_state=0).fit(X, y),
}
axes = plots.decision_boundaries(forests, X, y)
for name, forest in forests.items():
    nodes = forest.forest_.n_nodes // 100
    print(f"{name}: test error {1 - forest.score(X_test, y_test):.3f}, {nodes} nodes a tree")

# %%
# The oblique forest has the smaller error with smaller trees: one slanted cut does the work of
# many steps.
