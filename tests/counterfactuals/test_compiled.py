"""The first answer on a machine: nothing is compiled while its time runs."""

from __future__ import annotations

import subprocess
import sys

FIRST = """
import numpy as np, pandas as pd, dueto
from sklearn.ensemble import GradientBoostingClassifier
from dueto.counterfactuals import branch_and_bound, kernels
rng = np.random.default_rng(0)
X = pd.DataFrame({c: rng.integers(0, 9, 200) for c in "abc"})
model = GradientBoostingClassifier(n_estimators=9, random_state=0).fit(X, X.sum(axis=1) > 12)
made, compiled = {}, branch_and_bound.compiled
def count():
    return {n: len(k.signatures) for n, k in vars(kernels).items() if hasattr(k, "signatures")}
def then(grid):
    compiled(grid)
    made.update(count())
branch_and_bound.compiled = then
explainer = dueto.Explainer(model, X)
explainer.changes(int(explainer.refused[0]))
print(sorted(n for n, k in count().items() if k > made[n]))
"""


def test_no_kernel_is_compiled_once_the_time_of_the_first_question_runs():
    done = subprocess.run([sys.executable, "-c", FIRST], capture_output=True, text=True, check=False)
    assert (done.stdout, done.returncode) == ("[]\n", 0), done.stderr
