"""
A messy table, from the file to the service
===========================================

Patients come back to the hospital, or not. The table has what real tables have: labels, gaps,
dates, yes and no, a number that only names the row, and a class that is rare. Nothing is encoded,
filled or dropped by hand.
"""

import tempfile
import warnings
from pathlib import Path

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
from sklearn.compose import make_column_transformer
from sklearn.metrics import average_precision_score, roc_auc_score
from sklearn.model_selection import train_test_split
from sklearn.pipeline import make_pipeline

import bevel
from bevel import (
    ObliqueBoostingClassifier,
    ObliqueClassifier,
    ObliqueForestClassifier,
    analysis,
    plots,
)

rng = np.random.default_rng(0)
n = 2000
wards = np.array(["surgery", "cardiology", "geriatrics", "neurology", "oncology", "trauma"])
ward = rng.choice(wards, n, p=[0.3, 0.2, 0.2, 0.1, 0.1, 0.1])
X = pd.DataFrame(
    {
        "patient": rng.permutation(n) + 10_000,
        "age": rng.integers(20, 95, n),
        "ward": ward,
        "admitted": pd.Timestamp("2023-01-01") + pd.to_timedelta(rng.integers(0, 700, n), "D"),
        "days in hospital": rng.poisson(5, n) + 1,
        "creatinine": rng.lognormal(0.0, 0.4, n),
        "urea": rng.normal(6.0, 2.0, n),
        "emergency": rng.random(n) < 0.4,
    }
)
risk = (
    0.05 * (X["age"] - 60)
    + 1.5 * (X["creatinine"] - X["urea"] / 6.0)
    + 1.2 * np.isin(ward, ["geriatrics", "cardiology"])
    + 0.8 * X["emergency"]
    - 3.4
)
y = np.where(rng.logistic(size=n) < risk, "returns", "stays well")
X.loc[rng.random(n) < 0.2, "creatinine"] = np.nan
X.loc[rng.random(n) < 0.1, "ward"] = None
X_train, X_test, y_train, y_test = train_test_split(X, y, stratify=y, random_state=0)
X_train.head()

# %%
# Fit
# ---
# The forest reads each column by its type; ``columns_`` tells how. The number of the patient is
# left aside, with a warning that we expect here.
with warnings.catch_warnings():
    warnings.simplefilter("ignore", bevel.errors.RowNumberWarning)
    forest = ObliqueForestClassifier(oob_score=True, random_state=0).fit(X_train, y_train)
print(forest.columns_)

# %%
# Out of bag, every row is predicted by the trees that were grown without it. The accuracy says
# little where six of seven patients stay well; the area under the curve says more. The families
# of directions that share the trees are lines of this table: *axis* cuts single features,
# *sparse* adds up a few with random signs, *lda* and *cca* fit directions to the rows of the
# node.
print(
    f"accuracy {forest.oob_score_:.3f}, most frequent class {np.mean(y_train == 'stays well'):.3f}"
)
print(f"AUC {roc_auc_score(y_train == 'returns', forest.oob_decision_function_[:, 0]):.3f}")
print(forest.families_)

# %%
# Forest, boosting, or both
# -------------------------
# ``ObliqueClassifier`` fits both and weighs them on rows that neither has seen.
with warnings.catch_warnings():
    warnings.simplefilter("ignore", bevel.errors.RowNumberWarning)
    boosting = ObliqueBoostingClassifier(random_state=0).fit(X_train, y_train)
    both = ObliqueClassifier(quality=2, random_state=0).fit(X_train, y_train)
models = {"forest": forest, "boosting": boosting, "both": both}
for name, model in models.items():
    share = model.predict_proba(X_test)[:, 0]
    auc = roc_auc_score(y_test == "returns", share)
    precision = average_precision_score(y_test == "returns", share)
    print(f"{name:8} AUC {auc:.3f}, average precision {precision:.3f}")
print(both.members_)

# %%
# Probabilities and decisions
# ---------------------------
# Probabilities agree with what happened, so that a threshold can be chosen by what errors cost: a
# visit at home costs a fifth of a return, hence a visit from a probability of 0.2 on.
found = analysis.calibration(both, X_test, y_test, positive="returns", n_bins=6)
plots.calibration(found)

# %%
share = both.predict_proba(X_test)[:, 0]
visited = share > 0.2
print(
    f"visits {visited.mean():.0%}, returns among them {np.mean(y_test[visited] == 'returns'):.0%}"
)
print(f"returns that are visited {np.mean(visited[y_test == 'returns']):.0%}")

# %%
# Understand
# ----------
# What matters? Importances are measured on the test rows.
importance = analysis.importance(both, "permutation", X_test, y_test, random_state=0)
plots.importance_bars(importance)

# %%
# How does it matter? The wards as sorted dots with the number of rows, missing ones among them.
effect = analysis.partial_dependence(both, X_test, "ward")
plots.effect(effect)

# %%
# The rare class in a few rules:
print(analysis.rule_set(forest, X_train, y_train, n=3, positive="returns"))

# %%
# One patient. The values are exact for the forest.
row = np.argmax(forest.predict_proba(X_test)[:, 0])
values = analysis.shapley_values(
    forest, X_test.iloc[[row]], background=X_train, random_state=0
).output("returns")
plots.shapley_waterfall(values, row=0)

# %%
# Tune
# ----
# The defaults need no tuning. ``bevel.tune`` tries others on the same bags; the difference to the
# default, with its standard error, says whether it was worth it.
small = X_train.drop(columns="patient")
search = bevel.tune(
    ObliqueForestClassifier(random_state=0), small, y_train, budget=400, first_trees=50, refit=False
)
print(search)

# %%
# In a pipeline
# -------------
# A step of your own goes before the model as in scikit-learn, and analyses take the whole
# pipeline.
step = make_column_transformer(
    (bevel.DateFeatures(), ["admitted"]), remainder="passthrough", verbose_feature_names_out=False
).set_output(transform="pandas")
pipeline = make_pipeline(step, ObliqueForestClassifier(200, random_state=0)).fit(small, y_train)
print(analysis.importance(pipeline).top(4))

# %%
# Save and serve
# --------------
# A model file is safe to load. The server needs no table of the training, and rows of one patient
# take microseconds.
path = Path(tempfile.mkdtemp()) / "returns.bevel"
both.save(path)
served = bevel.load(path)
print(served.predict_proba(X_test.iloc[:2]).round(3))
plt.show()
