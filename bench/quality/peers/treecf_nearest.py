"""Nearest counterfactuals of treecf for a forest, in its own environment: ``python treecf_nearest.py JOB_DIR``."""

from __future__ import annotations

import warnings
from typing import TYPE_CHECKING, Any

import numpy as np
from job import run

if TYPE_CHECKING:
    from job import Answer


def make(job: dict[str, Any]) -> Answer:
    from treecf import Explainer, Freeze, Monotone, Range, Target

    warnings.simplefilter("ignore")  # that the budget is spent stands in `proof`
    names, most = job["names"], job["X"].max(axis=0)
    bounds = [Range(name, 0.0, float(high)) for name, high in zip(names, most, strict=True)]
    explainer = Explainer(
        job["forest"],
        constraints=[*bounds, *map(Freeze, job["fixed"]), *(Monotone(name, "increase") for name in job["rising"])],
        normalizers={name: float(high) or 1.0 for name, high in zip(names, most, strict=True)},
        value_policy=dict.fromkeys(names, "integer"),
    )
    target = Target.raw(range=(float(np.nextafter(0.5, 1)), 1.0))
    options = {"target": target, "backend": "exact", "seed": job["seed"]}
    explainer.explain(job["X"][0], time_budget_s=0.01, node_budget=1, **options)  # makes its tables of the forest

    def answer(x: np.ndarray) -> dict[str, Any]:
        # By default it stops after two million boxes: here only the time counts.
        found = explainer.explain(x, time_budget_s=job["seconds"], node_budget=2**62, **options)
        if not hasattr(found, "x_cf"):
            return {"y": None, "proved": found.proof == "certified", "nodes": found.solver_stats.get("nodes_expanded")}
        row = {"y": found.x_cf.tolist(), "proved": found.proof == "optimal", "own_distance": found.distance}
        return row | {"nodes": found.solver_stats.get("nodes_expanded")}

    return answer


if __name__ == "__main__":
    run("treecf", make, keeps_time=True)  # its threads would not live on in a child
