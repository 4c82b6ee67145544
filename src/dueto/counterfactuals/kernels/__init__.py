"""The compiled inner loops over ensembles. Importing them costs a second, and compiling them, once, half a minute."""

from dueto.counterfactuals.kernels.additive import CONFIRM, DONE, FULL, GO_ON, Efficient, Front, cheapest
from dueto.counterfactuals.kernels.bounds import Bounder, Stack, bounder
from dueto.counterfactuals.kernels.forests import (
    PREFIX,
    SET,
    SUFFIX,
    Forest,
    Ties,
    approach,
    climb,
    fits,
    margins,
    possible,
    shrink,
)
from dueto.counterfactuals.kernels.leaves import Leaves, product, reach
from dueto.counterfactuals.kernels.search import ASK, FOUND, NONE, OVERFLOW, distance, nearest_parts, run, within

__all__ = [
    "ASK",
    "CONFIRM",
    "DONE",
    "FOUND",
    "FULL",
    "GO_ON",
    "NONE",
    "OVERFLOW",
    "PREFIX",
    "SET",
    "SUFFIX",
    "Bounder",
    "Efficient",
    "Forest",
    "Front",
    "Leaves",
    "Stack",
    "Ties",
    "approach",
    "bounder",
    "cheapest",
    "climb",
    "distance",
    "fits",
    "margins",
    "nearest_parts",
    "possible",
    "product",
    "reach",
    "run",
    "shrink",
    "within",
]
