"""Audit: what anybody's rules are worth, judged against the model itself."""

from dueto.audit.base import audit, audited
from dueto.audit.comparison import Compared, Comparison, compare, compared
from dueto.audit.found import Audit, Category, Judgement

__all__ = [
    "Audit",
    "Category",
    "Compared",
    "Comparison",
    "Judgement",
    "audit",
    "audited",
    "compare",
    "compared",
]
