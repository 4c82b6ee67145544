"""Constraints that every row of a table keeps, for a person to accept or refuse; none is applied unasked."""

from dueto.suggest.base import Suggestion, Suggestions, suggest_constraints

__all__ = ["Suggestion", "Suggestions", "suggest_constraints"]
