"""
Outliers without stripes
========================

An isolation forest scores rows by how few random cuts isolate them. Cuts parallel to the axes leave
stripes beside every cluster, and ghosts where stripes cross. Oblique cuts leave none.
"""

import matplotlib.pyplot as plt
import numpy as np

from bevel import ObliqueIsolationForest

rng = np.random.default_rng(0)
rows = np.vstack([rng.normal((0, 10), 1.0, (500, 2)), rng.normal((10, 0), 1.0, (500, 2))])
forests = {
    "cuts along the axes": ObliqueIsolationForest(300, projection="axis", random_state=0),
    "oblique cuts": ObliqueIsolationForest(300, random_state=0),
}

x = np.linspace(-6, 16, 120)
grid = np.stack(np.meshgrid(x, x), axis=-1)
scores = {
    name: forest.fit(rows).score_samples(grid.reshape(-1, 2)).reshape(120, 120)
    for name, forest in forests.items()
}
least = min(each.min() for each in scores.values())
largest = max(each.max() for each in scores.values())

fig, panels = plt.subplots(1, 2, figsize=(9.5, 4.2), sharey=True, layout="constrained")
for axes, (name, each) in zip(panels, scores.items(), strict=True):
    picture = axes.contourf(x, x, each, levels=np.linspace(least, largest, 16), cmap="viridis")
    axes.scatter(*rows.T, s=2, color="white", alpha=0.5)
    axes.set(title=name, xlabel="first feature", aspect="equal")
panels[0].set_ylabel("second feature")
fig.colorbar(picture, ax=panels, label="score: the lower, the more of an outlier")

# %%
# On the left the corners where no row has ever been, near (0, 0) and (10, 10), have scores like
# rows at the edge of a cluster. On the right they are as unusual as their distance says.
print(
    {name: round(float(forest.score_samples([[10, 10]])[0]), 3) for name, forest in forests.items()}
)
