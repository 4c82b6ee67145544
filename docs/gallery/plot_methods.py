"""
Methods side by side
====================

Five ways to find a rule are asked about the same four refused applicants, and every rule is judged by an exact method:
does somebody who meets it get the desired outcome after all, and could it be shorter?
"""

import matplotlib.pyplot as plt
from sklearn.tree import DecisionTreeClassifier

import dueto

german = dueto.datasets.load_german_credit()
numbers = german.frame.select_dtypes("number")
tree = DecisionTreeClassifier(max_leaf_nodes=30, random_state=0).fit(numbers, german.target)
rows = dueto.Explainer(tree, numbers).refused[:4]
methods = ["minimum", "greedy", "genetic", "anchor", "set-cover"]
found = [dueto.compare(tree, numbers, int(row), methods=methods) for row in rows]
print(found[0])

# %%
# "GC minimal" holds, and no shorter rule does. "FGC" holds on the data and fails beyond: somebody who could be meets it
# and is accepted. Anchors may have such exceptions, and a set cover speaks of the rows only.

figure, axes = plt.subplots(1, 2, figsize=(11, 4), layout="constrained")
dueto.plots.plot_categories(found, axes[0])
dueto.plots.plot_times(found, axes[1])
