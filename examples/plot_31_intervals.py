"""
A regression with intervals
===========================

What does a used car cost, and how sure is that? The prediction of a price is more useful with an
interval that holds as often as it claims.
"""

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
from sklearn.model_selection import train_test_split

from bevel import (
    ObliqueBoostingRegressor,
    ObliqueForestRegressor,
    ObliqueRegressor,
    analysis,
    plots,
)

rng = np.random.default_rng(0)
n = 2000
brands = {"Alba": 1.0, "Bora": 1.3, "Corvo": 0.8, "Dune": 1.8}
brand = rng.choice(list(brands), n)
X = pd.DataFrame(
    {
        "brand": brand,
        "age in years": rng.integers(0, 16, n),
        "km": rng.gamma(3.0, 25_000, n),
        "power in kW": rng.integers(50, 220, n),
        "first owner": rng.random(n) < 0.5,
    }
)
worth = np.array([brands[each] for each in brand]) * (8_000 + 120.0 * X["power in kW"])
worth *= np.exp(-0.12 * X["age in years"] - X["km"] / 400_000)
y = worth * np.exp(rng.normal(0.0, 0.05 + 0.015 * X["age in years"]))  # old cars vary more
X.loc[rng.random(n) < 0.1, "km"] = np.nan
X_train, X_test, y_train, y_test = train_test_split(X, y, random_state=0)

# %%
# Three models, one line each
# ---------------------------
models = {
    "forest": ObliqueForestRegressor(keep_targets=True, oob_score=True, random_state=0),
    "boosting": ObliqueBoostingRegressor(random_state=0),
    "both": ObliqueRegressor(quality=2, random_state=0),
}
for name, model in models.items():
    error = np.sqrt(np.mean((model.fit(X_train, y_train).predict(X_test) - y_test) ** 2))
    print(f"{name:8} root mean squared error {error:,.0f}")

# %%
# Intervals
# ---------
# All of them give intervals: the forest from the prices of the cars in the same leaves, boosting
# and both together from the errors on rows that they had not seen.
for name, model in models.items():
    low, high = model.predict_interval(X_test, 0.9).T
    inside = np.mean((low <= y_test) & (y_test <= high))
    print(f"{name:8} {inside:.0%} of the prices are inside, mean width {np.mean(high - low):,.0f}")

# %%
# An interval of the same width for all cars may hold on average and still be wrong for each, as the
# prices of expensive cars vary more. Both kinds of intervals follow the row.
forest, both = models["forest"], models["both"]
fig, axes = plt.subplots(1, 2, figsize=(11, 4.4), sharey=True, layout="constrained")
for ax, (name, model) in zip(axes, (("forest", forest), ("both", both)), strict=True):
    low, high = model.predict_interval(X_test, 0.9).T
    order = np.argsort(model.predict(X_test))
    ax.fill_between(np.arange(len(order)), low[order], high[order], alpha=0.3, lw=0)
    ax.plot(y_test.to_numpy()[order], ".", ms=2, color="black")
    ax.set(title=f"{name}: intervals of 90 %", xlabel="cars, by predicted price")
axes[0].set_ylabel("price")

# %%
# Any quantile
# ------------
# With ``keep_targets=True`` a forest predicts quantiles; boosting with ``loss="quantile"`` as
# well.
quantiles = forest.predict_quantiles(X_test.iloc[:3], [0.1, 0.5, 0.9])
print(pd.DataFrame(quantiles, columns=["10 %", "50 %", "90 %"]).round(-2))

# %%
# ``analysis.quantiles`` tests them out of bag: the share of rows below each quantile.
found = analysis.quantiles(forest, X_train=X_train, y_train=y_train)
print(found)

# %%
# Understand
# ----------
# The price by age and mileage, two effects that multiply:
surface = analysis.partial_dependence(both, X_test, ["age in years", "km"])
plots.effect(surface)

# %%
pairs = analysis.interactions(both, X_test, max_rows=60, random_state=0)
plots.interaction_bars(pairs)
plt.show()
