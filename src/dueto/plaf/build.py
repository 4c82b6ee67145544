"""Where a constraint begins: references to features, ``fixed`` and ``together``."""

from __future__ import annotations

from typing import Final, NoReturn

import numpy as np

from dueto.errors import InputError
from dueto.plaf.expr import Fixed, Ref, Side, Together


class _Side:
    """Makes references: ``cf.age``, ``cf["capital-gain"]``, ``cf[3]``."""

    __slots__ = ("_side",)

    def __init__(self, side: Side) -> None:
        self._side = side

    def __getattr__(self, name: str) -> Ref:
        if name.startswith("_"):  # the protocols of copy, pickle and notebooks ask for such names
            raise AttributeError(f'write {self._side}["{name}"] for a feature whose name begins with an underscore')
        return Ref(self._side, name)

    def __getitem__(self, name: str | int) -> Ref:
        return Ref(self._side, feature_name(name))

    def __iter__(self) -> NoReturn:
        raise TypeError(f"{self._side} does not know the features: write {self._side}.age or {self._side}[name]")

    def __repr__(self) -> str:
        return self._side

    def __reduce__(self) -> str:
        return self._side


cf: Final = _Side("cf")
"""The proposed values: ``cf.age``."""

x: Final = _Side("x")
"""The present values: ``x.age``."""


def fixed(*names: str | int) -> Fixed:
    """The named features must keep their present values.

    Examples
    --------
    >>> fixed("sex", "race")
    fixed("sex", "race")
    """
    if not names:
        raise InputError('fixed needs the name of a feature, as in fixed("sex")')
    return Fixed(tuple(dict.fromkeys(feature_name(name) for name in names)))


def together(*names: str | int) -> Together:
    """The named features change together, only to tuples of values that co-occur in the data.

    It says something of the search, not of one row, so it stands alone: it has no negation, and no `Bound`.

    Examples
    --------
    >>> together("city", "postcode").names
    ('city', 'postcode')
    """
    distinct = tuple(dict.fromkeys(feature_name(name) for name in names))
    if len(distinct) < 2:
        raise InputError('together needs the names of two features or more, as in together("city", "postcode")')
    return Together(distinct)


def feature_name(name: object) -> str:
    if isinstance(name, np.generic):
        name = name.item()
    if isinstance(name, bool) or not isinstance(name, str | int):
        raise TypeError(f'the name of a feature is a text, as in "age", or a column number, not {name!r}')
    return str.__str__(name) if isinstance(name, str) else str(int(name))
