"""The what-if of a page in a browser: its size, the time of a move, and whether it decides as the model does.

    python -m bench.speed.whatif

Tables that ship (Adult without fnlwgt and education, German credit, Taiwan credit) and models in a pipeline with a
OneHotEncoder and a StandardScaler: an unpruned tree, logistic regression, XGBoost with 100 trees of depth 4, a network
of two layers of 32. Of each, `--rows` refused rows are drawn by `--seed` and explained without constraints, by quick
methods, since neither the rule nor the changes matter here. *To make* are CPU seconds of `to_html`, the pictures of the
data included: of the first page, which works out the fingerprints of model and data too, and the median of the others.

Chromium (on the PATH; of playwright) opens the page, and `--moves` controls that are shown are moved at random, one
after the other, by the event that a hand or a key gives. *A move* is from that event until the page is laid out again,
without waiting for the next frame. What the page says after each move, and of `--settings` more at random, controls
that the page leaves out included, is compared with `predict_proba` of the model over raw rows, which are put together
from the texts in the page alone: *differ* counts other verdicts, *open* those that the page leaves open as too close to
call, *other half* how many of the settings have the verdict that fewer have.
"""

from __future__ import annotations

import shutil
import tempfile
import time
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd
from bench.tables import machine, options, write
from threadpoolctl import threadpool_limits

from dueto import Explainer, datasets

if TYPE_CHECKING:
    from argparse import Namespace

    from playwright.sync_api import Page

TABLES = {
    "Adult": (datasets.load_adult, ["fnlwgt", "education"]),
    "German credit": (datasets.load_german_credit, []),
    "Taiwan credit": (datasets.load_taiwan_credit, []),
}
MODELS = ("tree", "logistic", "xgboost-100x4", "mlp-32x2")
THRESHOLD = 0.5
MOVE = """async moves => {
  const element = name => document.getElementById(`what-if-${name}`), found = [];
  const { controls } = JSON.parse(element("data").textContent);
  for (const [u, k] of moves) {
    const input = element(u), box = element(`${u}-missing`), start = performance.now();
    if (box) box.checked = k === controls[u].missing;
    if (!box || !box.checked) input.value = String(k);
    input.dispatchEvent(new Event("input"));
    document.body.offsetHeight;
    found.push([performance.now() - start, window.dueto.at(), element("word").textContent]);
    await new Promise(requestAnimationFrame);
  }
  return found;
}"""
SAID = """settings => settings.map(at => {
  window.dueto.go(at);
  return document.getElementById("what-if-word").textContent;
})"""


def fitted(name: str, frame: pd.DataFrame, target: Any) -> Any:
    """A pipeline fitted on the table."""
    from sklearn.compose import make_column_transformer
    from sklearn.linear_model import LogisticRegression
    from sklearn.neural_network import MLPClassifier
    from sklearn.pipeline import make_pipeline
    from sklearn.preprocessing import OneHotEncoder, StandardScaler
    from sklearn.tree import DecisionTreeClassifier

    if name == "xgboost-100x4":
        from xgboost import XGBClassifier

        estimator: Any = XGBClassifier(n_estimators=100, max_depth=4, n_jobs=1, random_state=0)
    elif name == "tree":
        estimator = DecisionTreeClassifier(random_state=0)
    elif name == "logistic":
        estimator = LogisticRegression(max_iter=2000)
    else:
        estimator = MLPClassifier((32, 32), early_stopping=True, max_iter=100, random_state=0)
    words = [column for column in frame if frame[column].dtype.kind not in "iuf"]
    numbers = [column for column in frame if column not in words]
    encoded = make_column_transformer((OneHotEncoder(sparse_output=False), words), (StandardScaler(), numbers))
    return make_pipeline(encoded, estimator).fit(frame, target)


def raw(controls: list[dict[str, Any]], settings: np.ndarray, row: pd.DataFrame) -> pd.DataFrame:
    """The rows that settings mean, by the texts of the page; of the table's types."""
    columns = {}
    for u, control in enumerate(controls):
        texts = [None if text == "missing" else text for text in control["texts"]]
        kind = row[control["name"]].dtype
        values = pd.Series([texts[k] for k in settings[:, u]], dtype=object)
        columns[control["name"]] = values.astype(float).astype(kind) if kind.kind in "iuf" else values.astype(kind)
    return pd.DataFrame(columns)[list(row.columns)]


