"""What a bin of one feature says of another: equivalences and implications, read off all contingency tables."""

from __future__ import annotations

from collections import defaultdict
from functools import reduce
from itertools import pairwise
from operator import and_
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from dueto.suggest.bins import EDGE, LEAST, Bins, Bools, Candidate
from dueto.suggest.phrases import among

if TYPE_CHECKING:
    from collections.abc import Iterator

CHUNK = 20_000  # rows counted at a time


class _Statement(NamedTuple):
    """Where a feature is in the bins `given`, another is in none of `never`."""

    given: tuple[int, ...]
    never: tuple[int, ...]
    expected: float


class Tables:
    """All contingency tables between bins of features at once, (T, T), and what they forbid.

    `tied` (n, n) are the pairs of features of which nothing is to be said, each with itself among them; `known` (T, T)
    the pairs of bins that other proposals forbid.

    Attributes
    ----------
    C : (T, T) float
        Rows that are in both bins.
    never : (T, T) bool
        Pairs of bins that no row has, and that chance does not explain, as far as they are to be said yet.
    allowed : (T, T) bool
        What the proposals leave; of features that are tied, what occurs.
    """

    def __init__(self, bins: Bins, tied: Bools, known: Bools) -> None:
        self.bins, T = bins, len(bins.low)
        self.C = np.zeros((T, T))
        for start in range(0, len(bins.X), CHUNK):
            P = bins.P[start : start + CHUNK, bins.use]
            Z = np.zeros((len(P), T), dtype=np.float32)
            np.put_along_axis(Z, P, 1.0, axis=1)
            self.C += Z.T @ Z
        self.blocks = {j: slice(bins.of[j].start, bins.of[j].stop) for j in bins.use}
        self.starts = np.array([block.start for block in self.blocks.values()], dtype=np.intp)
        self.tied = tied[bins.owner][:, bins.owner]
        self.never = self._never() & ~known
        self.allowed = np.where(self.tied, self.C > 0, ~(self.never | known))

    def _never(self) -> Bools:
        """Empty cells that chance does not explain: each alone; or all beside the only full one; or all of a tail."""
        bins, n, m = self.bins, self.bins.count, len(self.bins.X)
        common, plain, full = (n >= bins.few) & ~bins.mixed, ~np.isnan(bins.low), self.C > 0
        found = ~full & (np.outer(n, n) >= bins.sure * m) & common
        for j, b in self.blocks.items():
            sets = [~full[:, b] & (full[:, b].sum(axis=1) == 1)[:, None]]
            if bins.space.features[j].ordered:
                there = full[:, b] & plain[b]
                before, after = np.cumsum(there, axis=1), np.cumsum(there[:, ::-1], axis=1)[:, ::-1]
                sets += [plain[b] & (before == 0), plain[b] & (after == 0)]
            for cells in sets:
                rows = cells @ n[b]
                found[:, b] |= cells & ((rows >= bins.few) & (rows * n >= bins.sure * m))[:, None]
        found &= ~self.tied & common[:, None]
        found |= found.T
        edges = self._edges()
        found &= edges & edges.T
        kept = self._beside_the_greatest(found)
        return np.asarray(found & (kept | kept.T))

    def _edges(self) -> Bools:
        """Cells beside which enough rows of u, a common bin, have the next ordinary values of an ordered feature.

        The others lie beyond the end of a tail, or around an exception.
        """
        bins, C, found = self.bins, self.C, np.ones(self.C.shape, dtype=bool)
        for j in (j for j in bins.use if bins.space.features[j].ordered):
            ordinary = [p for p in bins.of[j] if not bins.special[p]]
            enough = np.where(bins.count >= bins.few, np.maximum(LEAST, EDGE * C[:, ordinary].sum(axis=1)), 0)
            for way in (ordinary, ordinary[::-1]):
                last = np.full(len(C), np.inf)
                for p in way:
                    last = np.where(C[:, p] > 0, C[:, p], last)
                    found[:, p] &= last >= enough
        return found

    def _beside_the_greatest(self, found: Bools) -> Bools:
        """The empty cells of a row and a feature, where their being empty does not follow from one full cell alone.

        Most rows of u may share one bin of the other feature, and most rows of the empty ones V another bin of u's own;
        that alone keeps most of them apart. So the rest of u's rows must avoid V beyond chance, and the rest of V's
        rows u.
        """
        C, n, m = self.C, self.bins.count, len(self.bins.X)
        kept = np.zeros_like(found)
        for b in self.blocks.values():
            V, greatest = found[:, b], C[:, b].argmax(axis=1)
            forth = evidence(n - C[:, b].max(axis=1), (V @ n[b]) / np.maximum(m - n[b][greatest], 1))
            for a in self.blocks.values():
                cells = V[a] @ C[b, a]  # for each u of a feature, in which of its bins the rows in V are
                share = n[a] / np.maximum(m - n[a][cells.argmax(axis=1)], 1)
                back = evidence(cells.sum(axis=1) - cells.max(axis=1), share)
                kept[a, b] = (np.minimum(forth[a], back) >= self.bins.sure)[:, None]
        return kept

    # -- equivalences -------------------------------------------------------------------------------------------------

    def equivalences(self) -> list[Candidate]:
        """Bins of several features that the same rows have; what they forbid is not said again."""
        bins, n, m, C = self.bins, self.bins.count, len(self.bins.X), self.C
        usual = (n >= bins.few) & ~bins.mixed & (n * (m - n) >= bins.sure * m)
        twins = (n == C) & (n[:, None] == C) & usual & ~self.tied
        found, done = [], set[int]()
        for u in np.lexsort((~bins.special, n, -twins.sum(axis=1))).tolist():  # of two that mirror each other the rarer
            members = sorted([u, *np.flatnonzero(twins[u]).tolist()])
            if len(members) < 2 or done & set(members):
                continue
            done |= set(members)
            owners = {int(bins.owner[v]) for v in members}
            if all(len(bins.of[j]) == 2 and done.issuperset(bins.of[j]) for j in owners):
                continue  # what the other bins of these features say already
            for v in members:
                rest = [p for j in owners - {int(bins.owner[v])} for p in bins.of[j] if p not in members]
                for table in (self.never, self.allowed):
                    table[v, rest] = table[rest, v] = False
            said = [among(bins, [v]) for v in members]
            ring = [a.implies(b) for a, b in pairwise([*said, said[0]])]  # each on two features: quick to search
            found.append(Candidate(reduce(and_, ring), "equivalence", float(n[u] * (m - n[u]) / m), said[0]))
        return found

    # -- implications -------------------------------------------------------------------------------------------------

    def implications(self) -> list[Candidate]:
        """The cells that are left, as statements from one feature to another, without those that follow from others."""
        bins, forbidden = self.bins, ~self.allowed
        pairs = np.logical_or.reduceat(np.logical_or.reduceat(self.never, self.starts, axis=0), self.starts, axis=1)
        said = [s for i, j in np.argwhere(np.triu(pairs, 1)).tolist() for s in self._cover(bins.use[i], bins.use[j])]
        found = []
        for s in sorted(said, key=lambda s: s.expected):
            if s.expected < bins.sure or self._follows(s):
                self.allowed[np.ix_(s.given, s.never)] = self.allowed[np.ix_(s.never, s.given)] = True
            else:
                left = [p for p in bins.of[int(bins.owner[s.never[0]])] if not forbidden[list(s.given), p].all()]
                where = among(bins, s.given)
                found.append(Candidate(where.implies(among(bins, left)), "implication", s.expected, where))
        return found

    def _cover(self, i: int, j: int) -> list[_Statement]:
        """The empty cells between two features, in the fewest statements: one way, the other, or mixed."""
        ways = [list(self._alike(i, j)), list(self._alike(j, i)), list(self._mixed(i, j))]
        return min(ways, key=lambda way: (len(way), sum(self.bins.count[list(s.given)].sum() for s in way)))

    def _mixed(self, i: int, j: int) -> Iterator[_Statement]:
        """At each step the statement that forbids most of what is left."""
        while self.never[self.blocks[i], self.blocks[j]].any():
            ways = [*self._alike(i, j), *self._alike(j, i)]
            best = max(ways, key=lambda s: (round(s.expected, 6), -self.bins.count[list(s.given)].sum()))
            self.never[np.ix_(best.given, best.never)] = self.never[np.ix_(best.never, best.given)] = False
            yield best

    def _alike(self, i: int, j: int) -> Iterator[_Statement]:
        """One statement for all bins of a feature that have the same empty cells with another."""
        n, alike = self.bins.count, defaultdict[tuple[int, ...], list[int]](list)
        for u, empty in zip(self.bins.of[i], self.never[self.blocks[i], self.blocks[j]], strict=True):
            alike[tuple(self.bins.of[j][k] for k in np.flatnonzero(empty))].append(u)
        for never, given in alike.items():
            if never:
                expected = float(n[given].sum() * n[list(never)].sum() / len(self.bins.X))
                yield _Statement(tuple(given), never, expected)

    def _follows(self, s: _Statement) -> bool:
        """Whether, by way of some third feature, the proposals forbid all of these pairs anyway."""
        both = self.allowed[list(s.given)][:, None, :] & self.allowed[list(s.never)][None, :, :]
        way = np.logical_or.reduceat(both, self.starts, axis=2)
        way |= np.isin(self.bins.use, self.bins.owner[[s.given[0], s.never[0]]])
        return bool((~way).any(axis=2).all())


def evidence(rows: Any, share: Any) -> Any:
    """Minus the logarithm of the chance that so many rows all miss a bin that holds this share of the others."""
    with np.errstate(divide="ignore", invalid="ignore"):
        return np.where(rows == 0, np.inf, -rows * np.log1p(-np.minimum(share, 1.0)))
