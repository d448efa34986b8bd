"""
Groups of rows without labels
=============================

A forest that tells rows from copies with permuted columns learns how columns depend on each other.
Rows in the same leaves are alike, which gives a map and clusters without any label.
"""

import matplotlib.pyplot as plt
import numpy as np
from sklearn.cluster import AgglomerativeClustering
from sklearn.datasets import load_wine
from sklearn.metrics import adjusted_rand_score
from sklearn.preprocessing import StandardScaler

from bevel.analysis import principal_coordinates, proximity, unsupervised_forest

X, y = load_wine(return_X_y=True)
forest = unsupervised_forest(X, random_state=0)
points = principal_coordinates(forest, X, kind="all").coordinates
distance = 1.0 - proximity(forest, X, kind="all").matrix
settings = {"n_clusters": 3, "linkage": "average"}
clusters = AgglomerativeClustering(metric="precomputed", **settings).fit_predict(distance)
plain = AgglomerativeClustering(**settings).fit_predict(StandardScaler().fit_transform(X))

fig, panels = plt.subplots(1, 2, figsize=(9.5, 4), sharex=True, sharey=True, layout="constrained")
for axes, labels, title in zip(panels, (clusters, y), ("clusters", "cultivars"), strict=True):
    for label in np.unique(labels):
        axes.scatter(*points[labels == label].T, s=14, label=f"{title[:-1]} {label}")
    axes.set(title=f"{title}, on the map of the forest", xlabel="first coordinate")
    axes.legend()
panels[0].set_ylabel("second coordinate")

# %%
# Agreement of the clusters with the cultivars, which no forest has seen, from 0 to 1, beside that
# of Euclidean distances of standardised columns.
print("forest:", round(adjusted_rand_score(y, clusters), 2))
print("Euclidean:", round(adjusted_rand_score(y, plain), 2))
