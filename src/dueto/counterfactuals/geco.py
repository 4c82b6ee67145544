"""GeCo: a genetic search for near, feasible counterfactuals of any model."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from dueto.counterfactuals.base import Answer, Query, Status
from dueto.counterfactuals.delta import Catalogue
from dueto.counterfactuals.ranking import ranked
from dueto.counterfactuals.units import CONSTRAINTS, contradiction
from dueto.errors import InputError

if TYPE_CHECKING:
    from numpy.typing import NDArray

__all__ = ["GeCo"]

PARENTS = 32  # parents that are crossed pair by pair
FOUND = 200  # valid candidates remembered, each with moves of its own
LOOK = 1_000  # candidates of each kind in the first last look; each that fails is followed by one twice as large
CHILDREN = 20_000  # candidates scored in one generation, at most


@dataclass(frozen=True)
class GeCo:
    """Genetic search from the applicant outwards: few changes first, nearest first.

    Use it for any model; it finds near counterfactuals fast and proves nothing when it finds none.

    Parameters
    ----------
    survivors : int
        Candidates kept by each selection (k in the paper).
    initial : int
        Values tried for each unit in the first generation.
    samples : int
        Values tried for each unchanged unit of a survivor by mutation.
    stable : int
        How many of the nearest, all valid, must have survived an earlier selection for the search to be over.
    least, most : int
        Fewest and most generations.
    patience : int
        Generations without a better candidate, while none is valid, after which the population is given up and the last
        look follows.
    donors : int
        How many of the known good rows, set back to x wherever the query forbids their values, join the first
        generation, nearest first; all of them where any counterfactual will do.
    last_look : int
        How many more candidates are tried before "none found": mixtures of two donors or survivors, and those with
        one unit redrawn. With donors = 0 and last_look = 0
        this is closest to the paper's algorithm.

    Notes
    -----
    A generation is crossover, mutation and selection. Selection ranks valid candidates (desired outcome) before others,
    by distance, or by distance + (2 - score) for the others. Crossover works on the best valid candidate of each kind
    of move (which features, in which directions): it brings one change nearer to x, or joins the changes of two
    parents. Mutation adds one change. Where a child breaks a constraint between units, one unit of it is drawn anew
    from the values that meet the constraint, and the child is dropped if there are none.

    Unlike the published program, candidates are compared by value, invalid ones never count as convergence, small
    populations can converge, and constraints hold across groups.

    References
    ----------
    .. [1] Schleich, Geng, Zhang and Suciu, "GeCo: Quality Counterfactual Explanations in Real Time", PVLDB 14(9), 2021.
    """

    survivors: int = 100
    initial: int = 20
    samples: int = 5
    stable: int = 5
    least: int = 3
    most: int = 100
    patience: int = 5
    donors: int = 100
    last_look: int = 50_000
    name: str = "geco"

    def __post_init__(self) -> None:
        for option in ("survivors", "initial", "samples", "stable", "least", "most", "patience"):
            if getattr(self, option) < 1:
                raise InputError(f"GeCo's {option} must be at least 1, got {getattr(self, option)}")

    def refuses(self, query: Query) -> str:  # noqa: ARG002
        """Never."""
        return ""

    def find(self, query: Query, *, k: int, nearest: bool, rng: np.random.Generator) -> Answer:
        """The `k` nearest that the search comes upon; UNKNOWN if none, or NONE where no unit may take any value."""
        before = query.model.rows_scored
        units = query.units(rng)
        if reason := contradiction(query, units):
            return Answer(Status.NONE, np.empty((0, len(query.x))), np.empty(0), CONSTRAINTS, 0, reason)
        if any(not unit.size for unit in units):  # a range with holes, of which no value is known
            return Answer(Status.UNKNOWN, np.empty((0, len(query.x))), np.empty(0), self.name, 0)
        X = _Search(self, query, Catalogue(query, units, rng), rng).run(nearest=nearest)
        X = ranked(query, X, k)
        status = Status.FOUND if len(X) else Status.UNKNOWN
        return Answer(status, X, query.distances(X), self.name, query.model.rows_scored - before)


class _Search:
    """One run: the population, and the operators on it."""

    def __init__(self, options: GeCo, query: Query, catalogue: Catalogue, rng: np.random.Generator) -> None:
        self.options, self.query, self.catalogue, self.rng = options, query, catalogue, rng
        self.seen = np.zeros(1, dtype=np.uint64)  # the key of the applicant unchanged, who is no candidate
        self.changeable = [u for u, unit in enumerate(catalogue.units) if len(unit.values)]
        self.C = np.empty((0, 1), dtype=np.intp)
        self.distance, self.score, self.fitness = np.empty(0), np.empty(0), np.empty(0)
        self.found = self.C
        self.valid, self.old = np.empty(0, dtype=bool), np.empty(0, dtype=bool)

    def run(self, *, nearest: bool) -> NDArray[np.float64]:
        """Generations until convergence; the nearest valid candidate of each kind of move, as rows."""
        donors = self.donated()
        self.select(self.catalogue.stack([*self.first(), donors[: self.options.donors] if nearest else donors]))
        if nearest:
            self.evolve(nearest=nearest)
        if not self.valid.any():
            self.select(donors)
            self.look(donors)
        if not nearest or not self.converged():
            self.evolve(nearest=nearest)
        return self.catalogue.rows(self.found)

    def look(self, donors: NDArray[np.intp]) -> None:
        """The last look: ever more mixtures of donors and survivors, and of those with one unit redrawn."""
        tried, size = 0, LOOK
        while tried < self.options.last_look and len(self.C) and not self.valid.any():
            pool = self.catalogue.stack([donors, self.C])
            self.select(self.catalogue.stack([self.mixtures(pool, size), self.redrawn(pool, size)]))
            tried, size = tried + 2 * size, min(2 * size, CHILDREN // 2)

    def evolve(self, *, nearest: bool) -> None:
        """Generations until convergence; until any candidate is valid, if that is enough; or until it leads nowhere."""
        stale = 0
        for generation in range(self.options.most):
            if self.valid.any() and not nearest:
                break
            if generation >= self.options.least and self.converged():
                break
            best = self.fitness.min(initial=np.inf)
            new = self.select(self.catalogue.stack([*self.crossover(), *self.mutate()]))
            stale = 0 if self.fitness.min(initial=np.inf) < best else stale + 1
            if not self.valid.any() and (not new or stale >= self.options.patience):
                break

    def first(self) -> list[NDArray[np.intp]]:
        """Candidates with one change, up to `initial` a unit, drawn by weight without replacement."""
        parts = []
        for u in self.changeable:
            weights = self.catalogue.units[u].weights
            size = min(self.options.initial, len(weights))
            picks = self.rng.choice(len(weights), size, replace=False, p=weights / weights.sum())
            parts.append((self.catalogue.start[u] + picks)[:, None])
        return parts

    def donated(self) -> NDArray[np.intp]:
        """The known good rows as candidates, set back to x wherever the query forbids their values, nearest first."""
        donors = self.query.donors if self.options.donors else self.query.donors[:0]
        changes, ok = self.catalogue.changes(donors)
        changes, _ = self.catalogue.distinct(self.catalogue.tidy(changes[ok]), self.seen)
        return changes[np.argsort(self.catalogue.distances(changes), kind="stable")]

    def mixtures(self, pool: NDArray[np.intp], size: int) -> NDArray[np.intp]:
        """Each unit from the one or the other of two candidates, with a bias drawn for each mixture."""
        one, two = pool[self.rng.integers(len(pool), size=(2, size))]
        first = self.rng.random((len(one), len(self.catalogue.units) + 1)) < self.rng.random((len(one), 1))
        row = np.arange(len(one))[:, None]
        one = np.where(first[row, self.catalogue.unit[one]], one, self.catalogue.none)
        two = np.where(first[row, self.catalogue.unit[two]], self.catalogue.none, two)
        return np.hstack([one, two])

    def redrawn(self, pool: NDArray[np.intp], size: int) -> NDArray[np.intp]:
        """Candidates with one unit changed to another value, every value of the unit equally likely."""
        picks = pool[self.rng.integers(len(pool), size=size)]
        unit = self.rng.choice(self.changeable, len(picks))
        size = np.diff(self.catalogue.start)[unit]
        change = self.catalogue.start[unit] + (self.rng.random(len(picks)) * size).astype(np.intp)
        others = np.where(self.catalogue.unit[picks] == unit[:, None], self.catalogue.none, picks)
        return np.column_stack([others, change])

    def select(self, children: NDArray[np.intp]) -> bool:
        """Repair and score the children, keep the best of them and the population; whether any child was new."""
        if len(children) > CHILDREN:
            children = children[self.rng.choice(len(children), CHILDREN, replace=False)]
        children = self.catalogue.repair(self.catalogue.tidy(children), self.rng)
        children, self.seen = self.catalogue.distinct(children, self.seen)
        score = self.query.model.score(self.catalogue.rows(children))
        C = self.catalogue.stack([self.C, children])
        distance = np.append(self.distance, self.catalogue.distances(children))
        score = np.append(self.score, score)
        valid = np.append(self.valid, score[len(self.score) :] > self.query.model.threshold)
        old = np.append(np.ones(len(self.C), dtype=bool), np.zeros(len(children), dtype=bool))
        fitness = distance + np.where(valid, 0.0, 2.0 - score)
        kept = np.lexsort((fitness, ~valid))[: self.options.survivors]
        self.remember(children[valid[len(self.C) :]])
        self.C, self.distance, self.score, self.fitness = C[kept], distance[kept], score[kept], fitness[kept]
        self.valid, self.old = valid[kept], old[kept]
        return len(children) > 0

    def remember(self, valid: NDArray[np.intp]) -> None:
        """Keep the nearest valid candidate of every kind of move, whether or not selection keeps it."""
        found = self.catalogue.stack([self.found, valid])
        found = found[np.argsort(self.catalogue.distances(found), kind="stable")]
        _, best = np.unique(self.catalogue.moves(found), return_index=True)
        self.found = found[np.sort(best)[:FOUND]]

    def converged(self) -> bool:
        """Whether the nearest few are all valid and none of them is new."""
        top = slice(self.options.stable)
        return bool(len(self.C) and self.valid[top].all() and self.old[top].all())

    def mutate(self) -> list[NDArray[np.intp]]:
        """For every survivor and every unit that it leaves unchanged, copies with a drawn change of that unit.

        In wide data there are too many such pairs for one generation, and some are drawn.
        """
        row, which = np.nonzero(~self.catalogue.has(self.C)[:, self.changeable])
        most = max(1, CHILDREN // self.options.samples)
        if len(row) > most:
            some = np.sort(self.rng.choice(len(row), most, replace=False))
            row, which = row[some], which[some]
        parts = []
        for i in np.unique(which):
            parents = np.repeat(self.C[row[which == i]], self.options.samples, axis=0)
            drawn = self.catalogue.draw(self.changeable[i], len(parents), self.rng)
            parts.append(np.column_stack([parents, drawn]))
        return parts

    def crossover(self) -> list[NDArray[np.intp]]:
        """Children of the best valid candidate of each kind of move."""
        C = self.C[self.valid]
        if not len(C):
            return []
        _, best = np.unique(self.catalogue.moves(C), return_index=True)
        parents = C[np.sort(best)][:PARENTS]
        return [self.nearer(parents), self.joined(parents)]

    def nearer(self, parents: NDArray[np.intp]) -> NDArray[np.intp]:
        """Copies with one change moved to a value nearer to x, up to `samples` of them for each change."""
        row, slot = np.nonzero(self.catalogue.rank[parents] > 0)
        row, slot = np.repeat(row, self.options.samples), np.repeat(slot, self.options.samples)
        children = parents[row]
        children[np.arange(len(row)), slot] = self.catalogue.draw_nearer(parents[row, slot], self.rng)
        return children

    def joined(self, parents: NDArray[np.intp]) -> NDArray[np.intp]:
        """For every pair, the union of their changes; a unit that both change is taken from either."""
        one, two = np.triu_indices(len(parents), 1)
        both = np.sort(np.hstack([parents[one], parents[two]]), axis=1)
        if not len(both):
            return both
        unit = self.catalogue.unit[both]
        twice = unit[:, :-1] == unit[:, 1:]
        left = self.rng.random(twice.shape) < 0.5
        drop = np.zeros(both.shape, dtype=bool)
        drop[:, :-1] |= twice & left
        drop[:, 1:] |= twice & ~left
        both[drop] = self.catalogue.none
        return both
