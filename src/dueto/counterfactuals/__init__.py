"""Counterfactual methods: feasible instances with the desired outcome, one method a file."""

from __future__ import annotations

from typing import TYPE_CHECKING

from dueto.counterfactuals.auto import Auto
from dueto.counterfactuals.base import Answer, Judge, Method, Query, Status, build_query
from dueto.counterfactuals.branch_and_bound import BranchAndBound
from dueto.counterfactuals.exhaustive import Exhaustive
from dueto.counterfactuals.geco import GeCo
from dueto.counterfactuals.leaf_boxes import LeafBoxes
from dueto.counterfactuals.networks import LinearBounds
from dueto.errors import InputError, some

if TYPE_CHECKING:
    from collections.abc import Callable

__all__ = [
    "METHODS",
    "Answer",
    "Auto",
    "BranchAndBound",
    "Exhaustive",
    "GeCo",
    "Judge",
    "LeafBoxes",
    "LinearBounds",
    "Method",
    "Query",
    "Status",
    "build_query",
    "method_named",
]

METHODS: dict[str, Callable[[], Method]] = {
    "auto": Auto,
    "geco": GeCo,
    "leaf-boxes": LeafBoxes,
    "branch-and-bound": BranchAndBound,
    "linear-bounds": LinearBounds,
    "exhaustive": Exhaustive,
}


def method_named(method: str | Method) -> Method:
    """The counterfactual method of a name, with its defaults; a method itself passes through."""
    if not isinstance(method, str):
        if isinstance(method, type) or not isinstance(method, Method):
            raise TypeError(f"expected a counterfactual method or its name, one of {some(METHODS)}; got {method!r}")
        return method
    method = method.replace(" ", "-")
    if method not in METHODS:
        raise InputError(f"there is no counterfactual method {method!r}; there are {some(METHODS)}")
    return METHODS[method]()
