"""Which of two variables causes the other, asked of another library in that library's own environment.

``PEER_PYTHON run_peer.py METHOD PAIRS.npz OUT.jsonl``; see README.md. Needs NumPy and the peer, nothing else.
"""

from __future__ import annotations

import os

os.environ.update(dict.fromkeys(("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"), "1"))

import argparse
import json
import math
import time
import warnings
from collections.abc import Callable
from importlib import import_module
from importlib.metadata import version
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

Column = np.ndarray[Any, np.dtype[np.float64]]


class Answer(NamedTuple):
    """What a peer says of a pair."""

    score: float  # positive: x causes y; zero: it cannot tell
    p_forward: float | None = None  # p-value of: x and the residual of y on x are independent
    p_backward: float | None = None


Peer = Callable[[Column, Column], Answer]


def causal_learn_anm(_seed: int) -> Peer:
    """causal-learn: Gaussian process, kernel independence test, p-values of both directions."""
    from scipy.stats import gamma

    anm = import_module("causallearn.search.FCMBased.ANM.ANM").ANM()
    smallest = 5e-324

    def compute_pvalue(self: Any, x: Column, residual: Column) -> tuple[float, float]:
        statistic, Kx, Ky = self.HSIC_V_statistic(*self.kernel_matrix(x, residual))
        shape, scale = self.get_kappa(Kx, Ky)
        return gamma.sf(statistic, shape, scale=scale), statistic  # causal-learn: 1 - cdf, which is 0 below 1e-16

    import_module("causallearn.utils.KCI.KCI").KCI_UInd.compute_pvalue = compute_pvalue

    def standardised(v: Column) -> Column:
        z: Column = (v - v.mean()) / v.std()
        return z[:, None]

    def ask(x: Column, y: Column) -> Answer:
        forward, backward = map(float, anm.cause_or_effect(standardised(x), standardised(y)))
        return Answer(math.log10(max(forward, smallest)) - math.log10(max(backward, smallest)), forward, backward)

    return ask


def lingam_resit(seed: int) -> Peer:
    """lingam: random forest, the variable whose residual depends least on the other (HSIC) is the effect."""
    from sklearn.ensemble import RandomForestRegressor

    resit: Any = import_module("lingam.resit")
    hsic, seen = resit.hsic_test_gamma, []

    def hsic_and_keep(*columns: Column) -> Any:
        seen.append(hsic(*columns))
        return seen[-1]

    resit.hsic_test_gamma = hsic_and_keep  # RESIT gives the order only; this keeps what it is made from

    def ask(x: Column, y: Column) -> Answer:
        seen.clear()
        model = resit.RESIT(regressor=RandomForestRegressor(max_depth=4, random_state=seed))
        order = model.fit(np.column_stack([x, y])).causal_order_
        (backward, p_backward), (forward, p_forward) = seen[:2]  # first it regresses x on y, then y on x
        score = float(backward - forward)
        if (score > 0 and order[0] != 0) or (score < 0 and order[0] != 1):
            raise RuntimeError("lingam's order is not that of the two statistics; is this another version of it?")
        return Answer(score, float(p_forward), float(p_backward))

    return ask


def cdt(name: str) -> Callable[[int], Peer]:
    """One of cdt's scores of a pair."""

    def prepare(_seed: int) -> Peer:
        module = import_module(f"cdt.causality.pairwise.{name}")
        model = getattr(module, name)()
        if name == "ANM":
            model.anm_score = anm_score(module.normalized_hsic)
        return lambda x, y: Answer(float(model.predict_proba((x, y))))

    return prepare


def anm_score(normalized_hsic: Callable[[Column, Column], float]) -> Callable[[Column, Column], float]:
    """cdt's ``ANM.anm_score`` as it was with the scikit-learn of its time (1.0); see README.md."""
    from sklearn.gaussian_process import GaussianProcessRegressor

    def score(x: Column, y: Column) -> float:
        predicted = GaussianProcessRegressor(optimizer=None).fit(x, y).predict(x).reshape(-1, 1)
        return normalized_hsic(predicted - y, x)

    return score


