"""Which rows: a condition on the features and the score, read like a constraint; nothing is ever evaluated."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Final

import numpy as np

from dueto.domain import Domain
from dueto.errors import InputError, known
from dueto.feature import Feature
from dueto.plaf import parse
from dueto.plaf.scan import ConstraintError, scan

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from dueto.plaf.scan import Token
    from dueto.space import FeatureSpace

__all__ = ["selected"]

SCORE: Final = "the model's score"  # a feature may well be called "score"
WORDS: Final = {"and", "or", "not", "in", "true", "false", "missing", "True", "False", "None"}


def selected(text: str, space: FeatureSpace, X: NDArray[np.float64], scores: NDArray[np.float64]) -> NDArray[np.bool_]:
    """Which rows meet a condition.

    Parameters
    ----------
    text : str
        Comparisons of features and of `score`, joined by `and`, `or`, `not`: the language of constraints, in which a
        name alone is the row's value. A name that is no word is written `x["hours per week"]`.
    space : FeatureSpace
        What the names mean.
    X : (m, n) float64
        Encoded rows.
    scores : (m,) float64
        The model's score of each.

    Raises
    ------
    InputError
        If the text is no condition, or names what is no feature.

    Examples
    --------
    >>> import numpy as np, pandas as pd
    >>> from dueto import FeatureSpace
    >>> from dueto.batch.where import selected
    >>> frame = pd.DataFrame({"age": [25, 40, 61], "job": ["clerk", "smith", "clerk"]})
    >>> space = FeatureSpace.infer(frame)
    >>> selected('score <= .5 and job == "clerk"', space, space.encode(frame), np.array([0.2, 0.3, 0.9]))
    array([ True, False, False])
    """
    if not isinstance(text, str):
        raise TypeError(f"where must be a text, as in 'score <= .5 and age > 30', got {type(text).__name__}")
    scored = Feature(SCORE, "float", (SCORE,), Domain.active(scores))
    wider = replace(space, features=(*space.features, scored), columns=(*space.columns, SCORE))
    try:
        bound = parse(_rewritten(text, space)).bind(wider)
    except ConstraintError as problem:
        told = str(problem).partition(": ")[2] or str(problem)
        raise InputError(f"where {text!r} cannot be read: {_as_where(told)}") from None
    except InputError as problem:
        raise InputError(f"where {text!r}: {_as_where(str(problem).partition(' (in the constraint')[0])}") from None
    n = len(space)
    found = bound(lambda j: scores if j == n else X[:, j], np.full(n + 1, np.nan))
    return np.asarray(np.broadcast_to(found, len(X)), dtype=np.bool_)


def _as_where(told: str) -> str:
    """What is said of a constraint, of a condition: a name stands alone, or in brackets after x."""
    return told.replace("cf[", "x[").replace("cf.", "")


def _rewritten(text: str, space: FeatureSpace) -> str:
    """A condition in the language of constraints."""
    lines = list(scan(text, None))
    if len(lines) != 1:
        raise InputError("it must be one condition, as in score <= .5 and age > 30")
    tokens = lines[0].tokens
    return " ".join(_word(token, tokens[i - 1 : i], tokens[i + 1 : i + 2], space) for i, token in enumerate(tokens))


def _word(token: Token, before: tuple[Token, ...], after: tuple[Token, ...], space: FeatureSpace) -> str:
    """A token as the language of constraints has it: every name is the row's own, `cf`."""
    text, follows = token.text, after[0].text if after else ""
    if token.kind == "sign" and text in ("=", "=>"):
        return {"=": "=="}.get(text, text)
    if token.kind != "name" or text in WORDS or (before and before[0].text == "."):
        return text
    if text in ("x", "cf") and follows in (".", "["):
        return "cf"
    if text == "score":
        return f'cf["{SCORE}"]'
    if text in space.names:
        return f"cf.{text}"
    names = ("score", *space.names)
    raise InputError(
        f"{text!r} is neither a feature nor score; {known(text, names, 'there are')} (a label "
        'stands in quotes, and a name with blanks or signs like x["hours per week"])'
    )
