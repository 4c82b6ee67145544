"""MinSetCover: the fewest conditions that no accepted row of the data meets, as a 0/1 linear program."""

from __future__ import annotations

import time
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Literal, NamedTuple

import numpy as np

from dueto.errors import InputError
from dueto.rule import Components, Least, Run, Standing, bits, to_sets, to_words
from dueto.rules.base import Oracle
from dueto.rules.hitting import HittingSets

if TYPE_CHECKING:
    from collections.abc import Iterator

    from numpy.typing import NDArray

    from dueto.counterfactuals.base import Query
    from dueto.rule import Rule

    Words = NDArray[np.uint64]

__all__ = ["MinSetCover", "set_covers"]

FIRST_OF_TWO = np.uint64(0x5555555555555555)  # the lower bit of every feature
SLACK = 1e-6  # what the solver's bound may be off
INFEASIBLE = 2  # of scipy.optimize.milp
NODES = 1 << 14  # a tree of so many nodes is searched sooner than the solver has read its program


@dataclass(frozen=True)
class MinSetCover:
    """The rule of fewest components (or conditions) that no feasible accepted row of the data meets.

    It looks at the data only: use it to see how short a rule could be, or as the peer it is. Whether the rule holds of
    applicants whom the data does not have is judged by the counterfactual method, and it seldom does. That the data
    admits no shorter rule is proved, and whatever holds of everybody holds of the data: so `Rule.least` is right of all
    rules that hold.

    Parameters
    ----------
    counted : {"components", "conditions"}
        What is least: bounds, or conditions as a person reads them, where `a <= F <= b` is one.
    seconds : float
        The longest it may look. Then it gives a rule that the data does not refute and that cannot lose a component
        (`Run.finished` is false), and how short one could still be.

    Notes
    -----
    Minimise Σ_c b_c over b in {0, 1} so that Σ {b_c : c in R_y} >= 1 for the dual R_y of every accepted row y. Only
    inclusion-minimal duals matter. Duals of one component settle it; a component that meets no dual but those that
    another meets is left out; this is repeated, and HiGHS solves what is left, or, where that is little, a search in
    depth, which is over before HiGHS has begun.

    `Explainer.explain` adds the changes that it shows to the accepted rows.

    References
    ----------
    .. [1] Rudin and Shaposhnik, "Globally-Consistent Rule-Based Summary-Explanations for Machine Learning Models:
       Application to Credit-Risk Evaluation", 2019.
    """

    counted: Literal["components", "conditions"] = "components"
    seconds: float = 60.0
    name: str = "set-cover"

    def __post_init__(self) -> None:
        if self.counted not in ("components", "conditions"):
            raise InputError(f"counted must be 'components' or 'conditions', got {self.counted!r}")
        if not self.seconds >= 0:
            raise InputError(f"seconds must not be negative, got {self.seconds!r}")

    def find(self, oracle: Oracle) -> Rule:
        """The rule, with its verdict beyond the data.

        Raises
        ------
        InputError
            If an accepted row equals the applicant, so that no rule tells them apart.
        """
        until = time.perf_counter() + self.seconds
        X = oracle.index.X
        duals = minimal(oracle.components.duals(X))
        rule, chosen = self._covering(oracle.components, duals, oracle.must, len(X), until)
        verdict = oracle.verdict(chosen)
        if verdict.standing is Standing.PROVED:  # a certificate shows the bound by the rows behind it
            oracle._learn(X[oracle.index.exceptions(0, len(X))])
        oracle.confirm(oracle.duals)
        return replace(rule, verdict=verdict)

    def _covering(self, components: Components, duals: Words, must: int, rows: int, until: float) -> tuple[Rule, int]:
        """The rule that meets all minimal duals, without a verdict, and its components."""
        if not duals.any(axis=1).all():
            features = zip(components.space.features, components.x, strict=True)
            values = ", ".join(f"{feature.name} {feature.label(value)}" for feature, value in features)
            raise InputError(
                f"a row of the data equals the applicant ({values}) and gets the desired outcome, so no rule tells "
                "them apart; explain a row that is refused"
            )
        useful = duals & ~to_words(must, components.n_words)  # see Oracle.missed
        duals = minimal(useful if useful.any(axis=1).all() else duals)
        pairs = self.counted == "conditions"
        found = covered(minimal((duals | duals >> np.uint64(1)) & FIRST_OF_TWO) if pairs else duals, until)
        chosen = found.chosen
        length = chosen.bit_count()
        if pairs:
            chosen = _narrowest(chosen | chosen << 1, duals)
        figures = {"rows": rows, "duals": len(duals), "rows solved": found.rows, "columns solved": found.columns}
        least = Least(self.counted, length, found.at_least)
        run = Run(finished=length == found.at_least, figures=figures)
        return replace(components.rule(chosen), least=least, run=run), chosen


