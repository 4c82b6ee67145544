"""Explanations of every kind, small enough to be made in a moment."""

from __future__ import annotations

from functools import cache
from typing import TYPE_CHECKING

import numpy as np
import pandas as pd
from sklearn.tree import DecisionTreeClassifier

import dueto
from dueto import FeatureSpace

if TYPE_CHECKING:
    from dueto.explanation import Explanation

DATA = pd.DataFrame({"income": [12, 22, 35, 41, 50], "debt": [40, 32, 32, 10, 5]})
NASTY = {
    "<b>bold</b> & \"quoted\" 'name'": "<script>alert('x')</script>",
    "| pipe | *star* _under_ `tick`": "[link](http://example.com) <img src=x onerror=alert(1)>",
    "الدخل الشهري": "متزوج - 3",
    "smile 😀 & 日本": "👩‍👩‍👧 {{ 7 * 7 }} {% raw %}",
    "a_very_long_name_" * 12: "x" * 300,
}


def model(table):
    return ((table["income"] > 22) | (table["debt"] < 32)) * 1.0


def many(n: int = 400, rng: int = 0) -> pd.DataFrame:
    drawn = np.random.default_rng(rng)
    return pd.DataFrame(
        {
            "age": drawn.integers(18, 80, n),
            "income": np.round(drawn.lognormal(3, 1, n), 2),
            "late": drawn.integers(0, 5, n),
            "job": drawn.choice(["clerk", "smith", "nurse"], n),
        }
    )


def tree(table: pd.DataFrame, outcome, **options):
    """A tree over one-hot columns, as a pipeline, and the table."""
    from sklearn.compose import make_column_transformer
    from sklearn.pipeline import make_pipeline
    from sklearn.preprocessing import OneHotEncoder

    words = list(table.select_dtypes(exclude="number"))
    prepare = make_column_transformer((OneHotEncoder(), words), remainder="passthrough")
    return make_pipeline(prepare, DecisionTreeClassifier(random_state=0, **options)).fit(table, outcome)


def first_refused(explainer: dueto.Explainer) -> int:
    return int(explainer.refused[0])


def proved() -> Explanation:
    return dueto.explain(model, DATA, 1, k=2)


def constrained() -> Explanation:
    return dueto.explain(model, DATA, 1, constraints=["cf.debt >= x.debt", "cf.income > x.income"])


def searched() -> Explanation:
    return dueto.explain(model, DATA, 1, counterfactual_method="geco")


def refuted() -> Explanation:
    table = many()
    rare = dueto.Explainer(
        lambda t: ((t["income"] > 20) | (t["age"] == 33) & (t["job"] == "nurse")) * 1.0, table, method="anchor"
    )
    return rare.explain(first_refused(rare))


def nothing_helps() -> Explanation:
    return dueto.explain(model, DATA, 1, constraints="fixed('income', 'debt')")


def contradicted() -> Explanation:
    return dueto.explain(model, DATA, 1, constraints="x.income > 90")


def unknown() -> Explanation:
    poorer = "fixed('debt')\ncf.income <= x.income"
    return dueto.explain(model, DATA, 1, constraints=poorer, counterfactual_method="geco", method="greedy")


def short() -> Explanation:
    table = many()
    fitted = tree(table, np.where((table["income"] > 20) & (table["late"] < 3), "pays", "lost"))
    explainer = dueto.Explainer(fitted, table, constraints="fixed('job')\ncf.age >= x.age")
    return explainer.explain(first_refused(explainer), at_most=1)


def ranges() -> Explanation:
    table = many()[["age", "income", "late"]]
    fitted = DecisionTreeClassifier(random_state=0, max_depth=4).fit(table, table["income"] > 20)
    space = FeatureSpace.infer(table).declare({"income": {"low": 0.0, "high": 1000.0}, "age": {"low": 0, "high": 120}})
    explainer = dueto.Explainer(fitted, table, space=space)
    return explainer.explain(first_refused(explainer))


def missing() -> Explanation:
    table = DATA.astype(float).replace({"debt": {32.0: np.nan}})
    return dueto.explain(lambda t: (t["income"] > 22) * 1.0 * t["debt"].notna(), table, 1, k=3)


def onehot() -> Explanation:
    table = pd.get_dummies(many()[["job", "late"]], columns=["job"], dtype=int)
    space = FeatureSpace.infer(table, onehot={"job": ["job_clerk", "job_nurse", "job_smith"]})
    fitted = DecisionTreeClassifier(random_state=0).fit(table, (table["job_nurse"] == 1) | (table["late"] < 2))
    explainer = dueto.Explainer(fitted, table, space=space)
    return explainer.explain(first_refused(explainer))


def ordinal() -> Explanation:
    levels = ["none", "school", "college", "university"]
    table = pd.DataFrame({"education": [*levels] * 6, "years": range(24)})
    table["education"] = pd.Categorical(table["education"], levels, ordered=True)
    return dueto.explain(lambda t: (t["education"].cat.codes + t["years"] / 12 > 2) * 1.0, table, 1)


def numbers_as_labels() -> Explanation:
    table = many()[["age", "late"]]
    fitted = DecisionTreeClassifier(random_state=0).fit(table, (table["late"] < 2).astype(int))
    explainer = dueto.Explainer(fitted, table, desired=1)
    return explainer.explain(first_refused(explainer))


def truths() -> Explanation:
    table = many()[["age", "late"]].assign(owner=np.arange(400) % 2 == 0)
    explainer = dueto.Explainer(lambda t: (t["owner"] & (t["late"] < 4)) * 1.0, table)
    return explainer.explain(first_refused(explainer), rng=np.random.default_rng(0))


def nasty() -> Explanation:
    """Names and labels that would be HTML, Markdown or a template, or run from right to left."""
    table = pd.DataFrame(
        {name: np.array([label, "fine"])[np.arange(32) >> i & 1] for i, (name, label) in enumerate(NASTY.items())}
    )
    last, longest = next(iter(NASTY)), list(NASTY)[-1]
    explainer = dueto.Explainer(
        lambda t: sum((t[name] == "fine") * 1.0 for name in NASTY) / 5,
        table,
        threshold=0.9,
        constraints=[dueto.fixed(longest), dueto.cf[last] != dueto.x[last]],
    )
    return explainer.explain(16, k=3, label="<i>Zoë</i> | 'O”Neil'")


def wide() -> Explanation:
    """A rule of 25 conditions."""
    table = pd.DataFrame(np.random.default_rng(0).integers(0, 9, (60, 25)), columns=[f"x{i}" for i in range(25)])
    table.iloc[0] = 4

    def alone(t):
        return (t != 4).any(axis=1) * 1.0

    return dueto.explain(alone, table, 0)


KINDS = {
    kind.__name__: cache(kind)
    for kind in (
        proved,
        constrained,
        searched,
        refuted,
        nothing_helps,
        contradicted,
        unknown,
        short,
        ranges,
        missing,
        onehot,
        ordinal,
        numbers_as_labels,
        truths,
        nasty,
        wide,
    )
}
