r"""Plausibility and feasibility constraints (PLAF), kept as data: build, parse, print, bind.

A constraint speaks of the row at hand, ``x``, and of a proposed change to it, ``cf``.  Build one in Python,

>>> from dueto.plaf import cf, x, fixed, together, parse, parse_constraints
>>> older = (cf.education > x.education).implies(cf.age >= x.age + 4)
>>> older
cf.education > x.education => cf.age >= x.age + 4

or read it from text, which means the same:

>>> parse("cf.education > x.education => cf.age >= x.age + 4").same(older)
True

It prints as that text and reads as a sentence:

>>> print(older.sentence())
if education rises, age must be at least its present value + 4

A file holds one constraint a line; what stands in brackets may run over several:

>>> text = '''
... # the law
... fixed("sex", "race")
... 18 <= cf.age <= 65
... cf.age >= x.age
... cf["native-country"] = x["native-country"]     # = and == are the same
... cf.job in ["clerk", "nurse",
...            "teacher"]
... not cf.income.missing()
... together("city", "postcode")
... '''
>>> for constraint in parse_constraints(text, name="loan.plaf"):
...     print(constraint.sentence())
sex and race must stay the same
age must be between 18 and 65
age may not fall
native-country must stay the same
job must be "clerk", "nurse" or "teacher"
income must not be missing
city and postcode must change together, only to combinations seen in the data

Mistakes are told with their place and their remedy:

>>> parse_constraints("cf.age >= x.age\nage <= 65", name="loan.plaf")
Traceback (most recent call last):
    ...
dueto.plaf.scan.ConstraintError: loan.plaf, line 2, column 1: age alone is ambiguous: write cf.age for the
proposed value or x.age for the present one

Notes
-----
The language: ``cf.age``, ``x.age``, ``cf["capital-gain"]``; numbers, ``"texts"``, ``true``, ``false``,
``missing``; ``+ - * /``; ``< <= > >= == !=``, also in a chain; ``in [...]`` and ``not in [...]``,
``.isin([...])``, ``.between(low, high)``, ``.missing()``; ``not``, ``and``, ``or``, ``=>`` (which binds
least, and to the right), or ``~ & |`` and ``.implies(...)`` as in Python; ``fixed("a", "b")``;
``together("a", "b")``, which stands alone.

A missing value is a value of its own: a comparison with it is false, except that missing equals missing (so
``==``, ``<=`` and ``>=`` hold between two missing values), and ``!=`` is the negation of ``==``.
Arithmetic with a missing value is missing, and so is a division by zero.
"""

from __future__ import annotations

from dueto.plaf.bind import Bound, Column, Value
from dueto.plaf.build import cf, fixed, together, x
from dueto.plaf.constant import Constant
from dueto.plaf.expr import (
    And,
    Arith,
    Compare,
    Const,
    Expr,
    Fixed,
    Implies,
    IsIn,
    Missing,
    Neg,
    Not,
    Or,
    Predicate,
    Ref,
    Term,
    Together,
    walk,
)
from dueto.plaf.parse import parse, parse_constraints
from dueto.plaf.scan import ConstraintError

__all__ = [
    "And",
    "Arith",
    "Bound",
    "Column",
    "Compare",
    "Const",
    "Constant",
    "ConstraintError",
    "Expr",
    "Fixed",
    "Implies",
    "IsIn",
    "Missing",
    "Neg",
    "Not",
    "Or",
    "Predicate",
    "Ref",
    "Term",
    "Together",
    "Value",
    "cf",
    "fixed",
    "parse",
    "parse_constraints",
    "together",
    "walk",
    "x",
]
