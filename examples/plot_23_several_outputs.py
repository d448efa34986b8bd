"""
A whole curve from one forest
=============================

A drug's level in the blood is measured forty times after a dose. One forest of forty outputs
predicts the curve of a new patient: each split is chosen for all times together, and neighbouring
times cannot contradict each other.
"""

import matplotlib.pyplot as plt
import numpy as np

from bevel import ObliqueForestRegressor

rng = np.random.default_rng(0)
hours = np.linspace(0.25, 24, 40)


def patients(n):
    """Weight, age and four other numbers, and the level at each hour: up fast, down slowly."""
    X = rng.normal(size=(n, 6))
    rise = np.exp(0.4 + 0.5 * (X[:, 0] - X[:, 1]))[:, None]
    fall = np.exp(-2.0 + 0.5 * (X[:, 1] + X[:, 2]))[:, None]
    level = 10 * rise / (rise - fall) * (np.exp(-fall * hours) - np.exp(-rise * hours))
    return X, level, level + rng.normal(scale=0.8, size=level.shape)


X, _, y = patients(500)
X_test, level, _ = patients(500)
settings = {"n_estimators": 200, "projection": "sparse", "min_samples_leaf": 5, "random_state": 0}
together = ObliqueForestRegressor(**settings).fit(X, y)
predicted = together.predict(X_test)
apart = np.column_stack(
    [ObliqueForestRegressor(**settings).fit(X, each).predict(X_test) for each in y.T]
)

fig, (left, right) = plt.subplots(1, 2, figsize=(11, 4.4), layout="constrained")
for row, colour in zip((3, 5, 10), ("C0", "C1", "C2"), strict=True):
    left.plot(hours, level[row], color=colour, lw=1)
    left.plot(hours, predicted[row], color=colour, ls="--")
    left.plot(hours, apart[row], color=colour, ls=":", lw=1)
left.plot([], [], color="grey", lw=1, label="true level")
left.plot([], [], color="grey", ls="--", label="one forest of 40 outputs")
left.plot([], [], color="grey", ls=":", label="40 forests")
left.set(xlabel="hours", ylabel="level", title="Three new patients")
left.legend()
for name, values in {"one forest of 40 outputs": predicted, "40 forests": apart}.items():
    right.plot(hours, np.sqrt(((values - level) ** 2).mean(axis=0)), label=name)
right.set(xlabel="hours", ylabel="error (root mean square)", ylim=(0, None))
right.set_title("After the first hours one forest is as good as forty")
right.legend()

# %%
# One forest of 200 trees does the work of forty forests of 200 trees each. Its splits serve most of
# the forty hours, so that the few in which the level rises, which other features decide, are worse
# off: where such outputs matter, fit them by themselves.
for hour in (0, 39):
    share = together.output(hour).feature_importances_
    print(f"{hours[hour]:5.2f} hours:", {f"x{k}": round(float(share[k]), 2) for k in range(6)})
