"""A constraint in the page holds exactly where the constraint itself does."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
from hypothesis import HealthCheck, given
from hypothesis import strategies as st

import dueto
from dueto.models import as_model
from dueto.report.whatif import offline
from dueto.report.whatif.conditions import condition
from dueto.report.whatif.controls import controls_of
from plaf.test_bind import CONSTRAINTS, NUMBERS, ROWS, SPACE
from report.offline import everything, numbers, page_of
from trials import trials

KNOWN = [-2.0, 0.0, 0.5, 1.5, 3.0, 40.0]
WIDE = SPACE.declare({name: {"kind": "float", "values": KNOWN, "missing": True} for name in NUMBERS})


def encoded(row):
    return np.array([WIDE[name].code(row[name]) for name in WIDE.names])


@pytest.fixture(scope="module")
def judged(browser):
    """Asks one page, that offers every value, whether a condition holds of rows."""
    model = as_model(lambda table: np.zeros(len(table)), WIDE)
    start = np.array([feature.domain.values[0] for feature in WIDE.features])
    for name in WIDE.names:
        if name != "member":
            start[WIDE.index(name)] = np.nan
    found = offline(model, WIDE, [everything(WIDE)], start)
    columns = [numbers(control["numbers"][str(j)]) for j, control in enumerate(found["controls"])]
    page = browser.new_page()
    page.set_content(page_of(found))

    def ask(test, rows):
        at = [
            [int(np.flatnonzero((c == v) | (np.isnan(c) & np.isnan(v)))[0]) for c, v in zip(columns, row, strict=True)]
            for row in rows
        ]
        return page.evaluate("([test, rows]) => rows.map(row => window.dueto.holds(test, row))", [test, at])

    yield ask
    page.close()


@trials(100, suppress_health_check=[HealthCheck.too_slow])
@given(constraint=CONSTRAINTS, rows=st.lists(ROWS, min_size=1, max_size=8), present=ROWS)
def test_a_constraint_holds_in_the_page_where_it_holds(judged, constraint, rows, present):
    rows = [row | {"member": bool(row["member"])} for row in rows]
    X, now = np.array([encoded(row) for row in rows]), encoded(present)
    bound = constraint.bind(WIDE)
    expected = np.broadcast_to(bound(lambda j: X[:, j], now), len(rows)).tolist()
    assert judged(condition(constraint, WIDE, now), X) == expected


@pytest.mark.parametrize(
    ("told", "offered"),
    [
        ("cf.deb == x.deb + 0.1234", 1.26 + 0.1234),
        ("cf.deb >= -3.652 and cf.deb <= -3.651", -3.651),
        ("cf.deb <= 3.7777", 3.7777),
        ("cf.deb * 3 >= 100", 100 / 3),
    ],
)
def test_of_a_range_what_a_constraint_leaves_is_offered_to_its_ends(told, offered):
    frame = pd.DataFrame({"deb": [1.26, 3.0, 5.0]})
    space = dueto.FeatureSpace.infer(frame).declare({"deb": {"low": -50, "high": 60}})
    x = np.array([1.26])
    (control,) = controls_of(space, dueto.parse_constraints(told), x, x[None], most=20)
    assert np.isclose(control.values[:, 0], offered, rtol=1e-12).any()
    assert len(control) > 15 or "==" in told
