"""The judge: plain code over raw rows that shares nothing with dueto's own checks.

A *term* bounds one raw column, as the peers write it: {"feature": column, "low", "high"}, with "low_open" and
"high_open" if the end is out. A *region* lists, for every bundle of columns that move together (a one-hot group, tied
features, or one column), the values it may take.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from bench.quality.cases import Case

THRESHOLD = 0.5
STARTS, SWEEPS = 256, 12  # of the search for exceptions where there is no exact method


class Judge:
    """Says what is true of one case's counterfactuals and rules."""

    def __init__(self, case: Case) -> None:
        self.case = case
        self.names = [str(column) for column in case.dataset.frame]
        self.D = case.dataset.frame.to_numpy(np.float64)
        self.good = case.score(self.D) > THRESHOLD
        self.features: dict[str, list[int]] = {}
        for j, name in enumerate(self.names):
            self.features.setdefault(name.split("_cat_")[0], []).append(j)
        tied = [[j for name in tie for j in self.features[name]] for tie in case.ties]
        single = [columns for columns in self.features.values() if not any(columns[0] in t for t in tied)]
        self.bundles = {False: self._listed(self.features.values()), True: self._listed([*single, *tied])}
        self.ranges = np.ptp(self.D, axis=0)
        self.effort = 0  # rows scored by the last search

    def _listed(self, bundles: Iterable[list[int]]) -> list[tuple[list[int], np.ndarray]]:
        return [(columns, np.unique(self.D[:, columns], axis=0)) for columns in bundles]

    # -- counterfactuals --------------------------------------------------------------------------------------------

    def counterfactual(self, x: np.ndarray, changes: Iterable[Any], *, constrained: bool) -> dict[str, Any]:
        """Whether one counterfactual, given as dueto's changes, is what it should be, and how far it is."""
        y = x.copy()
        for change in changes:
            columns = self.features[change.feature]
            y[columns] = self._raw(columns, change.after)
        undone = [columns for columns in self._movable(constrained) if (y[columns] != x[columns]).any()]
        redundant = False
        for columns in undone:
            back = y.copy()
            back[columns] = x[columns]
            redundant |= self._valid(back) and self._feasible(x, back, constrained=constrained)
        return {
            "valid": self._valid(y),
            "feasible": self._feasible(x, y, constrained=constrained),
            "irredundant": not redundant,
            "distance": self.distance(x, y),
        }

    def _raw(self, columns: list[int], label: Any) -> Any:
        if len(columns) == 1:
            return label
        return [float(self.names[j].endswith(f"_{label}")) for j in columns]

    def _movable(self, constrained: bool) -> list[list[int]]:
        return [*self.features.values(), *(columns for columns, _ in self.bundles[constrained])]

    def _valid(self, y: np.ndarray) -> bool:
        return bool(self.case.score(y[None])[0] > THRESHOLD)

    def _feasible(self, x: np.ndarray, y: np.ndarray, *, constrained: bool) -> bool:
        here = [{"feature": j, "low": v, "high": v} for j, v in enumerate(y)]
        return any(True for _ in self.regions(x, here, constrained=constrained))

    def distance(self, x: np.ndarray, y: np.ndarray) -> float:
        """The mean of four: share of features changed, and mean, root mean square and maximum of the steps."""
        d = np.array([self._step(x, y, columns) for columns in self.features.values()])
        return float(((d > 0).mean() + d.mean() + np.sqrt((d * d).mean()) + d.max()) / 4)

    def _step(self, x: np.ndarray, y: np.ndarray, columns: list[int]) -> float:
        if len(columns) > 1:
            return float((x[columns] != y[columns]).any())
        return float(abs(x[columns[0]] - y[columns[0]]) / (self.ranges[columns[0]] or 1.0))

    # -- rules ------------------------------------------------------------------------------------------------------

    def terms(self, x: np.ndarray, component: Any) -> list[dict[str, Any]]:
        """One component of dueto's rule as terms; it must hold for x itself."""
        columns = self.features[component.feature]
        values = np.atleast_1d(self._raw(columns, component.value)).astype(np.float64)
        assert (values == x[columns]).all(), f"{component} is not about this row"
        low, high = component.op != "<=", component.op != ">="
        ends = zip(columns, values.tolist(), strict=True)
        return [{"feature": j, "low": v if low else None, "high": v if high else None} for j, v in ends]

    def covers(self, terms: Iterable[dict[str, Any]]) -> np.ndarray:
        """Which rows of the table meet all terms."""
        inside = np.ones(len(self.D), dtype=bool)
        for term in terms:
            inside &= meets(term, self.D[:, term["feature"]])
        return inside

    def regions(
        self, x: np.ndarray, terms: list[dict[str, Any]], *, constrained: bool
    ) -> Iterator[list[tuple[list[int], np.ndarray]]]:
        """The parts of the space that meet the terms (and constraints), none of them empty."""
        tests = self.case.allowed(dict(zip(self.names, x, strict=True))) if constrained else [{}]
        for test in tests:
            region = []
            for columns, values in self.bundles[constrained]:
                keep = np.ones(len(values), dtype=bool)
                for i, j in enumerate(columns):
                    for term in terms:
                        if term["feature"] == j:
                            keep &= meets(term, values[:, i])
                    if self.names[j] in test:
                        keep &= test[self.names[j]](values[:, i])
                region.append((columns, values[keep]))
            if all(len(values) for _, values in region):
                yield region

    def exception(self, x: np.ndarray, terms: list[dict[str, Any]], *, constrained: bool) -> np.ndarray | None:
        """A possible good row that meets all terms: for a tree, found iff there is one; else by a large search."""
        look = self._walk if self.case.kind == "tree" else self._climb
        self.effort = 0
        for region in self.regions(x, terms, constrained=constrained):
            row = look(region)
            if row is not None:
                assert self._valid(row)
                assert self._feasible(x, row, constrained=constrained)
                return row
        return None

    def _walk(self, region: list[tuple[list[int], np.ndarray]]) -> np.ndarray | None:
        """Every path of the tree that some row of the region can take, until a good leaf."""
        tree = self.case.arrays
        where = {j: (b, i) for b, (columns, _) in enumerate(region) for i, j in enumerate(columns)}
        stack = [(0, [values for _, values in region])]
        while stack:
            node, sets = stack.pop()
            if tree["left"][node] < 0:
                if tree["value"][node, 1] / tree["value"][node].sum() > THRESHOLD:
                    row = np.empty(len(self.names))
                    for (columns, _), values in zip(region, sets, strict=True):
                        row[columns] = values[0]
                    return row
                continue
            b, i = where[int(tree["feature"][node])]
            goes_left = sets[b][:, i].astype(np.float32).astype(np.float64) <= tree["threshold"][node]
            for child, side in ((tree["left"][node], goes_left), (tree["right"][node], ~goes_left)):
                if side.any():
                    stack.append((int(child), [*sets[:b], sets[b][side], *sets[b + 1 :]]))
        return None

    def _climb(self, region: list[tuple[list[int], np.ndarray]]) -> np.ndarray | None:
        """Coordinate ascent on the network's output, every allowed value of a column tried, from many starts at once.

        A third of the starts are the best good rows moved into the region, a third random good rows moved into it, the
        rest random rows of it. Each climbs until no single value helps, or SWEEPS times over the columns.
        """
        net, rng = self.case.arrays, np.random.default_rng(0)
        domains = [values[:, 0] for _, values in region]
        donors = np.column_stack([_nearest(domains[j], self.D[self.good][:, j]) for j in range(len(domains))])
        drawn = np.column_stack([rng.choice(values, STARTS) for values in domains])
        best = np.argsort(-self.case.score(donors))[: STARTS // 3]
        X = np.vstack([donors[best], donors[rng.choice(len(donors), STARTS // 3)], drawn[: STARTS - 2 * (STARTS // 3)]])
        self.effort += len(donors)
        output = np.full(len(X), -np.inf)
        for _ in range(SWEEPS):
            before = output
            for j in rng.permutation(len(domains)):
                hidden = ((X - net["mean"]) / net["scale"]) @ net["W0"] + net["b0"]
                step = (domains[j] - X[:, [j]]) / net["scale"][j]
                margin = _rest(net, hidden[:, None, :] + step[:, :, None] * net["W0"][j])
                self.effort += margin.size
                pick = margin.argmax(axis=1)
                X[:, j], output = domains[j][pick], margin.max(axis=1)
                if output.max() > 1e-9:
                    return X[output.argmax()]
            if np.allclose(output, before):
                break
        return None


def meets(term: dict[str, Any], values: np.ndarray) -> np.ndarray:
    """Which values of its column a term allows."""
    inside = np.ones(len(values), dtype=bool)
    if term["low"] is not None:
        inside &= values > term["low"] if term.get("low_open") else values >= term["low"]
    if term["high"] is not None:
        inside &= values < term["high"] if term.get("high_open") else values <= term["high"]
    return inside


def _nearest(domain: np.ndarray, values: np.ndarray) -> np.ndarray:
    return domain[np.abs(domain - values[:, None]).argmin(axis=1)]


def _rest(net: Any, hidden: np.ndarray) -> np.ndarray:
    """The margin from the first layer's sums, (..., units); good iff above 0."""
    k = 1
    while f"W{k}" in net:
        hidden = np.maximum(hidden, 0) @ net[f"W{k}"] + net[f"b{k}"]
        k += 1
    return hidden[..., 0]
