"""Rules of a genetic search: how fit each is, which are kept, and how new ones are made of them."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING

import numpy as np

from dueto.index import Index
from dueto.rule import to_sets
from dueto.rules.draws import Perturbed, Rows, scored
from dueto.rules.flags import bit_maps, packed, unpacked

if TYPE_CHECKING:
    from numpy.typing import ArrayLike, NDArray

    from dueto.rules.base import Oracle

    Flags = NDArray[np.bool_]
    Floats = NDArray[np.float64]

__all__ = ["CONSISTENT", "Late", "Population", "Trial", "crossed", "fitness", "mutated"]

CONSISTENT = 0.75  # the fitness from which on a rule has passed all trials
ROWS = 1 << 18  # rows scored at once, at most
WORDS = 1 << 22  # words of bit maps at once, at most
SHELF = 20  # times as many rules as are kept are remembered, in case those before them are refuted
LEARNED = 5  # good applicants drawn in one generation whose duals are remembered


def fitness(vd: ArrayLike, m: int, share: ArrayLike, size: ArrayLike, n: int) -> Floats:
    """How fit rules are, from 0 to 1, by levels.

    Parameters
    ----------
    vd, m : (N,) int, int
        How many good rows of the data satisfy each rule, of m rows: if any, it fails data consistency (below .25).
    share : (N,) float
        The share of good ones among applicants drawn under each: if any, it fails global consistency (.25 to .75).
    size, n : (N,) int, int
        How many components each has, and features: of those that pass both, the smaller is fitter (.75 to 1).
    """
    vd, share, size = np.asarray(vd), np.asarray(share), np.asarray(size)
    consistent = np.where(share > 0, 0.25 + 0.5 * (1 - share), 0.75 + 0.25 * (1 - size / (2 * n)))
    return np.asarray(np.where(vd > 0, 0.25 * (1 - vd / m), consistent))


class Late(Exception):
    """Time is up."""


class Trial:
    """Counts rules on the good rows of the data that are allowed, and on applicants drawn under them.

    The rows are kept as distinct duals: one bit map for each component, and their counts as bit planes.

    Parameters
    ----------
    oracle : Oracle
        Its rows are counted, or the query's donors; it learns of good applicants that are drawn.
    s, look : int
        Applicants drawn under each rule; and how many of these come first, after which a rule is given up if one of
        them is good.
    until : float
        When to raise `Late`, by `time.perf_counter`.

    Attributes
    ----------
    m : int
        Rows of the data.
    """

    def __init__(self, oracle: Oracle, s: int, look: int, until: float = np.inf) -> None:
        self.oracle, self.s, self.look, self.until = oracle, s, min(look, s), until
        rows = Rows.of(oracle)
        self.samples = Perturbed(oracle.query, rows)
        X, counts = rows.X[rows.good], rows.counts[rows.good]
        ok = oracle.query.plausible(X)
        self.m = max(1, int(rows.counts.sum()))
        duals, weights, _ = Index(oracle.components, X[ok], counts[ok].astype(np.int64)).distinct
        bits = np.arange(2 * len(oracle.query.x))
        fails = duals[:, bits // 64] >> (bits % 64).astype(np.uint64) & np.uint64(1)
        self.maps = bit_maps(fails.T == 0)
        self.planes = bit_maps(
            np.array([weights >> b & 1 for b in range(int(weights.max(initial=1)).bit_length())]) > 0
        )
        known = set(to_sets(oracle.index.distinct[0])) - set(to_sets(duals))  # donors that the data does not have
        self.extra = unpacked(sorted(known), len(bits))

    def violations(self, has: Flags) -> NDArray[np.intp]:
        """(N,) how many good rows of the data satisfy each rule."""
        found = np.zeros(len(has), dtype=np.intp)
        step = max(1, WORDS // self.maps.shape[1])
        for start in range(0, len(has), step):
            some = has[start : start + step]
            alive = np.full((len(some), self.maps.shape[1]), ~np.uint64(0))
            for bit in np.flatnonzero(some.any(axis=0)):
                alive[some[:, bit]] &= self.maps[bit]
            for b, plane in enumerate(self.planes):
                found[start : start + step] += np.bitwise_count(alive & plane).sum(axis=1, dtype=np.intp) << b
        return found

    def known(self, has: Flags) -> Floats:
        """(N,) how many of the counterfactuals that are known satisfy each rule, as a share of s."""
        duals = np.vstack([unpacked(self.oracle.duals, has.shape[1]), self.extra]).astype(np.float32)
        missed = (has.astype(np.float32) @ duals.T == 0).sum(axis=1)
        return np.asarray(np.minimum(missed / self.s, 1.0))

    def shares(self, has: Flags) -> Floats:
        """(N,) the share of good and allowed ones among applicants drawn under each rule.

        A rule that known counterfactuals satisfy has not less than if these were drawn.
        """
        known = self.known(has)
        found, learned = self._good(has, self.look)
        share = found / self.look
        clean = np.flatnonzero((found == 0) & (known == 0))
        if self.s > self.look and len(clean):
            more, others = self._good(has[clean], self.s - self.look)
            share[clean], learned = more / self.s, [*others, *learned]
        self.oracle.learn(np.vstack([*learned, self.samples.X[:0]])[:LEARNED])
        return np.maximum(share, known)

    def _good(self, has: Flags, size: int) -> tuple[NDArray[np.intp], list[Floats]]:
        """How many of the applicants drawn under each rule are good; one for each rule that has some, fewest first."""
        found, examples = np.zeros(len(has), dtype=np.intp), []
        step = max(1, ROWS // size)
        for start in range(0, len(has), step):
            if time.perf_counter() > self.until:
                raise Late
            X, owner = self.samples.satisfying(has[start : start + step], size, self.oracle.rng)
            X, owner, accepted = scored(self.oracle.query.model, X, owner, self.samples.feasible(X))
            good = np.flatnonzero(accepted)
            whose, first, counts = np.unique(owner[good], return_index=True, return_counts=True)
            found[start + whose] = counts
            examples.append(X[good[first[np.argsort(counts, kind="stable")[:LEARNED]]]])
        return found, examples


class Population:
    """The fittest rules found, fittest first; of equally fit ones the smaller, then the older, then by their bits.

    Attributes
    ----------
    has : (N, 2n) bool
        Which components each has, by their bits.
    vd, share, fit, size : (N,) arrays
        See `fitness`.
    born : (N,) int
        In which generation each was new.
    explored : int
        How many rules were tried.
    """

    def __init__(self, trial: Trial, q: int) -> None:
        self.trial, self.q, self.n = trial, q, len(trial.oracle.query.x)
        self.has = np.zeros((0, 2 * self.n), dtype=bool)
        self.vd = self.born = self.size = np.zeros(0, dtype=np.intp)
        self.share = self.fit = np.zeros(0)
        self.seen: set[int] = set()

    @property
    def explored(self) -> int:
        """How many rules were tried."""
        return len(self.seen)

    def rules(self, k: int) -> list[int]:
        """The k fittest, as bit sets."""
        return packed(self.has[:k])

    def new(self, has: Flags) -> Flags:
        """Those of some rules that were never tried, each once, smallest bit set first."""
        found = {rule: i for i, rule in enumerate(packed(has)) if rule not in self.seen}
        return has[[found[rule] for rule in sorted(found)]]

    def bound(self, has: Flags) -> Floats:
        """(N,) how fit each rule can be, at most."""
        return fitness(0, 1, self.trial.known(has), has.sum(axis=1), self.n)

    def admit(self, has: Flags, generation: int) -> None:
        """Try new rules, but for those that cannot come among the q fittest, and keep the fittest."""
        limit = self.fit[self.q - 1] if len(self.fit) >= self.q else -1.0
        has = has[self.bound(has) > limit]
        vd, share = self.trial.violations(has), np.zeros(len(has))
        passed = vd == 0
        if passed.any():
            share[passed] = self.trial.shares(has[passed])
        self.seen.update(packed(has))
        self.has, self.vd = np.vstack([self.has, has]), np.append(self.vd, vd)
        self.share = np.append(self.share, share)
        self.born = np.append(self.born, np.full(len(has), generation))
        self.rank()

    def rank(self) -> None:
        """Put them in order, by what is known by now, and forget those that are far behind."""
        self.share = np.maximum(self.share, self.trial.known(self.has))
        self.size = self.has.sum(axis=1)
        self.fit = fitness(self.vd, self.trial.m, self.share, self.size, self.n)
        order = np.lexsort((np.arange(len(self.fit)), self.born, self.size, -self.fit))[: SHELF * self.q]
        self.has, self.share, self.fit = self.has[order], self.share[order], self.fit[order]
        self.vd, self.size, self.born = self.vd[order], self.size[order], self.born[order]


def mutated(has: Flags, usable: Flags, m: int, rng: np.random.Generator) -> Flags:
    """m children of each rule, or as many as there are: the rule and one more of the usable components."""
    key = np.where(usable & ~has, rng.random(has.shape), -1.0)
    bits = np.argsort(-key, axis=1)[:, :m]
    parent, nth = np.nonzero(np.take_along_axis(key, bits, axis=1) >= 0)
    children = has[parent]
    children[np.arange(len(parent)), bits[parent, nth]] = True
    return children


def crossed(has: Flags, c: int, rng: np.random.Generator) -> Flags:
    """c children of each pair of rules: components drawn from both, one more than the larger parent has."""
    one, two = np.triu_indices(len(has), 1)
    union, size = has[one] | has[two], has.sum(axis=1)
    t = np.minimum(np.maximum(size[one], size[two]) + 1, has.shape[1])
    key = np.where(union[:, None, :], rng.random((len(one), c, has.shape[1])), -1.0)
    last = np.take_along_axis(-np.sort(-key, axis=2), t[:, None, None] - 1, axis=2)
    return np.asarray(((key >= last) & union[:, None, :]).reshape(-1, has.shape[1]))
