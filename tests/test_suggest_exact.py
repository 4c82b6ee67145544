"""Suggested constraints say exactly what was found: sets of bins, forbidden cells, and what all rows keep."""

from __future__ import annotations

import itertools
import json

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

from dueto import FeatureSpace, parse_constraints, suggest_constraints
from dueto.suggest import base, bins, tables
from dueto.suggest.bins import Bins
from dueto.suggest.phrases import among
from dueto.suggest.tables import Tables
from trials import trials


def draw(seed=0):
    return np.random.default_rng(seed)


@trials(40)
@given(seed=st.integers(0, 2**32 - 1))
def test_without_the_redundant_ones_the_implications_forbid_what_all_empty_cells_do(seed):
    rng = draw(seed)
    n, m = int(rng.integers(2, 5)), int(rng.integers(5, 60))
    hidden = rng.integers(0, 3, m)
    columns = {}
    for k in range(n):
        values = np.where(rng.random(m) < 0.7, hidden, rng.integers(0, 3, m))
        columns[f"c{k}"] = values if rng.random() < 0.5 else np.array(["u", "v", "w"])[values]
        if rng.random() < 0.3:
            columns[f"c{k}"] = pd.Series(columns[f"c{k}"]).where(rng.random(m) < 0.8)
    frame = pd.DataFrame(columns)
    space = FeatureSpace.infer(frame)
    X = space.encode(frame)
    use = [j for j in range(n) if len(np.unique(X[:, j])) > 1]
    if len(use) < 2:
        return
    cut = Bins(space, X, use, 1)
    cut.sure = -np.inf  # every empty cell counts
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(tables, "LEAST", 0)
        patch.setattr(tables, "EDGE", 0)
        all_tables = Tables(cut, np.eye(n, dtype=bool), np.zeros((len(cut.low),) * 2, dtype=bool))
    never = all_tables.never.copy()
    found = [one.constraint for one in (*all_tables.equivalences(), *all_tables.implications())]
    product = np.array(list(itertools.product(*(np.unique(X[:, j]) for j in range(n)))))
    codes = {j: {repr(v): cut.P[i, j] for i, v in enumerate(X[:, j])} for j in use}
    expected = [not any(never[codes[i][repr(p[i])], codes[j][repr(p[j])]] for i in use for j in use) for p in product]
    kept = np.ones(len(product), dtype=bool)
    for constraint in found:
        kept &= constraint.bind(space)(lambda j: product[:, j], product[0])
    assert kept.tolist() == expected


@trials(30)
@given(seed=st.integers(0, 2**32 - 1), sure=st.floats(1, 8))
def test_what_is_never_seen_is_part_of_an_event_that_independence_makes_as_rare_as_is_asked(seed, sure):
    """Of those that the bound counts: two bins; a bin that lies in one bin of a feature, or not in a tail of it."""
    rng = draw(seed)
    hidden = rng.integers(0, 5, 150)
    a, b, c = ((hidden + rng.integers(0, reach, 150)) % 5 for reach in rng.integers(1, 4, 3))
    frame = pd.DataFrame({"a": a, "b": b, "c": np.array(list("pqrst"))[c]})
    frame["d"] = frame["a"] * rng.integers(0, 9, 150)
    space = FeatureSpace.infer(frame)
    cut = Bins(space, space.encode(frame), [0, 1, 2, 3], 2)
    cut.sure = sure
    found = Tables(cut, np.eye(4, dtype=bool), np.zeros((len(cut.low),) * 2, dtype=bool))

    def rare(u, v):
        those = list(cut.of[cut.owner[v]])
        k, sets = those.index(v), [[v], *([q for q in those if q != p] for p in those if p != v)]
        if space.features[cut.owner[v]].ordered:
            sets += [*(those[:end] for end in range(k + 1, len(those))), *(those[start:] for start in range(1, k + 1))]
        return any(not found.C[u, V].any() and cut.count[u] * cut.count[V].sum() / 150 >= sure for V in sets)

    assert all(rare(u, v) or rare(v, u) for u, v in np.argwhere(found.never).tolist())


