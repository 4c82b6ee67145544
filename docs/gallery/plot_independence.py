"""
What a test of independence sees
================================

A circle has no correlation and is all dependence. The test permutes one column, 999 times, and asks where the
statistic of the columns as they are lies among those of the permuted ones: the share that is at least as large is the
p-value.
"""

import matplotlib.pyplot as plt
import numpy as np

import dueto

rng = np.random.default_rng(0)
turn = rng.uniform(0, 2 * np.pi, 300)
circle = np.cos(turn) + rng.normal(0, 0.2, 300), np.sin(turn) + rng.normal(0, 0.2, 300)
cloud = rng.normal(size=300), rng.normal(size=300)

figure, axes = plt.subplots(2, 2, figsize=(9, 6), layout="constrained")
for row, (x, y) in zip(axes, (circle, cloud), strict=True):
    row[0].scatter(x, y, s=10, color="0.4")
    row[0].set_title(f"correlation {np.corrcoef(x, y)[0, 1]:.2f}")
    row[0].set_aspect("equal")
    dueto.plots.plot_null(dueto.independence_test(x, y), row[1])
