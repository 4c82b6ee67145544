"""Counting the rows that satisfy a rule: dueto's index, a plain memory copy, NumPy's ways; in turns, medians.

    python -m bench.speed.index --rows 10000000

Made data: `--rows` rows of 15 normal features, 30 components, about an applicant in the middle, for rules of several
lengths. Real data: Adult and Taiwan credit, a row's own components. Every way's count is checked against the others.
The ways: `Index.count` as the library answers; `bitmaps`, its AND and population count alone; `copy`, np.copyto of as
many bytes as the rule's bitmaps have; `NumPy`, (X[:, j] <= x[j]) & ... with columns contiguous; `int mask`, one word
of failed components a row, as a genetic search would keep it.
"""

from __future__ import annotations

import time
from typing import TYPE_CHECKING, Any

import numpy as np
from bench.tables import machine, options, write
from threadpoolctl import threadpool_limits

from dueto.datasets import load_adult, load_taiwan_credit
from dueto.index import Index, count_ones
from dueto.rule import Components, bits
from dueto.space import FeatureSpace

if TYPE_CHECKING:
    from collections.abc import Callable

LENGTHS = (2, 4, 8, 15, 30)
WAYS = ("Index.count", "bitmaps", "NumPy", "int mask")


class Contest:
    """One table of encoded rows (columns contiguous), one applicant, and every way to count."""

    def __init__(self, name: str, space: FeatureSpace, X: np.ndarray, x: np.ndarray) -> None:
        self.name, self.X, self.x = name, X, x
        self.components = Components(space, x)
        start = time.perf_counter()
        self.index = Index(self.components, X)
        self.index.count(0)  # decides between its two forms
        self.bitmaps = self.index.bitmaps
        self.build_seconds = time.perf_counter() - start
        self.masks = self.components.duals(X)
        if self.masks.shape[1] == 1 and self.components.all < 1 << 32:
            self.masks = self.masks.astype(np.uint32)

    def ways(self, chosen: int) -> dict[str, Callable[[], int]]:
        """Each way to count, ready to be called."""
        some = [self.bitmaps[bit] for bit in bits(chosen)]
        source = np.concatenate(some)
        target = np.empty_like(source)
        words = [chosen >> 64 * w & (1 << 64) - 1 for w in range(self.masks.shape[1])]
        asked = np.array(words, dtype=np.uint64).astype(self.masks.dtype)
        one_word = np.ascontiguousarray(self.masks[:, 0])

        def copy() -> int:
            np.copyto(target, source)
            return -1

        def int_mask() -> int:
            if self.masks.shape[1] == 1:
                return int(np.count_nonzero((one_word & asked[0]) == 0))
            return int(np.count_nonzero(((self.masks & asked) == 0).all(axis=1)))

        return {
            "copy": copy,
            "Index.count": lambda: self.index.count(chosen),
            "bitmaps": lambda: count_ones(some, len(self.X)),
            "NumPy": lambda: self.by_columns(chosen),
            "int mask": int_mask,
        }

    def by_columns(self, chosen: int) -> int:
        """(X[:, j] <= x[j]) & ..., summed."""
        inside = None
        for bit in bits(chosen):
            column, value = self.X[:, bit // 2], self.x[bit // 2]
            if np.isnan(value):
                meets = np.isnan(column)
            elif not self.components.two_sided[bit // 2]:
                meets = column == value
            else:
                meets = column >= value if bit % 2 else column <= value
            inside = meets if inside is None else inside & meets
        return len(self.X) if inside is None else int(inside.sum())

    def row(self, chosen: int, repeats: int) -> dict[str, Any]:
        """Medians of alternating repetitions for one rule."""
        ways = self.ways(chosen)
        counts = {way: run() for way, run in ways.items() if way != "copy"}
        assert len(set(counts.values())) == 1, counts
        loops = {way: loops_for(run) for way, run in ways.items()}
        taken: dict[str, list[float]] = {way: [] for way in ways}
        for _ in range(repeats):
            for way, run in ways.items():
                taken[way].append(seconds(run, loops[way]))
        best = {way: float(np.median(times)) for way, times in taken.items()}
        n_bytes = chosen.bit_count() * self.bitmaps[0].nbytes
        found: dict[str, Any] = {"data": self.name, "rows": len(self.X), "components": chosen.bit_count()}
        found |= {"satisfy": counts["NumPy"], "copy GB/s": n_bytes / best["copy"] / 1e9}
        found |= {"bitmaps GB/s": n_bytes / best["bitmaps"] / 1e9, "bitmaps / copy": best["bitmaps"] / best["copy"]}
        found |= {f"{way} ms": 1e3 * best[way] for way in WAYS}
        ratio = {f"{way} / Index.count": best[way] / best["Index.count"] for way in ("NumPy", "int mask", "copy")}
        return found | ratio


def loops_for(run: Callable[[], int]) -> int:
    """How many calls last some 20 ms, so that the clock is fine enough."""
    return max(1, int(0.02 / seconds(run, 1)))


def seconds(run: Callable[[], int], loops: int) -> float:
    """Seconds a call."""
    start = time.perf_counter()
    for _ in range(loops):
        run()
    return (time.perf_counter() - start) / loops


def made(rows: int, rng: np.random.Generator) -> Contest:
    """Rounded normal features about an applicant at 0, so that even a rule of all 30 components holds of some rows."""
    X = np.empty((rows, 15), order="F")
    for j in range(15):
        X[:, j] = np.rint(rng.normal(scale=0.7, size=rows))
    space = FeatureSpace.infer(X[:100_000])
    return Contest("made", space, X, np.zeros(15))


def main() -> None:
    parser = options(__doc__ or "")
    parser.add_argument("--rows", type=int, default=10_000_000, help="of the made data (default: 10 million)")
    parser.add_argument("--repeats", type=int, default=15, help="alternating repetitions (default: 15)")
    parser.add_argument("--seed", type=int, default=0)
    asked = parser.parse_args()
    rng = np.random.default_rng(asked.seed)
    about = machine()
    found, built = [], []
    with threadpool_limits(limits=1):
        contests = [lambda: made(asked.rows, rng)]
        for load in (load_adult, load_taiwan_credit):

            def real(load: Any = load) -> Contest:
                data = load()
                X = np.asfortranarray(data.space.encode(data.frame))
                return Contest(data.name, data.space, X, X[rng.integers(len(X))])

            contests.append(real)
        for make in contests:
            contest = make()
            every = list(bits(contest.components.all))
            for length in sorted({min(k, len(every)) for k in LENGTHS}):
                chosen = sum(1 << int(bit) for bit in rng.permutation(every)[:length])
                found.append(contest.row(chosen, asked.repeats))
            distinct = contest.index._repeats
            built.append(
                {
                    "data": contest.name,
                    "components": len(every),
                    "seconds to build": contest.build_seconds,
                    "Index.count uses": "distinct duals" if distinct else "bitmaps",
                    "distinct duals": len(np.unique(contest.masks, axis=0)),
                }
            )
    command = f"python -m bench.speed.index --rows {asked.rows}"
    write(asked.out, "index", command=command, about=about, tables={"Counting": found, "The index": built})


if __name__ == "__main__":
    main()