class Cover(NamedTuple):
    """A set that meets every dual, what none is below, and the size of the program that had to be solved."""

    chosen: int
    at_least: int
    rows: int
    columns: int


def set_covers(
    query: Query,
    X: NDArray[np.float64],
    *,
    counted: Literal["components", "conditions"] = "components",
    seconds: float = 60.0,
) -> Iterator[Rule]:
    """MinSetCover's rules of many applicants, without verdicts, faster than one by one.

    Parameters
    ----------
    query : Query
        The question of anybody: its donors are the accepted rows of the data, and its constraints hold for all.
    X : (N, n) float64
        The encoded applicants.
    counted, seconds :
        As in `MinSetCover`; the time is that of one applicant.

    Yields
    ------
    Rule
        Of one applicant after another, the one that `MinSetCover` finds; ask an `Oracle` for its verdict.

    Raises
    ------
    InputError
        If an accepted row equals one of the applicants.
    """
    finder, table = MinSetCover(counted=counted, seconds=seconds), Ranked(query)
    for x in X:
        until = time.perf_counter() + seconds
        asked = replace(query, x=x, donors=query.donors[:0], memo={})
        components, rows = Components(query.space, x), table.feasible(x)
        must = Oracle(asked, None, np.random.default_rng(0)).must if table.bounded else 0  # type: ignore[arg-type]
        duals = minimal(table.duals(components, rows))
        yield finder._covering(components, duals, must, len(rows), until)[0]


