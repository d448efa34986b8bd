"""
Boosting with oblique splits
============================

Eight joints of a robot arm decide how far its hand is from a target: a smooth function of sums of
angles. Boosting on single features needs many small steps where a sum of two angles needs one.
"""

import matplotlib.pyplot as plt
import numpy as np

from bevel import ObliqueBoostingRegressor

rng = np.random.default_rng(0)


def arm(n):
    """Angles of eight joints, and the distance of the hand from a fixed point."""
    angles = rng.uniform(-np.pi / 2, np.pi / 2, (n, 8))
    along = np.cumsum(angles, axis=1)
    hand = np.stack([np.cos(along).sum(axis=1), np.sin(along).sum(axis=1)], axis=1)
    return angles, np.hypot(*(hand - [3, 3]).T)


X, y = arm(3000)
X_test, y_test = arm(3000)
fig, ax = plt.subplots(layout="constrained")
for name, projection in {"single features": "axis", "with sparse combinations": "auto"}.items():
    model = ObliqueBoostingRegressor(
        projection=projection, max_iter=200, learning_rate=0.1, early_stopping=False, random_state=0
    ).fit(X, y)
    staged = [np.sqrt(np.mean((p - y_test) ** 2)) for p in model.staged_predict(X_test)]
    ax.plot(range(1, len(staged) + 1), staged, label=name)
ax.set(xlabel="iterations", ylabel="test error (root mean square)", ylim=(0, None))
ax.set_title("Combinations of angles lower the error at every iteration")
ax.legend()

# %%
# The curves share rows, learning rate and number of leaves. Only the candidates of the splits
# differ.
