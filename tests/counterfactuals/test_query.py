"""What is plausible, asked of many rows at once."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
from hypothesis import assume, given
from hypothesis import strategies as st

from dueto.rule import Components
from dueto.testing import worlds

seeds = st.integers(0, 2**32 - 1)


@given(seed=seeds, narrow=st.booleans(), told=st.booleans())
def test_the_donors_within_reach_are_the_plausible_ones_whatever_is_known_of_them(seed: int, narrow: bool, told: bool):
    found = list(worlds([seed], kind="tree"))
    assume(found)
    w = found[0]
    rng = np.random.default_rng(seed)
    beyond = w.X[rng.random(len(w.X)) < 0.5] + rng.integers(0, 2, w.X.shape[1])  # some of them not in the space
    query = replace(w.query, donors=np.vstack([w.query.donors, beyond]), memo={})
    query = replace(query, inside=query.space.contains(query.donors)) if told else query
    if narrow:
        components = Components(w.space, w.x)
        query = query.under(components.box(int(rng.integers(0, components.all + 1)) & components.all))
    expected = query.donors[[bool(query.plausible(y[None])[0]) for y in query.donors]]
    np.testing.assert_array_equal(query.within_reach, expected)
    new = w.X[query.plausible(w.X)]
    assert len(query.knowing(new).within_reach) == len(expected) + len(new)
