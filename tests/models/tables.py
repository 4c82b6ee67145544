"""Tables on which importers are tested: ties at float32 thresholds, missing values, zeros of both signs, categories."""

from __future__ import annotations

import numpy as np
import pandas as pd

RNG = np.random.default_rng(7)
M = 240

# c and e repeat, so that thresholds lie midway between values; b has numbers that float32 rounds.
NUMBERS = pd.DataFrame(
    {
        "a": RNG.integers(0, 30, M),
        "b": RNG.normal(size=M),
        "c": RNG.choice([0.1, 0.2, 0.3, 0.7], M),
        "d": RNG.random(M) > 0.5,
        "e": RNG.choice([0.0, -0.0, 1.0, -1.0, 1e-36, 5e-324], M),
    }
)
MISSING = NUMBERS.copy()
MISSING.loc[::7, "b"] = np.nan
MISSING.loc[1::5, "e"] = np.nan
GOOD = (NUMBERS["a"] / 30 + NUMBERS["b"] + NUMBERS["c"] + NUMBERS["e"] + RNG.normal(size=M) / 2 > 1).to_numpy()
THREE = np.digitize(NUMBERS["a"] / 30 + NUMBERS["b"], [0, 1])

CATEGORIES = MISSING.copy()
CATEGORIES["job"] = pd.Categorical(RNG.choice(list("zyxwv"), M), categories=list("wzvyxu"))  # u never occurs
CATEGORIES["grade"] = pd.Categorical(RNG.choice([3, 1, 2], M))
CATEGORIES["rank"] = pd.Categorical(RNG.choice(list("pqr"), M), ordered=True)
CATEGORIES.loc[::9, "job"] = None
FAIR = GOOD ^ (CATEGORIES["job"] == "w").to_numpy() ^ (CATEGORIES["grade"] == 3).to_numpy()

TEXT = MISSING.astype({"d": int})
TEXT["job"] = RNG.choice(["clerk", "smith", "tailor", "nurse"], M)
TEXT["home"] = pd.Series(RNG.choice(["rent", "own", "free"], M)).where(RNG.random(M) > 0.1)


def adversarial(structure, n=4000, seed=0):
    """Encoded rows drawn from the domains and, where a column is a feature's number, from around its thresholds."""
    rng = np.random.default_rng(seed)
    columns, space = structure.columns, structure.columns.space
    splits = getattr(structure.form, "splits", None)
    X = np.empty((n, len(space)))
    for j, feature in enumerate(space.features):
        values = feature.domain.values
        if splits is not None and not feature.labels:
            t = splits.threshold[columns.owner[splits.column] == j]
            t = t[np.abs(t) < 1e30]
            if feature.kind == "integer":
                values = np.concatenate([values, np.floor(t), np.floor(t) + 1])
            elif np.array_equal(columns.of(j, values)[:, :1].ravel(), values):  # nothing stands before it
                near = t.astype(np.float32)
                up, down = (np.nextafter(near, np.float32(s * np.inf)).astype(float) for s in (1, -1))
                middles = [(near + up) / 2, (near + down) / 2]
                around = [np.nextafter(v, s * np.inf) for v in (t, *middles) for s in (1, -1)]
                extreme = [[-0.0, 0.0, 1e-35, -1e-35, 1.1e-35, 1e-30, 1e30, -1e30]]
                values = np.concatenate([values, t, near.astype(float), up, down, *middles, *around, *extreme])
        if feature.domain.missing:
            values = np.append(values, [np.nan] * (1 + len(values) // 5))
        X[:, j] = rng.choice(values, n)
    return X