@trials(60)
@given(seed=st.integers(0, 2**32 - 1), few=st.integers(1, 9))
def test_a_set_of_bins_is_said_exactly(seed, few):
    rng = draw(seed)
    m = 60
    dtype = pd.CategoricalDtype(list("abcdefg"), ordered=True)
    frame = pd.DataFrame(
        {
            "few": rng.poisson(2, m),
            "coded": np.where(rng.random(m) < 0.4, rng.choice([-9, -8, -7], m), rng.poisson(9, m) * 3),
            "zeros": np.where(rng.random(m) < 0.5, 0, rng.normal(size=m) ** 2),
            "top": np.where(rng.random(m) < 0.3, 999, rng.integers(0, 40, m)),
            "label": rng.choice(list("pqrst"), m),
            "rank": pd.Categorical(rng.choice(list("abcdefg"), m), dtype=dtype),
            "truth": rng.random(m) < 0.5,
            "hole": pd.Series(rng.integers(0, 4, m)).where(rng.random(m) < 0.7),
            "gap": pd.Series(rng.choice(["v", "w"], m)).where(rng.random(m) < 0.7),
        }
    )
    space = FeatureSpace.infer(frame)
    X = space.encode(frame)
    use = [j for j in range(len(space)) if len(np.unique(X[:, j])) > 1]
    cut = Bins(space, X, use, few)
    for j in use:
        for size in range(1, len(cut.of[j])):
            inside = rng.choice(cut.of[j], size, replace=False).tolist()
            said = among(cut, inside)
            truth = said.bind(space)(lambda j: X[:, j], X[0])
            assert truth.tolist() == np.isin(cut.P[:, j], inside).tolist(), said


@st.composite
def frames(draw_from):
    """Small tables of all kinds of columns, many of which depend on one another."""
    rng = draw(draw_from(st.integers(0, 2**32 - 1)))
    m, columns = draw_from(st.integers(1, 80)), []
    for _ in range(draw_from(st.integers(1, 6))):
        hidden = columns[int(rng.integers(len(columns)))] if columns and rng.random() < 0.6 else rng.integers(0, 6, m)
        kind = draw_from(
            st.sampled_from(["same", "more", "label", "truth", "constant", "real", "code", "missing", "sum"])
        )
        rank = pd.Series(pd.factorize(pd.Series(hidden).astype(str))[0])
        column = {
            "same": lambda h=hidden: pd.Series(h),
            "more": lambda r=rank: r + rng.integers(0, 3, m),
            "label": lambda r=rank: r.map(lambda v: f'label "{v // 2}"\n'),
            "truth": lambda r=rank: r > 2,
            "constant": lambda: pd.Series([7] * m),
            "real": lambda r=rank: r + np.round(rng.normal(size=m), 2),
            "code": lambda r=rank: r.where(rng.random(m) < 0.8, -9),
            "missing": lambda r=rank: r.astype(float).where(rng.random(m) < 0.7),
            "sum": lambda r=rank: r + 2 * r.shift(fill_value=0),
        }[kind]()
        columns.append(column.to_numpy())
    return pd.DataFrame({k if k % 2 else f"name {k}": column for k, column in enumerate(columns)})


@trials(60)
@given(frame=frames(), sure=st.sampled_from([-np.inf, 0.0, 2.0]))
def test_all_rows_keep_every_candidate_even_before_it_is_held_against_them(frame, sure):
    space = FeatureSpace.infer(frame)
    X = space.encode(frame)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(bins, "SURE", sure - 20)
        varied = [j for j in range(len(space)) if len(np.unique(X[:, j])) > 1]
        for one in base._mined(Bins(space, X, varied, 2)):
            assert 0 <= base._speaks(one, space, X) <= len(X), one.constraint  # -1: a row breaks it
            again = parse_constraints(str(one.constraint))
            assert len(again) == 1
            assert again[0].same(one.constraint)


@trials(30)
@given(frame=frames())
def test_suggestions_are_ordered_counted_and_survive_their_file(frame):
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(bins, "SURE", -20.0)
        found = suggest_constraints(frame, most=5, min_rows=2, draws=500)
    assert [one.excluded for one in found] == sorted((one.excluded for one in found), reverse=True)
    assert len(found) <= 5
    assert all(2 <= one.rows <= len(frame) for one in found)
    again = parse_constraints(found.to_plaf())
    assert len(again) == len(found)
    assert all(a.same(b) for a, b in zip(again, found.constraints, strict=True))
    json.dumps(found.to_dict(), allow_nan=False)
