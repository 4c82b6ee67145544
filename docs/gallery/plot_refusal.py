"""
A rule and its changes
======================

Why was this applicant refused, and what would change that? The first picture shows the rule over the rows of the table,
the second the changes that would flip the decision.
"""

from sklearn.tree import DecisionTreeClassifier

import dueto

german = dueto.datasets.load_german_credit()
numbers = german.frame.select_dtypes("number")
tree = DecisionTreeClassifier(max_leaf_nodes=30, random_state=0).fit(numbers, german.target)
explanation = dueto.explain(tree, numbers, 11, constraints="cf.age >= x.age")
print(explanation)

# %%
# Where the applicant stands on each feature of the rule, among those who were accepted and those who were refused.

dueto.plots.plot_rule(explanation)

# %%
# The three nearest changes, each with a colour and a mark of its own, as arrows on the scale of their features.

dueto.plots.plot_changes(explanation)
