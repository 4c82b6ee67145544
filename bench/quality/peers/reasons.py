"""Reasons of PyXAI for a forest, in its own virtual environment: ``python reasons.py JOB_DIR``; see README.md."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from job import run

if TYPE_CHECKING:
    import numpy as np
    from job import Answer


def make(job: dict[str, Any]) -> Answer:
    from pyxai import Explaining, Learning, Tools

    Tools.set_verbose(0)
    learner, forest = Learning.ModelIO.import_models(job["forest"], instances_type="tabular")
    learner.feature_names = job["names"]
    # That a number above 5 is above 3 too: without it, reasons are several times as long.
    explainer = Explaining.initialize(forest, features_type={"numerical": Learning.DEFAULT})
    find = {
        "sufficient": lambda: explainer.sufficient_reason(time_limit=job["seconds"]),
        "minimal-majoritary": lambda: explainer.minimal_majoritary_reason(time_limit=job["seconds"]),
        "minimal-sufficient": lambda: explainer.minimal_sufficient_reason(time_limit=job["seconds"]),
    }[job["reasons"]]

    def answer(x: np.ndarray) -> dict[str, Any]:
        explainer.set_instance(x)
        if explainer.target_prediction != 0:
            return {"error": "PyXAI's vote of the trees accepts the row"}
        reason = find()
        if not reason:
            return {"error": "no reason in time"}
        features = explainer.to_features(reason, details=True)
        parts = [part for several in features.values() for part in several]
        over = explainer.elapsed_time == Explaining.TIMEOUT
        return {"terms": [_term(part) for part in parts], "literals": len(reason), "time_over": over}

    return answer


def _term(part: dict[str, Any]) -> dict[str, Any]:
    """One bound on a raw column, as the judge writes it."""
    operator, threshold = part["operator_sign_considered"].value, float(part["threshold"])
    above = {"GT": True, "GE": True, "LE": False, "LT": False}[operator]
    ends = {"low": threshold if above else None, "high": None if above else threshold}
    return {"feature": part["id"] - 1} | ends | {"low_open": operator == "GT", "high_open": operator == "LT"}


if __name__ == "__main__":
    run("pyxai", make)
