"""Explainable boosting machines: what is proved of one is true of every instance, and what is not read says why."""

from __future__ import annotations

import warnings

import numpy as np
import pandas as pd
import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

from dueto import Explainer, FeatureSpace, as_model
from dueto.models.additive import Additive
from dueto.models.ensemble import Ensemble
from dueto.rule import Components, Standing, to_sets
from models.tables import GOOD, MISSING, NUMBERS, TEXT, THREE, adversarial
from models.test_importers import check, ebm, read
from trials import trials

pytest.importorskip("interpret")


def small(seed):
    """A table of few values, some missing, and a label, u, that no row has."""
    rng = np.random.default_rng(seed)
    n = 120
    table = pd.DataFrame(
        {
            "a": rng.integers(0, 5, n),
            "b": rng.choice([0.1, 0.2, 0.30000000000000004, 1.5, np.nan], n),
            "job": pd.Categorical(rng.choice(list("xyz"), n), categories=list("zuxy")),
            "home": pd.Categorical(rng.choice(["own", "rent"], n)),
        }
    )
    table.loc[0, "job"] = None
    codes = table.assign(b=table["b"].fillna(0.7), job=table["job"].cat.codes, home=table["home"].cat.codes)
    target = (codes.to_numpy() @ rng.normal(size=4) + codes["a"] * codes["home"] * rng.normal()).to_numpy()
    return table, (target + rng.normal(size=n) / 2 > np.quantile(target, 0.6)).astype(int)


def fewest(duals):
    """The size of the smallest set of the eight components that meets all of these."""
    return min(c.bit_count() for c in range(2**8) if all(c & dual for dual in duals))


@pytest.mark.parametrize("interactions", [0, 3])
@given(seed=st.integers(0, 2**32 - 1))
@trials(40)
def test_a_rule_called_proved_has_no_exception_and_none_is_shorter(interactions, seed):
    table, target = small(seed)
    fitted = ebm(interactions=interactions, max_interaction_bins=4, max_rounds=20).fit(table, target)
    explainer = Explainer(fitted, table)
    space = explainer.space
    every = [np.append(f.domain.values, [np.nan] * bool(f.domain.missing)) for f in space.features]
    instances = np.stack(np.meshgrid(*every, indexing="ij"), axis=-1).reshape(-1, len(every))
    accepted = instances[fitted.predict_proba(space.decode(instances))[:, 1] > 0.5]
    assert isinstance(explainer.model.structure.form, Ensemble if interactions else Additive)
    for row in explainer.refused[:4]:
        rule = explainer.rule(int(row))
        assert rule.verdict.standing is Standing.PROVED
        assert not rule.box(space).contains(accepted).any()
        duals = to_sets(Components(space, space.encode(table)[row]).duals(accepted))
        assert rule.least.proved
        assert rule.least.length == fewest(duals)


@pytest.mark.parametrize("interactions", [0, 4])
def test_a_declared_range_is_cut_at_the_bins(interactions):
    fitted = ebm(interactions=interactions).fit(NUMBERS, GOOD.astype(int))
    space = FeatureSpace.infer(NUMBERS).declare({"b": {"low": -10.0, "high": 10.0}})
    model = as_model(fitted, space)
    assert isinstance(model.structure.form, Ensemble)
    check(model, adversarial(model.structure))


def test_each_side_of_every_cut_is_the_models():
    """Numbers on, just below and just above all cuts, of terms and of pairs, and infinitely far from them."""
    fitted = ebm(interactions=3, max_interaction_bins=8).fit(MISSING, GOOD.astype(int))
    model = read(fitted, MISSING)
    pair = next(term for term in fitted.term_features_ if len(term) == 2)
    cuts = np.unique(np.concatenate([fitted.bins_[i][-1] for i in pair] + [fitted.bins_[1][0]]))
    X = np.repeat(model.space.encode(MISSING)[:8], 3 * len(cuts), axis=0)
    X[:, 1] = np.tile(np.concatenate([cuts, np.nextafter(cuts, -np.inf), np.nextafter(cuts, np.inf)]), 8)
    score = fitted.predict_proba(model.space.decode(X))[:, 1]
    assert np.abs(model.structure.link(model.structure.margin(X)) - score).max() < 1e-12


def test_neighbouring_bins_of_equal_score_are_not_parted():
    fitted = ebm(interactions=2, max_interaction_bins=16).fit(NUMBERS, GOOD.astype(int))
    for scores in fitted.term_scores_:
        np.round(scores, 1, out=scores)
    model = read(fitted, NUMBERS)
    leaves = sum(scores[tuple(slice(0, n - 1) for n in scores.shape)].size for scores in fitted.term_scores_)
    assert model.structure.form.n_leaves < leaves / 2
    check(model, adversarial(model.structure))


@pytest.mark.parametrize("interactions", [0, 3])
def test_columns_without_names_are_known_by_their_order(interactions):
    """interpret does not take names from arrays, nor from polars."""
    array = ebm(interactions=interactions).fit(MISSING.to_numpy(dtype=float), GOOD.astype(int))
    text = pl.from_pandas(TEXT, nan_to_null=True)
    for fitted, table in [
        (array, MISSING),
        (array, pl.from_pandas(MISSING)),
        (ebm(interactions=interactions).fit(text, GOOD.astype(int)), text),
    ]:
        model = read(fitted, table)
        check(model, adversarial(model.structure))


def test_the_private_kind_is_read_too():
    from interpret.privacy import DPExplainableBoostingClassifier

    bounds = [(0, 30), (-4, 4), (0, 1), (0, 1), (-1, 1)]
    options = {"privacy_bounds": bounds, "feature_types": ["continuous"] * 5, "outer_bags": 1, "max_rounds": 20}
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", "Possible privacy violation|Privacy violation", UserWarning)
        private = DPExplainableBoostingClassifier(**options, n_jobs=1, random_state=0).fit(NUMBERS, GOOD.astype(int))
    model = read(private, NUMBERS)
    check(model, adversarial(model.structure))


def test_what_is_not_understood_says_why():
    three = ebm(interactions=0).fit(NUMBERS, THREE)
    assert "two classes, not 3" in as_model(three, FeatureSpace.infer(NUMBERS), desired=1).unstructured
    endless = ebm(interactions=0).fit(NUMBERS, GOOD.astype(int))
    endless.term_scores_[0][1] = np.inf
    assert "not finite" in as_model(endless, FeatureSpace.infer(NUMBERS)).unstructured


def test_text_among_numbers_is_not_read():
    fitted = ebm(interactions=2).fit(NUMBERS, GOOD.astype(int))
    table = NUMBERS.astype({"b": object})
    table.loc[3, "b"] = "much"
    model = as_model(fitted, FeatureSpace.infer(table.astype({"b": str})))
    assert model.structure is None
    assert "text where it takes numbers, in 'b'" in model.unstructured
