"""
Bars in images
==============

Images show horizontal or vertical bars of random places and lengths. Sums over patches of
neighbouring pixels see bars; single pixels do not (structured forests: Tomita's thesis, 3.3.8).
"""

import matplotlib.pyplot as plt

from bevel import ObliqueForestClassifier
from bevel import projections as P
from bevel.datasets import bars

X_test, y_test = bars(1000, random_state=1)
families = {
    "pixels": P.Axis(),
    "shuffled patches": P.Patches((20, 20), shuffle=True),
    "patches": P.Patches((20, 20)),
}
sizes = [20, 50, 100]
errors = {name: [] for name in families}
for n in sizes:
    X, y = bars(n, random_state=0)
    for name, family in families.items():
        forest = ObliqueForestClassifier(100, projection=family, random_state=0).fit(X, y)
        errors[name].append(1 - forest.score(X_test, y_test))

fig, axes = plt.subplots(1, 3, figsize=(9.5, 3.2), layout="constrained")
for ax, label in zip(axes, (0, 1), strict=False):
    ax.imshow(X[y == label][0].reshape(20, 20), cmap="Greys")
    ax.set(title=f"class {label}", xticks=[], yticks=[])
for (name, values), marker in zip(errors.items(), "o^s", strict=True):
    axes[2].plot(sizes, values, marker=marker, label=name)
axes[2].set(xlabel="training images", ylabel="test error", ylim=(0, None))
axes[2].legend()

# %%
# Patches win because neighbours belong together: the same sums over shuffled pixels, the control,
# lose the advantage.
