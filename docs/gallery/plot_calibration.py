"""
P-values of many runs
=====================

One arrow proves little; many show what the method does. Here 25 pairs are drawn from each of two models, one in which
x is the cause and one in which a third variable causes both, and the p-values of both ways are plotted against each
other.
"""

import matplotlib.pyplot as plt
from sklearn.linear_model import RidgeCV
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import SplineTransformer

import dueto

# %%
# A point to the lower right is an arrow from x to y: that way was accepted, the other rejected. In the corner at the
# lower left both are rejected, in the one at the upper right neither is; both are `?`. A hidden common cause should
# give `?`, and with so few rows it now and then gives an arrow, which is wrong. The regression is a spline of
# scikit-learn: any regressor may take the place of :class:`dueto.LSIR`, and this one is fast.

spline = make_pipeline(SplineTransformer(8), RidgeCV())
figure, axes = plt.subplots(1, 2, figsize=(9, 4.5), layout="constrained")
for ax, family in zip(axes, ("cubic", "confounded"), strict=True):
    runs = []
    for seed in range(25):
        pair = dueto.datasets.simulate(family, 150, rng=seed)
        runs.append(dueto.direction(pair.x, pair.y, regressor=spline, n_permutations=199, rng=seed))
    forward, backward = zip(*((run.forward.pvalue, run.backward.pvalue) for run in runs), strict=True)
    dueto.plots.plot_pvalues(forward, backward, ax)
    ax.set_title(family)
