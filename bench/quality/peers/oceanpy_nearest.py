"""Nearest counterfactuals of OCEAN (CP-SAT) for a forest, in its own environment: ``oceanpy_nearest.py JOB_DIR``.

OCEAN adds up changes in the columns' own units; here each counts in units of its column's range, as for everybody else,
by the scale of its objective. It knows no constraints.
"""

from __future__ import annotations

import warnings
from typing import TYPE_CHECKING, Any

from job import run

if TYPE_CHECKING:
    import numpy as np
    from job import Answer


def make(job: dict[str, Any]) -> Answer:
    import pandas as pd
    from ocean import ConstraintProgrammingExplainer
    from ocean.feature import parse_features

    warnings.simplefilter("ignore")  # that time is over stands in the status
    frame = pd.DataFrame(job["X"], columns=job["names"])
    _, mapper = parse_features(frame, discretes=tuple(job["names"]), drop_constant=False)
    most = {name: float(frame[name].max()) or 1.0 for name in job["names"]}

    class Scaled(ConstraintProgrammingExplainer):
        _obj_scale = 10**12  # costs are whole numbers: theirs, 10^8, rounds changes in wide columns to four digits

        def Lp(self, x: Any, v: Any, code: Any = None, *, norm: int = 1) -> Any:
            whole = self._obj_scale
            self._obj_scale = int(whole / next(most[name] for name, known in self.mapper.items() if known is v))
            try:
                return super().Lp(x, v, code, norm=norm)
            finally:
                self._obj_scale = whole

    explainer = Scaled(job["forest"], mapper=mapper)

    def answer(x: np.ndarray) -> dict[str, Any]:
        options = {"max_time": job["seconds"], "num_workers": 1, "random_seed": job["seed"]}
        found = explainer.explain(x, y=1, norm=1, **options)
        status = explainer.get_solving_status()
        if found is None:
            return {"y": None, "proved": status == "INFEASIBLE", "status": status}
        row = {"y": [float(v) for v in found.x], "proved": status == "OPTIMAL", "status": status}
        return row | {"own_distance": explainer.get_objective_value()}

    return answer


if __name__ == "__main__":
    run("oceanpy", make)