METHODS: dict[str, tuple[str, Callable[[int], Peer]]] = {
    "causal-learn-anm": ("causal-learn", causal_learn_anm),
    "lingam-resit": ("lingam", lingam_resit),
    "cdt-anm": ("cdt", cdt("ANM")),
    "cdt-reci": ("cdt", cdt("RECI")),
    "cdt-igci": ("cdt", cdt("IGCI")),
}


def some_rows(x: Column, y: Column, max_rows: int | None, seed: int) -> tuple[Column, Column]:
    """At most `max_rows` rows, in an order drawn anew: lingam takes its kernel's width from the first hundred."""
    if x.ndim != 1 or x.shape != y.shape:
        raise ValueError(f"x and y must be two columns of one length, but their shapes are {x.shape} and {y.shape}")
    if not np.isfinite(x).all() or not np.isfinite(y).all():
        raise ValueError("a value is missing or infinite")
    rows = np.random.default_rng(seed).permutation(len(x))[:max_rows]
    return x[rows], y[rows]


def decision(answer: Answer, level: float = 0.05) -> str | None:
    """The arrow if its p-value alone is above `level`, otherwise ``"?"``; nothing where there are no p-values."""
    if answer.p_forward is None or answer.p_backward is None:
        return None
    forward, backward = answer.p_forward > level, answer.p_backward > level
    return "?" if forward == backward else "->" if forward else "<-"


def judged(peer: Peer, x: Column, y: Column, max_rows: int | None, seed: int) -> dict[str, Any]:
    """A peer's answer with its times; whatever goes wrong becomes ``error``."""
    record: dict[str, Any] = {"arrow": "?", "decision": None, "score": None, "p_forward": None, "p_backward": None}
    record |= {"n": len(x), "error": None}
    wall, cpu = time.perf_counter(), time.process_time()
    try:
        x, y = some_rows(x, y, max_rows, seed)
        record["n"] = len(x)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            answer = peer(x, y)
        if not math.isfinite(answer.score):
            raise ArithmeticError(f"the score is {answer.score}")
        arrow = "->" if answer.score > 0 else "<-" if answer.score < 0 else "?"
        record |= {"arrow": arrow, "decision": decision(answer), **answer._asdict()}
    except Exception as raised:
        record["error"] = f"{type(raised).__name__}: {raised}".splitlines()[0]
    return record | {"seconds": time.perf_counter() - wall, "cpu_seconds": time.process_time() - cpu}


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("method", choices=METHODS)
    parser.add_argument("pairs", type=Path, metavar="PAIRS.npz", help='arrays "NAME/x" and "NAME/y"')
    parser.add_argument("out", type=Path, metavar="OUT.jsonl", help="a line is added for each pair it does not have")
    parser.add_argument("--limit", type=int, metavar="N", help="only the first N pairs of the file")
    parser.add_argument("--max-rows", type=int, metavar="N", help="draw N rows of a longer pair (default: take all)")
    parser.add_argument("--seed", type=int, default=0, help="of the rows drawn, their order, and lingam's forest")
    options = parser.parse_args()

    distribution, prepare = METHODS[options.method]
    peer = prepare(options.seed)
    about = {"method": options.method, "version": version(distribution), "seed": options.seed}
    lines = options.out.read_text(encoding="utf-8").splitlines() if options.out.exists() else []
    done = {line["name"] for line in map(json.loads, lines) if line["method"] == options.method}
    with np.load(options.pairs) as pairs, options.out.open("a", encoding="utf-8") as out:
        names = [key.removesuffix("/x") for key in pairs.files if key.endswith("/x")][: options.limit]
        for name in names:
            if name in done:
                continue
            x, y = (pairs[f"{name}/{v}"].astype(np.float64) for v in "xy")
            record = {"name": name, **about, **judged(peer, x, y, options.max_rows, options.seed)}
            print(json.dumps(record), file=out, flush=True)


if __name__ == "__main__":
    main()
