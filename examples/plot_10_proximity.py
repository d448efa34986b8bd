"""
A map of the rows, and gaps filled by neighbours
================================================

Rows that end in the same leaves are alike for the task. Their proximities give a map of the data,
and replace missing values by those of neighbours.
"""

import matplotlib.pyplot as plt
import numpy as np
from sklearn.datasets import load_wine
from sklearn.impute import SimpleImputer

from bevel import ObliqueForestClassifier, analysis, plots

X, y = load_wine(return_X_y=True, as_frame=True)
forest = ObliqueForestClassifier(300, random_state=0).fit(X, y)

rng = np.random.default_rng(0)
holes = rng.random(X.shape) < 0.1
damaged = X.mask(holes)
imputer = analysis.ProximityImputer(ObliqueForestClassifier(100, random_state=0))
filled = {
    "mean of the column": SimpleImputer().fit_transform(damaged),
    "neighbours in the forest": np.asarray(imputer.fit_transform(damaged, y)),
}
spread = X.std().to_numpy()
errors = {
    name: np.sqrt(np.mean((((values - X.to_numpy()) / spread)[holes]) ** 2))
    for name, values in filled.items()
}

fig, (left, right) = plt.subplots(1, 2, figsize=(10, 4), layout="constrained")
plots.proximity_map(analysis.principal_coordinates(forest, X, y), labels=y, ax=left)
right.bar(list(errors), list(errors.values()))
right.set(
    ylabel="error of filled values, in standard deviations", title="A tenth of the values removed"
)

# %%
# The classes are separate clouds on the map, and neighbours fill gaps better than the mean of a
# column does.
