"""
Speed beside other libraries
============================

Ratios measured in one run on one machine, with equal trees, candidates, depth and threads. The
figures are stored here; the commands that made them are in ``benchmarks/`` of the repository.
"""

import matplotlib.pyplot as plt

RATIOS = {
    "fit, sparse oblique, 20 000 × 20: ydf 0.16": 13.2,
    "fit, sparse oblique, 100 000 × 28: ydf 0.16": 12.7,
    "fit, sparse oblique, 20 000 × 20: treeple 0.10": 24.6,
    "fit, sparse oblique, 2000 × 5000: treeple 0.10": 49.0,
    "fit, axis, 100 000 × 28: scikit-learn 1.9": 21.2,
    "fit, axis, 100 000 × 28: scikit-learn-intelex 2026": 2.2,
    "predict 10 000 rows, axis: scikit-learn 1.9": 4.3,
    "predict 10 000 rows, sparse: ydf 0.16": 6.1,
    "predict one row, sparse: ydf 0.16": 47.0,
}

fig, ax = plt.subplots(figsize=(8.5, 4), layout="constrained")
bars = ax.barh(list(RATIOS), list(RATIOS.values()))
ax.bar_label(bars, fmt="%.1f×", padding=3)
ax.axvline(1, color="black", lw=0.8)
ax.set(xscale="log", xlim=(1, 100), xlabel="times faster than the named library")
ax.set_title("Two cores of an AMD EPYC, two threads, 100 trees")
ax.invert_yaxis()

# %%
# An exact search by histograms with bounds makes training fast; a compact layout makes predictions
# fast.
