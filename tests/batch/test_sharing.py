"""A rule that is shared is proved for the row that is given it, too."""

from __future__ import annotations

import numpy as np
import pytest

import dueto
from dueto.batch.sharing import Reach, rule_of
from dueto.counterfactuals import Exhaustive, Status


def holds_for(explainer, rule, x):
    """Whether enumeration finds no exception to a rule among all that x may become."""
    query = explainer.query(x)
    answer = Exhaustive().find(query.under(rule.box(query.space)), k=1, nearest=False, rng=np.random.default_rng(0))
    return answer.status is Status.NONE


@pytest.mark.parametrize("which", ["explainer", "bound"])
def test_a_rule_is_proved_for_each_row_that_it_is_said_to_reach(which, request):
    explainer = request.getfixturevalue(which)
    X = explainer.X[explainer.refused]
    reach, served = Reach(explainer, X), 0
    for i in range(0, len(X), 5):
        rule = explainer.rule(int(explainer.refused[i]))
        others = reach.of(rule, X[i])
        assert i in others
        served += len(others)
        assert all(holds_for(explainer, rule, X[j]) for j in others)
    assert served > len(range(0, len(X), 5))


def test_a_rule_under_constraints_may_be_false_of_others_who_meet_it_and_does_not_reach_them(bound):
    X = bound.X[bound.refused]
    reach = Reach(bound, X)
    for i in range(len(X)):
        rule = bound.rule(int(bound.refused[i]))
        met = np.flatnonzero(rule.box(bound.space).contains(X))
        if any(not holds_for(bound, rule, X[j]) for j in np.setdiff1d(met, reach.of(rule, X[i]))):
            return
    pytest.fail("no rule is false of anybody")


def test_a_value_outside_of_the_space_is_possible_for_its_owner_alone(model, table):
    space = dueto.FeatureSpace.infer(table).declare({"age": {"low": 18, "high": 30}})
    explainer = dueto.Explainer(model, table, space=space)
    X = explainer.X[explainer.refused]
    reach = Reach(explainer, X)
    outside = np.flatnonzero(X[:, 0] > 30)
    assert len(outside)
    everybody = dueto.Rule(())
    assert not np.intersect1d(reach.of(everybody, X[0]), outside).size


def test_every_shared_rule_is_true_of_the_row_that_has_it_and_is_not_called_shortest(bound, tmp_path):
    found = dueto.batch(bound, out=tmp_path / "out", share=True)
    shared = [r for r in found if r["found_for"] is not None]
    for r in shared:
        x, rule = bound.X[r["row"]], rule_of(r["rule"])
        assert rule.box(bound.space).contains(x[None])[0]
        assert holds_for(bound, rule, x)
        assert r["rule"]["least"] is None
        assert r["methods"]["rule"] == "shared"
        owner = next(o for o in found if o["row"] == r["found_for"])
        assert owner["rule"]["text"] == r["rule"]["text"]
        changes = bound.changes(r["row"]).to_dict()["counterfactuals"]
        assert r["counterfactuals"] == changes


def test_the_cover_counts_rows_for_which_its_rules_are_proved(whole_run, explainer):
    found, _ = whole_run
    cover = found.summary["cover"]
    X, rest, together = explainer.X[[r["row"] for r in found]], np.ones(len(found), dtype=bool), 0
    gains = []
    for told in cover["rules"]:
        record = next(r for r in found if r["row"] == told["row"])
        met = rule_of(record["rule"]).box(explainer.space).contains(X)
        assert told["serves"] == met.sum()
        assert told["new"] == (met & rest).sum()
        rest &= ~met
        together += told["new"]
        assert told["together"] == together
        gains.append(told["new"])
    assert gains == sorted(gains, reverse=True)
    best = max(rule_of(r["rule"]).box(explainer.space).contains(X).sum() for r in found)
    assert gains[0] == best
