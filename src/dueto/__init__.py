"""dueto: what is it due to? The rule and the changes behind a model's decision, proved where they can be."""

from __future__ import annotations

import sys
from importlib import import_module
from types import ModuleType
from typing import TYPE_CHECKING, Any

from dueto._version import __version__

if TYPE_CHECKING:
    from dueto.audit import Audit, Comparison, Judgement, audit, compare
    from dueto.batch import Batch, Progress, batch, read_batch
    from dueto.certificates import Verification, verify
    from dueto.counterfactuals import Answer, BranchAndBound, Exhaustive, GeCo, LeafBoxes, LinearBounds, Status
    from dueto.dependence import HSIC, LSMI, SMI, DistanceCorrelation
    from dueto.direction import Direction, Directions, direction, directions
    from dueto.distance import Distance
    from dueto.errors import InputError
    from dueto.explain import Explainer, explain
    from dueto.explanation import Change, Changes, Counterfactual, Explanation, Support
    from dueto.feature import Feature
    from dueto.inference import TestResult, independence_test
    from dueto.models import Model, TorchModel, Tree, as_model, load_model
    from dueto.plaf import ConstraintError, Expr, cf, fixed, together, x
    from dueto.plaf.parse import parse, parse_constraints
    from dueto.regression import HSICR, LSIR
    from dueto.rule import Component, Rule, Standing, Verdict
    from dueto.rules import GreedyRuleCF, MinimumRule
    from dueto.sources import Source, open_table
    from dueto.space import FeatureSpace
    from dueto.suggest import Suggestion, Suggestions, suggest_constraints

__all__ = [
    "HSIC",
    "HSICR",
    "LSIR",
    "LSMI",
    "SMI",
    "Answer",
    "Audit",
    "Batch",
    "BranchAndBound",
    "Change",
    "Changes",
    "Comparison",
    "Component",
    "ConstraintError",
    "Counterfactual",
    "Direction",
    "Directions",
    "Distance",
    "DistanceCorrelation",
    "Exhaustive",
    "Explainer",
    "Explanation",
    "Expr",
    "Feature",
    "FeatureSpace",
    "GeCo",
    "GreedyRuleCF",
    "InputError",
    "Judgement",
    "LeafBoxes",
    "LinearBounds",
    "MinimumRule",
    "Model",
    "Progress",
    "Rule",
    "Source",
    "Standing",
    "Status",
    "Suggestion",
    "Suggestions",
    "Support",
    "TestResult",
    "TorchModel",
    "Tree",
    "Verdict",
    "Verification",
    "__version__",
    "as_model",
    "audit",
    "batch",
    "cf",
    "compare",
    "direction",
    "directions",
    "explain",
    "fixed",
    "independence_test",
    "load_model",
    "open_table",
    "parse",
    "parse_constraints",
    "read_batch",
    "suggest_constraints",
    "together",
    "verify",
    "x",
]

# Where each name lives: a module is imported when it, or one of its names, is first asked for.
_ROOMS = {
    "audit": "Audit Comparison Judgement audit compare",
    "batch": "Batch Progress batch read_batch",
    "certificates": "Verification verify",
    "counterfactuals": "Answer BranchAndBound Exhaustive GeCo LeafBoxes LinearBounds Status",
    "datasets": "",
    "dependence": "DistanceCorrelation HSIC LSMI SMI",
    "direction": "Direction Directions direction directions",
    "distance": "Distance",
    "errors": "InputError",
    "explain": "Explainer explain",
    "explanation": "Change Changes Counterfactual Explanation Support",
    "feature": "Feature",
    "inference": "TestResult independence_test",
    "models": "Model TorchModel Tree as_model load_model",
    "plaf": "ConstraintError Expr cf fixed parse parse_constraints together x",
    "plots": "",
    "regression": "HSICR LSIR",
    "rule": "Component Rule Standing Verdict",
    "rules": "GreedyRuleCF MinimumRule",
    "sources": "Source open_table",
    "space": "FeatureSpace",
    "suggest": "Suggestion Suggestions suggest_constraints",
}
_HOME = {name: room for room, names in _ROOMS.items() for name in names.split()}


class _Facade(ModuleType):
    """Keeps `dueto.explain` the function: importing the module of that name would put the module in its place."""

    def __setattr__(self, name: str, value: Any) -> None:
        twin = isinstance(value, ModuleType) and name in _HOME
        super().__setattr__(name, getattr(value, name) if twin else value)


sys.modules[__name__].__class__ = _Facade

if not TYPE_CHECKING:  # a type checker that saw it would let every name pass

    def __getattr__(name: str) -> Any:
        if name in _HOME:
            found = globals()[name] = getattr(import_module(f"dueto.{_HOME[name]}"), name)
            return found
        if name in _ROOMS:
            return import_module(f"dueto.{name}")
        raise AttributeError(f"module 'dueto' has no attribute {name!r}")


def __dir__() -> list[str]:
    return __all__
