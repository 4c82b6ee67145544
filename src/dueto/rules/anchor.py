"""Anchors: the rule of large coverage whose share of refused, by random draws, is above a threshold."""

from __future__ import annotations

import time
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np

from dueto.errors import InputError
from dueto.options import time_limit, whole
from dueto.rule import Run, bits, to_words
from dueto.rules.draws import Perturbed, Rows, scored
from dueto.rules.flags import unpacked
from dueto.rules.kl_lucb import best_arms, lower, upper

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from dueto.rule import Rule
    from dueto.rules.base import Oracle

    Floats = NDArray[np.float64]

__all__ = ["Anchor"]

AHEAD, ROOM = 8, 1 << 23  # batches drawn at once, at most, and numbers held; the model is asked about one batch


@dataclass(frozen=True)
class Anchor:
    """The rule that most rows meet, of those found whose precision is at least the threshold: a peer, not a proof.

    The precision of a rule is the share of refused among random feasible applicants who meet it. Where it need not be
    1, there are exceptions, so that the verdict is nearly always REFUTED; the figures are in `Rule.run`.

    Parameters
    ----------
    threshold : float
        The precision looked for, in (0, 1].
    delta : float
        The chance that a bound is wrong, in (0, 1).
    tolerance : float
        How much less precise than the best the rules that the search goes on from may be.
    margin : float
        How far below the threshold the lower bound of the precision may be.
    batch : int
        Applicants drawn under one rule at a time.
    beam : int
        Rules of each size that the search goes on from.
    seconds : float
        The longest it may look. Then it gives the best so far, and `Run.finished` is false.
    coverage_samples : int
        Rows of the data on which coverage is estimated.

    Notes
    -----
    From the empty rule on, each of the `beam` rules of a size is extended by every component; those stay whose coverage
    is above that of the best anchor; KL-LUCB finds the most precise of them, and these are drawn from until the bounds
    tell on which side of the threshold they are. An anchor is one with precision >= threshold and a lower bound above
    threshold - margin. If there is none, the most precise rule of those that the search went on from is given.

    Unlike in the reference implementation, no rule inherits draws from a rule that it extends, so that its bounds rest
    on draws of its own; and components that are true of everybody, or of nobody, whom the space and the constraints
    allow are left out.

    References
    ----------
    .. [1] Ribeiro, Singh and Guestrin, "Anchors: High-Precision Model-Agnostic Explanations", AAAI 2018.
    """

    threshold: float = 0.95
    delta: float = 0.1
    tolerance: float = 0.15
    margin: float = 0.05
    batch: int = 100
    beam: int = 1
    seconds: float = 60.0
    coverage_samples: int = 10_000
    name: str = "anchor"

    def __post_init__(self) -> None:
        for option in ("batch", "beam", "coverage_samples"):
            whole(option, getattr(self, option))
        if not 0 < self.threshold <= 1:
            raise InputError(f"threshold must be above 0 and at most 1, got {self.threshold!r}")
        if not 0 < self.delta < 1:
            raise InputError(f"delta must be between 0 and 1, got {self.delta!r}")
        for option in ("tolerance", "margin"):  # at 0, the draws would never end
            if not 0 < getattr(self, option) < 1:
                raise InputError(f"{option} must be between 0 and 1, got {getattr(self, option)!r}")
        time_limit(self.seconds)

    def find(self, oracle: Oracle) -> Rule:
        """The rule, with its verdict, and its precision and coverage by the draws."""
        arms = Arms(oracle, self, time.perf_counter() + self.seconds)
        anchors, history, level = [0], list[dict[str, Any]](), np.log(1 / self.delta)
        if not self._everybody(arms, level):
            level = np.log((1 + (self.beam - 1) * len(arms.bits)) / self.delta)
            anchors, history = self._beams(arms, level)
        best = next(iter(anchors or arms.best(arms.beams, 1)), 0)
        finished = not arms.late
        figures = arms.figures(best, level) | {"meets threshold": float(bool(anchors)), "rounds": arms.rounds}
        others = tuple(map(oracle.components.rule, anchors[1:]))
        verdict = oracle.verdict(best)
        oracle.confirm(oracle.duals)
        return replace(oracle.components.rule(best, verdict), run=Run(finished, figures, tuple(history), others))

    def _everybody(self, arms: Arms, level: float) -> bool:
        """Whether the rule without a condition is precise enough: its lower bound is above the threshold itself."""
        while True:
            arms.pull([0])
            (share,), (low,), _ = arms.bounds([0], level)
            if arms.late or not (share > self.threshold and low < self.threshold - self.tolerance):
                return bool(low > self.threshold)

    def _beams(self, arms: Arms, level: float) -> tuple[list[int], list[dict[str, Any]]]:
        """Size by size, the anchors found, those of the largest coverage first, and what the best of each size is."""
        beam, anchors, history = [0], list[int](), list[dict[str, Any]]()
        widest = -1.0
        while beam and not arms.late:
            longer = {rule | 1 << bit for rule in beam for bit in arms.bits if not rule >> bit & 1}
            rules = [rule for rule in sorted(longer) if arms.coverage(rule) > widest]
            arms.pull([rule for rule in rules if rule not in arms.tried])
            beam = arms.best(rules, self.beam)
            while len(unsure := self._unsure(arms, beam, level)) and not arms.late:
                arms.pull(unsure)
            arms.beams += beam
            arms.stock.clear()
            share, low, _ = arms.bounds(beam, level)
            met = (share >= self.threshold) & (low > self.threshold - self.margin)
            anchors += [rule for rule, precise in zip(beam, met, strict=True) if precise]
            anchors.sort(key=lambda rule: -arms.coverage(rule))
            widest = arms.coverage(anchors[0]) if anchors else widest
            if beam:
                told = {"size": len(history) + 1, "rule": str(arms.components.rule(beam[0]))}
                history.append(told | arms.figures(beam[0], level))
        return anchors, history

    def _unsure(self, arms: Arms, beam: list[int], level: float) -> list[int]:
        """The rules whose bounds do not tell yet on which side of the threshold they are."""
        share, low, high = arms.bounds(beam, level)
        above = (share >= self.threshold) & (low < self.threshold - self.margin)
        below = (share < self.threshold) & (high >= self.threshold + self.margin)
        return [rule for rule, unsure in zip(beam, above | below, strict=True) if unsure]