def tried(page: Page, explanation: Any, model: Any, row: pd.DataFrame, asked: Namespace, seed: int) -> dict[str, Any]:
    """One page: moved, and compared."""
    rng = np.random.default_rng(seed)
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "page.html"
        start = time.process_time()
        explanation.to_html(path)
        found: dict[str, Any] = {"cpu": time.process_time() - start, "kB": path.stat().st_size / 1000}
        page.goto(path.as_uri())
    data = explanation.background.whatif
    controls = data["controls"]
    shown = [u for u, control in enumerate(controls) if control["shown"]]
    moves = [(int(u), int(rng.integers(len(controls[u]["texts"])))) for u in rng.choice(shown, asked.moves)]
    told = page.evaluate(MOVE, moves)
    sizes = [len(control["texts"]) for control in controls]
    more = rng.integers(sizes, size=(asked.settings, len(sizes)))
    settings = np.vstack([[at for _, at, _ in told], more])
    words = [word for *_, word in told] + page.evaluate(SAID, more.tolist())
    good = model.predict_proba(raw(controls, settings, row))[:, list(model.classes_).index(1)] > THRESHOLD
    decided = np.array([word.startswith(("Accepted", "Refused")) for word in words])
    accepted = np.array([word.startswith("Accepted") for word in words])
    return found | {
        "kind": data["model"]["kind"],
        "features": len(shown),
        "ms": [ms for ms, *_ in told],
        "settings": len(words),
        "differ": int((decided & (accepted != good)).sum()),
        "open": int((~decided).sum()),
        "accepted": int(good.sum()),
    }


def cell(page: Page, table: str, name: str, asked: Namespace) -> dict[str, Any]:
    """A table and a model: a line of the result."""
    load, left_out = TABLES[table]
    data = load()
    frame, target = data.frame.drop(columns=left_out), np.asarray(data.target).astype(int)
    with threadpool_limits(1):
        model = fitted(name, frame, target)
        explainer = Explainer(model, frame, desired=1, method="greedy", counterfactual_method="geco")
        rows = np.random.default_rng(asked.seed).permutation(explainer.refused)[: asked.rows]
        each = []
        for i in map(int, rows):
            explanation = explainer.explain(i, k=3, rng=asked.seed)
            each.append(tried(page, explanation, model, frame.iloc[[i]], asked, asked.seed + i))
    ms, others = [v for one in each for v in one["ms"]], each[1:] or each
    settings, accepted = (sum(one[key] for one in each) for key in ("settings", "accepted"))
    return {
        "table": table,
        "model": name,
        "in the page": " / ".join(sorted({one["kind"] for one in each})),
        "features shown": float(np.median([one["features"] for one in each])),
        "page, kB": float(np.median([one["kB"] for one in each])),
        "to make, CPU s": [each[0]["cpu"], float(np.median([one["cpu"] for one in others]))],
        "a move, ms": float(np.median(ms)),
        "p95": float(np.percentile(ms, 95)),
        "settings": settings,
        "other half": min(accepted, settings - accepted),
        "differ": sum(one["differ"] for one in each),
        "open": sum(one["open"] for one in each),
    }


def main() -> None:
    """Run the program."""
    from playwright.sync_api import sync_playwright

    parser = options(__doc__ or "")
    parser.add_argument("--tables", default=",".join(TABLES), help="some of: %(default)s")
    parser.add_argument("--models", default=",".join(MODELS), help="some of: %(default)s")
    parser.add_argument("--rows", type=int, default=3, help="refused rows of each (%(default)s)")
    parser.add_argument("--moves", type=int, default=200, help="controls moved on each page (%(default)s)")
    parser.add_argument("--settings", type=int, default=500, help="settings more to compare on each (%(default)s)")
    parser.add_argument("--seed", type=int, default=0)
    asked = parser.parse_args()
    browsers = filter(None, map(shutil.which, ("chromium", "chromium-browser", "google-chrome")))
    lines = []
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=next(browsers, None), args=["--no-sandbox"])
        page = browser.new_page(viewport={"width": 1000, "height": 900})
        for table in asked.tables.split(","):
            for name in asked.models.split(","):
                lines.append(cell(page, table, name, asked))
                print(lines[-1], flush=True)
        about = machine() | {"Chromium": browser.version, "rows of each": asked.rows, "seed": asked.seed}
        browser.close()
    write(asked.out, "whatif", command="python -m bench.speed.whatif", about=about, tables={"What-if": lines})


if __name__ == "__main__":
    main()
