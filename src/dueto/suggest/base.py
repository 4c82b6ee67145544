"""Constraints that every row of a table keeps, for a person to accept or refuse; none is applied unasked.

The product of all domains holds applicants who cannot exist: more satisfactory trades than trades, a husband who
never married. A rule must exclude every one of them, so it grows long. What is mined here shortens it, if it is true.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, overload

import numpy as np

from dueto.domain import distinct_rows, same
from dueto.options import whole
from dueto.plaf import Expr, Together
from dueto.seeds import generator
from dueto.space import FeatureSpace
from dueto.suggest.bins import Bins, Bools, Candidate, Floats, Kind, true
from dueto.suggest.ranges import ranges
from dueto.suggest.relations import equalities, forbidden, orders, sums, ties
from dueto.suggest.tables import Tables

if TYPE_CHECKING:
    from collections.abc import Iterable

__all__ = ["Suggestion", "Suggestions", "suggest_constraints"]

WIDE = 200  # features looked at
HELD = 1_000  # candidates held against all rows: those that chance explains least
ROWS = 100_000  # rows looked at for candidates; each is held against all


@dataclass(frozen=True, eq=False)
class Suggestion:
    """A constraint that every row of the data keeps, with the evidence for it.

    Parameters
    ----------
    constraint : Expr
        On the proposed values alone (``cf``).
    kind : {"equality", "tie", "order", "sum", "equivalence", "implication", "range"}
        What sort of fact it is.
    rows : int
        Rows of the data that it speaks of: where its condition holds.
    expected : float
        How many rows would be expected to break it if its two sides were independent. None does.
    excluded : float
        Share of independent draws of the features that it rules out.
    """

    constraint: Expr
    kind: Kind
    rows: int
    expected: float
    excluded: float

    @property
    def sentence(self) -> str:
        """The constraint in English, without capital or full stop."""
        return self.constraint.sentence()

    def __str__(self) -> str:
        return f"{self.constraint}    # {self.rows:,} rows; rules out {self.excluded:.1%}"


@dataclass(frozen=True, eq=False)
class Suggestions(Sequence[Suggestion]):
    """What `suggest_constraints` found, the most restrictive first; a sequence of `Suggestion`.

    Parameters
    ----------
    items : tuple of Suggestion
        The suggestions.
    rows : int
        Rows of the data, all of which keep all of them.
    excluded : float
        Share of independent draws that they rule out together.
    draws : int
        How many were drawn.
    more : int
        How many others were found and left out, since only so many were asked for.
    unread : tuple of str
        Features that were not looked at, since there are too many.
    """

    items: tuple[Suggestion, ...]
    rows: int
    excluded: float
    draws: int
    more: int = 0
    unread: tuple[str, ...] = ()

    @property
    def constraints(self) -> list[Expr]:
        """The constraints alone, as `dueto.explain` takes them."""
        return [one.constraint for one in self.items]

    def to_plaf(self) -> str:
        """A file of constraints: above each, as a comment, what it says and what speaks for it."""
        head = [f"{_count(len(self), 'constraint')} that all {self.rows:,} rows keep: delete those that are no law."]
        if self:
            head.append(f"Of {self.draws:,} independent draws of the features they rule out {self.excluded:.1%}.")
        if self.more:
            head.append(f"{self.more:,} more, which rule out less, are left out.")
        if self.unread:
            head.append(f"Not looked at: {', '.join(self.unread)}.")
        parts = [_comment(head)]
        for one in self:
            facts = f"{one.kind}: {_count(one.rows, 'row')}; rules out {one.excluded:.1%} of the draws"
            parts.append(f"{_comment([one.sentence, facts])}{one.constraint}\n")
        return "\n".join(parts)

    def to_dict(self) -> list[dict[str, Any]]:
        """The suggestions as plain data (JSON)."""
        return [
            {
                "constraint": str(one.constraint),
                "sentence": one.sentence,
                **{name: getattr(one, name) for name in ("kind", "rows", "expected", "excluded")},
                "draws": self.draws,
            }
            for one in self
        ]

    def __str__(self) -> str:
        return "\n".join(map(str, self.items))

    def __len__(self) -> int:
        return len(self.items)

    @overload
    def __getitem__(self, at: int) -> Suggestion: ...
    @overload
    def __getitem__(self, at: slice) -> Sequence[Suggestion]: ...
    def __getitem__(self, at: int | slice) -> Suggestion | Sequence[Suggestion]:
        return self.items[at]


def suggest_constraints(
    data: Any,
    space: FeatureSpace | None = None,
    *,
    most: int = 30,
    min_rows: int | None = None,
    draws: int = 10_000,
    rng: np.random.Generator | int = 0,
) -> Suggestions:
    """Constraints that every row of `data` keeps and that chance does not explain: proposals, for a person to judge.

    Parameters
    ----------
    data : pandas or polars frame, or array of shape (m, p)
        Features only, as for `FeatureSpace.infer`.
    space : FeatureSpace, optional
        The features; by default read off `data`. What its groups tie already is not proposed again.
    most : int
        How many are returned at most.
    min_rows : int, optional
        Each speaks of at least so many rows, and each condition that it forbids to meet another holds in so many; by
        default 100, or 1 % of a table of fewer than 10,000 rows, but at least 10.
    draws : int
        How many applicants are drawn, each feature for itself (each group of the space as a whole) from the rows of
        `data`, to measure what share of all combinations a constraint rules out.
    rng : Generator or seed
        Draws these; and, of a table of more than 100,000 rows, as many rows to look for candidates in. Each candidate
        is held against all rows.

    Returns
    -------
    Suggestions
        Ordered by that share, greatest first.

    Raises
    ------
    InputError
        If the data does not make a space or does not fit `space`; if a number is too small.

    Notes
    -----
    A feature is cut into *bins*: missing; each special code (whole numbers from -9 to -1, or -99, -999 and so on, in a
    column that is not negative otherwise; a greatest value, such as 999, that lies further from the second than that
    from the least); each value that enough rows have, where there are at most 16, or the 16 most frequent labels;
    otherwise a least or greatest value that 5 % of the rows have, and all values between. Sought are

    - *equality*, and *ties*: a feature has a single value for each value of another (three values or more);
    - *orders* ``a <= b``, and *sums* ``a + b <= c``, ``a + b == c`` or ``a + b <= K`` where K is the greatest value of
      both; if codes are in the way, where no value is a code;
    - *equivalences* and *implications*: bins of two features that no row has both;
    - *ranges*: a bin of one feature implies a bound on another.

    One is proposed if no row breaks it and λ >= 20 + ln T, where λ is how many of the m rows would be expected to break
    it if its sides were independent, given each column as it is: n(u) n(v) / m for "u, so not v", where v is all that
    is forbidden; Σ_i P(b < a_i) for an order; Σ_i P(b > c_i - a_i | b <= c_i) for a sum; m (1 - Σ q²) for an equality
    of columns whose values have the shares q; for a tie, the rows that are not the first of their value of the one
    feature, and do not have the value of the other that is most frequent among them.

    *The chance of a false proposal.* Let the rows be drawn independently, and the two sides of a relation (u and v; a
    and b; of a sum, b and the pair of a and c) be independent. Then all rows keep it with a probability of at most
    e^-λ. Given both columns, they are paired at random; with c_k values of b that are at least the k-th greatest a,
    P(a <= b in all rows) = Π (c_k - k + 1) / (m - k + 1) <= Π c_k / m <= exp(-Σ (1 - c_k / m)) = e^-λ; two bins are
    the case of two values (Fisher's exact test). Equalities and ties ask for one sequence of values, of probability
    Π q^(m q) = e^(-m H) at most, with the entropy H >= 1 - Σ q² >= 1 - max q. With B bins of p features,
    T = B² / 2 + 5 B p + 3 p² + 2,000 events cover all proposals: pairs of bins; for each bin and feature, that it lies
    in a single bin of it, in one of two tails, or beyond one of two bounds (of nested ones, the least of those whose λ
    is enough stands for all); equalities, ties, orders and sums. So, by Bonferroni's inequality, anything is proposed
    of independent sides with a probability of at most T e^-(20 + ln T) = e^-20, about 2 in 10⁹. This tells law or
    custom from chance, and not law from custom: judge each.

    *A relation that almost holds*, and fails with probability ε in each row that it speaks of, is kept by n such rows
    with probability (1 - ε)ⁿ. So of one fixed beforehand, ε <= 1 - .05^(1/n) <= 3 / n with a confidence of 95 % (no
    failure in n: Clopper and Pearson 1934; the rule of three, Hanley and Lippman-Hand 1983); of T at once,
    ε <= ln(20 T) / n. At 100 rows that is little: of laws that one in 1,000 breaks, nine in ten are kept.

    More is asked of some. If most rows of u share one bin of the other feature, and most rows of v another bin of u's
    own, then the other rows of u must avoid v beyond chance, and the other rows of v must avoid u. What orders two
    features, or bounds one, must be an edge, not the end of a tail: one row in a hundred of those it speaks of, and
    five, have the last value before it, or lie near it: within 1 % of the distance between the 10 % and 90 % quantiles.
    An order or a sum must rule out 5 % of independent pairs. A bound that fewer rows have exactly is rounded outwards
    while it forbids nine tenths of what it did. What others imply is left out: a <= c beside a <= b and b <= c; "u, so
    w" beside "u, so v" and "v, so w"; what follows from an order or a sum.

    Of more than 200 features (20,000 pairs) the first 200 that vary are looked at (`Suggestions.unread`), and at most
    1,000 candidates, those with the greatest λ, are measured.

    Examples
    --------
    >>> import pandas as pd
    >>> hired = [1990 + i % 30 for i in range(900)]
    >>> left = [year + i % 7 for i, year in enumerate(hired)]
    >>> frame = pd.DataFrame({"hired": hired, "left": left, "day": [i * i % 11 for i in range(900)]})
    >>> for one in suggest_constraints(frame):
    ...     print(one.constraint, one.kind, one.rows)
    cf.hired <= cf.left order 900
    """
    whole("most", most)
    whole("draws", draws)
    if min_rows is not None:
        whole("min_rows", min_rows)
    rng = generator(rng)
    space = FeatureSpace.infer(data) if space is None else space
    X = space.encode(data)
    m = len(X)
    sample = X[np.sort(rng.choice(m, ROWS, replace=False))] if m > ROWS else X
    varied = [j for j in range(len(space)) if not same(sample[:, j], sample[0, j]).all()]
    few = max(10, min(100, -(-m // 100))) if min_rows is None else min_rows
    drawn = _independent(space, X, draws, rng)
    found: list[tuple[Suggestion, Bools]] = []
    candidates = _mined(Bins(space, sample, varied[:WIDE], max(1, few * len(sample) // m)))
    for candidate in sorted(candidates, key=lambda one: -one.expected)[:HELD]:
        rows = _speaks(candidate, space, X)
        if rows >= few:
            broken = _breaks(candidate.constraint, space, X, drawn)
            expected = candidate.expected * m / len(sample)
            one = Suggestion(candidate.constraint, candidate.kind, rows, expected, float(broken.mean()))
            found.append((one, broken))
    found.sort(key=lambda pair: (-pair[0].excluded, len(str(pair[0].constraint)), str(pair[0].constraint)))
    items, masks = [one for one, _ in found[:most]], [broken for _, broken in found[:most]]
    excluded = float(np.any(masks, axis=0).mean()) if masks else 0.0
    unread = tuple(space.names[j] for j in varied[WIDE:])
    return Suggestions(tuple(items), m, excluded, draws, max(0, len(found) - most), unread)


def _mined(bins: Bins) -> list[Candidate]:
    """All kinds, each without what an earlier one says."""
    n = len(bins.space)
    tied = np.eye(n, dtype=bool)
    for group in bins.space.groups:
        tied[np.ix_(group.members, group.members)] = True
    equal, alive = equalities(bins)
    bundled, alive = ties(bins, alive, tied)
    if len(alive) < 2:
        return [*equal, *bundled]
    if alive != bins.use:
        bins = Bins(bins.space, bins.X, alive, bins.few)
    ordered, proposed, held = orders(bins, alive)
    summed = list(sums(bins, alive, held))
    for _, (i, j, *third) in summed:
        for k in third:  # i + j <= k says that i <= k, wherever j is known
            ordered = {pair: one for pair, one in ordered.items() if pair not in ((i, k), (j, k))}
    pairs = [features for _, features in summed if len(features) == 2]
    tables = Tables(bins, tied, forbidden(bins, proposed, pairs))
    same_rows = tables.equivalences()
    bounds = list(ranges(tables, proposed))  # before the implications change what is allowed
    totals = [one for one, _ in summed]
    return [*equal, *bundled, *ordered.values(), *totals, *same_rows, *bounds, *tables.implications()]


def _independent(space: FeatureSpace, X: Floats, draws: int, rng: np.random.Generator) -> Floats:
    """Rows whose features (groups as a whole) are drawn each for itself from the rows of X."""
    D = np.empty((draws, X.shape[1]))
    tied = [list(group.members) for group in space.groups]
    for members in tied + [[j] for j in range(X.shape[1]) if not any(j in t for t in tied)]:
        D[:, members] = X[rng.integers(len(X), size=draws)][:, members]
    return D


def _speaks(candidate: Candidate, space: FeatureSpace, X: Floats) -> int:
    """How many rows it speaks of; -1 if one breaks it, as the language itself evaluates it."""
    if isinstance(candidate.constraint, Together):
        return len(X)
    if not true(candidate.constraint, space, X).all():
        return -1
    return len(X) if candidate.where is None else int(true(candidate.where, space, X).sum())


def _breaks(constraint: Expr, space: FeatureSpace, X: Floats, D: Floats) -> Bools:
    """Which of the drawn rows break it."""
    if isinstance(constraint, Together):
        members = [space.index(name) for name in constraint.names]
        _, which, _ = distinct_rows(np.vstack([X[:, members], D[:, members]]))
        return ~np.isin(which[len(X) :], which[: len(X)])
    return ~true(constraint, space, D)


def _count(n: int, what: str) -> str:
    return f"{n:,} {what}{'' if n == 1 else 's'}"


def _comment(lines: Iterable[str]) -> str:
    return "".join(f"# {' '.join(line.split())}\n" for line in lines)