class Ranked:
    """The accepted rows column by column, values as ranks: small integers, compared with one applicant after another.

    Attributes
    ----------
    bounded : bool
        Whether the query has constraints or a box, so that some rows may be out of an applicant's reach.
    inside : bool
        Whether nothing else can keep a row out of an applicant's reach: all of them are in the space.
    """

    def __init__(self, query: Query) -> None:
        self.query, space, donors, box = query, query.space, query.donors, query.box
        self.boxed = box.contains(donors)
        self.bounded = bool(query.constraints or not (np.isinf([box.low, box.high]).all() and box.missing.all()))
        known = [f.domain.contains(donors[:, j]).all() for j, f in enumerate(space.features)]
        grouped = [group.contains(donors).all() for group in space.groups]
        self.inside = query.plausibility is None and all(known) and all(grouped)
        self.columns = []
        for column in donors.T:
            values = np.unique(column[~np.isnan(column)])
            small = np.min_scalar_type(len(values))
            self.columns.append((values, np.searchsorted(values, column).astype(small)))

    def feasible(self, x: NDArray[np.float64]) -> NDArray[np.intp]:
        """Positions of the rows that an applicant may become."""
        donors = self.query.donors
        if not self.inside:
            return np.flatnonzero(replace(self.query, x=x).plausible(donors))
        ok = self.boxed.copy()
        for constraint in self.query.constraints:
            ok &= constraint(lambda j: donors[:, j], x)
        return np.flatnonzero(ok)

    def duals(self, components: Components, rows: NDArray[np.intp]) -> Words:
        """(len(rows), n_words) their duals, as `Components.duals` has them."""
        words = np.zeros((components.n_words, len(self.query.donors)), dtype=np.uint64)
        for j, (values, ranks) in enumerate(self.columns):
            x, K = components.x[j], len(values)
            fails = np.full(K + 1, 3, dtype=np.uint64)  # of each value, and of none: 1 for `<=`, 2 for `>=`
            below, upto = np.searchsorted(values, x), np.searchsorted(values, x, side="right")
            fails[:below], fails[below:upto], fails[upto:K] = 2, 0, 1
            if not components.two_sided[j]:
                fails = (fails > 0).astype(np.uint64)
                fails[K] = not np.isnan(x)
            words[2 * j // 64] |= (fails << np.uint64(2 * j % 64)).take(ranks)
        return words.T if len(rows) == len(self.query.donors) else words.T[rows]


def minimal(words: Words) -> Words:
    """The inclusion-minimal ones among rows of words, once each, in an order that depends on nothing but them."""
    if words.shape[1] == 1:  # rows by the ten thousand repeat few duals
        words = np.sort(words, axis=0)
        words = words[np.diff(words[:, 0], prepend=~words[:1, 0]) != 0]
    left = words[np.argsort(np.bitwise_count(words).sum(axis=1, dtype=np.uint16), kind="stable")]
    kept = []
    while len(left):
        kept.append(left[0])
        lacks = (left & left[0]) != left[0]
        left = left[lacks[:, 0] if lacks.shape[1] == 1 else lacks.any(axis=1)]
    found = np.array(kept, dtype=np.uint64).reshape(-1, words.shape[1])
    return found[np.lexsort((*found.T, np.bitwise_count(found).sum(axis=1)))]


def covered(duals: Words, until: float) -> Cover:
    """The fewest elements that meet every one of some minimal duals, or, out of time, few."""
    chosen, left = _reduced(duals)
    if not len(left):
        return Cover(chosen, chosen.bit_count(), 0, 0)
    few, at_least, solved = _greedy(left), _disjoint(left), (0, 0)
    if at_least < few.bit_count() and (seconds := until - time.perf_counter()) > 0:
        widest = int(np.bitwise_count(left).sum(axis=1).max())
        if widest ** few.bit_count() <= NODES:
            few = HittingSets([1] * (64 * left.shape[1]), to_sets(left)).next() or few
            at_least = few.bit_count()
        else:
            few, at_least, solved = _solved(left, few, at_least, seconds)
    return Cover(chosen | few, chosen.bit_count() + at_least, *solved)


def _reduced(duals: Words) -> tuple[int, Words]:
    """Elements of a least cover, and the minimal duals that they do not meet, without elements that it can do without.

    No size is lost: an element that alone is left of a dual is needed, and one that meets no dual but those that
    another meets is not.
    """
    chosen = 0
    while True:
        single = np.bitwise_count(duals).sum(axis=1) == 1
        needed = np.bitwise_or.reduce(duals[single], axis=0)
        chosen |= to_sets(needed[None])[0]
        left = duals[((duals & needed) == 0).all(axis=1)]
        A = _matrix(left).astype(np.float32)
        both = A.T @ A  # duals that two elements share
        met = both.diagonal()
        inside = both == met[:, None]
        worse = inside & ((met[None, :] > met[:, None]) | np.tri(len(met), k=-1, dtype=bool))
        keep = ~worse.any(axis=1) & (met > 0)
        kept = left & np.packbits(keep, bitorder="little").view("<u8")
        if not len(left) or (not single.any() and np.array_equal(kept, left)):
            return chosen, left
        duals = minimal(kept)


def _matrix(duals: Words) -> NDArray[np.uint8]:
    """(k, 64 n_words) whether each dual has each element."""
    return np.unpackbits(np.ascontiguousarray(duals, dtype="<u8").view(np.uint8), axis=1, bitorder="little")


def _greedy(duals: Words) -> int:
    """A cover that can lose no element: the element that meets most of what is left, again and again."""
    chosen, left = 0, _matrix(duals)
    while len(left):
        best = int(left.sum(axis=0, dtype=np.int64).argmax())
        chosen, left = chosen | 1 << best, left[left[:, best] == 0]
    return _narrowest(chosen, duals, alone=True)


def _narrowest(chosen: int, duals: Words, *, alone: bool = False) -> int:
    """Without what it can lose one by one, last first; unless `alone`, only one bound of a feature."""
    for bit in reversed(list(bits(chosen))):
        fewer = chosen & ~(1 << bit)
        if (alone or fewer >> (bit ^ 1) & 1) and (duals & to_words(fewer, duals.shape[1])).any(axis=1).all():
            chosen = fewer
    return chosen


def _disjoint(duals: Words) -> int:
    """How many duals share nothing, of those found by taking the smallest first: no cover is smaller."""
    n, left = 0, duals
    while len(left):
        n, left = n + 1, left[((left & left[0]) == 0).all(axis=1)]
    return n


def _solved(duals: Words, few: int, at_least: int, seconds: float) -> tuple[int, int, tuple[int, int]]:
    """The solver's cover, or `few` if it finds none smaller in time; what none is below; rows and columns."""
    from scipy.optimize import Bounds, LinearConstraint, milp
    from scipy.sparse import csr_array

    A = _matrix(duals)
    elements = np.flatnonzero(A.any(axis=0))
    shape = len(A) + 1, len(elements)
    A = np.vstack([A[:, elements], np.ones(shape[1], dtype=np.uint8)])  # and smaller than the cover known
    low, high = np.ones(shape[0]), np.full(shape[0], np.inf)
    low[-1], high[-1] = at_least, few.bit_count() - 1
    found = milp(
        np.ones(shape[1]),
        constraints=LinearConstraint(csr_array(A.astype(np.float64)), low, high),
        integrality=np.ones(shape[1]),
        bounds=Bounds(0.0, 1.0),
        options={"time_limit": seconds, "mip_rel_gap": 0.0},
    )
    if found.status == INFEASIBLE:
        return few, few.bit_count(), shape
    bound = getattr(found, "mip_dual_bound", None)
    if bound is not None and np.isfinite(bound):
        at_least = max(at_least, int(np.ceil(bound - SLACK)))
    if found.x is not None:
        few = _narrowest(sum(1 << int(e) for e in elements[found.x > 0.5]), duals, alone=True)
    return few, min(at_least, few.bit_count()), shape