class Arms:
    """Rules and what was drawn under each.

    Attributes
    ----------
    bits : list of int
        The components that are true of some feasible applicants and false of others, as far as one unit tells.
    tried : dict of int to (2,) float64
        Of each rule tried, how many drawn applicants were refused, of how many feasible ones.
    stock : dict of int to (_, n) float64
        Of each rule tried, applicants drawn and not looked at yet.
    beams : list of int
        The rules that the search went on from.
    rounds : int
        Calls of the model.
    """

    def __init__(self, oracle: Oracle, options: Anchor, until: float = np.inf) -> None:
        self.oracle, self.options, self.until = oracle, options, until
        self.query, self.components = oracle.query, oracle.components
        self.samples = Perturbed(oracle.query, Rows.of(oracle))
        self.duals = self.components.duals(self.samples.X[self.samples.positions(options.coverage_samples, oracle.rng)])
        self.bits = list(bits(self._telling() & ~oracle.must))
        self.tried: dict[int, Floats] = {}
        self.stock: dict[int, Floats] = {}
        self.beams: list[int] = []
        self.rounds, self.before = 0, oracle.query.model.rows_scored

    @property
    def late(self) -> bool:
        """Whether time is up."""
        return time.perf_counter() >= self.until

    def _telling(self) -> int:
        """The components that are false of some value of their unit."""
        found = 0
        for unit in self.query.units(np.random.default_rng(0)):
            failing = self.components.failing(unit.values, unit.members)
            found |= sum(1 << bit for bit, fails in failing if fails.any())
        return found

    def coverage(self, rule: int) -> float:
        """The share of the data that meets a rule, by the sample."""
        return float(((self.duals & to_words(rule, self.components.n_words)) == 0).all(axis=1).mean())

    def pull(self, rules: Sequence[int]) -> tuple[Floats, Floats]:
        """A batch of applicants under each of some rules, one call of the model: refused, and feasible ones."""
        if not len(rules):
            return np.empty(0), np.empty(0)
        self._stock_up(rules)
        drawn = []
        for rule in rules:
            drawn.append(self.stock[rule][: self.options.batch])
            self.stock[rule] = self.stock[rule][self.options.batch :]
        X, owner = np.concatenate(drawn), np.repeat(np.arange(len(rules)), [len(rows) for rows in drawn])
        X, owner, good = scored(self.query.model, X, owner, self.samples.feasible(X))
        self.rounds += 1
        told = np.array([np.bincount(o, minlength=len(rules)) for o in (owner[~good], owner)], dtype=np.float64)
        for rule, one in zip(rules, told.T, strict=True):
            self.tried[rule] = self.tried.get(rule, 0.0) + one
        return told[0], told[1]

    def _stock_up(self, rules: Sequence[int]) -> None:
        """See to it that a batch is at hand for each rule: to draw some at once costs hardly more than to draw one."""
        short = [rule for rule in rules if not len(self.stock.get(rule, ()))]
        if short:
            has = unpacked(short, 2 * len(self.query.x))
            ahead = int(np.clip(ROOM // (self.options.batch * has.size), 1, AHEAD))
            X, owner = self.samples.satisfying(has, self.options.batch * ahead, self.oracle.rng)
            ends = np.cumsum(np.bincount(owner, minlength=len(short)))
            self.stock |= dict(zip(short, np.split(X, ends[:-1]), strict=True))

    def best(self, rules: list[int], top: int) -> list[int]:
        """The most precise of some rules tried; those under which nobody feasible was drawn are passed over."""
        rules = [rule for rule in rules if self.tried[rule][1]]
        if not rules:
            return []
        hits, draws = np.array([self.tried[rule] for rule in rules]).T.copy()
        told = {"tolerance": self.options.tolerance, "delta": self.options.delta, "until": self.until}
        return [rules[i] for i in best_arms(lambda at: self.pull([rules[i] for i in at]), hits, draws, top, **told)]

    def bounds(self, rules: Sequence[int], level: float) -> tuple[Floats, Floats, Floats]:
        """Of each rule the precision seen, and its lower and upper bound; NaN, 0 and 1 where nothing was drawn."""
        hits, draws = np.array([self.tried[rule] for rule in rules]).reshape(-1, 2).T
        with np.errstate(divide="ignore", invalid="ignore"):
            share, far = hits / draws, level / draws
        known = np.where(draws > 0, share, 0.5)
        return share, lower(known, far), upper(known, far)

    def figures(self, rule: int, level: float) -> dict[str, float]:
        """What is known of a rule, and how many rows that took so far."""
        (share,), (low,), (high,) = self.bounds([rule], level)
        return {
            "precision": float(share),
            "precision_low": float(low),
            "precision_high": float(high),
            "coverage": self.coverage(rule),
            "draws": float(self.tried[rule][1]),
            "rows scored": self.query.model.rows_scored - self.before,
        }
