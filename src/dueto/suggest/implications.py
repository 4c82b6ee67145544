"""What a part of one feature says of another: equivalences, implications, ranges."""

from __future__ import annotations

from dataclasses import dataclass
from functools import reduce
from itertools import pairwise
from operator import and_
from typing import TYPE_CHECKING, Any

import numpy as np

from dueto.plaf import cf
from dueto.suggest.parts import Bools, Candidate, Cut, Floats
from dueto.suggest.relations import EDGE, LEAST, edge

if TYPE_CHECKING:
    from numpy.typing import NDArray

STATEMENTS = 2_000  # implications that are searched for what follows from others: the strongest
CHUNK = 20_000  # rows counted at a time
FIRST = 50  # rows of a part that a range is tried on before it is held against all


@dataclass(frozen=True, eq=False)
class _Statement:
    """Where a feature is in the parts `given`, another is in none of `never`."""

    given: tuple[int, ...]
    never: tuple[int, ...]
    expected: float


class Tables:
    """All contingency tables between parts of features at once, (T, T), and what they forbid.

    Attributes
    ----------
    C : (T, T) float
        Rows that are in both parts.
    never : (T, T) bool
        Pairs of parts that no row has, and that chance does not explain.
    allowed : (T, T) bool
        What the proposals leave: the complement of `never`, and of what other proposals forbid; within a feature, only
        each part with itself.
    """

    def __init__(self, cut: Cut) -> None:
        self.cut, T = cut, len(cut.low)
        self.C = np.zeros((T, T))
        for start in range(0, len(cut.X), CHUNK):
            P = cut.P[start : start + CHUNK, cut.use]
            Z = np.zeros((len(P), T), dtype=np.float32)
            np.put_along_axis(Z, P, 1.0, axis=1)
            self.C += Z.T @ Z
        self.starts = np.array([cut.parts[j].start for j in cut.use], dtype=np.intp)
        self.foreign = cut.owner[:, None] != cut.owner
        self.never = self._never()
        self.allowed = np.where(self.foreign, ~self.never, np.eye(T, dtype=bool))

    def _never(self) -> Bools:
        """Empty cells that chance does not explain: each alone; or all beside the only full one; or all of a tail."""
        cut, m = self.cut, len(self.cut.X)
        n, few, full = cut.count, cut.few, self.C > 0
        common, missing = n >= few, np.isnan(cut.low)
        found = ~full & (np.outer(n, n) / m >= cut.sure) & np.outer(common, common) & ~cut.mixed & ~cut.mixed[:, None]

        def surely(cells: Bools) -> Bools:
            """Of these cells, those of rows and features where all of them together are beyond chance."""
            rows = np.add.reduceat(np.where(cells, n, 0), self.starts, axis=1)
            enough = (rows * n[:, None] / m >= cut.sure) & (rows >= few) & common[:, None]
            sizes = np.diff(np.append(self.starts, len(n)))
            return np.asarray(cells & np.repeat(enough, sizes, axis=1))

        sizes = np.diff(np.append(self.starts, len(n)))
        only = np.repeat(np.add.reduceat(full, self.starts, axis=1, dtype=np.intp) == 1, sizes, axis=1)
        found |= surely(~full & only)
        ordered = cut.space.ordered[cut.owner]
        hull = full & ~missing
        before = _running(hull, self.starts, sizes)
        total = np.repeat(np.add.reduceat(hull, self.starts, axis=1, dtype=np.intp), sizes, axis=1)
        tail = ordered & ~missing & (total > 0)
        found |= surely(tail & (before == 0)) | surely(tail & (before == total) & ~hull)
        found &= self.foreign & ~cut.mixed[:, None]
        found |= found.T
        edges = self._edges()
        found &= edges & edges.T
        kept = self._beside_the_greatest(found)
        return np.asarray(found & (kept | kept.T))

    def _edges(self) -> Bools:
        """Cells beside which enough rows of u, a common part, have the next ordinary values of an ordered feature.

        The others lie beyond the end of a tail, or around an exception.
        """
        cut, found = self.cut, np.ones(self.C.shape, dtype=bool)
        for j in (j for j in cut.use if cut.space.features[j].ordered):
            parts = np.array([p for p in cut.parts[j] if not cut.special[p]], dtype=np.intp)
            for way in (parts, parts[::-1]):
                counts = self.C[:, way]
                enough = np.where(cut.count >= cut.few, np.maximum(LEAST, EDGE * counts.sum(axis=1)), 0)[:, None]
                last = np.maximum.accumulate(np.where(counts > 0, np.arange(len(way)), -1), axis=1)
                found[:, way] &= (last < 0) | (np.take_along_axis(counts, np.maximum(last, 0), axis=1) >= enough)
        return found

    def _beside_the_greatest(self, found: Bools) -> Bools:
        """The empty cells of a row and a feature, where their being empty does not follow from one full cell alone.

        Most rows of u may share one part of the other feature, and most rows of the empty ones V another part of u's
        own; that alone keeps most of them apart. So the rest of u's rows must avoid V beyond chance, and the rest of
        V's rows u.
        """
        cut, C, n, m = self.cut, self.C, self.cut.count, len(self.cut.X)
        kept = np.zeros_like(found)
        for j in cut.use:
            b = self._block(j)
            V = found[:, b]
            greatest = C[:, b].argmax(axis=1)
            forth = _evidence(n - C[:, b].max(axis=1), (V * n[b]).sum(axis=1) / np.maximum(m - n[b][greatest], 1))
            for i in cut.use:
                a = self._block(i)
                cells = V[a] @ C[b, a]  # of the rows in V, for each part of i: those in each part of i
                most = cells.argmax(axis=1)
                back = _evidence(cells.sum(axis=1) - cells.max(axis=1), n[a] / np.maximum(m - n[a][most], 1))
                kept[a, b] = (np.minimum(forth[a], back) >= cut.sure)[:, None]
        return kept

    def forget(self, i: int, j: int) -> None:
        """Say nothing of two features that something else ties."""
        a, b = self._block(i), self._block(j)
        self.never[a, b] = self.never[b, a] = False

    def order(self, i: int, j: int) -> None:
        """Say nothing that follows from i <= j, which is proposed."""
        cut, a, b = self.cut, self._block(i), self._block(j)
        plain = ~cut.special[a][:, None] & ~cut.special[b]
        follows = plain & (cut.low[a][:, None] > cut.high[b])
        self.never[a, b] &= ~follows
        self.never[b, a] &= ~follows.T
        self.allowed[a, b] &= ~follows
        self.allowed[b, a] &= ~follows.T

    def sum(self, i: int, j: int, most: float) -> None:
        """Say nothing that follows from i + j <= most, which is proposed."""
        cut, a, b = self.cut, self._block(i), self._block(j)
        follows = ~cut.special[a][:, None] & ~cut.special[b] & (cut.low[a][:, None] + cut.low[b] > most)
        self.never[a, b] &= ~follows
        self.never[b, a] &= ~follows.T
        self.allowed[a, b] &= ~follows
        self.allowed[b, a] &= ~follows.T

    def _block(self, j: int) -> slice:
        parts = self.cut.parts[j]
        return slice(parts.start, parts.stop)

    # -- equivalences -------------------------------------------------------------------------------------------------

    def equivalences(self, tied: Bools) -> list[Candidate]:
        """Parts of several features that the same rows have; what they forbid is not said again."""
        cut, n, m = self.cut, self.cut.count, len(self.cut.X)
        beyond = np.outer(n, m - n) / m >= cut.sure
        usual = (n >= cut.few) & ~cut.mixed
        C = self.C
        twins = np.equal(C, n) & np.equal(C, n[:, None]) & self.foreign & beyond & usual & usual[:, None]
        twins &= ~tied[cut.owner[:, None], cut.owner]
        found, done = [], set[int]()
        for u in np.lexsort((~cut.special, n, -twins.sum(axis=1))).tolist():  # of two that mirror each other, the rarer
            members = [u, *np.flatnonzero(twins[u]).tolist()]
            if len(members) < 2 or done & set(members):
                continue
            members.sort()
            done |= set(members)
            owners = [int(cut.owner[v]) for v in members]
            if all(len(cut.parts[j]) == 2 and done.issuperset(cut.parts[j]) for j in owners):
                continue  # what the other parts of these features say already
            for v in members:
                for j in set(owners) - {int(cut.owner[v])}:
                    rest = [p for p in cut.parts[j] if p not in members]
                    self.never[v, rest] = self.never[rest, v] = False
                    self.allowed[v, rest] = self.allowed[rest, v] = False
            said = [cut.among([v]) for v in members]
            ring = [a.implies(b) for a, b in pairwise([*said, said[0]])]  # each on two features: quick to search
            expected = float(n[u] * (m - n[u]) / m)
            found.append(Candidate(reduce(and_, ring), "equivalence", expected, said[0]))
        return found

    # -- implications -------------------------------------------------------------------------------------------------

    def implications(self) -> list[Candidate]:
        """The cells that are left, as statements from one feature to another, without those that follow from others."""
        forbidden = ~self.allowed
        statements = sorted((s for i, j in self._pairs() for s in self._said(i, j)), key=lambda s: s.expected)
        kept = []
        for k, s in enumerate(statements, start=STATEMENTS - len(statements)):
            weak = k < 0 or s.expected < self.cut.sure
            if weak or self._follows(s.given, s.never):
                self.allowed[np.ix_(s.given, s.never)] = self.allowed[np.ix_(s.never, s.given)] = True
            else:
                kept.append(s)
        return [self._phrased(s, forbidden) for s in kept]

    def _phrased(self, s: _Statement, forbidden: Bools) -> Candidate:
        """A statement with all that is forbidden where it speaks; or with its own share, if that is far shorter."""
        cut = self.cut
        condition, parts = cut.among(s.given), cut.parts[int(cut.owner[s.never[0]])]
        nowhere = np.logical_and.reduce(forbidden[list(s.given)], axis=0)
        says = cut.among([p for p in parts if not nowhere[p]])
        own = cut.among([p for p in parts if p not in s.never])
        if len(str(own)) + 10 < len(str(says)):
            says = own
        return Candidate(condition.implies(says), "implication", s.expected, condition)

    def _pairs(self) -> list[tuple[int, int]]:
        per = np.logical_or.reduceat(np.logical_or.reduceat(self.never, self.starts, axis=0), self.starts, axis=1)
        return [(self.cut.use[a], self.cut.use[b]) for a, b in np.argwhere(np.triu(per, 1)).tolist()]

    def _said(self, i: int, j: int) -> list[_Statement]:
        """The empty cells between two features, in as few statements as can be: one way, the other, or mixed."""
        block, a, b = self.never[self._block(i), self._block(j)], self.cut.parts[i], self.cut.parts[j]
        ways = [self._rows(block, a, b), self._rows(block.T, b, a), self._mixed(block.copy(), a, b)]
        return min(ways, key=lambda way: (len(way), sum(int(self.cut.count[list(s.given)].sum()) for s in way)))

    def _mixed(self, left: Bools, a: range, b: range) -> list[_Statement]:
        """At each step the statement that forbids most of what is left."""
        found = list[_Statement]()
        while left.any():
            ways = [*self._rows(left, a, b), *self._rows(left.T, b, a)]
            best = max(ways, key=lambda s: (round(s.expected, 6), -int(self.cut.count[list(s.given)].sum())))
            found.append(best)
            rows, columns = (best.given, best.never) if best.given[0] in a else (best.never, best.given)
            left[np.ix_([p - a.start for p in rows], [p - b.start for p in columns])] = False
        return found

    def _rows(self, block: Bools, given: range, never: range) -> list[_Statement]:
        """One statement for all rows of a block that are alike."""
        n, m = self.cut.count, len(self.cut.X)
        grouped = dict[bytes, list[int]]()
        for p, row in zip(given, block, strict=True):
            if row.any():
                grouped.setdefault(row.tobytes(), []).append(p)
        found = []
        for alike in grouped.values():
            none = [q for q, empty in zip(never, block[alike[0] - given.start], strict=True) if empty]
            found.append(_Statement(tuple(alike), tuple(none), float(n[alike].sum() * n[none].sum() / m)))
        return found

    def _follows(self, given: tuple[int, ...], never: tuple[int, ...]) -> bool:
        """Whether, by way of some third feature, the proposals forbid all of these pairs anyway."""
        both = self.allowed[list(given)][:, None, :] & self.allowed[list(never)][None, :, :]
        way = np.logical_or.reduceat(both, self.starts, axis=2)
        own = np.isin(self.cut.use, self.cut.owner[[given[0], never[0]]])
        return bool((~way & ~own).any(axis=2).all())

    # -- ranges -------------------------------------------------------------------------------------------------------

    def ranges(self, tied: Bools, ordered: Bools, allowed: Bools) -> list[Candidate]:
        """Bounds that parts put on features of many values; `allowed` as it was before `implications`."""
        cut, found = self.cut, list[Candidate]()
        many = [b for b in cut.use if cut.space.features[b].ordered and len(cut.values[b]) > cut.levels]
        rows = [np.flatnonzero(cut.P[:, cut.owner[u]] == u) for u in range(len(cut.low))]
        tried = np.array([np.resize(r[:FIRST], FIRST) for r in rows])
        for sign in (1, -1):  # a lower bound; an upper one, as a lower one of the negative
            for b in many:
                bounds = self._bounds(b, sign, rows, tried, tied, ordered if sign > 0 else ordered.T, allowed)
                if (bounds[:, 1] > 0).any():
                    found += self._spoken(b, sign, self._least(b, sign, bounds, allowed), bounds)
        return found

    def _bounds(
        self,
        b: int,
        sign: int,
        rows: list[NDArray[np.intp]],
        tried: NDArray[np.intp],
        tied: Bools,
        above: Bools,
        allowed: Bools,
    ) -> Floats:
        """(T, 2) the lower bound that each part puts on y = ±b (-inf: none), and the rows expected to break it.

        `above[a, b]`: that y is at least a, or -a, is proposed already.
        """
        cut, m, feature = self.cut, len(self.cut.X), self.cut.space.features[b]
        y = sign * cut.X[:, b]
        found = np.zeros((len(cut.low), 2))
        found[:, 0] = -np.inf
        values = np.sort(y[~np.isnan(y)])
        first = y[tried].min(axis=1)  # NaN where one is missing
        worth = cut.count * np.searchsorted(values, first) / m >= cut.sure
        worth &= (cut.count >= cut.few) & ~cut.mixed & ~np.isnan(first) & ~tied[cut.owner, b]
        for u in np.flatnonzero(worth).tolist():
            a, n, mine = int(cut.owner[u]), cut.count[u], y[rows[u]]
            t = float(mine.min())
            if np.isnan(t) or n * np.searchsorted(values, t) / m < cut.sure or not edge(mine - t, cut.near[b]):
                continue
            if above[a, b] and not cut.special[u] and (cut.low[u] if sign > 0 else -cut.high[u]) >= t:
                continue
            beyond = allowed[u, cut.P[:, b]] & (y < t)
            if not (feature.labelled or edge(mine - t)):
                t = _round(t, np.sort(y[beyond]), whole=feature.kind == "integer")
                beyond &= y < t
            there = np.bincount(cut.P[beyond, a] - cut.parts[a].start, minlength=len(cut.parts[a]))
            share = n / max(m - cut.count[cut.parts[a][int(there.argmax())]], 1)
            if min(n * beyond.sum() / m, _evidence(there.sum() - there.max(), share)) >= cut.sure:
                found[u] = t, n * beyond.sum() / m
        return found

    def _least(self, b: int, sign: int, bounds: Floats, allowed: Bools) -> NDArray[np.intp]:
        """The parts whose bound on b does not follow from those of others."""
        left = bounds[:, 0].copy()
        own = np.isin(self.cut.use, [b])
        parts = self._block(b)
        ends = np.nan_to_num(self.cut.low[parts] if sign > 0 else -self.cut.high[parts], nan=-np.inf)
        through = np.where(allowed[:, parts], ends, np.inf).min(axis=1)  # what the implications leave
        for u in np.argsort(bounds[:, 1], kind="stable").tolist():
            if left[u] > -np.inf:
                by = np.minimum.reduceat(np.where(allowed[u], np.maximum(left, through), np.inf), self.starts)
                mine = np.isin(self.cut.use, self.cut.owner[u])
                if (by[~own & ~mine] >= left[u]).any():
                    left[u] = -np.inf
        return np.flatnonzero(left > -np.inf)

    def _spoken(self, b: int, sign: int, parts: NDArray[np.intp], bounds: Floats) -> list[Candidate]:
        """Parts of one feature that put the same bound on b share a statement."""
        cut, feature = self.cut, self.cut.space.features[b]
        grouped = dict[tuple[int, float], list[int]]()
        for u in parts.tolist():
            grouped.setdefault((int(cut.owner[u]), float(bounds[u, 0])), []).append(u)
        found = []
        for (_, t), given in grouped.items():
            condition, label = cut.among(given), feature.label(sign * t)
            says = cf[feature.name] >= label if sign > 0 else cf[feature.name] <= label
            found.append(Candidate(condition.implies(says), "range", float(bounds[given, 1].sum()), condition))
        return found


