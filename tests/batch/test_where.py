"""A condition on rows is read, never evaluated, and means what pandas would say."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

import dueto
from dueto.batch.where import selected
from dueto.errors import InputError

FRAME = pd.DataFrame(
    {
        "age": [20, 35, 50, 65],
        "hours per week": [40, 10, 60, 40],
        "score": [1, 2, 3, 4],
        "x": [0, 1, 0, 1],
        "job": ["clerk", "נהג", "🦊", None],
        "income": [1.5, np.nan, 2.5, 3.5],
    }
)
SPACE = dueto.FeatureSpace.infer(FRAME)
SCORES = np.array([0.1, 0.5, 0.50001, 0.9])


@pytest.mark.parametrize(
    ("text", "rows"),
    [
        ("score <= .5", [0, 1]),
        ("score <= .5 and age > 30", [1]),
        ("age > 30 or age < 25 and not x.age = 50", [0, 1, 2, 3]),
        ('x["hours per week"] >= 40', [0, 2, 3]),
        ('(cf["hours per week"] >= 40) & (age < 50)', [0]),
        ('job == "נהג"', [1]),
        ('job in ["clerk", "🦊"]', [0, 2]),
        ("job.missing()", [3]),
        ("job = missing or income = missing", [1, 3]),
        ('x["score"] == 3', [2]),  # the feature of that name
        ("x == 1", [1, 3]),
        ("x.x == 1 and x = 1", [1, 3]),
        ("20 < age <= 50", [1, 2]),
        ("age.between(30, 60)", [1, 2]),
        ("age + 10 > 2 * income + 50", [2, 3]),
        ("age < 30 => score > .5", [1, 2, 3]),
    ],
)
def test_a_condition_chooses_the_rows_it_says(text, rows):
    assert np.flatnonzero(selected(text, SPACE, SPACE.encode(FRAME), SCORES)).tolist() == rows


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("agee > 3", "did you mean 'age'"),
        ("job == clerk", "a label stands in quotes"),
        ("hours per week > 40", 'write a name of several words like x["hours per week"]'),
        ("x.if > 3", 'write x["if"] for a feature named so'),
        ("hours > 3", 'x["hours per week"]'),
        ("age", "is a value, not a condition"),
        ("", "one condition"),
        ("age > 3\nage < 5", "one condition"),
        ("age > 3 and", "something is missing after and"),
        ("__import__('os').system('ls')", "__import__"),
        ("age.__class__ == 3", "where"),
        ("job < 'clerk'", "has no order"),
        ("job == 'nobody'", "has no label 'nobody'"),
        ("(lambda: 1)() == 1", "lambda"),
    ],
)
def test_what_is_no_condition_is_told_in_a_sentence(text, told):
    with pytest.raises(InputError) as problem:
        selected(text, SPACE, SPACE.encode(FRAME), SCORES)
    assert told in str(problem.value)
    assert str(problem.value).startswith(f"where {text!r}")
    assert "cf" not in str(problem.value)
