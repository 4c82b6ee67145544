"""dueto: what is it due to? The rule and the changes behind a model's decision, proved where they can be."""

from dueto._version import __version__
from dueto.counterfactuals import Answer, Exhaustive, GeCo, LeafBoxes, Status
from dueto.distance import Distance
from dueto.errors import InputError
from dueto.explain import Explainer, explain
from dueto.explanation import Change, Counterfactual, Explanation, Support
from dueto.feature import Feature
from dueto.models import Model, Tree, as_model, load_model
from dueto.plaf import ConstraintError, Expr, cf, fixed, parse, parse_constraints, together, x
from dueto.rule import Component, Rule, Standing, Verdict
from dueto.rules import GreedyRuleCF
from dueto.space import FeatureSpace

__all__ = [
    "Answer",
    "Change",
    "Component",
    "ConstraintError",
    "Counterfactual",
    "Distance",
    "Exhaustive",
    "Explainer",
    "Explanation",
    "Expr",
    "Feature",
    "FeatureSpace",
    "GeCo",
    "GreedyRuleCF",
    "InputError",
    "LeafBoxes",
    "Model",
    "Rule",
    "Standing",
    "Status",
    "Support",
    "Tree",
    "Verdict",
    "__version__",
    "as_model",
    "cf",
    "explain",
    "fixed",
    "load_model",
    "parse",
    "parse_constraints",
    "together",
    "x",
]
