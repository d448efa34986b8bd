"""
Spectra: a ridge model at each node
===================================

A substance changes a broad band of a spectrum by little. Neighbouring wavelengths are almost
copies of each other, and a baseline that varies from sample to sample hides the change (Menze et
al. 2011).
"""

import matplotlib.pyplot as plt
import numpy as np

from bevel import ObliqueForestClassifier
from bevel import projections as P

rng = np.random.default_rng(0)
wave = np.linspace(0, 1, 200)


def spectra(n):
    """Spectra of n samples, half of which contain the substance."""
    y = rng.integers(0, 2, n)
    baseline = (
        rng.normal(size=(n, 1)) + rng.normal(size=(n, 1)) * wave + rng.normal(size=(n, 1)) * wave**2
    )
    band = 0.15 * np.exp(-0.5 * ((wave - 0.6) / 0.05) ** 2)
    return baseline + y[:, None] * band + 0.05 * rng.normal(size=(n, 200)), y


X, y = spectra(120)
X_test, y_test = spectra(2000)
errors = {}
for name, projection in {"axis": "axis", "sparse": "sparse", "ridge": P.Ridge(tune="gcv")}.items():
    forest = ObliqueForestClassifier(200, projection=projection, random_state=0).fit(X, y)
    errors[name] = 1 - forest.score(X_test, y_test)

fig, (left, right) = plt.subplots(1, 2, figsize=(9, 3.6), layout="constrained")
left.plot(wave, X[y == 0][:8].T, color="C0", lw=0.7)
left.plot(wave, X[y == 1][:8].T, color="C1", lw=0.7)
left.set(
    title="Sixteen spectra, with the substance in orange", xlabel="wavelength", ylabel="absorption"
)
right.bar(list(errors), list(errors.values()))
right.set(title="Test error", ylabel="error")

# %%
# A linear model at each node subtracts the baseline; single wavelengths cannot.