def _evidence(rows: Any, share: Any) -> Any:
    """Minus the logarithm of the chance that so many rows all miss a part that holds this share of the others."""
    with np.errstate(divide="ignore", invalid="ignore"):
        return np.where(rows == 0, np.inf, -rows * np.log1p(-np.minimum(share, 1.0)))


def _round(t: float, below: Floats, *, whole: bool) -> float:
    """A lower bound of fewest digits, at most t, that still forbids nine tenths of the values `below` (sorted) it."""
    if not len(below):
        return t
    v = below[-(-9 * len(below) // 10) - 1]
    if v < 0 <= t:
        return 0.0
    for e in range(15, -1 if whole else -10, -1):
        k = (np.floor(v / 10.0**e) + 1) * 10.0**e if e >= 0 else (np.floor(v * 10.0**-e) + 1) / 10.0**-e
        if v < k <= t:
            return float(k)
    return t


def _running(full: Bools, starts: NDArray[np.intp], sizes: NDArray[np.intp]) -> NDArray[np.intp]:
    """How many cells are full up to each one, within its feature."""
    total = np.cumsum(full, axis=1, dtype=np.intp)
    before = np.where(starts > 0, total[:, starts - 1], 0)
    return np.asarray(total - np.repeat(before, sizes, axis=1))
