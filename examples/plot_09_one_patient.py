"""
Why this patient?
=================

A model says "malignant". The person who has to act on it asks why. Three answers: a few rules that
describe the forest, the contribution of each measurement, and the patients that the prediction
rests on.
"""

import numpy as np
from sklearn.datasets import load_breast_cancer

from bevel import ObliqueForestClassifier, analysis, plots

data = load_breast_cancer(as_frame=True)
X, y = data.data, data.target_names[data.target]
patient = X.iloc[[39]]
others, labels = X.drop(index=39), np.delete(y, 39)
forest = ObliqueForestClassifier(200, random_state=0).fit(others, labels)
benign, malignant = forest.predict_proba(patient)[0]
print(f"malignant: {malignant:.0%}, diagnosis: {y[39]}")

# %%
# The contribution of each measurement to the probability, as exact Shapley values of the oblique
# splits:
values = analysis.shapley_values(forest, patient, background=others, random_state=0)
plots.shapley_waterfall(values.output("malignant"), row=0)

# %%
# The rules that describe the groups of patients:
print(analysis.rule_set(forest, others, labels, n=3))

# %%
# The nearest patients in the eyes of the forest:
print(analysis.nearest_rows(forest, others, patient, labels, k=5))

# %%
# All three agree on the measurements that matter, so the prediction can be discussed.
