"""
Survival, step by step
======================

How long do customers stay? Many are still there when the table is drawn up: their time is censored.
A survival forest learns from them too.
"""

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
from sklearn.model_selection import train_test_split

from bevel import ObliqueSurvivalForest, analysis, plots

rng = np.random.default_rng(0)
n = 1500
X = pd.DataFrame(
    {
        "plan": rng.choice(["basic", "family", "pro"], n, p=[0.5, 0.3, 0.2]),
        "age": rng.integers(18, 80, n),
        "calls to support": rng.poisson(1.5, n),
        "monthly fee": rng.normal(30, 8, n),
        "data used": rng.gamma(2.0, 10.0, n),
    }
)
strain = 0.08 * (X["monthly fee"] - X["data used"]) + 0.5 * X["calls to support"]
strain += np.where(X["plan"] == "basic", 0.8, 0.0)
months = 40 * rng.weibull(1.3, n) * np.exp(-0.5 * (strain - strain.mean()))
watched = rng.uniform(2, 60, n)
time, left = np.minimum(months, watched), months <= watched
X.loc[rng.random(n) < 0.15, "data used"] = np.nan
parts = train_test_split(X, time, left, random_state=0)
X_train, X_test, time_train, time_test, left_train, left_test = parts
print(f"{left.mean():.0%} have left, the others are censored")

# %%
# Fit
# ---
forest = ObliqueSurvivalForest(300, random_state=0).fit(X_train, (time_train, left_train))

# %%
# The concordance is the share of pairs of customers whose order is predicted; 0.5 is chance. The
# Brier score is the squared error of the predicted survival at each time.
scores = analysis.survival_scores(forest, X_test, (time_test, left_test))
print(scores)
plots.survival_scores(scores)

# %%
# Predict
# -------
# A curve for each customer, and the median time.
three = X_test.iloc[:3]
print(three.assign(median=forest.predict_median(three).round(1)).round(1))
plots.survival_curves(analysis.survival_bands(forest, three))

# %%
# Groups of risk, as predicted and as they went:
groups = analysis.risk_groups(forest, X_test, (time_test, left_test))
plots.risk_groups(groups)

# %%
# Are the chances right? Predicted and observed survival at two years:
found = analysis.survival_calibration(forest, X_test, (time_test, left_test), 24.0)
plots.survival_calibration(found)

# %%
# Understand
# ----------
importance = analysis.importance(
    forest, "permutation", X_test, (time_test, left_test), random_state=0
)
plots.importance_bars(importance)

# %%
# Fee and usage count together, which a cut on one of them sees badly; the effect along both:
effect = analysis.effect_along(
    forest, X_test, {"monthly fee": 1.0, "data used": -1.0}, steps=np.linspace(-20, 20, 41)
)
plots.effect(effect)
plt.show()
