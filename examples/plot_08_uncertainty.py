"""
Probabilities and intervals that can be trusted
===============================================

Are probabilities right as often as they claim? Do intervals contain as many targets as they
promise? Both questions are answered on out-of-bag rows, without setting rows aside.
"""

import matplotlib.pyplot as plt
from sklearn.datasets import load_breast_cancer, load_diabetes

from bevel import ObliqueForestClassifier, ObliqueForestRegressor, analysis, plots

X, y = load_breast_cancer(return_X_y=True, as_frame=True)
classifier = ObliqueForestClassifier(200, random_state=0).fit(X, y)
reliability = analysis.calibration(classifier, X, y, n_bins=8)

X_sugar, y_sugar = load_diabetes(return_X_y=True, as_frame=True)
regressor = ObliqueForestRegressor(200, keep_targets=True, random_state=0).fit(X_sugar, y_sugar)
intervals = analysis.quantiles(regressor, X_sugar, y_sugar)  # out of bag

fig, (left, right) = plt.subplots(1, 2, figsize=(10, 4), layout="constrained")
plots.calibration(reliability, ax=left)
plots.fan_chart(intervals, ax=right)
print(intervals)

# %%
# The last line of the table says which share of the targets lies below each quantile: close to its
# level.
