"""
How does the prediction depend on the features?
===============================================

Partial dependence shows the effect of one feature. In an oblique forest features act together: the
effect along a direction shows what a combination does.
"""

import matplotlib.pyplot as plt
from sklearn.datasets import load_diabetes

from bevel import ObliqueForestRegressor, analysis, plots

X, y = load_diabetes(return_X_y=True, as_frame=True)
forest = ObliqueForestRegressor(200, random_state=0).fit(X, y)

fig, (left, middle, right) = plt.subplots(1, 3, figsize=(12, 3.8), layout="constrained")
plots.effect(analysis.partial_dependence(forest, X, "bmi", standard_error=True), ax=left)
plots.effect(analysis.accumulated_local_effects(forest, X, "s5"), ax=middle)
plots.effect(analysis.effect_along(forest, X, {"bmi": 1.0, "s5": 1.0}), ax=right)

# %%
# Body mass and the blood value s5 both raise the prediction, and together more than each alone.
print(analysis.interactions(forest, X, ["bmi", "s5", "bp"], random_state=0))
