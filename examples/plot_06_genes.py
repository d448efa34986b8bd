"""
Few rows, many columns: which features are real?
================================================

150 samples, 200 measurements, of which three matter. Importances of noise are never exactly zero;
a test says which are more than chance.
"""

import matplotlib.pyplot as plt
import numpy as np

from bevel import ObliqueForestClassifier
from bevel.analysis import importance_test

rng = np.random.default_rng(0)
X = rng.normal(size=(150, 200))
y = X[:, 0] + X[:, 1] - X[:, 2] + 0.3 * rng.normal(size=150) > 0

forest = ObliqueForestClassifier(300, projection="sparse", random_state=0).fit(X, y)
test = importance_test(forest, X, y, method="altmann", n_permutations=20, random_state=0)
print(test.top(5))

fig, ax = plt.subplots(layout="constrained")
ax.hist(test.values[3:], bins=60, label="197 noise features")
for feature in range(3):
    ax.axvline(test.values[feature], color="C1", label="3 real features" if feature == 0 else None)
ax.set(xlabel="permutation importance", ylabel="features", yscale="log")
ax.set_title("Real features stand out from the distribution of noise")
ax.legend()

# %%
# The test grows forests on permuted targets (Altmann et al. 2010), which have no real features,
# and compares. The p-values are corrected for 200 tests.
