"""MinSetCover: the fewest conditions that no accepted row of the data meets, as a 0/1 linear program."""

from __future__ import annotations

import time
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Literal

import numpy as np

from dueto.errors import InputError
from dueto.options import time_limit
from dueto.rule import Least, Run, Standing, bits, to_sets, to_words
from dueto.rules.hitting import cheapest

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from dueto.rule import Components, Rule
    from dueto.rules.base import Oracle

    Words = NDArray[np.uint64]

__all__ = ["MinSetCover"]

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
        time_limit(self.seconds)

    def find(self, oracle: Oracle) -> Rule:
        """The rule, with its verdict beyond the data.

        Raises
        ------
        InputError
            If an accepted row equals the applicant, so that no rule tells them apart.
        """
        until = time.perf_counter() + self.seconds
        X, components, pairs = oracle.index.X, oracle.components, self.counted == "conditions"
        duals = inclusion_minimal(components.duals(X), until)
        if not duals.any(axis=1).all():
            raise InputError(
                f"a row of the data equals the applicant ({_named(components)}) and gets the desired outcome, so no "
                "rule tells them apart; explain a row that is refused"
            )
        useful = duals & ~to_words(oracle.must, components.n_words)  # see Oracle.missed
        duals = inclusion_minimal(useful if useful.any(axis=1).all() else duals, until)
        elements = inclusion_minimal((duals | duals >> np.uint64(1)) & FIRST_OF_TWO, until) if pairs else duals
        chosen, at_least = least_cover(elements, until)
        length = chosen.bit_count()
        if pairs:
            chosen = _irredundant(chosen | chosen << 1, duals)
        verdict = oracle.verdict(chosen)
        if verdict.standing is Standing.PROVED:  # a certificate shows the bound by the rows behind it
            oracle.learn(X[oracle.index.exceptions(0, len(X))])
        oracle.confirm(oracle.duals)
        least = Least(self.counted, length, at_least)
        run = Run(finished=least.proved, figures={"rows": len(X), "duals": len(duals)})
        return replace(components.rule(chosen, verdict), least=least, run=run)


def _named(components: Components) -> str:
    """The applicant, feature by feature."""
    features = zip(components.space.features, components.x, strict=True)
    return ", ".join(f"{feature.name} {feature.label(value)}" for feature, value in features)


def inclusion_minimal(words: Words, until: float = np.inf) -> Words:
    """The inclusion-minimal ones among rows of words, once each, in an order that depends on nothing but them.

    When time is up, those that were not looked at stay in.
    """
    if words.shape[1] == 1:  # rows by the ten thousand repeat few duals
        words = np.sort(words, axis=0)
        words = words[np.diff(words[:, 0], prepend=~words[:1, 0]) != 0]
    left = words[np.argsort(np.bitwise_count(words).sum(axis=1, dtype=np.uint16), kind="stable")]
    kept: list[Words] = []
    while len(left):
        if time.perf_counter() > until:
            kept += [row.copy() for row in left]
            break
        kept.append(left[0].copy())
        lacks = (left & left[0]) != left[0]
        left = left[lacks[:, 0] if lacks.shape[1] == 1 else lacks.any(axis=1)]
    found = np.array(kept, dtype=np.uint64).reshape(-1, words.shape[1])
    return found[np.lexsort((*found.T, np.bitwise_count(found).sum(axis=1)))]


def least_cover(duals: Words, until: float) -> tuple[int, int]:
    """The fewest elements that meet every one of some minimal duals, or, out of time, few; and what none is below."""
    needed, left = _reduced(duals, until)
    if not len(left):
        return needed, needed.bit_count()
    few, at_least = _greedy(left), _disjoint(left)
    if at_least < few.bit_count() and (seconds := until - time.perf_counter()) > 0:
        widest = int(np.bitwise_count(left).sum(axis=1).max())
        if widest ** few.bit_count() <= NODES:
            few = cheapest(np.ones(64 * left.shape[1], dtype=np.int64), to_sets(left)) or few
            at_least = few.bit_count()
        else:
            few, at_least = _solved(left, few, at_least, seconds)
    return needed | few, needed.bit_count() + at_least


def _reduced(duals: Words, until: float) -> tuple[int, Words]:
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
        duals = inclusion_minimal(kept, until)


def _matrix(duals: Words) -> NDArray[np.uint8]:
    """(k, 64 n_words) whether each dual has each element."""
    return np.unpackbits(np.ascontiguousarray(duals, dtype="<u8").view(np.uint8), axis=1, bitorder="little")


def _greedy(duals: Words) -> int:
    """A cover that can lose no element: the element that meets most of what is left, again and again."""
    chosen, left = 0, _matrix(duals)
    while len(left):
        best = int(left.sum(axis=0, dtype=np.int64).argmax())
        chosen, left = chosen | 1 << best, left[left[:, best] == 0]
    return _irredundant(chosen, duals)


def _irredundant(chosen: int, duals: Words) -> int:
    """A cover without the elements that it can lose one by one, last first."""
    for bit in reversed(list(bits(chosen))):
        fewer = chosen & ~(1 << bit)
        if (duals & to_words(fewer, duals.shape[1])).any(axis=1).all():
            chosen = fewer
    return chosen


def _disjoint(duals: Words) -> int:
    """How many duals share nothing, of those found by taking the smallest first: no cover is smaller."""
    n, left = 0, duals
    while len(left):
        n, left = n + 1, left[((left & left[0]) == 0).all(axis=1)]
    return n


def _solved(duals: Words, few: int, at_least: int, seconds: float) -> tuple[int, int]:
    """The solver's cover, or `few` if it finds none smaller in time; and what none is below."""
    from scipy.optimize import Bounds, LinearConstraint, milp
    from scipy.sparse import csr_array

    A = _matrix(duals)
    elements = np.flatnonzero(A.any(axis=0))
    ones = np.ones(len(elements))
    A = np.vstack([A[:, elements], ones])  # and smaller than the cover known
    low, high = np.ones(len(A)), np.full(len(A), np.inf)
    low[-1], high[-1] = at_least, few.bit_count() - 1
    found = milp(
        ones,
        constraints=LinearConstraint(csr_array(A), low, high),
        integrality=ones,
        bounds=Bounds(0.0, 1.0),
        options={"time_limit": seconds, "mip_rel_gap": 0.0},
    )
    if found.status == INFEASIBLE:
        return few, few.bit_count()
    bound = getattr(found, "mip_dual_bound", None)
    if bound is not None and np.isfinite(bound):
        at_least = max(at_least, int(np.ceil(bound - SLACK)))
    if found.x is not None:
        few = _irredundant(sum(1 << int(e) for e in elements[found.x > 0.5]), duals)
    return few, min(at_least, few.bit_count())
