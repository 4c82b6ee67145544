"""
A genetic search, generation by generation
==========================================

``method="genetic"`` finds rules as the rule paper does: a population of rules is changed, crossed and selected, and
each is tried on the data and on applicants drawn at random. What it ends with has passed both trials, which proves
nothing; the verdict beside it was reached by an exact method.
"""

from sklearn.tree import DecisionTreeClassifier

import dueto

german = dueto.datasets.load_german_credit()
numbers = german.frame.select_dtypes("number")
tree = DecisionTreeClassifier(max_leaf_nodes=30, random_state=0).fit(numbers, german.target)
rule = dueto.explain(tree, numbers, 11, method="genetic").rule
print(rule, "|", rule.verdict)

# %%
# At first nearly all rules fail on a row of the data (FDC). They give way to rules that hold there and fail on
# somebody who could be (FGC), and these to rules that passed every trial (GC).

dueto.plots.plot_run(rule.run)
