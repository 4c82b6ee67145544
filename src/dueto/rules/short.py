"""ShortRule: the best rule of a few conditions, seldom proved, and its scope in figures."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import partial
from typing import TYPE_CHECKING, Literal

import numpy as np

from dueto.counterfactuals.base import Status
from dueto.errors import InputError
from dueto.options import whole
from dueto.rule import Standing, bits, wilson
from dueto.rules.draws import Draws, Rows
from dueto.rules.scope import judged, proved_soon

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from numpy.typing import NDArray

    from dueto.rule import Rule
    from dueto.rules.base import Oracle

    Words = NDArray[np.uint64]

__all__ = ["ShortRule"]

# Of the kinds of rows that rules are counted on: accepted and refused ones of the data, and such that are drawn.
GOOD, REFUSED = 0, 1
TIES = 64  # of the rules that the fewest accepted rows satisfy, those kept by the exact search
WORDS, STEP = 1 << 28, 1 << 12  # words that the exact search may look at, and how many more a step costs: seconds
WIDE, ROOM = 100, 1 << 22  # rules that a search in breadth goes on from, and words it may look at in one step
LOOKED = 256, 16  # rules compared on draws of their own: at first, and in the last round
LAST = 4  # rules in the end that the judge is asked about, where no draw refutes them
CALL = 10.0  # seconds to prove a rule without one of its components


@dataclass(frozen=True)
class ShortRule:
    """The best rule of at most k conditions: next to a proved rule that is too long to be read, one that is short.

    Best among the rules that the applicant satisfies is the one with the largest share of refused among random
    applicants who satisfy it, in whole percent; of several, the one that most refused rows of the data satisfy. It
    comes with its `Scope`, and is PROVED if an exact method finds no exception at all; then conditions that it does not
    need are dropped. Otherwise it is REFUTED, with the nearest exception.

    Parameters
    ----------
    k : int
        The most conditions (or components).
    counted : {"conditions", "components"}
        What is counted: conditions as a person reads them, where `a <= F <= b` is one, or bounds.
    draws : int
        How many random applicants the scope rests on; about ten times as many are scored to choose the rule.
    seconds : float
        The longest to look for the nearest exception.
    first : {"share", "rows"}
        Whether the fewest accepted rows of the data come before the largest share of refused. Where no short rule
        holds, that may mean a rule that hardly anybody meets; "share" gives one that more people meet, a few accepted
        among them.

    Notes
    -----
    The share, and among equal shares (to the nearest percent) the refused rows that meet a rule, are decided among the
    rules of a search in breadth. With `first="rows"` the fewest accepted rows are found exactly before, by branch and
    bound over the bit-packed rows; if that takes too long (`Scope.fewest` is then false), by a greedy choice, each of
    whose conditions is exchanged as long as that helps. The scope's draws are new ones, so that its share is not
    flattered by the choice.
    """

    k: int = 3
    counted: Literal["conditions", "components"] = "conditions"
    draws: int = 10_000
    seconds: float = 5.0
    first: Literal["share", "rows"] = "share"
    name: str = "short"

    def __post_init__(self) -> None:
        whole("k", self.k, what="the most conditions")
        whole("draws", self.draws)
        if not self.seconds >= 0:
            raise InputError(f"seconds must not be negative, got {self.seconds!r}")
        if self.counted not in ("components", "conditions"):
            raise InputError(f"counted must be 'components' or 'conditions', got {self.counted!r}")
        if self.first not in ("rows", "share"):
            raise InputError(f"first must be 'rows' or 'share', got {self.first!r}")

    def find(self, oracle: Oracle) -> Rule:
        """The rule, with its verdict and scope; without the data, the query's donors are its accepted rows."""
        draws = Draws(oracle.query)
        table = Table(oracle, draws, size=max(1, self.draws // 2))
        seeds, exact = self._fewest(table)
        rules = table.grown(seeds, self.k, self.counted)
        fewest = min(int(counts[GOOD]) for counts in rules.values())
        tied = {rule: told for rule, told in rules.items() if told[GOOD] == fewest or self.first == "share"}
        best = self._largest_share(oracle, tied, draws)
        asked = partial(judged, oracle, draws=draws, size=self.draws, seconds=self.seconds)
        verdict, scope = asked(best, fewest=(exact or fewest == 0) and int(rules[best][GOOD]) == fewest)
        if verdict.standing is Standing.PROVED and (shorter := _irredundant(oracle, best)) != best:
            best = shorter
            verdict, scope = asked(best, fewest=True)
        return replace(oracle.components.rule(best, verdict), scope=scope)

    def _fewest(self, table: Table) -> tuple[list[int], bool]:
        """Rules that the fewest accepted rows satisfy, and whether that is certain."""
        elements = [1 << bit for bit in table.bits]
        if self.counted == "conditions":
            both = {bit // 2: 0 for bit in table.bits}
            for bit in table.bits:
                both[bit // 2] |= 1 << bit
            elements = list(both.values())
        search = Fewest([table.alive(element, GOOD) for element in elements], table.alive(0, GOOD), self.k)
        exact = search.run()
        return [sum(elements[i] for i in chosen) for chosen in search.found], exact

    def _largest_share(self, oracle: Oracle, tied: dict[int, NDArray[np.int64]], draws: Draws) -> int:
        """Of rules that tie, the one with the largest share of refused; the worse ones drop out round by round."""
        many, few = LOOKED
        ranks = [{rule: _promise(told[kinds]) for rule, told in tied.items()} for kinds in (slice(0, 4), slice(2, 4))]
        halves = [sorted(tied, key=lambda rule: (-rank[rule], rule.bit_count(), rule))[: many // 2] for rank in ranks]
        rules = list(dict.fromkeys(halves[0] + halves[1]))
        feasible, refused = np.zeros(len(rules)), np.zeros(len(rules))
        while len(rules) > 1:
            boxes = [oracle.components.box(rule) for rule in rules]
            told = draws.judged(boxes, -(-3 * self.draws // many), oracle.rng)
            feasible, refused = feasible + told.feasible, refused + told.refused
            share = np.where(feasible > 0, refused / np.maximum(feasible, 1), -1.0)
            last = many <= few
            rank = np.round(100 * share) if last else share
            kept = sorted(range(len(rules)), key=lambda i: (-rank[i], -tied[rules[i]][REFUSED], rules[i].bit_count()))
            if last:
                sure = [rules[i] for i in kept if share[i] == 1.0][:LAST]
                return next((rule for rule in sure if proved_soon(oracle, rule)), rules[kept[0]])
            many //= 4
            rules, feasible, refused = [rules[i] for i in kept[:many]], feasible[kept[:many]], refused[kept[:many]]
        return rules[0]


def _promise(counts: NDArray[np.int64]) -> float:
    """The least share of refused that counts of accepted and refused, side by side, speak for."""
    return wilson(int(counts[1::2].sum()), int(counts.sum()))[0]


def _irredundant(oracle: Oracle, rule: int) -> int:
    """A proved rule without the components that it can lose one by one and stay proved."""
    for bit in reversed(list(bits(rule))):
        if oracle.ask(rule & ~(1 << bit), seconds=CALL).status is Status.NONE:
            rule &= ~(1 << bit)
    return rule


class Table:
    """Rows of four kinds, and for each component a bit map of those that meet it: to count many rules.

    Components that hold of nobody whom the constraints allow are left out.
    """

    def __init__(self, oracle: Oracle, draws: Draws, *, size: int) -> None:
        query, components, rows = oracle.query, oracle.components, Rows.of(oracle)
        good = rows.good & query.plausible(rows.X)
        X = draws.under(components.box(0), size, oracle.rng)
        X = X[query.plausible(X)]
        drawn = query.model.good(X) if len(X) else np.zeros(0, dtype=bool)
        parts = [(rows.X[good], rows.counts[good]), (rows.X[~rows.good], rows.counts[~rows.good])]
        parts += [(X[side], np.ones(side.sum(), dtype=np.intp)) for side in (drawn, ~drawn)]
        packed = [_packed(components.failing(part), counts, components.all) for part, counts in parts]
        self.starts = np.cumsum([0, *(p.shape[1] for p in packed)])
        self.everybody, *maps = np.hstack(packed)
        self.maps = dict(zip(bits(components.all), maps, strict=True))
        self.bits = list(bits(components.all & ~oracle.must))
        self.some = np.array([self.maps[bit] for bit in self.bits]).reshape(len(self.bits), len(self.everybody))

    def alive(self, rule: int, kind: int | None = None) -> Words:
        """Bit map of the rows that satisfy a rule; of one kind, if named."""
        found: Words = self.everybody.copy()
        for bit in bits(rule):
            found &= self.maps[bit]
        return found if kind is None else found[self.starts[kind] : self.starts[kind + 1]]

    def counts(self, alive: Words) -> NDArray[np.int64]:
        """(..., 4) how many rows of each kind are in bit maps."""
        return np.add.reduceat(np.bitwise_count(alive), self.starts[:-1], axis=-1, dtype=np.int64)

    def grown(self, seeds: Iterable[int], k: int, counted: str) -> dict[int, NDArray[np.int64]]:
        """Rules of at most k conditions, each with its counts: by a search in breadth, and seeds with what is below.

        It goes on from the rules with the fewest accepted rows and from those that promise the largest share of
        refused, as many of each.
        """
        found = {0: self.counts(self.everybody)}
        level, wide = [0], int(np.clip(ROOM // max(1, self.some.size), 4, WIDE))
        while level:
            new: dict[int, NDArray[np.int64]] = {}
            for rule in level:
                for bit, told in zip(self.bits, self.counts(self.alive(rule) & self.some), strict=True):
                    larger = rule | 1 << bit
                    if larger not in found and length(larger, counted) <= k:
                        new[larger] = told
            found |= new
            promise = {rule: _promise(told) for rule, told in new.items()}
            fewest = sorted(new, key=lambda rule: (new[rule][GOOD], -promise[rule], rule))[:wide]
            promising = sorted(new, key=lambda rule: (-promise[rule], rule))[:wide]
            level = list(dict.fromkeys([*fewest, *promising]))
        for seed in seeds:
            self._loosened(seed, found)
        return found

    def _loosened(self, seed: int, found: dict[int, NDArray[np.int64]]) -> None:
        """Add a rule, and what it is without components that let in no accepted row when they go, one by one."""
        if seed not in found:
            found[seed] = self.counts(self.alive(seed))
        for bit in bits(seed):
            fewer = seed & ~(1 << bit)
            if fewer not in found:
                found[fewer] = self.counts(self.alive(fewer))
                if found[fewer][GOOD] == found[seed][GOOD]:
                    self._loosened(fewer, found)


def _packed(failing: Iterable[tuple[int, NDArray[np.bool_]]], counts: NDArray[np.intp], every: int) -> Words:
    """One bit map a component, and before them that of all rows; each distinct row as often as it is counted."""
    m = int(counts.sum())
    found = np.zeros((1 + every.bit_count(), 8 * max(1, -(-m // 64))), dtype=np.uint8)
    meets = [np.ones(m, dtype=bool), *(np.repeat(~fails, counts) for _, fails in failing)]
    for row, told in zip(found, meets, strict=True):
        packed = np.packbits(told, bitorder="little")
        row[: len(packed)] = packed
    return found.view("<u8")


def length(rule: int, counted: str) -> int:
    """How many components or conditions a rule has."""
    return rule.bit_count() if counted == "components" else len({bit // 2 for bit in bits(rule)})


class Fewest:
    """At most k of some sets of rows that have the fewest rows in common, by branch and bound.

    With r sets still to choose, no more rows can go than go with each of the r sets that shut out most.
    """

    def __init__(self, maps: Sequence[Words], everybody: Words, k: int) -> None:
        self.everybody, self.k, self.left = everybody, k, WORDS
        self.maps = np.array(maps, dtype=np.uint64).reshape(len(maps), len(everybody))
        self.fewest, self.found = self._exchanged()

    def run(self) -> bool:
        """Look through all; whether there was time to."""
        self._visit(self.everybody, np.arange(len(self.maps)), (), int(_ones(self.everybody)))
        return self.left > 0

    def _visit(self, alive: Words, others: NDArray[np.intp], chosen: tuple[int, ...], n: int) -> None:
        key = tuple(sorted(chosen))
        if n < self.fewest or (n == self.fewest and len(self.found) < TIES and key not in self.found):
            self.found = [key] if n < self.fewest else [*self.found, key]
            self.fewest = n
        room = self.k - len(chosen)
        if not (room and n and len(others)) or self.left <= 0:
            return
        rest = alive & self.maps[others]
        self.left -= rest.size + STEP
        out = n - _ones(rest)
        order = np.argsort(-out, kind="stable")
        gone = np.concatenate([[0], np.cumsum(out[order])])
        for i, at in enumerate(order.tolist()):
            bound = max(0, n - int(gone[min(i + room, len(order))] - gone[i]))
            if bound > self.fewest or (bound == self.fewest and len(self.found) >= TIES):
                return  # those after it shut out no more
            self._visit(rest[at], others[order[i + 1 :]], (*chosen, int(others[at])), int(n - out[at]))

    def _exchanged(self) -> tuple[int, list[tuple[int, ...]]]:
        """A greedy choice, each of whose sets is exchanged for another as long as fewer rows are left."""
        chosen: list[int] = []
        fewest = int(_ones(self.everybody))
        improved = len(self.maps) > 0
        while improved:
            improved = False
            for at in range(min(self.k, len(self.maps))):
                others = chosen[:at] + chosen[at + 1 :]
                rest = np.bitwise_and.reduce(self.maps[others], axis=0) & self.everybody
                counts = _ones(rest & self.maps)
                if counts.min() < fewest:
                    chosen, fewest, improved = [*others, int(counts.argmin())], int(counts.min()), True
        return fewest, [tuple(sorted(chosen))]


def _ones(words: Words) -> NDArray[np.int64]:
    return np.asarray(np.bitwise_count(words).sum(axis=-1, dtype=np.int64))
